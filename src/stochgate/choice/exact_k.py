"""Exactly k gates: the first k of a ranking, not the k most frequent."""

from dataclasses import replace
from typing import Any

import numpy as np

from stochgate.choice.auto import held_out_means
from stochgate.choice.comparison import Comparison, start_comparison
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.final import Choice, FinalModel, train_final
from stochgate.choice.gate_history import GateHistory
from stochgate.choice.recipe import make_recipe
from stochgate.choice.rules import list_candidates, lowest_loss
from stochgate.choice.second_look import JudgedRecipe, Looked, look_again
from stochgate.choice.sets.candidates import Stages, judge_kept
from stochgate.choice.sets.elimination import eliminate
from stochgate.choice.sets.growing import grow_sets
from stochgate.choice.sets.promising import takes_few
from stochgate.choice.sets.ranking import Ranking, grid_of_sizes
from stochgate.choice.sets.refits import team_size
from stochgate.choice.signal import find_signal
from stochgate.choice.tables import path_table
from stochgate.problem.problem import Problem


def fit_exactly(
    problem: Problem, cv: Any, groups: Any, k: int, alpha: float, names: list[Any]
) -> FinalModel:
    """Choose network and ranking by held-out rows, and train the network on the first k gates.

    Every network ranks the gates under a growing penalty, and those that take the features as they are
    are judged with the ranking of backward elimination too. Where the second look finds gates, they take
    the place of the last ones of the ranking if that lowers the held-out loss.

    Parameters
    ----------
    problem, cv, groups, alpha, names : as in `fit_auto`
    k : int
    """
    refuse_impossible_number(problem, k)
    comparison = start_comparison(problem, cv, groups, fewest=k)
    problems = {name: seen for name, seen in comparison.problems.items() if not takes_few(seen)}
    comparison = replace(comparison, problems=problems or comparison.problems)
    rankings, histories = rank(comparison)
    candidates = list_candidates(judge(comparison, rankings, k))
    chosen = min(candidates, key=lambda c: (c.loss, c.network))
    history, kept = histories[chosen.network], judge_kept(comparison)
    ranking = next(r for r in rankings[chosen.network] if r.stage == chosen.cells.stage)
    signal = find_signal(candidates, comparison, kept[1], alpha)
    final = JudgedRecipe(network=chosen.network, recipe=make_recipe(chosen, comparison.keep))
    looked = Looked.nothing(final)
    if signal.found and groups is None:
        looked = with_found(comparison, final, ranking, k)
    final, frequency = looked.recipe, np.maximum(chosen.opened.mean(axis=0), looked.frequency)
    opened = np.where(comparison.keep, 1.0, history.gates.mean(axis=0))
    network = comparison.networks[final.network]
    return train_final(
        Choice(
            network=network,
            recipe=final.recipe,
            lam=float(chosen.cells.lams[0]),
            frequency=frequency,
            importance=looked.importance((frequency + opened) / 2),
            table=path_table(candidates, comparison.networks, problem.gates.spread, names),
            signal=signal,
            comparison=comparison.only(network),
            candidates=[chosen] if final.network == chosen.network else [],
            opened=chosen.opened,
            losses=held_out_means(comparison, candidates, chosen, kept[0], final.loss),
            added=not np.isnan(final.loss),
            ranking=ranking.of_all_rows(final.recipe.support & comparison.varies),
            gate_history=history,
        )
    )


def rank(comparison: Comparison) -> tuple[list[list[Ranking]], list[GateHistory]]:
    """Return each network's rankings, on folds and all rows, and its gates under the growing penalty."""
    with_all_rows = np.vstack([comparison.first, np.ones_like(comparison.first[:1])])
    bank, problems = comparison.bank, comparison.problems.values()
    grown = [grow_sets(seen, bank, with_all_rows, pairs=comparison.has_pairs) for seen in problems]
    rankings = [[ranking] for ranking, _ in grown]
    if comparison.plain:
        eliminated = eliminate(comparison.simplest, bank, with_all_rows, grown[0][0])
        for i in comparison.plain:
            rankings[i].append(eliminated)
    return rankings, [history for _, history in grown]


def judge(comparison: Comparison, rankings: list[list[Ranking]], k: int) -> Stages:
    """Judge the first k gates of each network's rankings by teams."""
    stages: Stages = []
    for seen, own in zip(comparison.problems.values(), rankings, strict=True):
        n_members = team_size(seen, DEFAULTS.n_judging)
        stages.append([r.judge(seen, comparison.first, [k - r.n_kept], n_members) for r in own])
    return stages


def with_found(comparison: Comparison, final: JudgedRecipe, ranking: Ranking, k: int) -> Looked:
    """Let what the second look finds take the place of the last gates, if the held-out loss is lower then.

    It looks beside the best set of at most as many gates: beside noise less is found.

    Parameters
    ----------
    comparison : Comparison
    final : JudgedRecipe
        Of the first k gates of the ranking.
    ranking : Ranking
    k : int

    Returns
    -------
    Looked
        The recipe is of as many gates, with a loss where any was replaced.
    """
    problems, folds = list(comparison.problems.values()), comparison.first
    n_most = k - ranking.n_kept
    sizes = [size for size in grid_of_sizes(n_most, len(folds[0])) if size < n_most] + [n_most]
    judged = list_candidates([[ranking.judge(problems[final.network], folds, sizes)]])
    start = make_recipe(lowest_loss(judged), comparison.keep)
    looked = look_again(problems, replace(final, recipe=start), folds, comparison.bank)
    larger, as_ranked = looked.recipe, replace(Looked.nothing(final), surely=looked.surely)
    found = larger.recipe.support & ~start.support
    n_first = n_most - int(found.sum())
    if not found.any() or n_first < 0:
        return as_ranked
    order = ranking.order[-1][~found[ranking.order[-1]]]
    support = found.copy()
    support[order[: ranking.n_kept + n_first]] = True
    recipe = replace(larger.recipe, support=support, linear=larger.recipe.linear & support)
    other = replace(larger, recipe=recipe).judge(problems, folds)
    if other.loss < final.judge(problems, folds).loss:
        return replace(looked, recipe=other)
    return as_ranked


def refuse_impossible_number(problem: Problem, k: int) -> None:
    """Raise ValueError where exactly k gates cannot be open."""
    n_kept, n_gates = int(problem.gates.keep.sum()), problem.gates.n_gates
    n_varying = n_gates - int(problem.constant_gates().sum())
    if k > n_gates:
        raise ValueError(
            f"n_features_to_select={k}, but there are {n_gates} features (or groups) to select from."
        )
    if k < n_kept:
        raise ValueError(f"n_features_to_select={k}, but always_keep names {n_kept} features (or groups).")
    if k > n_varying:
        raise ValueError(
            f"n_features_to_select={k}, but only {n_varying} features (or groups) can be selected: the "
            "others have one value only, or are copies of these."
        )
