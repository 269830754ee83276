"""The automatic choice: the steps of docs/how-lambda-is-chosen.md, in its words."""

from typing import Any

import numpy as np

from stochgate.choice.comparison import Comparison, best_on_all_columns, start_comparison
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.final import Choice, FinalModel, train_final
from stochgate.choice.gate_history import GateHistory
from stochgate.choice.recipe import Recipe, make_recipe
from stochgate.choice.rules import Candidate, ask_user, choose_set, list_candidates
from stochgate.choice.second_look import JudgedRecipe, Looked, look_again
from stochgate.choice.sets.candidates import (
    Stages,
    join,
    judge_all_columns,
    judge_joint_sets,
    judge_kept,
    judge_teams,
    train_paths,
)
from stochgate.choice.sets.cells import JOINT, Cells
from stochgate.choice.sets.path import make_lams, race
from stochgate.choice.sets.ranking import Ranking
from stochgate.choice.signal import find_signal
from stochgate.choice.tables import path_table
from stochgate.problem.problem import Problem


def fit_auto(
    problem: Problem, cv: Any, groups: Any, rule: Any, alpha: float, names: list[Any]
) -> FinalModel:
    """Choose network, penalty, features and steps, and train the final model on all rows.

    Parameters
    ----------
    problem : Problem
    cv, groups : as in `make_folds`
    rule : str or callable
        A key of `RULES`, or a function of the table that returns the position of a row, or None.
    alpha : float
        Level of the test of signal.
    names : list
        What the features are called.
    """
    comparison = start_comparison(problem, cv, groups)  # the folds; far values: as they are, or drawn in?
    lams = make_lams(problem.n_samples) * problem.gates.n_gates
    stages, ranking, history = judge_sets(comparison, lams)
    candidates, keep = list_candidates(stages), comparison.keep
    table = path_table(candidates, comparison.networks, problem.gates.spread, names)

    kept, kept_blocks = judge_kept(comparison)
    signal = find_signal(candidates, comparison, kept_blocks, alpha)  # is there a signal?

    chosen = None  # which set?
    if callable(rule):
        chosen = ask_user(rule, table, candidates)
    elif signal.found or keep.all():
        chosen = choose_set(rule, candidates, comparison.standard(candidates), keep, kept)

    final = JudgedRecipe(network=_network_of(chosen), recipe=make_recipe(chosen, keep))
    looked = Looked.nothing(final)
    if not callable(rule) and signal.found and groups is None and not keep.all():
        chosen, looked = second_look(comparison, chosen, final, kept)
    final, added = looked.recipe, not np.isnan(looked.recipe.loss)

    network = comparison.networks[final.network]
    opened = np.zeros((len(comparison.folds), len(keep)), dtype=bool) if chosen is None else chosen.opened
    frequency = np.where(keep, 1.0, np.maximum(opened.mean(axis=0), looked.frequency))
    probability = _mean_probability(stages[_network_of(chosen)])
    return train_final(
        Choice(
            network=network,
            recipe=final.recipe,
            lam=float(lams[0] if chosen is None else chosen.cells.lams[chosen.cell]),
            frequency=frequency,
            importance=looked.importance(np.where(keep, 1.0, (frequency + probability) / 2)),
            table=table,
            signal=signal,
            comparison=comparison.only(network),
            candidates=[c.without_history() for c in candidates if c.network == final.network],
            opened=opened,
            losses=held_out_means(comparison, candidates, chosen, kept, final.loss),
            reference=_reference(comparison, candidates),
            added=added,
            ranking=None
            if ranking is None
            else ranking.of_all_rows(final.recipe.support & comparison.varies),
            gate_history=_history_of(chosen, candidates) or history,
        )
    )


def second_look(
    comparison: Comparison, chosen: Candidate | None, recipe: JudgedRecipe, kept: np.ndarray
) -> tuple[Candidate | None, Looked]:
    """Look beside what was chosen and, where that gains little, beside nothing, too: the better one stands.

    Among many features that luck has chosen nothing is found beside them.
    """
    problems, folds, bank = list(comparison.problems.values()), comparison.first, comparison.bank
    beside = look_again(problems, recipe, folds, bank)
    if chosen is None or not _gains_little(kept[: len(chosen.losses)] - chosen.losses, len(folds)):
        return chosen, beside
    nothing = JudgedRecipe(network=0, recipe=make_recipe(None, comparison.keep))
    alone, loss = look_again(problems, nothing, folds, bank), beside.recipe.loss
    bar = recipe.judge(problems, folds).loss if np.isnan(loss) else loss
    return (None, alone) if alone.recipe.loss < bar else (chosen, beside)


def _gains_little(gains: np.ndarray, n_first: int) -> bool:
    """Return whether gains on folds are less than two standard errors, shape (n_folds,)."""
    return bool(gains.mean() < DEFAULTS.little_errors * gains.std(ddof=1) / np.sqrt(n_first))


def judge_sets(
    comparison: Comparison, lams: np.ndarray
) -> tuple[Stages, Ranking | None, GateHistory | None]:
    """Train and judge every set of features that may be chosen; return each network's cells.

    With them come the best ranking, and the history of the gates under the growing penalty; both are None
    where nothing is penalised.
    """
    if comparison.keep.all():  # nothing is penalised: only network and steps are chosen
        return race(comparison, lams[:1], comparison.networks), None, None
    paths, stages = train_paths(comparison, lams)  # path, survivors, refits
    stages = join(stages, judge_all_columns(comparison))  # reference
    joint, ranking, history = judge_joint_sets(comparison, paths)  # growing, elimination
    stages = join(stages, joint)
    return join(stages, judge_teams(comparison, stages)), ranking, history  # teams


def held_out_means(
    comparison: Comparison,
    candidates: list[Candidate],
    chosen: Candidate | None,
    kept: np.ndarray,
    with_added: float = float("nan"),
) -> dict[str, float]:
    """Return the held-out losses that tell what the chosen features are worth.

    That of the second look counts where it added any; where nothing is chosen, that of the kept features.
    """
    reference = comparison.standard(candidates).reference
    n_folds = len(comparison.folds if chosen is None else chosen.losses)
    selected = float(kept.mean()) if chosen is None else chosen.loss
    return {
        "none": float(comparison.empty[:n_folds].mean()),
        "selected": selected if np.isnan(with_added) else with_added,
        "all": float("nan") if reference is None else float(reference.mean()),
    }


def _reference(comparison: Comparison, candidates: list[Candidate]) -> tuple[str, Recipe] | None:
    """Return network and recipe of the best model on all columns."""
    best = best_on_all_columns(candidates)
    if best is None:
        return None
    return comparison.networks[best.network], make_recipe(best, np.zeros(len(best.support), dtype=bool))


def _history_of(chosen: Candidate | None, candidates: list[Candidate]) -> GateHistory | None:
    """Return the gates over the training whose folds voted for the chosen set; None for a joint set.

    A set that was refitted is that of some gated model of the same network and penalty.
    """
    if chosen is None:
        return None
    for c in candidates:
        cells = c.cells
        same = c.network == chosen.network and cells.lams[c.cell] == chosen.cells.lams[chosen.cell]
        if same and cells.histories is not None:
            voted = (cells.opened[c.cell], cells.settled[c.cell])
            if any(np.array_equal(gates, chosen.opened) for gates in voted):
                history: GateHistory = cells.histories[c.cell]
                return history
    return None


def _mean_probability(stages: list[Cells]) -> np.ndarray:
    """Return how open each gate is, shape (n_gates,), mean over the path, or over sets of every size."""
    of = [cells.probability for cells in stages if cells.stage == "path"]
    of = of or [cells.probability for cells in stages if cells.stage in JOINT]
    return np.concatenate(of or [np.zeros_like(stages[0].probability)]).mean(axis=0)


def _network_of(candidate: Candidate | None) -> int:
    """Return the position of a candidate's network; without features it is the first."""
    return 0 if candidate is None else candidate.network
