"""What the selected features reach, and what all columns do, in the words people judge models by."""

from dataclasses import replace

import numpy as np
import torch

from stochgate.choice.auto import Found
from stochgate.choice.candidates import JUDGED_MEMBERS, members_on_all
from stochgate.engine import CLOSED, OPEN
from stochgate.problem.setting import Recipe, Setting


def held_out_scores(found: Found) -> dict[str, float]:
    """Return accuracy, R2 or Harrell's C on held-out rows, mean over the folds of the first round.

    The models are trained as those that were judged: on each fold's own set, or with what the second look
    added. Like the losses, these scores flatter a little, since the choice was made on the same rows.

    Parameters
    ----------
    found : Found

    Returns
    -------
    dict
        Of the selected features ("selected"), all columns ("all") and none ("none").
    """
    setting, first = found.setting, found.contest.first
    scores = {"none": _of_nothing(setting, first), "selected": np.nan, "all": np.nan}
    if found.recipe.support.any():
        sets = found.opened[: len(first)] | found.task.gate_map.keep
        if found.added or found.recipe.lam is not None:
            sets = None
        scores["selected"] = _of_recipe(setting, found.recipe, first, sets)
    if found.reference is not None:
        network, recipe = found.reference
        scores["all"] = _of_recipe(found.contest.setting(found.task, network), recipe, first)
    return scores


def _of_recipe(
    setting: Setting, recipe: Recipe, learns: np.ndarray, sets: np.ndarray | None = None
) -> float:
    """Return the mean score of a recipe on the folds; of each fold's own set where sets are given."""
    setting = replace(setting, callbacks=())
    weights, test = setting.fold_weights(learns)
    of_all, n_gates = recipe.support.all(), len(recipe.support)
    n_members = setting.team_size(members_on_all(n_gates) if of_all else JUDGED_MEMBERS)
    if sets is None:
        trained, design = recipe.train(setting, weights, test, 1 if recipe.lam is not None else n_members)
    else:
        fixed = torch.from_numpy(np.where(sets, OPEN, CLOSED).astype(np.int8)).to(weights.device)
        seed = setting.seed + np.arange(len(learns))
        others = {"test_weights": test, "last_step": recipe.last_step}
        plan = setting.refit_plan(seed, weights, fixed, n_members=n_members, **others)
        trained, design = setting.execute(plan)
    teams = trained.models.teams(design, setting.target)
    assert teams.test_weights is not None
    output = teams.shrunk(recipe.shrink)
    rows = setting.target.rows
    return float(setting.objective.score(output, rows, teams.test_weights, teams.learned).nanmean())


def _of_nothing(setting: Setting, learns: np.ndarray) -> float:
    weights, test = setting.fold_weights(learns)
    output, learned = setting.base_output(weights)
    return float(setting.objective.score(output, setting.target.rows, test, learned).nanmean())
