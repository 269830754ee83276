"""A ranking by elimination: the weakest columns go, in a ridge regression of the base rate's residuals."""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from stochgate.choice.bank import Bank
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.sets.ranking import Ranking
from stochgate.engine import FREE, OPEN
from stochgate.problem.problem import Problem
from stochgate.problem.rows import LEARNS


def eliminate(problem: Problem, bank: Bank, folds: np.ndarray, like: Ranking) -> Ranking:
    r"""Rank the gates of each fold by backward elimination.

    With r the residuals of the model without features, one column per output, and X the open columns at
    unit variance, :math:`W = (X^T X + n I)^{-1} X^T r` weighs them all at once; the gates whose columns
    have the smallest weights close, a fifth at a time and one by one from 60 on. Columns that say the same
    share a weight until one of them is left, and what only chance has made strong goes early: of few rows
    and thousands of columns this order is better than that in which trained gates close, whose loss
    vanishes while most of them are still open.

    Parameters
    ----------
    problem : Problem
    bank : Bank
    folds : ndarray, shape (n_folds, n_samples), from `make_folds`
    like : Ranking
        Another one on the same folds, whose penalties are taken over.
    """
    fixed, constant = problem.fixed, torch.from_numpy(problem.constant_gates()).to(problem.device)
    kept = torch.nonzero((fixed == OPEN) & ~constant)[:, 0]
    free = torch.nonzero(fixed == FREE)[:, 0]
    last = torch.nonzero((fixed == OPEN) & constant)[:, 0]
    (residual,) = problem.base_residual(problem.weights[None])
    root = problem.weights.sqrt().clamp_min(1e-12)[:, None]
    most = min(
        DEFAULTS.most_eliminating, max(DEFAULTS.fewest_eliminating, DEFAULTS.eliminated // bank.n_columns)
    )
    orders = []
    for fold in folds:
        learns = np.flatnonzero(fold == LEARNS)
        if len(learns) > most:
            learns = np.random.RandomState(problem.seed).permutation(learns)[:most]
        rows = torch.from_numpy(learns).to(residual.device)
        X, r, own = bank.lines(slice(None), rows), residual[rows], root[rows].to(bank.columns.dtype)
        weight = own.square() / own.square().sum()
        X = X - (weight * X).sum(0)
        X = X * (weight * X.square()).sum(0).clamp_min(1e-12).rsqrt() * own
        r = r / own - own * (r.sum(0) / own.square().sum())
        ridge = DEFAULTS.elimination_ridge * float(own.square().sum())
        order = _drop(_Ridge(X, r.to(X), ridge), bank.gate_of, free, fixed == OPEN)
        orders.append(torch.cat([kept, order, last]).cpu().numpy())
    return replace(like, stage="elimination", order=np.array(orders))


def _drop(left: "_Ridge", gate_of: Tensor, free: Tensor, kept: Tensor) -> Tensor:
    """Return the free gates in the order of elimination, the last to go first."""
    dropped, gates = [], free
    while len(gates):
        n = len(gates)
        share = max(DEFAULTS.drop_single, int((1 - DEFAULTS.drop_share) * n))
        n_next = n - 1 if n <= DEFAULTS.drop_single else share
        weights = left.weights().square().sum(1)
        strength = weights.new_zeros(len(kept)).index_add(0, gate_of, weights)
        order = torch.argsort(strength[gates], descending=True, stable=True)
        dropped.append(gates[order[n_next:]])
        gates = gates[order[:n_next]]
        stays = kept.clone()
        stays[gates] = True
        columns = stays[gate_of]
        left, gate_of = left.keep(columns), gate_of[columns]
    return torch.cat(dropped[::-1]) if dropped else free


class _Ridge:
    """A ridge regression on columns that become fewer, by the smaller of two systems."""

    def __init__(self, X: Tensor, r: Tensor, ridge: float):
        self.X, self.r, self.ridge = X, r, ridge
        self.products: tuple[Tensor, Tensor] | None = None

    def weights(self) -> Tensor:
        """Return the weights, shape (n_columns, n_outputs)."""
        n, p = self.X.shape
        if p > n:
            X = self.X
            return X.T @ torch.linalg.solve(X @ X.T + self.ridge * torch.eye(n).to(X), self.r)
        if self.products is None:
            self.products = self.X.T @ self.X, self.X.T @ self.r
        inner, told = self.products
        return torch.linalg.solve(inner + self.ridge * torch.eye(p).to(inner), told)

    def keep(self, columns: Tensor) -> "_Ridge":
        """Return the regression on some of the columns."""
        fewer = _Ridge(self.X[:, columns], self.r, self.ridge)
        if self.products is not None:
            inner, told = self.products
            fewer.products = inner[columns][:, columns], told[columns]
        return fewer
