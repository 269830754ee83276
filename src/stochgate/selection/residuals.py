"""A second look: features that the residuals on held-out rows still depend on."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.stats import norm
from torch import Tensor

from stochgate.selection.folds import JUDGES, LEARNS
from stochgate.selection.setting import Recipe, Setting, at_best, or_infinity, to_numpy

LEVEL = 0.01  # the chance that a look adds anything when there is nothing left
MAX_LOOKS = 3


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
    """

    recipe: Recipe
    frequency: np.ndarray
    loss: float | None = None


def look_again(setting: Setting, recipe: Recipe, learns: np.ndarray) -> Looked:
    r"""Add the features whose columns correlate with the residuals of held-out rows.

    The gates weigh what a feature gains against the penalty and the noise of all other gates, so a weak
    effect beside strong ones stays closed. But the residuals on held-out rows,
    :math:`r_i = -\partial \ell_i / \partial f_i`, are free of the strong ones, and a feature that has
    nothing to do with y given the selected ones is uncorrelated with them: with r and x freed of the folds'
    means and of the selected columns, :math:`x^T r / (|x| |r| / \sqrt{n})` is standard normal, where n
    rows less one for each of these count.
    Features are added where its p-value, times the number of columns, is below 0.01, unless the folds'
    held-out loss is higher with them.

    An added feature enters linearly, as it was found, unless the folds' held-out loss is lower when it goes
    through the hidden layers.

    Parameters
    ----------
    setting : Setting
    recipe : Recipe
    learns : ndarray, shape (n_folds, n_samples), as of `make_folds`
    """
    frequency, loss = np.zeros(len(recipe.support)), None
    for _ in range(MAX_LOOKS):
        residual = _held_out_residual(setting, recipe, learns)
        z = correlation_z(setting, residual, recipe.support, learns)
        critical = norm.isf(LEVEL / 2 / setting.design.columns.n_columns / residual.shape[1])
        added = z > critical
        if not added.any():
            break
        learning = torch.from_numpy(learns == LEARNS).to(residual)
        without = [
            correlation_z(setting, residual * fold[:, None], recipe.support, learns) for fold in learning
        ]
        share = (np.array(without) > critical).mean(axis=0).clip(1 / len(learns))
        larger, judged = _with_added(setting, recipe, added, learns)
        if larger is recipe:
            break
        frequency, recipe, loss = np.where(added, share, frequency), larger, judged
    return Looked(recipe, frequency, loss)


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
    selected = setting.design.narrow(torch.from_numpy(support).to(columns.device)).columns.dense()
    folds = torch.from_numpy(learns == JUDGES).to(residual).T  # (n_samples, n_folds)
    basis, _ = torch.linalg.qr(torch.cat([folds, selected.to(residual)], dim=1))
    residual = residual - basis @ (basis.T @ residual)
    onto = columns.project(torch.cat([residual, basis], dim=1).to(columns.dtype)).double()
    product, shadow = onto[:, : residual.shape[1]], onto[:, residual.shape[1] :]
    left = (columns.squares().double() - shadow.square().sum(1)).clamp_min(0)  # |x|^2 outside the basis
    n_free = max(1, len(residual) - basis.shape[1])
    size = (left[:, None] * residual.double().square().sum(0) / n_free).sqrt()  # (n_columns, n_outputs)
    varies = left > 1e-6 * columns.squares().double()
    z = torch.where(varies[:, None], product.abs() / size.clamp_min(1e-300), 0).amax(1)
    of_gate = torch.zeros(setting.design.n_gates, dtype=z.dtype, device=z.device)
    of_gate = of_gate.scatter_reduce(0, setting.design.gate_of_column(), z, "amax")
    return np.where(support, 0.0, to_numpy(of_gate))


def _held_out_residual(setting: Setting, recipe: Recipe, learns: np.ndarray) -> Tensor:
    """Return minus the gradient of each row's loss where it was held out, (n_samples, n_outputs)."""
    weights, test = setting.fold_weights(learns)
    trained, design = recipe.train(setting, weights, test)
    teams = trained.models.teams(design, setting.target)
    output = teams.shrunk(recipe.shrink).detach().requires_grad_()
    loss = setting.objective.loss(output, setting.target.rows, test, teams.learned)
    (gradient,) = torch.autograd.grad(loss.sum(), output)
    return -gradient.sum(0).double()


def _with_added(
    setting: Setting, recipe: Recipe, added: np.ndarray, learns: np.ndarray
) -> tuple[Recipe, float]:
    """Return the recipe with more features and its loss: linear, or through the hidden layers if better.

    Where both raise the held-out loss the recipe stays as it is.
    """
    deep = replace(recipe, support=recipe.support | added)
    ways = [recipe, deep]
    if setting.network.with_linear([]) is not None:
        ways.append(replace(deep, linear=recipe.linear | added))
    weights, test = setting.fold_weights(learns)
    best: list[tuple[float, Recipe]] = []
    for way in ways:
        trained, _ = replace(way, last_step=None).train(setting, weights, test)
        losses, snapshot, shrink = at_best(or_infinity(trained.shrunk_loss)[:, None, :, 0])
        step, factor = int(trained.steps[snapshot[0]]), trained.models.plan.shrinks[shrink[0]]
        best.append((float(losses.mean()), replace(way, last_step=step, shrink=factor)))
    loss, found = min(best, key=lambda judged: judged[0])
    return (recipe if loss == best[0][0] else found), loss
