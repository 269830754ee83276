"""Backward elimination: of all columns the weakest go, in a ridge regression of what the base rate leaves."""

import numpy as np
import torch
from torch import Tensor

from stochgate.choice.bank import Bank
from stochgate.choice.defaults import DEFAULTS
from stochgate.engine import FREE, OPEN
from stochgate.problem.problem import Problem, to_numpy
from stochgate.problem.rows import LEARNS


def eliminate(problem: Problem, bank: Bank, folds: np.ndarray) -> np.ndarray:
    r"""Return each fold's order of the gates, the strongest first, shape (n_folds, n_gates).

    With r the residuals of the model without features, one column per output, and X the open columns at
    unit variance, :math:`W = (X^T X + n I)^{-1} X^T r` weighs them all at once; the gates whose columns have
    the smallest weights close, a fifth at a time and one by one from 60 on. Columns that say the same share
    a weight until one of them is left, and what only chance has made strong goes early: of few rows and
    thousands of columns this order is better than that in which trained gates close, whose loss vanishes
    while most of them are still open.

    Gates that are kept stand first, those that are closed last.

    Parameters
    ----------
    problem : Problem
    bank : Bank
    folds : ndarray, shape (n_folds, n_samples), from `make_folds`
    """
    fixed = problem.fixed
    free = torch.nonzero(fixed == FREE)[:, 0]
    others = [np.flatnonzero(to_numpy(fixed) == kind) for kind in (OPEN, 0)]
    lines = bank.lines(slice(None)) if bank.is_dense else bank.columns.dense()
    lines = lines * problem.weights.sqrt()[:, None]
    (residual,) = problem.base_residual(problem.weights[None])
    root = problem.weights.sqrt().clamp_min(1e-12)[:, None]
    orders = []
    for fold in folds:
        learns = np.flatnonzero(fold == LEARNS)
        if len(learns) > DEFAULTS.most_eliminating:
            learns = np.random.RandomState(problem.seed).permutation(learns)[: DEFAULTS.most_eliminating]
        index = torch.from_numpy(learns).to(lines.device)
        r = (residual[index] / root[index]).to(lines.dtype)
        r = r - root[index].to(r) * (residual[index].sum(0) / problem.weights[index].sum()).to(r)
        order = _drop(lines[index], r, bank.gate_of, free, fixed == OPEN)
        orders.append(np.concatenate([others[0], to_numpy(order).astype(np.int64), others[1]]))
    return np.array(orders)


def _drop(X: Tensor, r: Tensor, gate_of: Tensor, free: Tensor, kept: Tensor) -> Tensor:
    """Return the free gates in the order of elimination, the last to go first."""
    left, dropped, gates = X - X.mean(0), [], free
    while len(gates):
        n = len(gates)
        share = max(DEFAULTS.drop_single, int((1 - DEFAULTS.drop_share) * n))
        n_next = n - 1 if n <= DEFAULTS.drop_single else share
        weights = _ridge(left, r).square().sum(1)
        strength = weights.new_zeros(len(kept)).index_add(0, gate_of, weights)
        order = torch.argsort(strength[gates], descending=True, stable=True)
        dropped.append(gates[order[n_next:]])
        gates = gates[order[:n_next]]
        stays = kept.clone()
        stays[gates] = True
        columns = stays[gate_of]
        left, gate_of = left[:, columns], gate_of[columns]
    return torch.cat(dropped[::-1]) if dropped else free


def _ridge(X: Tensor, r: Tensor) -> Tensor:
    """Return the weights of a ridge regression, (n_columns, n_outputs), by the smaller of two systems."""
    n, p = X.shape
    ridge = DEFAULTS.elimination_ridge * n
    if p > n:
        return X.T @ torch.linalg.solve(X @ X.T + ridge * torch.eye(n).to(X), r)
    return torch.linalg.solve(X.T @ X + ridge * torch.eye(p).to(X), X.T @ r)
