"""Every set of features that is judged: votes of the folds, joint sets of every size, all columns."""

import numpy as np

from stochgate.choice.comparison import Contest
from stochgate.choice.growing import N_SEEDS, grow_sets, judge_sizes
from stochgate.choice.path import (
    WORTH,
    Cells,
    agree,
    agreement,
    may_win,
    race,
    train_cells,
    train_path,
)
from stochgate.choice.rules import Candidate, for_teams, list_candidates
from stochgate.engine import FREE
from stochgate.problem.setting import Setting

JUDGED_MEMBERS = 4  # models in each team that judges a set
EQUAL = 0.9  # the overlap with their vote at which the folds' sets differ by hardly a feature,
FEW_OPEN = 0.5  # where at most this share of the gates is open
FEW = 100  # up to so many gates the model on all columns is a team too; of more a single one, for its cost


def find_sets(contest: Contest, lams: np.ndarray, *, all_kept: bool) -> list[list[Cells]]:
    """Train every network's path, sets of every size and the models on all columns, and judge them.

    Parameters
    ----------
    contest : Contest
    lams : ndarray, shape (n_lams,), falling
    all_kept : bool
        Whether no gate is free: then nothing is penalised, and only network and steps are chosen.

    Returns
    -------
    For each network its cells, stage after stage
    """
    settings, learns, first = [s for s, _ in contest.settings.values()], contest.learns, contest.first
    if all_kept:
        return race(settings, lams[:1], learns, contest.empty)
    stages: list[list[Cells]] = [[] for _ in settings]
    if len(first) < len(learns):  # few rows: where even the first folds disagree the others cannot vote
        paths = [train_path(setting, lams, first) for setting in settings]
    if len(first) == len(learns) or any(agree(path) for path in paths):
        stages = race(settings, lams, learns, contest.empty)
        paths = [cells[0] for cells in stages]
    plain = [i for i, (_, data) in enumerate(contest.settings.values()) if data.inputs.encoding is None]
    every = np.ones((1, *learns.shape[:1], settings[0].design.n_gates), dtype=bool)
    n_members = members_on_all(every.shape[2])
    for i in plain or range(len(settings)):
        size = settings[i].team_size(n_members)
        stages[i].append(train_cells(settings[i], "all", np.zeros(1), learns, every, n_members=size))
    with_all = np.vstack([learns, np.ones_like(learns[:1])])
    grower = _grower(paths, contest.empty, plain, len(first))
    free = settings[grower].fixed.numpy() == FREE
    n_seeds = 1 if _best_agrees(paths[grower], free) else N_SEEDS
    sets, grown = grow_sets(settings[grower], with_all, n_seeds)
    for j in {grower, *plain}:
        cells = judge_sizes(settings[j], sets, grown, learns)
        stages[j] += [] if cells is None else [cells]
    near = for_teams(list_candidates(stages), len(first))
    for j in {c.network for c in near}:
        stages[j].append(_judge_teams(settings[j], [c for c in near if c.network == j], learns))
    return stages


def members_on_all(n_gates: int) -> int:
    """Return how many networks are in the team that judges all columns."""
    return JUDGED_MEMBERS if n_gates <= FEW else 1


def _grower(paths: list[Cells], empty: np.ndarray, plain: list[int], n_first: int) -> int:
    """Return the network that makes sets of every size: the simplest of those with the best paths.

    Simple networks come first, and their sets are steadier. An encoded network has so many columns that it
    makes sets only where no other may win.
    """
    best = [path.losses[path.losses.mean(axis=1).argmin()] for path in paths]
    empty = empty[: len(best[0])]
    goes_on = np.flatnonzero(may_win(paths, empty)).tolist()
    able = [i for i in goes_on if i in plain] or goes_on
    able = [i for i in able if best[i].mean() < WORTH * empty.mean()] or able[:1]  # some may have diverged
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
    return bool(0 < opened.mean() <= FEW_OPEN) and agreement(opened) >= EQUAL


def judge_kept(contest: Contest, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the held-out losses of the kept gates alone, in the network that is best for them.

    Without any, or where nothing else is free, they are those of the model without features.

    Parameters
    ----------
    contest : Contest
    keep : ndarray of bool, shape (n_gates,)

    Returns
    -------
    losses, by_block : ndarray, shape (n_folds,) and (n_folds, n_blocks)
    """
    models = [(contest.empty, contest.empty_blocks)]
    if keep.any() and not keep.all():
        alone = np.tile(keep, (1, len(contest.learns), 1))
        for setting, _ in contest.settings.values():
            size = setting.team_size(JUDGED_MEMBERS)
            cells = train_cells(setting, "team", np.zeros(1), contest.learns, alone, n_members=size)
            models.append((cells.losses[0], cells.by_block[0]))
    return min(models, key=lambda model: model[0].mean())


def _judge_teams(setting: Setting, candidates: list[Candidate], learns: np.ndarray) -> Cells:
    """Judge refitted sets by teams."""
    return train_cells(
        setting,
        "team",
        np.array([c.cells.lams[c.cell] for c in candidates]),
        learns,
        np.stack([c.opened for c in candidates]),
        support=np.stack([c.support for c in candidates]),
        n_members=setting.team_size(JUDGED_MEMBERS),
    )
