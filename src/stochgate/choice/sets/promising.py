"""Which of many features are offered to a network that is too costly with all of them."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from stochgate.choice.sets.cells import Cells
from stochgate.problem.problem import Problem, to_numpy

_RIDGE = 1e-3  # pieces of a column may depend on each other
_AT_ONCE = 1 << 24  # numbers of gathered columns


def takes_few(problem: Problem) -> bool:
    """Return whether there are more features than a network that races takes (`Network.most_features`)."""
    most = problem.network.most_features
    return len(problem.networks) > 1 and most is not None and problem.gates.n_gates > most


def promising(problem: Problem, folds: np.ndarray, paths: Sequence[Cells] = ()) -> np.ndarray:
    """Return the gates that each fold is offered, a mask of shape (n_folds, n_gates).

    They are half as many as the network takes, those whose columns tell most of y by themselves, and what
    the folds of other networks have opened at penalties that leave no more than so many: what tells
    something only together with others is found by these. A fold asks its learning rows only.

    Parameters
    ----------
    problem : Problem
        As the costly network sees it.
    folds : ndarray, shape (n_folds, n_samples), from `make_folds`
    paths : sequence of Cells
        Of the networks before it, on the same folds.
    """
    assert problem.network.most_features is not None
    n, told = problem.network.most_features // 2, told_alone(problem, folds)
    offered = np.zeros(told.shape, dtype=bool)
    np.put_along_axis(offered, np.argsort(-told, axis=1, kind="stable")[:, :n], True, axis=1)
    for opened in (opened for path in paths for opened in path.settled):
        offered |= opened & (opened.sum(axis=1, keepdims=True) <= n)
    return offered


def told_alone(problem: Problem, folds: np.ndarray) -> np.ndarray:
    r"""Return how much each gate's columns tell of y by themselves, shape (n_folds, n_gates).

    With r the residuals of the model without features and Z the columns of a gate, centred and of length
    1, it is :math:`r^T Z (Z^T Z)^{-1} Z^T r`, summed over the outputs.
    """
    weights, _ = problem.fold_weights(folds)
    residual = problem.base_residual(weights)
    columns, n_gates = problem.design.columns, problem.design.n_gates
    gate_of = problem.design.gate_of_column()
    order = torch.argsort(gate_of, stable=True)
    count = torch.bincount(gate_of, minlength=n_gates)
    first = count.cumsum(0) - count
    pieces = torch.arange(int(count.max()), device=order.device)
    at_once = max(1, _AT_ONCE // (len(pieces) * columns.n_samples))
    told = []
    for learns, r in zip(weights > 0, residual, strict=True):
        r = (r[learns] - r[learns].mean(0)).to(columns.dtype)
        parts = []
        for gates in torch.arange(n_gates, device=order.device).split(at_once):
            place = (first[gates, None] + pieces).clamp(max=len(order) - 1)  # (n, width)
            there = pieces < count[gates, None]
            Z = columns.take(order[place.flatten()]).dense()[learns].T.unflatten(0, place.shape)
            parts.append(_explained(Z * there.unsqueeze(2), r))
        told.append(torch.cat(parts))
    return to_numpy(torch.stack(told))


def _explained(Z: Tensor, r: Tensor) -> Tensor:
    """Return how much of r, (n_rows, n_outputs), the columns of each gate tell, (n, width, n_rows)."""
    Z = Z - Z.mean(2, keepdim=True)
    Z = Z / Z.norm(dim=2, keepdim=True).clamp_min(torch.finfo(Z.dtype).tiny)
    gram = Z @ Z.transpose(1, 2) + _RIDGE * torch.eye(Z.shape[1], dtype=Z.dtype, device=Z.device)
    told = Z @ r  # (n, width, n_outputs)
    return (told * torch.linalg.solve(gram, told)).sum((1, 2))
