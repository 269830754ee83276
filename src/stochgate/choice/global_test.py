"""Do all columns together have anything to do with y? A test with more power than held-out losses."""

import numpy as np
import torch

from stochgate.choice.defaults import DEFAULTS
from stochgate.problem.problem import Problem

_AT_ONCE = 100


def global_p(problem: Problem, seed: int, groups: np.ndarray | None = None) -> float | None:
    r"""Return the p-value of all columns together, by Goeman's global test.

    With r the residuals of the model without features, :math:`r_i = -\partial \ell_i / \partial f_i`, and
    x_j the columns at unit variance, :math:`Q = \sum_j (x_j^T r)^2` adds up what every column tells. It is
    held against the same sum for residuals that are dealt to the rows anew: within the sets of rows that
    the loss compares, so that strata of a Cox model stay apart. Of rows that belong together the summed
    residuals are dealt, to groups, and meet the means of the groups' columns.

    Parameters
    ----------
    problem : Problem
    seed : int
    groups : ndarray, shape (n_samples,), optional
        Which rows belong together.

    Returns
    -------
    None where there are very many rows, or a group is in several sets that the loss compares
    """
    columns, n_samples = problem.design.columns, len(problem.weights)
    if n_samples > DEFAULTS.most_tested_rows:
        return None
    residual = _residual(problem).to(columns.dtype)  # (n_samples, n_outputs)
    peers = problem.objective.peers(problem.target.rows).cpu().numpy()
    names, first, group, size = np.unique(
        np.arange(n_samples) if groups is None else groups,
        return_index=True,
        return_inverse=True,
        return_counts=True,
    )
    if (peers != peers[first][group]).any():
        return None
    of_row = torch.from_numpy(group).to(residual.device)
    summed = residual.new_zeros(len(names), residual.shape[1]).index_add(0, of_row, residual)
    shares = torch.from_numpy(1 / size[group]).to(residual)[:, None, None]
    own = torch.from_numpy(peers == np.unique(peers)[:, None]).to(problem.weights) * problem.weights
    share = own.sum(1) / own.sum()  # of each set of rows
    variance = share @ columns.moments(own)[1].to(share)  # within them, (n_columns,)
    scale = torch.where(variance > 0, variance, torch.inf).rsqrt()
    rng = np.random.RandomState(seed)
    orders = [np.arange(len(names)), *(_deal(peers[first], rng) for _ in range(DEFAULTS.n_permutations))]
    sums = []
    for start in range(0, len(orders), _AT_ONCE):
        index = torch.from_numpy(np.stack(orders[start : start + _AT_ONCE])).to(residual.device)
        dealt = summed[index][:, of_row].permute(1, 0, 2) * shares  # (n_samples, n_orders, n_outputs)
        told = columns.project(dealt.flatten(1)) * scale[:, None]
        sums.append(told.square().sum(0).unflatten(0, dealt.shape[1:]).sum(1))
    total = torch.cat(sums)
    return (1 + int((total[1:] >= total[0]).sum())) / len(orders)


def _residual(problem: Problem) -> torch.Tensor:
    """Return the residuals of the model without features, freed of their mean, (n_samples, n_outputs)."""
    (residual,) = problem.base_residual(problem.weights[None])
    return residual - residual.mean(0)


def _deal(peers: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Return a random order of the rows that exchanges rows of the same number only."""
    order = np.empty(len(peers), dtype=np.int64)
    shuffled = rng.permutation(len(peers))
    order[np.argsort(peers, kind="stable")] = shuffled[np.argsort(peers[shuffled], kind="stable")]
    return order
