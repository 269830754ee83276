"""Which columns residuals still depend on: by their slope, or by the means in their quantiles."""

import numpy as np
import torch
from scipy.stats import chi2, norm, rankdata
from torch import Tensor

from stochgate.choice.defaults import DEFAULTS
from stochgate.engine import DenseColumns, Design
from stochgate.problem.problem import Problem, to_numpy
from stochgate.problem.rows import JUDGES


def correlation_z(problem: Problem, residual: Tensor, support: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """Return for each gate outside the support the largest |z| of its columns, shape (n_gates,).

    Parameters
    ----------
    problem : Problem
    residual : Tensor, shape (n_samples, n_outputs)
    support : ndarray of bool, shape (n_gates,)
    folds : ndarray, shape (n_folds, n_samples), from `make_folds`
    """
    columns = problem.design.columns
    residual, basis = _freed(problem, residual, support, folds)
    onto = columns.project(torch.cat([residual, basis], dim=1).to(columns.dtype)).double()
    product, shadow = onto[:, : residual.shape[1]], onto[:, residual.shape[1] :]
    left = (columns.squares().double() - shadow.square().sum(1)).clamp_min(0)  # |x|^2 outside the basis
    n_free = max(1, len(residual) - basis.shape[1])
    size = (left[:, None] * residual.double().square().sum(0) / n_free).sqrt()  # (n_columns, n_outputs)
    varies = left > 1e-6 * columns.squares().double()
    z = torch.where(varies[:, None], product.abs() / size.clamp_min(1e-300), 0).amax(1)
    return np.where(support, 0.0, _largest(problem.design, z))


def cut(design: Design) -> np.ndarray | None:
    """Return in which part of its column each value lies, int8 of shape (n_samples, n_columns).

    Equal values are in one part. None where that is not asked: of few rows, sparse columns, or very many
    numbers.
    """
    columns = design.columns
    n_parts = min(DEFAULTS.n_quantiles, columns.n_samples // DEFAULTS.rows_per_quantile)
    many = columns.n_samples * columns.n_columns > DEFAULTS.most_numbers
    if (
        not isinstance(columns, DenseColumns)
        or columns.was_sparse
        or n_parts < DEFAULTS.fewest_quantiles
        or many
    ):
        return None
    X = columns.dense().cpu().numpy()
    return ((rankdata(X, axis=0) - 0.5) / len(X) * n_parts).astype(np.int8)


def quantile_z(
    problem: Problem, residual: Tensor, support: np.ndarray, folds: np.ndarray, part: np.ndarray
) -> np.ndarray:
    r"""Return for each gate outside the support how its columns' quantiles differ, shape (n_gates,).

    With S_b the sum of the n_b residuals in part b, :math:`\sum_b S_b^2 / n_b`, divided by their variance,
    is chi-squared with one degree of freedom less than parts. Parts of few rows, as equal values leave, are
    not counted. The residuals are freed of the selected columns' parts too, lest their copies tell what
    the network has not learnt of them; of many selected columns nothing is asked, and all are 0. The |z| of
    the same p-value is returned.

    Parameters
    ----------
    problem, residual, support, folds : as in `correlation_z`
    part : from `cut`
    """
    gate_of_column = problem.design.gate_of_column().cpu().numpy()
    known = part[:, support[gate_of_column]]
    parts = [known == number for number in range(1, part.max() + 1)]
    if len(parts) * known.shape[1] > DEFAULTS.most_known * len(part):
        return np.zeros(len(support))
    free, basis = _freed(problem, residual, support, folds, np.hstack(parts))
    judged = (folds == JUDGES).any(axis=0)
    r, part = to_numpy(free)[judged], part[judged]
    variance = (r**2).sum(axis=0) / max(1, len(r) - basis.shape[1])
    between = np.zeros((part.shape[1], r.shape[1]))
    n_parts, n_rows = np.zeros(part.shape[1]), np.zeros(part.shape[1])
    for number in range(part.max() + 1):
        inside = part == number
        n = inside.sum(axis=0)
        enough = n >= DEFAULTS.rows_per_quantile / 2
        between += np.where(enough[:, None], (inside.T @ r) ** 2 / np.maximum(n, 1)[:, None], 0)
        n_parts, n_rows = n_parts + enough, n_rows + enough * n
    freedom = n_parts - (n_rows == len(r))
    p = chi2.sf(between / np.maximum(variance, 1e-300), np.maximum(freedom, 1)[:, None])
    z = np.where(n_parts > 1, norm.isf(p / 2).max(axis=1), 0.0)
    return np.where(support, 0.0, _largest(problem.design, torch.from_numpy(z)))


def _freed(
    problem: Problem,
    residual: Tensor,
    support: np.ndarray,
    folds: np.ndarray,
    others: np.ndarray | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the residuals freed of the folds' means, the selected columns and others; a basis of these."""
    device = problem.design.columns.device
    selected = problem.design.narrow(torch.from_numpy(support).to(device)).columns.dense()
    judges = torch.from_numpy(folds == JUDGES).to(residual).T  # (n_samples, n_folds)
    known = [judges, selected.to(residual)]
    if others is not None:
        known.append(torch.from_numpy(others).to(residual))
    basis, _ = torch.linalg.qr(torch.cat(known, dim=1))
    return residual - basis @ (basis.T @ residual), basis


def _largest(design: Design, z: Tensor) -> np.ndarray:
    """Return the largest z of each gate's columns."""
    of_gate = torch.zeros(design.n_gates, dtype=z.dtype, device=z.device)
    return to_numpy(of_gate.scatter_reduce(0, design.gate_of_column().to(z.device), z, "amax"))
