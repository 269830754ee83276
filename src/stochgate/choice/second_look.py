"""A second look: features that the residuals on held-out rows still depend on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.stats import chi2, norm, rankdata
from torch import Tensor

from stochgate.engine import DenseColumns, Design
from stochgate.problem.rows import JUDGES, LEARNS
from stochgate.problem.setting import Recipe, Setting, at_best, carry_on, or_infinity, to_numpy

LEVEL = 0.01  # the chance that a look adds anything when there is nothing left
MAX_LOOKS = 3
N_QUANTILES = 8  # parts of a column whose residuals' means are compared,
ROWS_EACH = 40  # of at least so many rows each, or fewer parts
FEWEST_QUANTILES = 4
MOST_KNOWN = 0.25  # parts of selected columns that residuals are freed of, as a share of the rows
MOST_NUMBERS = 2e7  # in the columns that are cut


@dataclass(frozen=True)
class Looked:
    """What the second look leaves.

    Attributes
    ----------
    recipe : Recipe
        With the features that were added.
    frequency : ndarray, shape (n_gates,)
        For the features added, the share of folds without whose rows they are found too (at least that of
        one fold); 0 for all others.
    loss : float or None
        Mean held-out loss with the features that were added; None where there are none.
    network : int
        Position of the setting whose network is trained.
    """

    recipe: Recipe
    frequency: np.ndarray
    loss: float | None = None
    network: int = 0


def look_again(settings: Sequence[Setting], network: int, recipe: Recipe, learns: np.ndarray) -> Looked:
    r"""Add the features that the residuals of held-out rows still depend on.

    The gates weigh what a feature gains against the penalty and the noise of all other gates, so a weak
    effect beside strong ones stays closed. But the residuals on held-out rows,
    :math:`r_i = -\partial \ell_i / \partial f_i`, are free of the strong ones, and a feature that has
    nothing to do with y given the selected ones is uncorrelated with them: with r and x freed of the folds'
    means and of the selected columns, :math:`x^T r / (|x| |r| / \sqrt{n})` is standard normal, where n
    rows less one for each of these count.
    Where the network is not linear a second question is asked of each column: whether the means of r in its
    quantiles differ, as those of a ring do.
    Features are added where a p-value, times the number of questions, is below 0.01, unless the folds'
    held-out loss is higher with them.

    An added feature enters linearly, unless the folds' held-out loss is lower when it goes through the
    hidden layers, of this network or of another that is not linear, and that other one needs it too.

    Parameters
    ----------
    settings : sequence of Setting, one a network
        Columns are asked as they are in the first one.
    network : int
        Whose recipe it is.
    recipe : Recipe
    learns : ndarray, shape (n_folds, n_samples), as of `make_folds`
    """
    frequency, now = np.zeros(len(recipe.support)), _Way(network, recipe)
    part = None if settings[network].network.is_linear else cut(settings[0].design)
    for _ in range(MAX_LOOKS):
        residual = _held_out_residual(settings[now.network], now.recipe, learns)
        questions = _Questions(settings[0], now.recipe.support, learns, part)
        added = questions.answer(residual)
        if not added.any():
            break
        larger = _with_added(settings, now, added, learns)
        if larger is None:
            break
        learning = torch.from_numpy(learns == LEARNS).to(residual)
        without = [questions.answer(residual * fold[:, None]) for fold in learning]
        frequency = np.where(added, np.mean(without, axis=0).clip(1 / len(learns)), frequency)
        now = larger
    return Looked(now.recipe, frequency, None if np.isnan(now.loss) else now.loss, now.network)


@dataclass(frozen=True)
class _Questions:
    """What is asked of residuals: which features outside a support they depend on."""

    setting: Setting
    support: np.ndarray
    learns: np.ndarray
    part: np.ndarray | None

    def answer(self, residual: Tensor) -> np.ndarray:
        """Return the gates that tell more than chance, at a familywise level."""
        z = correlation_z(self.setting, residual, self.support, self.learns)
        if self.part is not None:
            z = np.maximum(z, quantile_z(self.setting, residual, self.support, self.learns, self.part))
        n = self.setting.design.columns.n_columns * residual.shape[1] * (1 if self.part is None else 2)
        return z > norm.isf(LEVEL / 2 / n)


def smallest_p(setting: Setting, recipe: Recipe, learns: np.ndarray) -> float:
    """Return the smallest p-value of a single column given a recipe's, times how many were asked for.

    Each column is asked of each output.

    Parameters
    ----------
    setting, recipe, learns : as in `look_again`
    """
    residual = _held_out_residual(setting, recipe, learns)
    z = correlation_z(setting, residual, recipe.support, learns).max()
    n_asked = setting.design.columns.n_columns * residual.shape[1]
    return float(np.nan_to_num(2 * norm.sf(z) * n_asked, nan=1.0).clip(max=1))


def correlation_z(
    setting: Setting, residual: Tensor, support: np.ndarray, learns: np.ndarray
) -> np.ndarray:
    """Return for each gate outside the support the largest |z| of its columns, shape (n_gates,).

    Parameters
    ----------
    setting : Setting
    residual : Tensor, shape (n_samples, n_outputs)
    support : ndarray of bool, shape (n_gates,)
    learns : ndarray, shape (n_folds, n_samples), as of `make_folds`
    """
    columns = setting.design.columns
    residual, basis = _freed(setting, residual, support, learns)
    onto = columns.project(torch.cat([residual, basis], dim=1).to(columns.dtype)).double()
    product, shadow = onto[:, : residual.shape[1]], onto[:, residual.shape[1] :]
    left = (columns.squares().double() - shadow.square().sum(1)).clamp_min(0)  # |x|^2 outside the basis
    n_free = max(1, len(residual) - basis.shape[1])
    size = (left[:, None] * residual.double().square().sum(0) / n_free).sqrt()  # (n_columns, n_outputs)
    varies = left > 1e-6 * columns.squares().double()
    z = torch.where(varies[:, None], product.abs() / size.clamp_min(1e-300), 0).amax(1)
    return np.where(support, 0.0, _largest(setting.design, z))


def cut(design: Design) -> np.ndarray | None:
    """Return in which part of its column each value lies, int8 of shape (n_samples, n_columns).

    Equal values are in one part. None where that is not asked: of few rows, sparse columns, or very many
    numbers.
    """
    columns = design.columns
    n_parts = min(N_QUANTILES, columns.n_samples // ROWS_EACH)
    many = columns.n_samples * columns.n_columns > MOST_NUMBERS
    if not isinstance(columns, DenseColumns) or columns.was_sparse or n_parts < FEWEST_QUANTILES or many:
        return None
    X = columns.dense().cpu().numpy()
    return ((rankdata(X, axis=0) - 0.5) / len(X) * n_parts).astype(np.int8)


def quantile_z(
    setting: Setting, residual: Tensor, support: np.ndarray, learns: np.ndarray, part: np.ndarray
) -> np.ndarray:
    r"""Return for each gate outside the support how its columns' quantiles differ, shape (n_gates,).

    With S_b the sum of the n_b residuals in part b, :math:`\sum_b S_b^2 / n_b`, divided by their variance,
    is chi-squared with one degree of freedom less than parts. Parts of few rows, as equal values leave, are
    not counted. The residuals are freed of the selected columns' parts too, lest their copies tell what
    the network has not learnt of them; of many selected columns nothing is asked, and all are 0. The |z| of
    the same p-value is returned.

    Parameters
    ----------
    setting, residual, support, learns : as in `correlation_z`
    part : from `cut`
    """
    gate_of_column = setting.design.gate_of_column().cpu().numpy()
    known = part[:, support[gate_of_column]]
    parts = [known == number for number in range(1, part.max() + 1)]
    if len(parts) * known.shape[1] > MOST_KNOWN * len(part):
        return np.zeros(len(support))
    free, basis = _freed(setting, residual, support, learns, np.hstack(parts))
    judged = (learns == JUDGES).any(axis=0)
    r, part = to_numpy(free)[judged], part[judged]
    variance = (r**2).sum(axis=0) / max(1, len(r) - basis.shape[1])
    between = np.zeros((part.shape[1], r.shape[1]))
    n_parts, n_rows = np.zeros(part.shape[1]), np.zeros(part.shape[1])
    for number in range(part.max() + 1):
        inside = part == number
        n = inside.sum(axis=0)
        enough = n >= ROWS_EACH / 2
        between += np.where(enough[:, None], (inside.T @ r) ** 2 / np.maximum(n, 1)[:, None], 0)
        n_parts, n_rows = n_parts + enough, n_rows + enough * n
    freedom = n_parts - (n_rows == len(r))
    p = chi2.sf(between / np.maximum(variance, 1e-300), np.maximum(freedom, 1)[:, None])
    z = np.where(n_parts > 1, norm.isf(p / 2).max(axis=1), 0.0)
    return np.where(support, 0.0, _largest(setting.design, torch.from_numpy(z)))


def _freed(
    setting: Setting,
    residual: Tensor,
    support: np.ndarray,
    learns: np.ndarray,
    others: np.ndarray | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the residuals freed of the folds' means, the selected columns and others; a basis of these."""
    device = setting.design.columns.device
    selected = setting.design.narrow(torch.from_numpy(support).to(device)).columns.dense()
    folds = torch.from_numpy(learns == JUDGES).to(residual).T  # (n_samples, n_folds)
    known = [folds, selected.to(residual)]
    if others is not None:
        known.append(torch.from_numpy(others).to(residual))
    basis, _ = torch.linalg.qr(torch.cat(known, dim=1))
    return residual - basis @ (basis.T @ residual), basis


def _largest(design: Design, z: Tensor) -> np.ndarray:
    """Return the largest z of each gate's columns."""
    of_gate = torch.zeros(design.n_gates, dtype=z.dtype, device=z.device)
    return to_numpy(of_gate.scatter_reduce(0, design.gate_of_column().to(z.device), z, "amax"))


def _held_out_residual(setting: Setting, recipe: Recipe, learns: np.ndarray) -> Tensor:
    """Return minus the gradient of each row's loss where it was held out, (n_samples, n_outputs)."""
    weights, test = setting.fold_weights(learns)
    trained, design = recipe.train(setting, weights, test)
    teams = trained.models.teams(design, setting.target)
    output = teams.shrunk(recipe.shrink).detach().requires_grad_()
    loss = setting.objective.loss(output, setting.target.rows, test, teams.learned)
    (gradient,) = torch.autograd.grad(loss.sum(), output)
    return -gradient.sum(0).double()


@dataclass(frozen=True)
class _Way:
    """A network, a recipe, and the folds' mean held-out loss, NaN until it is judged."""

    network: int
    recipe: Recipe
    loss: float = float("nan")

    def judged(self, settings: Sequence[Setting], learns: np.ndarray) -> "_Way":
        """Return it with step, shrink and loss of the best snapshot."""
        setting = settings[self.network]
        weights, test = setting.fold_weights(learns)
        trained, _ = replace(self.recipe, last_step=None).train(setting, weights, test)
        losses, snapshot, shrink = at_best(
            or_infinity(carry_on(to_numpy(trained.shrunk_loss)))[:, None, :, 0]
        )
        step, factor = int(trained.steps[snapshot[0]]), trained.models.plan.shrinks[shrink[0]]
        recipe = replace(self.recipe, last_step=step, shrink=factor)
        return replace(self, recipe=recipe, loss=float(losses.mean()))


def _with_added(
    settings: Sequence[Setting], now: _Way, added: np.ndarray, learns: np.ndarray
) -> _Way | None:
    """Return the best way to add features, None where one without them is as good.

    They enter linearly, or through the hidden layers, of this network or of another, which must then be
    better than it is without them, too.
    """
    own, recipe = settings[now.network].network, now.recipe
    deep = replace(recipe, support=recipe.support | added)
    ways = [replace(now, recipe=deep)]
    if own.with_linear([]) is not None:
        ways.append(replace(now, recipe=replace(deep, linear=recipe.linear | added)))
    deeper = [] if own.is_linear else [i for i, s in enumerate(settings) if not s.network.is_linear]
    others = [i for i in deeper if i != now.network]
    plain = replace(recipe, linear=np.zeros_like(added), lam=None)
    ways += [_Way(other, replace(plain, support=deep.support)) for other in others]
    bar = now.judged(settings, learns).loss if np.isnan(now.loss) else now.loss
    best = min((way.judged(settings, learns) for way in ways), key=lambda way: way.loss)
    without = (_Way(other, plain).judged(settings, learns).loss for other in others)
    return best if best.loss < bar and all(best.loss < loss for loss in without) else None
