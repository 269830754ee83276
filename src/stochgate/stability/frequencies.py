"""How often features are selected on halves of the rows, by any estimator."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from stochgate.choice.comparison import seen_by_each
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.sets.cells import Cells, train_cells
from stochgate.choice.sets.path import make_lams
from stochgate.networks import Network
from stochgate.problem.problem import Problem


@dataclass(frozen=True, kw_only=True)
class Frequencies:
    """How often gates open on halves of the rows, along a path of penalties.

    Attributes
    ----------
    lams : ndarray, shape (n_lams,)
    share : ndarray, shape (n_lams, n_gates)
        Of the halves that open a gate.
    step : ndarray of int, shape (n_lams,)
        At which each penalty's held-out loss is lowest.
    best : int or None
        Position of the penalty with the lowest held-out loss, of ties the largest; None where no penalty
        beats the model without features.
    n_pairs : int
    """

    lams: np.ndarray
    share: np.ndarray
    step: np.ndarray
    best: int | None
    n_pairs: int

    @property
    def n_opened(self) -> np.ndarray:
        """How many gates a half opens on average, shape (n_lams,)."""
        return self.share.sum(axis=1)


def gated_frequencies(
    problem: Problem, halves: np.ndarray, lam: Any, n_first: int
) -> tuple[str, Problem, Frequencies]:
    """Train a gated estimator's networks on halves of the rows, as stacks of models.

    Parameters
    ----------
    problem : Problem
    halves : ndarray of bool, shape (2 * n_pairs, n_samples)
    lam : "auto" or float
        A path of penalties, or one.
    n_first : int
        Halves on which the networks are compared.

    Returns
    -------
    Name of the network, the problem as it sees it, and its frequencies
    """
    n_gates = problem.gates.n_gates
    problem = replace(problem, seed=problem.draw_seed(), networks=_for_many(problem.networks, n_gates))
    problems = seen_by_each(problem)
    lams = make_lams(problem.n_samples // 2) * n_gates if lam == "auto" else np.array([float(lam)])
    at, found = train_halves(list(problems.values()), lams, halves, n_first)
    if lam != "auto":
        found = replace(found, best=0)  # a given penalty is not to be judged
    name = list(problems)[at]
    return name, problems[name], found


def _for_many(networks: dict[str, Network], n_gates: int) -> dict[str, Network]:
    """Leave out of several networks those that take few of many features."""
    able = {
        name: network
        for name, network in networks.items()
        if network.most_features is None or n_gates <= network.most_features
    }
    return able if len(networks) > 1 else networks


def train_halves(
    problems: Sequence[Problem], lams: np.ndarray, halves: np.ndarray, n_first: int
) -> tuple[int, Frequencies]:
    """Train paths on halves of the rows; the first few choose the network, which then trains on all.

    Parameters
    ----------
    problems : sequence of Problem, one per network
    lams : ndarray, shape (n_lams,)
    halves : ndarray of bool, shape (2 * n_pairs, n_samples)
        In complementary pairs; each half is judged by the rows outside it.
    n_first : int
        Halves on which the networks are compared.

    Returns
    -------
    Position of the network, and its frequencies
    """
    first = [train_cells(problem, "path", lams, halves[:n_first]) for problem in problems]
    chosen = int(np.argmin([cells.losses.mean(axis=1).min() for cells in first]))
    parts = [first[chosen]]
    if n_first < len(halves):
        parts.append(train_cells(problems[chosen], "path", lams, halves[n_first:], first_seed=n_first))
    empty = problems[chosen].empty_losses(halves)[0].mean()
    return chosen, _join(parts, float(empty))


def _join(parts: list[Cells], empty: float) -> Frequencies:
    opened = np.concatenate([cells.opened for cells in parts], axis=1)
    loss = np.concatenate([cells.losses for cells in parts], axis=1).mean(axis=1)
    best = None
    if loss.min() < empty:
        tied = loss <= loss.min() + DEFAULTS.tolerance * (empty - loss.min())
        best = int(tied.argmax())  # the largest penalty of those that tie
    return Frequencies(
        lams=parts[0].lams,
        share=opened.mean(axis=1),
        step=parts[-1].step,
        best=best,
        n_pairs=opened.shape[1] // 2,
    )


def other_frequencies(
    estimator: Any, X: Any, y: Any, halves: np.ndarray, n_jobs: int | None
) -> Frequencies:
    """Fit any scikit-learn estimator to halves of the rows.

    Parameters
    ----------
    estimator : estimator with get_support, coef_ or feature_importances_
    X, y : the data
    halves : ndarray of bool, shape (2 * n_pairs, n_samples)
    n_jobs : int or None
    """
    chosen = Parallel(n_jobs=n_jobs)(delayed(fit_half)(estimator, X, y, half) for half in halves)
    share = np.mean(chosen, axis=0)
    return Frequencies(
        lams=np.array([np.nan]),
        share=share[None],
        step=np.zeros(1, dtype=int),
        best=0,
        n_pairs=len(halves) // 2,
    )


def fit_half(estimator: Any, X: Any, y: Any, half: np.ndarray) -> np.ndarray:
    """Fit an estimator to some rows and return what it selects, shape (n_features,).

    That is its own support where it has one, coefficients other than 0, or importances above their mean; of
    a pipeline those of its last step, if the steps before keep the columns.
    """
    rows = np.flatnonzero(half)
    fitted = clone(estimator).fit(_safe_indexing(X, rows), _safe_indexing(y, rows))
    fitted = getattr(fitted, "best_estimator_", fitted)
    if hasattr(fitted, "steps"):
        fitted = fitted[-1]
        if getattr(fitted, "n_features_in_", X.shape[1]) != X.shape[1]:
            raise ValueError("The pipeline changes the columns: do that before the StabilitySelector.")
    if hasattr(fitted, "get_support"):
        return np.asarray(fitted.get_support(), dtype=bool)
    if hasattr(fitted, "coef_"):
        coefficients = np.asarray(fitted.coef_)
        return (np.atleast_2d(coefficients.reshape(-1, X.shape[1])) != 0).any(axis=0)
    if hasattr(fitted, "feature_importances_"):
        importances = np.asarray(fitted.feature_importances_)
        return importances > importances.mean()
    raise ValueError(
        f"{type(estimator).__name__} has neither get_support nor coef_ nor feature_importances_ after its "
        "fit, so it selects no features."
    )
