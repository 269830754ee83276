"""A second look: features that the residuals on held-out rows still depend on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from stochgate.choice.bank import Bank
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.recipe import Recipe
from stochgate.choice.residuals import Left, clearly, find_left, how_surely, still_found
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


@dataclass(frozen=True)
class Looked:
    """What a second look found.

    Attributes
    ----------
    recipe : JudgedRecipe
        With the features that were added, and a loss where there are any.
    frequency : ndarray, shape (n_gates,)
        For the features added, the share of folds without whose rows they are found too (at least that of
        one fold); 0 for all others.
    surely : ndarray, shape (n_gates,)
        For all others, how surely residuals still depend on them (`Left`), though no model was better.
    """

    recipe: JudgedRecipe
    frequency: np.ndarray
    surely: np.ndarray

    @classmethod
    def nothing(cls, recipe: JudgedRecipe) -> "Looked":
        """Return what is known of a recipe before a look."""
        return cls(recipe, *np.zeros((2, len(recipe.recipe.support))))

    def importance(self, seen: np.ndarray) -> np.ndarray:
        """Return how much gates matter by what was seen of them, or by what residuals still depend on.

        None of the latter comes before a chosen one.
        """
        chosen = seen[self.recipe.recipe.support]
        return np.maximum(seen, np.minimum(self.surely / 2, chosen.min() if len(chosen) else 1))


def look_again(
    problems: Sequence[Problem], chosen: JudgedRecipe, folds: np.ndarray, bank: Bank
) -> "Looked":
    r"""Add the features that the residuals of held-out rows still depend on.

    The gates weigh what a feature gains against the penalty and the noise of all other gates, so a weak
    effect beside strong ones stays closed. But the residuals on held-out rows,
    :math:`r_i = -\partial \ell_i / \partial f_i`, are free of the strong ones, and a feature that has
    nothing to do with y given the selected ones is uncorrelated with them: with r and x freed of the folds'
    means and of the selected columns, :math:`x^T r / (|x| |r| / \sqrt{n})` is standard normal, where n
    rows less one for each of these count.
    Further questions are asked of dense columns: whether residuals depend on a smooth curve of a column, as
    they do beside a ring, and whether they depend on the product of two (`Bank`).
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
    bank : Bank
        Of the first network's columns.

    Returns
    -------
    Looked
    """
    frequency, surely = np.zeros((2, len(chosen.recipe.support)))
    now, first = chosen, problems[0]
    for _ in range(DEFAULTS.n_looks):
        residual, support = _held_out_residual(problems[now.network], now.recipe, folds), now.recipe.support
        left = find_left(first, bank, residual, support, folds)
        surely = left.surely
        if not left.gates.any():
            break
        larger = _with_added(problems, now, left, folds)
        if larger is None:
            break
        added, without = larger.recipe.support & ~support, np.zeros_like(frequency)
        for learns in torch.from_numpy(folds == LEARNS).to(residual):
            some = residual * learns[:, None]
            again = clearly(how_surely(first, bank, some, support, folds))
            without += again | still_found(bank, some, left.pairs, len(added))
        frequency = np.where(added, (without / len(folds)).clip(1 / len(folds)), frequency)
        now = larger
    return Looked(now, frequency, np.where(now.recipe.support, 0, surely))


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
    problems: Sequence[Problem], now: JudgedRecipe, left: Left, folds: np.ndarray
) -> JudgedRecipe | None:
    """Return the best recipe with some features added, None where one without them is as good.

    They enter linearly, or through the hidden layers, of this network or of another, which must then be
    better than it is without them, too. Those of pairs enter through hidden layers alone, and of a model
    without features or of a linear one another network may take the place, where pairs or curves ask for
    it, with what was chosen before or without it.
    """
    own, recipe, none = problems[now.network].network, now.recipe, np.zeros_like(left.alone)
    apart = left.alone.any() and (left.paired & ~left.alone).any()
    sets = [left.gates, left.alone, left.paired] if apart else [left.gates]
    plain = replace(recipe, linear=none, lam=None)
    others = []
    if not own.is_linear or left.bent or left.paired.any():
        others = [i for i, p in enumerate(problems) if i != now.network and not p.network.is_linear]
    with_added: list[JudgedRecipe] = []
    for added in sets:
        deep = replace(recipe, support=recipe.support | added)
        with_added.append(replace(now, recipe=deep))
        if own.with_linear([]) is not None:
            with_added.append(replace(now, recipe=replace(deep, linear=recipe.linear | added)))
        for support in (deep.support, added | problems[0].gates.keep):
            with_added += [
                JudgedRecipe(network=other, recipe=replace(plain, support=support)) for other in others
            ]
    bar = now.judge(problems, folds).loss if np.isnan(now.loss) else now.loss
    best = min((each.judge(problems, folds) for each in with_added), key=lambda each: each.loss)
    without = (JudgedRecipe(network=other, recipe=plain).judge(problems, folds).loss for other in others)
    return best if best.loss < bar and all(best.loss < loss for loss in without) else None
