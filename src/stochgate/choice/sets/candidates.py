"""Every set of features that is judged: votes of the folds, joint sets of every size, all columns."""

import numpy as np

from stochgate.choice.comparison import Comparison
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.gate_history import GateHistory
from stochgate.choice.rules import for_teams, list_candidates
from stochgate.choice.sets.cells import Cells, agreement, train_cells
from stochgate.choice.sets.elimination import eliminate
from stochgate.choice.sets.growing import grow_sets
from stochgate.choice.sets.path import agree, may_win, race, train_each_path
from stochgate.choice.sets.promising import takes_few
from stochgate.choice.sets.ranking import Ranking, judge_sizes
from stochgate.choice.sets.refits import team_size

Stages = list[list[Cells]]  # for each network its cells, stage after stage


def join(*stages: Stages) -> Stages:
    """Return for each network the cells of several stages."""
    return [[cells for part in parts for cells in part] for parts in zip(*stages, strict=True)]


def train_paths(comparison: Comparison, lams: np.ndarray) -> tuple[list[Cells], Stages]:
    """Train every network's path and, where it may win, its survivors and refits.

    Of few rows the paths are first trained on one round of folds: a network of which even these disagree
    at every penalty is left at that, since its folds cannot vote. So is one that is offered few of the
    features, on which its folds agree easily.

    Parameters
    ----------
    comparison : Comparison
    lams : ndarray, shape (n_lams,), falling

    Returns
    -------
    The networks' paths, and what is judged on all folds
    """
    folds, first, names = comparison.folds, comparison.first, comparison.networks
    if len(first) == len(folds):
        stages = race(comparison, lams, names)
        return [cells[0] for cells in stages], stages
    paths = train_each_path(comparison, lams, first, names)
    voting = [
        name
        for name, path in zip(names, paths, strict=True)
        if agree(path) and not takes_few(comparison.problems[name])
    ]
    return paths, race(comparison, lams, voting) if voting else [[] for _ in names]


def judge_all_columns(comparison: Comparison) -> Stages:
    """Judge models on all columns, of the networks that take so many features as they are (or of all)."""
    problems, folds = list(comparison.problems.values()), comparison.folds
    every = np.ones((1, len(folds), len(comparison.keep)), dtype=bool)
    stages: Stages = [[] for _ in problems]
    able = [i for i in comparison.plain if not takes_few(problems[i])]
    for i in able or comparison.plain or range(len(problems)):
        size = team_size(problems[i], n_judging_all(every.shape[2]))
        stages[i].append(train_cells(problems[i], "all", np.zeros(1), folds, every, n_members=size))
    return stages


def judge_joint_sets(comparison: Comparison, paths: list[Cells]) -> tuple[Stages, Ranking, GateHistory]:
    """Rank the gates under a growing penalty, by one network, and judge sets of every size, by others too.

    Where that network is linear the ranking of backward elimination competes, and the better one goes on.
    Of few rows a single model of each fold grows then: elimination is steadier than the mean of several.
    One network may find the columns, and another predict better from them. With the cells come the better
    ranking, and the history of the gates under the growing penalty, on all rows.
    """
    problems, folds, plain = list(comparison.problems.values()), comparison.folds, comparison.plain
    grower = _grower(paths, comparison.empty, plain, len(comparison.first))
    with_all_rows = np.vstack([folds, np.ones_like(folds[:1])])
    own, bank = problems[grower], comparison.bank
    few_rows = own.network.is_linear and len(comparison.first) < len(folds)
    single = few_rows or _best_agrees(paths[grower], ~comparison.keep)
    n_seeds = 1 if single else DEFAULTS.n_growing
    grown, history = grow_sets(own, bank, with_all_rows, n_seeds, comparison.has_pairs)
    rankings = [grown]
    if own.network.is_linear:
        rankings.append(eliminate(own, bank, with_all_rows, grown))
    stages: Stages = [[] for _ in problems]
    best = grown
    judged = [(judge_sizes(own, ranking, folds), ranking) for ranking in rankings]
    found = [(cells, ranking) for cells, ranking in judged if cells is not None]
    if found:
        stages[grower] = [cells for cells, _ in found]
        _, best = min(found, key=lambda each: each[0].losses.mean(axis=1).min())
        for i in set(plain) - {grower}:
            cells = judge_sizes(problems[i], best, folds)
            stages[i] += [] if cells is None else [cells]
    return stages, best, history


def judge_teams(comparison: Comparison, stages: Stages) -> Stages:
    """Judge the refitted sets that may be chosen once more, by teams."""
    near = for_teams(list_candidates(stages), len(comparison.first))
    judged: Stages = []
    for i, problem in enumerate(comparison.problems.values()):
        own = [c for c in near if c.network == i]
        judged.append([])
        if own:
            cells = train_cells(
                problem,
                "team",
                np.array([c.cells.lams[c.cell] for c in own]),
                comparison.folds,
                np.stack([c.opened for c in own]),
                support=np.stack([c.support for c in own]),
                n_members=team_size(problem, DEFAULTS.n_judging),
            )
            judged[i].append(cells)
    return judged


def judge_kept(comparison: Comparison) -> tuple[np.ndarray, np.ndarray]:
    """Return the held-out losses of the kept gates alone, in the network that is best for them.

    Without any, or where nothing else is free, they are those of the model without features.

    Returns
    -------
    losses, by_block : ndarray, shape (n_folds,) and (n_folds, n_blocks)
    """
    models, keep, folds = [(comparison.empty, comparison.empty_blocks)], comparison.keep, comparison.folds
    if keep.any() and not keep.all():
        alone = np.tile(keep, (1, len(folds), 1))
        for problem in comparison.problems.values():
            size = team_size(problem, DEFAULTS.n_judging)
            cells = train_cells(problem, "team", np.zeros(1), folds, alone, n_members=size)
            models.append((cells.losses[0], cells.by_block[0]))
    return min(models, key=lambda model: model[0].mean())


def n_judging_all(n_gates: int) -> int:
    """Return how many networks are in the team that judges all columns."""
    return DEFAULTS.n_judging if n_gates <= DEFAULTS.team_on_all else 1


def _grower(paths: list[Cells], empty: np.ndarray, plain: list[int], n_first: int) -> int:
    """Return the network that makes sets of every size: the simplest of those with the best paths.

    Simple networks come first, and their sets are steadier. An encoded network has so many columns that it
    makes sets only where no other may win.
    """
    best = [path.losses[path.losses.mean(axis=1).argmin()] for path in paths]
    empty = empty[: len(best[0])]
    goes_on = np.flatnonzero(may_win(paths, empty)).tolist()
    able = [i for i in goes_on if i in plain] or goes_on
    limit = DEFAULTS.worth_refitting * empty.mean()
    able = [i for i in able if best[i].mean() < limit] or able[:1]  # some may have diverged
    if len(able) == 1:
        return able[0]
    behind = np.array([best[i] for i in able]) - min((best[i] for i in able), key=np.mean)
    error = behind.std(axis=1, ddof=1) / np.sqrt(n_first)
    return able[int((behind.mean(axis=1) <= error).argmax())]


def _best_agrees(path: Cells, free: np.ndarray) -> bool:
    """Return whether the folds open the same few of the free gates where the path is best.

    Then luck has no part in which they are. Of most gates open it says nothing.
    """
    opened = path.settled[path.losses.mean(axis=1).argmin()][:, free]
    return bool(0 < opened.mean() <= DEFAULTS.few_open) and agreement(opened) >= DEFAULTS.equal
