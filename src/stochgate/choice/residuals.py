"""What residuals on held-out rows still depend on: columns as lines or curves, and pairs of columns."""

from dataclasses import dataclass

import numpy as np
import torch
from scipy.stats import norm
from torch import Tensor

from stochgate.choice.bank import Bank, as_z
from stochgate.choice.defaults import DEFAULTS
from stochgate.engine import Design
from stochgate.problem.problem import Problem, to_numpy
from stochgate.problem.rows import JUDGES


@dataclass(frozen=True)
class Left:
    """What residuals still depend on beside a support.

    Attributes
    ----------
    alone : ndarray of bool, shape (n_gates,)
        Gates with a column that tells something, as a line or as a curve.
    bent : bool
        Whether one of them tells it as a curve alone.
    paired : ndarray of bool, shape (n_gates,)
        Gates of two columns that tell something together.
    pairs : Tensor of int, shape (n_pairs, 2)
        These columns.
    surely : ndarray, shape (n_gates,)
        1 less the p-value of each gate's strongest line or curve times the number of questions; at least 0.
    """

    alone: np.ndarray
    bent: bool
    paired: np.ndarray
    pairs: Tensor
    surely: np.ndarray

    @property
    def gates(self) -> np.ndarray:
        """All of these gates."""
        return self.alone | self.paired


def find_left(
    problem: Problem, bank: Bank, residual: Tensor, support: np.ndarray, folds: np.ndarray
) -> Left:
    """Return what residuals depend on at a familywise level, outside a support.

    Parameters
    ----------
    problem : Problem
        Of a network that takes the columns as they are.
    bank : Bank
        Of these columns.
    residual : Tensor, shape (n_samples, n_outputs)
    support : ndarray of bool, shape (n_gates,)
    folds : ndarray, shape (n_folds, n_samples), from `make_folds`
    """
    surely = how_surely(problem, bank, residual, support, folds)
    alone = clearly(surely)
    if not _asks_curves(bank, support):
        return Left(alone, False, np.zeros_like(alone), torch.zeros(0, 2).long(), surely)
    level = norm.isf(DEFAULTS.look_level / 4 / bank.n_columns / residual.shape[1])
    bent = bool((alone & (line_z(problem, residual, support, folds) <= level)).any())
    free, _ = _freed(problem, residual, support, folds, bank)
    pairs, paired = find_pairs(bank, torch.where((residual != 0).any(1, keepdim=True), free, 0), support)
    return Left(alone, bent, paired, pairs, surely)


def how_surely(
    problem: Problem, bank: Bank, residual: Tensor, support: np.ndarray, folds: np.ndarray
) -> np.ndarray:
    """Return `Left.surely`, shape (n_gates,); parameters as in `find_left`."""
    z, n_asked = line_z(problem, residual, support, folds), bank.n_columns * residual.shape[1]
    if _asks_curves(bank, support):
        z = np.maximum(z, curve_z(problem, bank, residual, support, folds))
        n_asked *= 2
    return np.clip(1 - 2 * norm.sf(z) * n_asked, 0, 1)


def clearly(surely: np.ndarray) -> np.ndarray:
    """Return which gates tell something at the familywise level."""
    return surely > 1 - DEFAULTS.look_level


def find_pairs(bank: Bank, residual: Tensor, support: np.ndarray) -> tuple[Tensor, np.ndarray]:
    """Return pairs of columns that clearly tell something, not both of a support, and their new gates."""
    known = torch.from_numpy(support).to(bank.gate_of.device)[bank.gate_of]
    found, paired = bank.pairs(residual, DEFAULTS.n_pairs_asked), np.zeros_like(support)
    if found is None:
        return torch.zeros(0, 2).long(), paired
    pairs = found.columns[found.clear & ~known[found.columns].all(1)][: DEFAULTS.n_pairs]
    paired[to_gates(bank, pairs)] = True
    return pairs, paired & ~support


def still_found(bank: Bank, residual: Tensor, pairs: Tensor, n_gates: int) -> np.ndarray:
    """Return which gates some pairs of columns still have that tell of residuals, shape (n_gates,)."""
    gates = np.zeros(n_gates, dtype=bool)
    if len(pairs):
        alone = bank.alone(pairs, residual)
        gates[to_gates(bank, pairs[alone > norm.isf(DEFAULTS.look_level / 2 / len(pairs))])] = True
    return gates


def to_gates(bank: Bank, columns: Tensor) -> np.ndarray:
    """Return the gates of some columns, each once."""
    return np.unique(bank.gate_of[columns.to(bank.gate_of.device)].cpu().numpy())


def line_z(problem: Problem, residual: Tensor, support: np.ndarray, folds: np.ndarray) -> np.ndarray:
    """Return for each gate outside the support the largest |z| of its columns, shape (n_gates,).

    Parameters
    ----------
    problem, residual, support, folds : as in `find_left`
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


def curve_z(
    problem: Problem, bank: Bank, residual: Tensor, support: np.ndarray, folds: np.ndarray
) -> np.ndarray:
    """Return for each gate outside the support the largest |z| of its columns' curves, shape (n_gates,).

    The residuals are freed of the curves of the selected columns too, lest their copies tell what the
    network has not learnt of them. The |z| is that of the p-value of chi-squared.

    Parameters
    ----------
    problem, bank, residual, support, folds : as in `find_left`
    """
    residual, basis = _freed(problem, residual, support, folds, bank)
    n_free = max(1, len(residual) - basis.shape[1])
    unit = residual * (n_free / residual.square().sum(0).clamp_min(1e-300)).sqrt()
    found = [np.zeros(0)]
    for part in bank.parts():
        curves = bank.curves(part).to(residual)
        left = curves.square().sum(0) - torch.tensordot(basis, curves, dims=([0], [0])).square().sum(0)
        asked = left > 0.05 * len(residual)
        told = torch.tensordot(curves, unit, dims=([0], [0])).square() / left.clamp_min(1).unsqueeze(2)
        scores = torch.where(asked.unsqueeze(2), told, 0).sum(1).amax(1)
        found.append(as_z(scores, asked.sum(1).clamp_min(1).cpu().numpy()))
    z = torch.from_numpy(np.concatenate(found))
    return np.where(support, 0.0, _largest(problem.design, z))


def _asks_curves(bank: Bank, support: np.ndarray) -> bool:
    """Return whether curves are asked for: not of few rows, nor beside very many selected columns."""
    n_known = int(support[bank.gate_of.cpu().numpy()].sum())
    return (
        bank.has_curves
        and bank.n_samples >= DEFAULTS.fewest_rows_of_curves
        and 4 * n_known <= DEFAULTS.most_known * bank.n_samples
    )


def _freed(
    problem: Problem,
    residual: Tensor,
    support: np.ndarray,
    folds: np.ndarray,
    bank: Bank | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the residuals freed of the folds' means and the selected columns, and a basis of these.

    With a bank they are freed of the selected columns' curves, too.
    """
    device = problem.design.columns.device
    chosen = torch.from_numpy(support).to(device)
    selected = problem.design.narrow(chosen).columns.dense()
    judges = torch.from_numpy(folds == JUDGES).to(residual).T  # (n_samples, n_folds)
    known = [judges, selected.to(residual)]
    if bank is not None:
        columns = torch.nonzero(chosen[bank.gate_of])[:, 0]
        known.append(bank.curves(columns).to(residual).flatten(1))
    basis = _independent(torch.cat(known, dim=1))
    return residual - basis @ (basis.T @ residual), basis


def _independent(columns: Tensor) -> Tensor:
    """Return an orthonormal basis of what columns span, some of which may depend on those before them."""
    basis, left = torch.linalg.qr(columns)
    size = columns.square().sum(0).sqrt()[: basis.shape[1]]
    return basis[:, left.diagonal().abs() > 1e-5 * size]


def _largest(design: Design, z: Tensor) -> np.ndarray:
    """Return the largest z of each gate's columns."""
    of_gate = torch.zeros(design.n_gates, dtype=z.dtype, device=z.device)
    return to_numpy(of_gate.scatter_reduce(0, design.gate_of_column().to(z.device), z, "amax"))
