"""What stands behind a selected feature: how sure it is, what it is worth, what could replace it."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from scipy import sparse
from scipy.stats import binomtest
from sklearn.utils.sparsefuncs import mean_variance_axis

from stochgate.choice.auto import Found
from stochgate.engine import CLOSED, FREE, OPEN
from stochgate.problem.setting import Setting, at_best, carry_on, or_infinity, to_numpy

ALIKE = 0.7  # the correlation at which one column can stand for another,
RELATED = 0.3  # and at which it can when some fold opened it instead
MOST_STAND_INS = 5
MOST_REFITS = 100  # gates that are left out in turn


def wilson_interval(frequency: float, n_folds: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share of the folds.

    Examples
    --------
    >>> from stochgate.explain.leave_one_out import wilson_interval
    >>> [round(end, 3) for end in wilson_interval(1.0, 5)]
    [0.566, 1.0]
    """
    found = binomtest(round(frequency * n_folds), n_folds).proportion_ci(0.95, method="wilson")
    return float(found.low), float(found.high)


def rises_without(found: Found, gates: np.ndarray, lam: float | None) -> np.ndarray:
    """Return by how much the held-out loss rises without each gate, shape (n_gates, n_folds).

    The network is trained on every fold with the given gates, and with all of them but one, each at its
    best step; all of that is one training run. Only the first 100 gates are left out, the others get NaN.

    Parameters
    ----------
    found : Found
    gates : ndarray of int
        The selected gates, the most important first.
    lam : float or None
        The penalty under which gates are trained; None when they are held open.
    """
    setting, learns, n_gates = _of_gates(found, gates), found.contest.first, len(gates)
    allowed = np.vstack([np.ones((1, n_gates), dtype=bool), ~np.eye(n_gates, dtype=bool)[:MOST_REFITS]])
    held = (found.task.gate_map.keep | found.recipe.linear)[gates] | (lam is None)
    fixed = np.where(allowed, np.where(held, OPEN, FREE), CLOSED).repeat(len(learns), axis=0)
    weights, test = setting.fold_weights(learns, len(allowed))
    seed = setting.seed + np.tile(np.arange(len(learns)), len(allowed))
    fixed_gates = torch.from_numpy(fixed.astype(np.int8)).to(weights.device)
    if lam is None:
        plan = setting.refit_plan(seed, weights, fixed_gates, test_weights=test)
    else:  # the penalty is a mean over gates, of which there are fewer now
        lam = lam * n_gates / found.setting.design.n_gates
        plan = setting.plan(lam, seed, weights, fixed_gates, test_weights=test)
    losses = or_infinity(carry_on(to_numpy(setting.execute(plan)[0].shrunk_loss)))[:, :, 0]
    losses, _, _ = at_best(losses.reshape(len(losses), len(allowed), len(learns), -1))
    rises = np.full((n_gates, len(learns)), np.nan)
    with np.errstate(invalid="ignore"):  # where both diverged
        rises[:MOST_REFITS] = (losses - losses[0])[1:]
    return rises


def _of_gates(found: Found, gates: np.ndarray) -> Setting:
    """Return the chosen network's setting with some of the gates alone, numbered anew."""
    setting = found.setting.with_linear(found.recipe.linear)
    device = setting.weights.device
    number = torch.full((setting.design.n_gates,), -1, device=device)
    number[torch.from_numpy(gates).to(device)] = torch.arange(len(gates), device=device)
    design = setting.design.narrow(number >= 0)
    assert design.gate_of is not None  # a narrowed design numbers its gates
    return replace(
        setting,
        design=replace(design, gate_of=number[design.gate_of], n_gates=len(gates)),
        costs=setting.costs[gates],
        fixed=setting.fixed[gates],
        callbacks=(),
    )


def find_stand_ins(
    X: Any, support: np.ndarray, gate_of: np.ndarray, opened: np.ndarray
) -> list[np.ndarray]:
    """Return for every selected feature the closed ones that could stand for it, most alike first.

    Those are columns of absolute correlation 0.7 with it, or of 0.3 where some fold opened them and not it.

    Parameters
    ----------
    X : ndarray or csr_array, shape (n_samples, n_features)
    support : ndarray of bool, shape (n_features,)
    gate_of : ndarray of int, shape (n_features,)
    opened : ndarray of bool, shape (n_folds, n_gates)
    """
    selected = np.flatnonzero(support)
    found = []
    for feature, alike in zip(selected, correlations(X, selected).T, strict=True):
        instead = (opened & ~opened[:, [gate_of[feature]]]).any(axis=0)[gate_of]
        able = np.flatnonzero(~support & ((alike >= ALIKE) | instead & (alike >= RELATED)))
        found.append(able[np.argsort(-alike[able], kind="stable")][:MOST_STAND_INS])
    return found


def correlations(X: Any, selected: np.ndarray) -> np.ndarray:
    """Return the absolute correlation of all columns with some, shape (n_features, n_selected).

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.explain.leave_one_out import correlations
    >>> correlations(np.array([[0.0, 3.0, 1.0], [1.0, 1.0, 1.0], [2.0, -1.0, 1.0]]), [0]).round(3).T
    array([[1., 1., 0.]])
    """
    chosen = X[:, selected]
    chosen = (chosen.toarray() if sparse.issparse(X) else chosen).astype(np.float64)
    chosen -= chosen.mean(axis=0)
    if sparse.issparse(X):
        mean, variance = mean_variance_axis(X, axis=0)
    else:
        mean, variance = X.mean(axis=0, dtype=np.float64), X.var(axis=0, dtype=np.float64)
    size = np.sqrt(variance * X.shape[0])  # of each column once its mean is taken off
    varies = size > 1e-7 * np.sqrt(X.shape[0]) * np.abs(mean)
    scale = np.divide(1.0, size, where=varies, out=np.zeros_like(size))
    return np.abs(X.T @ chosen) * scale[:, None] * scale[selected]
