"""A second look: features that the residuals on held-out rows still depend on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.stats import norm
from torch import Tensor

from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.recipe import Recipe
from stochgate.choice.residuals import correlation_z, cut, quantile_z
from stochgate.choice.sets.losses import at_best, held_out_losses
from stochgate.problem.problem import Problem
from stochgate.problem.rows import LEARNS


@dataclass(frozen=True, kw_only=True)
class JudgedRecipe:
    """A network, a recipe, and the folds' mean held-out loss.

    Attributes
    ----------
    network : int
        Position of the network whose recipe it is.
    recipe : Recipe
    loss : float
        NaN until the second look has judged it.
    """

    network: int
    recipe: Recipe
    loss: float = float("nan")

    def judge(self, problems: Sequence[Problem], folds: np.ndarray) -> "JudgedRecipe":
        """Return it with step, shrink and loss of the best snapshot."""
        problem = problems[self.network]
        weights, test = problem.fold_weights(folds)
        trained, _ = replace(self.recipe, last_step=None).train(problem, weights, test)
        losses, snapshot, shrink = at_best(held_out_losses(trained)[:, None, :, 0])
        step, factor = int(trained.steps[snapshot[0]]), trained.models.plan.shrinks[shrink[0]]
        recipe = replace(self.recipe, last_step=step, shrink=factor)
        return replace(self, recipe=recipe, loss=float(losses.mean()))


def look_again(
    problems: Sequence[Problem], chosen: JudgedRecipe, folds: np.ndarray
) -> tuple[JudgedRecipe, np.ndarray]:
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
    problems : sequence of Problem, one per network
        Columns are asked as they are in the first one.
    chosen : JudgedRecipe
    folds : ndarray, shape (n_folds, n_samples), from `make_folds`

    Returns
    -------
    recipe : JudgedRecipe
        With the features that were added, and a loss where there are any.
    frequency : ndarray, shape (n_gates,)
        For the features added, the share of folds without whose rows they are found too (at least that of
        one fold); 0 for all others.
    """
    frequency, now = np.zeros(len(chosen.recipe.support)), chosen
    part = None if problems[chosen.network].network.is_linear else cut(problems[0].design)
    for _ in range(DEFAULTS.n_looks):
        residual, support = _held_out_residual(problems[now.network], now.recipe, folds), now.recipe.support
        added = _tell_more(problems[0], residual, support, folds, part)
        if not added.any():
            break
        larger = _with_added(problems, now, added, folds)
        if larger is None:
            break
        learning = torch.from_numpy(folds == LEARNS).to(residual)
        without = [_tell_more(problems[0], residual * f[:, None], support, folds, part) for f in learning]
        frequency = np.where(added, np.mean(without, axis=0).clip(1 / len(folds)), frequency)
        now = larger
    return now, frequency


def _tell_more(
    problem: Problem, residual: Tensor, support: np.ndarray, folds: np.ndarray, part: np.ndarray | None
) -> np.ndarray:
    """Return the gates outside a support that tell more of residuals than chance, at a familywise level."""
    z = correlation_z(problem, residual, support, folds)
    if part is not None:
        z = np.maximum(z, quantile_z(problem, residual, support, folds, part))
    n = problem.design.columns.n_columns * residual.shape[1] * (1 if part is None else 2)
    return z > norm.isf(DEFAULTS.look_level / 2 / n)


def smallest_p(problem: Problem, recipe: Recipe, folds: np.ndarray) -> float:
    """Return the smallest p-value of a single column given a recipe's, times how many were asked for.

    Each column is asked of each output.

    Parameters
    ----------
    problem : Problem
    recipe : Recipe
    folds : ndarray, shape (n_folds, n_samples), from `make_folds`
    """
    residual = _held_out_residual(problem, recipe, folds)
    z = correlation_z(problem, residual, recipe.support, folds).max()
    n_asked = problem.design.columns.n_columns * residual.shape[1]
    return float(np.nan_to_num(2 * norm.sf(z) * n_asked, nan=1.0).clip(max=1))


def _held_out_residual(problem: Problem, recipe: Recipe, folds: np.ndarray) -> Tensor:
    """Return minus the gradient of each row's loss where it was held out, (n_samples, n_outputs)."""
    weights, test = problem.fold_weights(folds)
    trained, design = recipe.train(problem, weights, test)
    teams = trained.models.teams(design, problem.target)
    output = teams.shrunk(recipe.shrink).detach().requires_grad_()
    loss = problem.objective.loss(output, problem.target.rows, test, teams.learned)
    (gradient,) = torch.autograd.grad(loss.sum(), output)
    return -gradient.sum(0).double()


def _with_added(
    problems: Sequence[Problem], now: JudgedRecipe, added: np.ndarray, folds: np.ndarray
) -> JudgedRecipe | None:
    """Return the best recipe with some features added, None where one without them is as good.

    They enter linearly, or through the hidden layers, of this network or of another, which must then be
    better than it is without them, too.
    """
    own, recipe = problems[now.network].network, now.recipe
    deep = replace(recipe, support=recipe.support | added)
    with_added = [replace(now, recipe=deep)]
    if own.with_linear([]) is not None:
        with_added.append(replace(now, recipe=replace(deep, linear=recipe.linear | added)))
    deeper = [] if own.is_linear else [i for i, p in enumerate(problems) if not p.network.is_linear]
    others = [i for i in deeper if i != now.network]
    plain = replace(recipe, linear=np.zeros_like(added), lam=None)
    with_added += [
        JudgedRecipe(network=other, recipe=replace(plain, support=deep.support)) for other in others
    ]
    bar = now.judge(problems, folds).loss if np.isnan(now.loss) else now.loss
    best = min((each.judge(problems, folds) for each in with_added), key=lambda each: each.loss)
    without = (JudgedRecipe(network=other, recipe=plain).judge(problems, folds).loss for other in others)
    return best if best.loss < bar and all(best.loss < loss for loss in without) else None
