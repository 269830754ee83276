"""Which of many features are offered to a network that is too costly with all of them."""

from collections.abc import Sequence

import numpy as np
import torch

from stochgate.choice.bank import Bank
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.residuals import to_gates
from stochgate.choice.sets.cells import Cells
from stochgate.problem.problem import Problem, to_numpy


def takes_few(problem: Problem) -> bool:
    """Return whether there are more features than a network that races takes (`Network.most_features`).

    Of few rows it takes fewer, and an encoded one, whose columns are many, fewer still.
    """
    return len(problem.networks) > 1 and problem.gates.n_gates > 2 * n_offered(problem)


def n_offered(problem: Problem) -> float:
    """Return how many features are offered to a network because of what they tell by themselves."""
    most = problem.network.most_features
    if most is None:
        return np.inf
    per_row = DEFAULTS.offered_per_row if problem.inputs.encoding is None else DEFAULTS.encoded_per_row
    return int(np.clip(per_row * problem.n_samples, DEFAULTS.fewest_offered, most // 2))


def promising(
    problem: Problem, bank: Bank, folds: np.ndarray, paths: Sequence[Cells] = (), pairs: bool = False
) -> np.ndarray:
    """Return the gates that each fold is offered, a mask of shape (n_folds, n_gates).

    They are those whose columns tell most of y as smooth curves, and what the folds of other networks have
    opened at penalties that leave no more than so many. What tells something only together with
    others is found by these, or among pairs. A fold asks its learning rows only.

    Parameters
    ----------
    problem : Problem
        As the costly network sees it.
    bank : Bank
    folds : ndarray, shape (n_folds, n_samples), from `make_folds`
    paths : sequence of Cells
        Of the networks before it, on the same folds.
    pairs : bool
        Whether pairs of columns are worth asking.
    """
    n, told = int(n_offered(problem)), marginal_strength(problem, bank, folds)
    offered = np.zeros(told.shape, dtype=bool)
    np.put_along_axis(offered, np.argsort(-told, axis=1, kind="stable")[:, :n], True, axis=1)
    for opened in (opened for path in paths for opened in path.settled):
        offered |= opened & (opened.sum(axis=1, keepdims=True) <= n)
    if pairs:
        for gates, residual in zip(offered, _fold_residuals(problem, folds), strict=True):
            found = bank.pairs(residual, DEFAULTS.n_pairs_asked)
            if found is not None:
                gates[to_gates(bank, found.columns[: DEFAULTS.n_pairs])] = True
    return offered


def marginal_strength(problem: Problem, bank: Bank, folds: np.ndarray) -> np.ndarray:
    """Return what each gate's columns tell of y by themselves, as curves, shape (n_folds, n_gates)."""
    residual = _fold_residuals(problem, folds)
    scores = bank.scores(residual.permute(1, 0, 2).flatten(1))[-1]  # (n_gates, n_folds * n_outputs)
    return to_numpy(scores.unflatten(1, (len(folds), -1)).sum(2).T)


def _fold_residuals(problem: Problem, folds: np.ndarray) -> torch.Tensor:
    """Return the base rate's residuals on each fold's learning rows, free of their mean; 0 elsewhere."""
    weights, _ = problem.fold_weights(folds)
    residual, learns = problem.base_residual(weights), (weights > 0).unsqueeze(2)
    mean = torch.where(learns, residual, 0).sum(1, keepdim=True) / learns.sum(1, keepdim=True)
    return torch.where(learns, residual - mean, 0).to(problem.design.columns.dtype)
