"""The automatic choice: network, penalty, features and steps, then the final model."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stochgate.estimators.contest import SMALLEST_FOR_K, Contest, make_lams, start_contest
from stochgate.estimators.tables import make_table
from stochgate.estimators.task import Fitted, Task
from stochgate.selection.exact import joint_sets
from stochgate.selection.path import race, train_cells
from stochgate.selection.residuals import Looked, look_again
from stochgate.selection.rules import RULES, Candidate, Signal, finds_signal, list_candidates
from stochgate.selection.setting import Recipe, Setting


@dataclass(frozen=True)
class Found:
    """What the automatic choice leaves beside the final model.

    Attributes
    ----------
    network : str
    recipe : Recipe
    frequency, importance : ndarray, shape (n_gates,)
    table : DataFrame or list of dict
    signal : Signal
    task : Task
    contest : Contest
    candidates : list of Candidate
        Those of the chosen network; the others' data are let go.
    opened : ndarray of bool, shape (n_folds, n_gates)
        The gates each fold opens at the chosen penalty.
    """

    network: str
    recipe: Recipe
    frequency: np.ndarray
    importance: np.ndarray
    table: Any
    signal: Signal
    task: Task
    contest: Contest
    candidates: list[Candidate]
    opened: np.ndarray

    @property
    def setting(self) -> Setting:
        """The chosen network's setting."""
        return self.contest.settings[self.network][0]

    def seen_by(self, candidate: Candidate | None, recipe: Recipe) -> "Found":
        """Return what is known of another recipe: the frequencies are those of a candidate near to it."""
        if candidate is None:
            return replace(self, recipe=recipe)
        opened = candidate.cells.opened[candidate.cell]
        frequency = np.where(self.task.gate_map.keep, 1.0, opened.mean(axis=0))
        return replace(self, recipe=recipe, frequency=frequency, opened=opened)

    def train(self, recipe: Recipe, lam: float) -> Fitted:
        """Train the chosen network by another recipe on all rows."""
        trained, design = recipe.train(self.setting, self.setting.weights[None])
        return Fitted(trained, design, self.contest.settings[self.network][1], lam, self)


def fit_auto(task: Task, cv: Any, groups: Any, rule: Any, names: list[Any]) -> Fitted:
    """Race the networks over a path of penalties, choose, look again, and train on all rows.

    Parameters
    ----------
    task : Task
    cv, groups : as in `make_folds`
    rule : str or callable
        A key of `RULES`, or a function of the table that returns the position of a row, or None.
    names : list
        What the features are called.
    """
    contest = start_contest(task, cv, groups)
    networks, settings = list(contest.settings), [setting for setting, _ in contest.settings.values()]
    lams = make_lams(len(task.weights)) * task.gate_map.n_gates
    if task.gate_map.keep.all():
        lams = lams[:1]  # nothing is penalised: only network and steps are chosen
    stages = race(settings, lams, contest.learns, contest.empty)
    candidates = list_candidates(stages)
    table = path_table(candidates, networks, task.gate_map.spread, names)
    signal = finds_signal(candidates, contest.empty_blocks, len(task.weights))
    keep = task.gate_map.keep
    if callable(rule):
        chosen = _ask(rule, table, candidates)
        looked = Looked(make_recipe(chosen, keep), np.zeros(len(keep)))
    else:
        chosen, looked = _choose(rule, candidates, settings, contest, keep, signal.found)
    at = 0 if chosen is None else chosen.network
    path, recipe = stages[at][0], looked.recipe
    cells, cell = (path, 0) if chosen is None else (chosen.cells, chosen.cell)
    frequency = np.where(keep, 1.0, np.maximum(cells.opened[cell].mean(axis=0), looked.frequency))
    importance = np.where(keep, 1.0, (frequency + path.probability.mean(axis=0)) / 2)
    found = Found(
        networks[at],
        recipe,
        frequency,
        importance,
        table,
        signal,
        task,
        contest.only(networks[at]),
        [c for c in candidates if c.network == at],
        cells.opened[cell],
    )
    return found.train(recipe, float(cells.lams[cell]))


def make_recipe(candidate: Candidate | None, keep: np.ndarray) -> Recipe:
    """Return how a candidate's final model is trained: as its folds were, on what they agree on."""
    none = np.zeros_like(keep)
    if candidate is None:
        return Recipe(keep, none, None, None if keep.any() else 1)
    cells, cell = candidate.cells, candidate.cell
    lam = None if cells.stage == "refit" else float(cells.lams[cell])
    return Recipe(candidate.support | keep, none, lam, int(cells.step[cell]))


def _choose(
    rule: str,
    candidates: list[Candidate],
    settings: list[Setting],
    contest: Contest,
    keep: np.ndarray,
    signal: bool,
) -> tuple[Candidate | None, Looked]:
    """Apply a rule and look again; without a signal the model without features is looked at.

    Where single columns tell more than chance there is a signal after all, and what gained anything on
    held-out rows may stand. With groups of rows there is no second look.
    """

    def look(candidate: Candidate | None) -> Looked:
        recipe = make_recipe(candidate, keep)
        if contest.grouped or keep.all():  # it takes rows for independent, and rows of a group are not
            return Looked(recipe, np.zeros(len(keep)))
        return look_again(settings[0 if candidate is None else candidate.network], recipe, contest.learns)

    usable = [c for c in candidates if c.n_features > 0 and np.isfinite(c.losses).all()]
    if not usable or not (signal or keep.all()):
        looked = look(None)
        usable = [c for c in usable if c.loss < contest.empty.mean()]
        if not looked.frequency.any() or not usable:
            return None, looked
    chosen = RULES[rule](usable, contest.empty, contest.learns.shape[1])
    return chosen, look(chosen)


def _ask(rule: Any, table: Any, candidates: list[Candidate]) -> Candidate | None:
    """Return what a user's function chooses."""
    row = rule(table)
    if row is None:
        return None
    if not isinstance(row, (int, np.integer)) or not 0 <= row < len(candidates):
        raise ValueError(
            f"rule returned {row!r}; expected a row of the path, 0 to {len(candidates) - 1}, or None."
        )
    return candidates[row]


def fit_exactly(task: Task, cv: Any, groups: Any, k: int, names: list[Any]) -> Fitted:
    """Choose the network by held-out rows, and k gates by one model on all rows.

    Parameters
    ----------
    task, cv, groups, names : as in `fit_auto`
    k : int
    """
    contest = start_contest(task, cv, groups)
    lams = make_lams(len(task.weights), SMALLEST_FOR_K) * task.gate_map.n_gates
    with_all = np.vstack([contest.learns, np.ones_like(contest.learns[:1])])
    on_all, stages = [], []
    for setting, _ in contest.settings.values():
        sets, used, probability = joint_sets(setting, lams, with_all, k)
        on_all.append((sets[-1], used[-1], probability[-1]))
        stages.append([train_cells(setting, "refit", used[-1:], contest.learns, sets[None, :-1])])
    candidates = list_candidates(stages)
    chosen = min(candidates, key=lambda c: (c.loss, c.network))
    name = list(contest.settings)[chosen.network]
    (support, lam, probability), cells = on_all[chosen.network], chosen.cells
    recipe = Recipe(support, np.zeros_like(support), None, int(cells.step[0]))
    frequency = cells.opened[0].mean(axis=0)
    table = path_table(candidates, list(contest.settings), task.gate_map.spread, names)
    signal = finds_signal(candidates, contest.empty_blocks, len(task.weights))
    importance = (frequency + probability) / 2
    found = Found(
        name,
        recipe,
        frequency,
        importance,
        table,
        signal,
        task,
        contest.only(name),
        [chosen],
        cells.opened[0],
    )
    return found.train(recipe, float(lam))


def path_table(candidates: list[Candidate], networks: list[str], spread: Any, names: list[Any]) -> Any:
    """Return one row a network, stage and penalty: a DataFrame where pandas is installed.

    Parameters
    ----------
    candidates : list of Candidate
    networks : list of str
    spread : callable
        Gives every feature its gate's value.
    names : list
        What the features are called.
    """
    rows = []
    for c in candidates:
        selected = np.flatnonzero(spread(c.support))
        rows.append(
            {
                "network": networks[c.network],
                "stage": c.cells.stage,
                "lam": float(c.cells.lams[c.cell]),
                "step": int(c.cells.step[c.cell]),
                "n_features": len(selected),
                "n_at_end": int(spread(c.settled).sum()),
                "train_loss": float(c.cells.train[c.cell].mean()),
                "held_out_loss": c.loss,
                "held_out_sd": float(c.losses.std(ddof=1)) if np.isfinite(c.losses).all() else float("nan"),
                "features": [names[j] for j in selected],
                "open_probability": spread(c.cells.probability[c.cell]),
            }
        )
    return make_table(rows)
