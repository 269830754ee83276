"""What tells the fit of one problem from that of another, and the problem whose plans are kept."""

from dataclasses import replace
from typing import Any

from sklearn.base import BaseEstimator

from stochgate.engine.checkpoint import Checkpoint
from stochgate.engine.checkpoint.digest import as_text, digest
from stochgate.engine.runner import current_runner
from stochgate.problem.problem import Problem

# Parameters that change no result, or are compared as what they come to: generator and device.
_NOT_COMPARED = {"callbacks", "verbose", "n_jobs", "random_state", "device", "backend"}


def keep_plans(problem: Problem, checkpoint: Checkpoint | None, estimator: Any, groups: Any) -> Problem:
    """Return a problem whose plans are kept in a checkpoint, which must be of the same fit.

    Parameters
    ----------
    problem : Problem
        Its random numbers come from the checkpoint's generator.
    checkpoint : Checkpoint or None
        None returns the problem as it is.
    estimator : the one whose `fit` was called
    groups : array or None
        Of the rows.
    """
    if checkpoint is None:
        return problem
    runner = current_runner()
    fit = {
        "the class": type(estimator).__name__,
        "the device": str(problem.device),
        "the number of stacks of the backend": str(runner.n_stacks),
        "the number of workers of the backend": str(getattr(runner, "n_workers", None)),
    }
    checkpoint.belong_to({**fit, **describe_parameters(estimator), **describe_data(problem, groups)})
    return replace(problem, runner=checkpoint.runner)


def describe_parameters(estimator: BaseEstimator) -> dict[str, str]:
    """Return the parameters on which a fit depends as texts, those of parts included.

    Examples
    --------
    >>> from stochgate import GatedRegressor
    >>> from stochgate.problem.checkpoint import describe_parameters
    >>> describe_parameters(GatedRegressor(lam=2, verbose=1))["the parameter lam"]
    '2'
    """
    return {
        f"the parameter {name}": type(value).__name__ if hasattr(value, "get_params") else as_text(value)
        for name, value in estimator.get_params(deep=True).items()
        if name.split("__")[-1] not in _NOT_COMPARED
    }


def describe_data(problem: Problem, groups: Any) -> dict[str, str]:
    """Return digests of the data of a problem: what models learn from."""
    rows = problem.target.rows
    return {
        "X": digest([problem.X]),
        "y": digest([part for name in sorted(rows) for part in (name, rows[name])]),
        "sample_weight": digest([problem.sample_weight]),
        "groups": digest([groups]),
        "the table on disk": "" if problem.stream is None else digest([problem.stream.source.describe()]),
    }
