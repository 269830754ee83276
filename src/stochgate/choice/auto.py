"""The automatic choice: network, penalty, features and steps, then the final model."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from stochgate.choice.candidates import JUDGED_MEMBERS, find_sets, judge_kept
from stochgate.choice.comparison import SMALLEST_FOR_K, Contest, make_lams, start_contest
from stochgate.choice.exact_k import joint_sets
from stochgate.choice.global_test import global_p
from stochgate.choice.path import REFITS, Cells, train_cells
from stochgate.choice.rules import RULES, Candidate, list_candidates
from stochgate.choice.second_look import Looked, look_again, smallest_p
from stochgate.choice.signal import Signal, finds_signal
from stochgate.choice.tables import path_table
from stochgate.problem.setting import Recipe, Setting
from stochgate.problem.task import Fitted, Task

FINAL_MEMBERS = 16  # models in the final team,
MANY = 1000  # but one on more gates than these, for its cost


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
        The gates each fold opens where the chosen set comes from.
    losses : dict of float
        Held-out losses of the model without features ("none"), of the chosen one ("selected") and of the
        best model on all columns ("all").
    reference : tuple of str and Recipe, or None
        The network of the best model on all columns, and how that was trained.
    added : bool
        Whether the second look added features.
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
    losses: dict[str, float]
    reference: tuple[str, Recipe] | None
    added: bool = False

    @property
    def setting(self) -> Setting:
        """The chosen network's setting."""
        return self.contest.settings[self.network][0]

    def seen_by(self, candidate: Candidate | None, recipe: Recipe) -> "Found":
        """Return what is known of another recipe: the frequencies are those of a candidate near to it."""
        found = replace(self, recipe=recipe, losses={**self.losses, "selected": float("nan")})
        if candidate is None:
            return found
        frequency = np.where(self.task.gate_map.keep, 1.0, candidate.opened.mean(axis=0))
        return replace(found, frequency=frequency, opened=candidate.opened)

    def train(self, recipe: Recipe, lam: float) -> Fitted:
        """Train the chosen network by another recipe on all rows."""
        n_members = self.setting.team_size(FINAL_MEMBERS if 0 < recipe.support.sum() <= MANY else 1)
        trained, design = recipe.train(self.setting, self.setting.weights[None], n_members=n_members)
        return Fitted(trained, design, self.contest.settings[self.network][1], lam, self, recipe.shrink)


def fit_auto(task: Task, cv: Any, groups: Any, rule: Any, names: list[Any]) -> Fitted:
    """Race the networks, judge sets of every size, choose, look again, and train on all rows.

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
    keep, lams = task.gate_map.keep, make_lams(len(task.weights)) * task.gate_map.n_gates
    stages = find_sets(contest, lams, all_kept=bool(keep.all()))
    candidates = list_candidates(stages)
    table = path_table(candidates, networks, task.gate_map.spread, names)
    kept = judge_kept(contest, keep)
    signal = _find_signal(candidates, contest, keep, kept[1])
    if callable(rule):
        chosen = _ask(rule, table, candidates)
        looked = _as_judged(chosen, keep)
    else:
        chosen, looked = _choose(rule, candidates, settings, contest, keep, signal.found, kept[0])
        signal = replace(signal, found=signal.found and (chosen is not None or looked.loss is not None))
    at, recipe = looked.network, looked.recipe
    opened = np.zeros((len(contest.learns), len(keep)), dtype=bool) if chosen is None else chosen.opened
    frequency = np.where(keep, 1.0, np.maximum(opened.mean(axis=0), looked.frequency))
    importance = np.where(keep, 1.0, (frequency + _mean_probability(stages[_network_of(chosen)])) / 2)
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
        opened,
        _losses(contest, candidates, chosen, looked.loss, kept[0]),
        _reference(contest, candidates),
        looked.loss is not None,
    )
    return found.train(recipe, float(lams[0] if chosen is None else chosen.cells.lams[chosen.cell]))


def _losses(
    contest: Contest,
    candidates: list[Candidate],
    chosen: Candidate | None,
    looked: float | None,
    kept: np.ndarray,
) -> dict[str, float]:
    """Return the held-out losses that tell what the chosen features are worth.

    That of the second look counts where it added any; where nothing is chosen, that of the kept features.
    """
    reference = contest.standard(candidates).reference
    n_folds = len(contest.learns if chosen is None else chosen.losses)
    none = float(contest.empty[:n_folds].mean())
    selected = float(kept.mean()) if chosen is None else chosen.loss
    return {
        "none": none,
        "selected": selected if looked is None else looked,
        "all": float("nan") if reference is None else float(reference.mean()),
    }


def _reference(contest: Contest, candidates: list[Candidate]) -> tuple[str, Recipe] | None:
    """Return network and recipe of the best model on all columns."""
    best = contest.reference(candidates)
    if best is None:
        return None
    return list(contest.settings)[best.network], make_recipe(best, np.zeros(len(best.support), dtype=bool))


def _mean_probability(stages: list[Cells]) -> np.ndarray:
    """Return how open each gate is, shape (n_gates,), mean over the path, or over sets of every size."""
    of = [cells.probability for cells in stages if cells.stage == "path"]
    of = of or [cells.probability for cells in stages if cells.stage == "growing"]
    return np.concatenate(of or [np.zeros_like(stages[0].probability)]).mean(axis=0)


def make_recipe(candidate: Candidate | None, keep: np.ndarray) -> Recipe:
    """Return how a candidate's final model is trained: as its folds were, on all rows."""
    none = np.zeros_like(keep)
    if candidate is None:
        return Recipe(keep, none, None, None if keep.any() else 1)
    cells, cell = candidate.cells, candidate.cell
    lam = None if cells.stage in REFITS else float(cells.lams[cell])
    return Recipe(candidate.support | keep, none, lam, int(cells.step[cell]), float(cells.shrink[cell]))


def _network_of(candidate: Candidate | None) -> int:
    """Return the position of a candidate's network; without features it is the first."""
    return 0 if candidate is None else candidate.network


def _as_judged(candidate: Candidate | None, keep: np.ndarray) -> Looked:
    """Return a candidate as it was judged, where nothing is looked for."""
    return Looked(make_recipe(candidate, keep), np.zeros(len(keep)), network=_network_of(candidate))


def _find_signal(
    candidates: list[Candidate], contest: Contest, keep: np.ndarray, kept: np.ndarray
) -> Signal:
    """Ask the held-out rows, all columns together and each of them whether there is a signal.

    Where features are kept it must be one beside them, and all columns together are not asked. Single
    columns are not where rows are in groups: that test takes rows for independent.
    """
    setting, n_folds = next(iter(contest.settings.values()))[0], len(candidates[0].losses)
    tests: list[Callable[[], float | None]] = []
    if not keep.any():
        tests.append(partial(global_p, setting, setting.seed, contest.groups))
    if not keep.all() and contest.groups is None:
        tests.append(partial(smallest_p, setting, make_recipe(None, keep), contest.first))
    return finds_signal(candidates, kept[:n_folds], len(setting.weights), len(contest.first), tests)


def _choose(
    rule: str,
    candidates: list[Candidate],
    settings: list[Setting],
    contest: Contest,
    keep: np.ndarray,
    signal: bool,
    kept: np.ndarray,
) -> tuple[Candidate | None, Looked]:
    """Apply a rule to what gained anything on held-out rows, and look again.

    Where nothing did the model without features is looked at. Without a signal nothing is chosen nor
    looked at, nor is it where rows are in groups: a look takes them for independent.
    """
    teams = any(c.cells.stage == "team" for c in candidates)
    single = [stage for stage in REFITS if stage != "team"] if teams else []
    usable = [c for c in candidates if c.is_selection and c.cells.stage not in single]
    usable = [c for c in usable if signal and c.loss < kept.mean()]
    if keep.all():
        usable = [c for c in candidates if np.isfinite(c.losses).all()]
    chosen = RULES[rule](usable, contest.standard(candidates)) if usable else None
    if contest.groups is not None or keep.all() or not signal:
        return chosen, _as_judged(chosen, keep)
    return chosen, look_again(settings, _network_of(chosen), make_recipe(chosen, keep), contest.first)


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
    learns = contest.first
    with_all = np.vstack([learns, np.ones_like(learns[:1])])
    on_all, stages = [], []
    for setting, _ in contest.settings.values():
        sets, used, probability = joint_sets(setting, lams, with_all, k)
        on_all.append((sets[-1], used[-1], probability[-1]))
        cells = train_cells(
            setting,
            "team",
            used[-1:],
            learns,
            sets[None, :-1],
            support=sets[-1:],
            n_members=setting.team_size(JUDGED_MEMBERS),
        )
        stages.append([cells])
    candidates = list_candidates(stages)
    chosen = min(candidates, key=lambda c: (c.loss, c.network))
    name = list(contest.settings)[chosen.network]
    (support, lam, probability), cells = on_all[chosen.network], chosen.cells
    recipe = Recipe(support, np.zeros_like(support), None, int(cells.step[0]), float(cells.shrink[0]))
    frequency = cells.opened[0].mean(axis=0)
    table = path_table(candidates, list(contest.settings), task.gate_map.spread, names)
    kept = judge_kept(contest, task.gate_map.keep)
    signal = _find_signal(candidates, contest, task.gate_map.keep, kept[1])
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
        _losses(contest, candidates, chosen, None, kept[0]),
        None,  # no model was trained on all columns
    )
    return found.train(recipe, float(lam))
