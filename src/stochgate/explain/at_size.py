"""The model at another number of features or another penalty than the chosen ones."""

from dataclasses import replace

import numpy as np

from stochgate.choice.exact_k import refuse_impossible_number
from stochgate.choice.final import Choice, FinalModel, train_final
from stochgate.choice.recipe import Recipe, make_recipe
from stochgate.choice.rows import with_fewer_rows
from stochgate.choice.sets.cells import REFITS


def at_size(choice: Choice, k: int) -> tuple[FinalModel, str]:
    """Return a model of exactly k gates, and how it was made.

    The sets are nested: the chosen gates come first, then the others, as the ranking that the choice found
    best has them. Each is trained as the refit of nearest size was.

    Parameters
    ----------
    choice : Choice
    k : int
    """
    refuse_impossible_number(choice.problem, k)
    support, lam = choice.problem.gates.keep, choice.lam
    if choice.ranking is not None:
        support = choice.ranking.sets([k - choice.ranking.n_kept])[0, 0]
        lam = float(choice.ranking.lams[k - 1])
    refits = [c for c in choice.candidates if c.cells.stage in REFITS]
    nearest = min(refits, key=lambda c: (abs(c.n_features - k), c.loss), default=None)
    none = np.zeros_like(support)
    like = choice.recipe if nearest is None else make_recipe(nearest, none)
    recipe = Recipe(support=support, linear=none, last_step=like.last_step, shrink=like.shrink)
    changed = replace(choice.changed(recipe, lam, nearest), gate_history=choice.gate_history)
    return train_final(changed), f"refit on the {k} gates that rank first"


def on_all_columns(choice: Choice) -> FinalModel | None:
    """Return the best model on all columns that the choice has judged, None where there was none."""
    if choice.reference is None:
        return None
    network, recipe = choice.reference
    problems = {network: choice.comparison.problem(network)}
    comparison = replace(choice.comparison, problems=problems)
    changed = choice.changed(recipe, choice.lam, None)
    return train_final(replace(changed, network=network, comparison=comparison))


def at_penalty(choice: Choice, lam: float) -> tuple[FinalModel, str]:
    """Return a model at a penalty, and how it was made.

    Parameters
    ----------
    choice : Choice
    lam : float
        One of the path's gives a model on the features its folds agree on at their last step, another one a
        model of free gates.
    """
    keep = choice.problem.gates.keep
    on_path = [c for c in choice.candidates if c.cells.stage == "path"]
    same = [c for c in on_path if np.isclose(c.cells.lams[c.cell], lam, rtol=1e-6)]
    if same:
        support = same[0].settled | keep
        recipe = Recipe(support=support, linear=np.zeros_like(keep), lam=lam)
        if not support.any():
            recipe = make_recipe(None, keep)
        model = train_final(choice.changed(recipe, lam, same[0]))
        return model, f"trained on what the folds agree on at lam={lam:g}"
    return _free_gates(choice, lam), f"one model trained at lam={lam:g}, off the path"


def _free_gates(choice: Choice, lam: float) -> FinalModel:
    """Return a model of free gates at a penalty that is not on the path."""
    problem = choice.problem
    plan = problem.plan(lam, problem.seed, problem.weights[None], problem.fixed[None])
    trained, design = problem.execute(with_fewer_rows(plan))
    on_path = [c for c in choice.candidates if c.cells.stage == "path"]
    nearest = min(on_path, key=lambda c: abs(np.log(c.cells.lams[c.cell] / max(lam, 1e-12))), default=None)
    opened = (trained.models.gates()[0] > 0).cpu().numpy()
    recipe = Recipe(support=opened, linear=np.zeros_like(opened), lam=lam)
    changed = choice.changed(recipe, lam, nearest)
    return FinalModel(trained=trained, design=design, problem=problem, lam=lam, choice=changed)
