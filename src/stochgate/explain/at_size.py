"""What a fitted estimator can still be asked: its path, and its model at another size or penalty."""

from dataclasses import replace
from typing import Any

import numpy as np

from stochgate.choice.auto import Found, make_recipe
from stochgate.choice.comparison import SMALLEST_FOR_K, make_lams, start_contest
from stochgate.choice.exact_k import joint_sets
from stochgate.choice.path import REFITS, train_cells
from stochgate.choice.rules import list_candidates
from stochgate.choice.tables import path_table
from stochgate.problem.setting import Recipe
from stochgate.problem.task import Fitted, Task
from stochgate.problem.validation import refuse_impossible_number


def train_table(task: Task, cv: Any, groups: Any, lams: Any, names: list[Any]) -> Any:
    """Train every network's path and return its table, without choosing.

    Parameters
    ----------
    task : Task
    cv, groups : as in `make_folds`
    lams : array or None for those of the automatic choice
    names : list
    """
    contest = start_contest(task, cv, groups)
    if lams is None:
        lams = make_lams(len(task.weights)) * task.gate_map.n_gates
    lams = np.sort(np.asarray(lams, dtype=float).ravel())[::-1]
    if len(lams) == 0 or not np.isfinite(lams).all() or lams[-1] < 0:
        raise ValueError("lams must be numbers not below 0, at least one.")
    settings = [setting for setting, _ in contest.settings.values()]
    stages = [[train_cells(setting, "path", lams, contest.learns)] for setting in settings]
    return path_table(list_candidates(stages), list(contest.settings), task.gate_map.spread, names)


def at_size(found: Found, k: int) -> tuple[Fitted, str]:
    """Return a model of exactly k gates, and how it was made.

    Parameters
    ----------
    found : Found
    k : int
        The gates are the strongest k of one model on all rows, trained as long as the refit of nearest
        size.
    """
    task, setting = found.task, found.setting
    refuse_impossible_number(task, k)
    lams = make_lams(len(task.weights), SMALLEST_FOR_K) * task.gate_map.n_gates
    sets, used, _ = joint_sets(setting, lams, np.ones((1, len(task.weights)), dtype=bool), k)
    refits = [c for c in found.candidates if c.cells.stage in REFITS]
    nearest = min(refits, key=lambda c: (abs(c.n_features - k), c.loss), default=None)
    recipe = Recipe(sets[0], np.zeros_like(sets[0]), None, found.recipe.last_step, found.recipe.shrink)
    if nearest is not None:
        like = make_recipe(nearest, np.zeros_like(sets[0]))
        recipe = replace(recipe, last_step=like.last_step, shrink=like.shrink)
    fitted = found.seen_by(nearest, recipe).train(recipe, float(used[0]))
    return fitted, f"refit on the {k} strongest gates of one model at lam={used[0]:g}"


def at_penalty(found: Found, lam: float) -> tuple[Fitted, str]:
    """Return a model at a penalty, and how it was made.

    Parameters
    ----------
    found : Found
    lam : float
        One of the path's gives a model on the features its folds agree on at their last step, another one a
        model of free gates.
    """
    task, setting = found.task, found.setting
    on_path = [c for c in found.candidates if c.cells.stage == "path"]
    near = [c for c in on_path if np.isclose(c.cells.lams[c.cell], lam, rtol=1e-6)]
    if near:
        keep = task.gate_map.keep
        support = near[0].settled | keep
        recipe = Recipe(support, np.zeros_like(keep), lam, None)
        if not support.any():
            recipe = make_recipe(None, keep)
        return found.seen_by(near[0], recipe).train(
            recipe, lam
        ), f"trained on what the folds agree on at lam={lam:g}"
    trained, design = setting.execute(
        setting.plan(
            lam, setting.seed, setting.weights[None], setting.fixed[None].to(setting.weights.device)
        )
    )
    data = found.contest.settings[found.network][1]
    nearest = min(on_path, key=lambda c: abs(np.log(c.cells.lams[c.cell] / max(lam, 1e-12))), default=None)
    free = Recipe(
        (trained.models.gates()[0] > 0).cpu().numpy(), np.zeros_like(task.gate_map.keep), lam, None
    )
    return Fitted(
        trained, design, data, lam, found.seen_by(nearest, free)
    ), f"one model trained at lam={lam:g}, off the path"
