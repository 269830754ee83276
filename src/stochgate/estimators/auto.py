"""The automatic choice: network, penalty, features and steps, then the final model."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from stochgate.engine import Trained, execute
from stochgate.estimators.prepare import Prepared
from stochgate.estimators.task import Task
from stochgate.selection import Choice, Path, Setting, choose, empty_losses, make_folds, train_path
from stochgate.selection.path import refit_plan

LAMS_PER_GATE = np.geomspace(0.001, 0.06, 8)


@dataclass(frozen=True)
class Found:
    """What the automatic choice leaves beside the final model.

    Attributes
    ----------
    network : str
    lam : float
    choice : Choice
    frequency, importance : ndarray, shape (n_gates,)
        How many of the folds' models open a gate at the chosen penalty, and their mean P(z > 0).
    paths : dict of Path
    """

    network: str
    lam: float
    choice: Choice
    frequency: np.ndarray
    importance: np.ndarray
    paths: dict[str, Path]


def fit_auto(task: Task, cv: Any, groups: Any) -> tuple[Trained, Prepared, Found]:
    """Race the networks over a path of penalties, choose, and train the final model on all rows.

    Parameters
    ----------
    task : Task
    cv, groups : as in `make_folds`
    """
    seed, fold_seed = task.draw_seed(), task.draw_seed()
    settings = {name: _setting(task, name, seed) for name in task.networks}
    first, _ = next(iter(settings.values()))
    strata = task.objective.strata(task.target.rows).numpy()
    learns, empty = _judgeable(first, make_folds(cv, strata, fold_seed, groups))
    lams = LAMS_PER_GATE * task.gate_map.n_gates
    paths = {name: train_path(setting, lams, learns) for name, (setting, _) in settings.items()}
    choice = choose(list(paths.values()), empty)

    chosen = choice.candidate
    name = list(paths)[0 if chosen is None else chosen.network]
    at = -1 if chosen is None else chosen.lam
    path, (setting, data) = paths[name], settings[name]
    support = task.gate_map.keep if chosen is None else path.voted()[at] | task.gate_map.keep
    last_step = None if chosen is None else int(path.refit_steps[chosen.step])
    trained = _final(setting, support, last_step)
    frequency = path.opened[at].mean(axis=0)
    return trained, data, Found(name, float(lams[at]), choice, frequency, path.probability[at], paths)


def _setting(task: Task, name: str, seed: int) -> tuple[Setting, Prepared]:
    data = task.prepare(task.networks[name])
    setting = Setting(
        task.gate,
        task.networks[name],
        task.objective,
        task.training,
        data.design,
        data.target,
        task.on_device(task.weights),
        torch.from_numpy(task.gate_map.costs),
        task.fixed(),
        seed,
        task.callbacks,
    )
    return setting, data


def _judgeable(setting: Setting, learns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Keep the folds that can be learnt from and judged (a Cox model needs an event on both sides)."""
    weights = setting.weights.cpu() * torch.from_numpy(learns)
    rows = {name: value.cpu() for name, value in setting.target.rows.items()}
    total = setting.objective.total(rows, weights, setting.objective.learn(rows, weights))
    learns = learns[(total > 0).numpy()]
    empty = empty_losses(setting, learns) if len(learns) else np.array([])
    usable = np.isfinite(empty)
    if usable.sum() < 2:
        raise ValueError(
            "Fewer than two folds have rows with weight (or events) both to learn from and to be judged "
            "by: use more rows, fewer folds (cv), or give lam as a number."
        )
    return learns[usable], empty[usable]


def _final(setting: Setting, support: np.ndarray, last_step: int | None) -> Trained:
    """Train the final model on all rows, its chosen gates open and the others closed."""
    last_step = last_step if support.any() else 1
    gates = torch.from_numpy(support)[None]
    plan = refit_plan(setting, gates, setting.seed, setting.weights[None], last_step=last_step)
    return execute(plan, setting.design, setting.target, setting.callbacks)


def path_table(found: Found, spread: Any, names: list[Any]) -> Any:
    """Return the paths as one row a network and penalty: a DataFrame where pandas is installed.

    Parameters
    ----------
    found : Found
    spread : callable
        Gives every feature its gate's value.
    names : list
        What the features are called.
    """
    rows = []
    for network, path in found.paths.items():
        best = path.refit.mean(axis=2).argmin(axis=0)  # the best step of each refit
        held_out = path.held_out.transpose(1, 2, 0)[  # at the best step of each penalty
            np.arange(len(path.lams)), :, path.held_out.mean(axis=2).argmin(axis=0)
        ]
        for i, lam in enumerate(path.lams):
            refit = path.refit[best[i], i]
            selected = np.flatnonzero(spread(path.voted()[i]))
            rows.append(
                {
                    "network": network,
                    "lam": float(lam),
                    "step": int(path.step[i]),
                    "n_features": len(selected),
                    "train_loss": float(path.train[i].mean()),
                    "held_out_loss": float(held_out[i].mean()),
                    "held_out_sd": _spread(held_out[i]),
                    "refit_loss": float(refit.mean()),
                    "refit_sd": _spread(refit),
                    "features": [names[j] for j in selected],
                }
            )
    try:
        import pandas as pd
    except ImportError:
        return rows
    return pd.DataFrame(rows)


def _spread(losses: np.ndarray) -> float:
    """Return the standard deviation over the folds; NaN where a loss is not finite."""
    return float(losses.std(ddof=1)) if np.isfinite(losses).all() else float("nan")
