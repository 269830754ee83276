"""What the selected features reach, and what all columns do, in the words people judge models by."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.final import Choice
from stochgate.choice.recipe import Recipe
from stochgate.choice.rows import with_fewer_rows
from stochgate.choice.sets.candidates import n_judging_all
from stochgate.choice.sets.refits import plan_refits, team_size
from stochgate.engine import CLOSED, OPEN
from stochgate.objectives.base import Learned
from stochgate.problem.problem import Problem


def held_out_scores(choice: Choice) -> dict[str, dict[str, float]]:
    """Return accuracy, R2 or Harrell's C on held-out rows, mean over the folds of the first round.

    What is told beside them comes after them.

    The models are trained as those that were judged: on each fold's own set, or with what the second look
    added. Like the losses, these scores flatter a little, since the choice was made on the same rows.

    Parameters
    ----------
    choice : Choice

    Returns
    -------
    dict of dict
        By the name of a score that of the selected features ("selected"), all columns ("all") and none
        ("none").
    """
    problem, first = choice.problem, choice.comparison.first
    none = _of_nothing(problem, first)
    selected = every = dict.fromkeys(none, np.nan)
    if choice.recipe.support.any():
        sets = choice.opened[: len(first)] | problem.gates.keep
        if choice.added or choice.recipe.lam is not None:
            sets = None
        selected = _of_recipe(problem, choice.recipe, first, sets)
    if choice.reference is not None:
        network, recipe = choice.reference
        n_judging = n_judging_all(len(recipe.support))
        every = _of_recipe(choice.comparison.problem(network), recipe, first, n_judging=n_judging)
    return {name: {"none": none[name], "selected": selected[name], "all": every[name]} for name in none}


def _of_recipe(
    problem: Problem,
    recipe: Recipe,
    folds: np.ndarray,
    sets: np.ndarray | None = None,
    n_judging: int = DEFAULTS.n_judging,
) -> dict[str, float]:
    """Return the mean scores of a recipe on the folds; of each fold's own set where sets are given."""
    problem = replace(problem, callbacks=())
    weights, test = problem.fold_weights(folds)
    n_members = team_size(problem, n_judging)
    if sets is None:
        trained, design = recipe.train(problem, weights, test, 1 if recipe.lam is not None else n_members)
    else:
        fixed = torch.from_numpy(np.where(sets, OPEN, CLOSED).astype(np.int8)).to(weights.device)
        seed = problem.seed + np.arange(len(folds))
        others: dict[str, Any] = {"test_weights": test, "last_step": recipe.last_step}
        plan = plan_refits(problem, seed, weights, fixed, n_members=n_members, **others)
        trained, design = problem.execute(with_fewer_rows(plan, DEFAULTS.rows_per_final_step))
    teams = trained.models.teams(design, problem.target)
    assert teams.test_weights is not None
    output = teams.shrunk(recipe.shrink)
    return _mean_scores(problem, output, teams.test_weights, teams.learned)


def _of_nothing(problem: Problem, folds: np.ndarray) -> dict[str, float]:
    weights, test = problem.fold_weights(folds)
    objective, rows = problem.objective, problem.target.rows
    learned = objective.learn(rows, weights)
    base = objective.base_of_score(rows, weights, learned)
    output = base.unsqueeze(1).expand(-1, weights.shape[1], -1)
    return _mean_scores(problem, output, test, learned)


def _mean_scores(problem: Problem, output: Tensor, test: Tensor, learned: Learned) -> dict[str, float]:
    objective, target = problem.objective, problem.target
    scores = {objective.score_name: objective.score(output, target.rows, test, learned)}
    scores |= objective.other_scores(output, target.rows, test, learned, target.facts)
    return {name: float(each.nanmean()) for name, each in scores.items()}
