"""One network's path: every penalty on every fold, the survivors once more, then refits."""

from collections.abc import Sequence

import numpy as np

from stochgate.choice.comparison import Comparison
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.rules import worth_of_a_feature
from stochgate.choice.sets.cells import Cells, agreement, train_cells
from stochgate.choice.sets.promising import promising, takes_few
from stochgate.problem.problem import Problem


def make_lams(n_samples: int) -> np.ndarray:
    """Return penalties per gate, falling: down to 0.0033, or to log(n) / 2n where that is less.

    At log(n) / 2n a feature must gain what the Bayesian information criterion asks for; n are the
    rows that judge.

    Examples
    --------
    >>> from stochgate.choice.sets.path import make_lams
    >>> make_lams(500).round(4)
    array([0.06  , 0.0334, 0.0186, 0.0104, 0.0058, 0.0032])
    """
    largest, ratio = DEFAULTS.largest_lam, DEFAULTS.lam_ratio
    lowest = min(DEFAULTS.smallest_lam, worth_of_a_feature(min(n_samples, DEFAULTS.most_judging)))
    return largest / ratio ** np.arange(1 + int(np.ceil(np.log(largest / lowest) / np.log(ratio))))


def race(comparison: Comparison, lams: np.ndarray, taking_part: Sequence[str]) -> list[list[Cells]]:
    """Train the path of some networks; those that may win go on with what it leaves.

    A network goes on when its path gains at least 30 % of what the best one gains over the model without
    features; all do while none gains anything to speak of.

    Parameters
    ----------
    comparison : Comparison
    lams : ndarray, shape (n_lams,)
    taking_part : sequence of str
        The networks' names, simple ones first.

    Returns
    -------
    list of list of Cells
        One for each network of the comparison; of those that take no part it is empty.
    """
    folds, empty = comparison.folds, comparison.empty
    paths = train_each_path(comparison, lams, folds, taking_part)
    stages: dict[str, list[Cells]] = {name: [] for name in comparison.problems}
    for name, path, goes_on in zip(taking_part, paths, may_win(paths, empty), strict=True):
        stages[name] = [path, *(go_on(comparison.problems[name], path, folds, empty) if goes_on else [])]
    return list(stages.values())


def may_win(paths: Sequence[Cells], empty: np.ndarray) -> np.ndarray:
    """Return which networks gain enough on their paths to go on, shape (n_networks,)."""
    gains = np.array([empty.mean() - path.losses.mean(axis=1).min() for path in paths])
    clear = gains.max() > DEFAULTS.clear_gain * empty.mean()
    return (gains >= DEFAULTS.rival * gains.max()) | (not clear)


def agree(path: Cells) -> bool:
    """Return whether the folds open the same features at any penalty that leaves some but not all."""
    return any(
        0 < opened.sum() < opened.size and agreement(opened) >= DEFAULTS.agreed for opened in path.settled
    )


def train_each_path(
    comparison: Comparison,
    lams: np.ndarray,
    folds: np.ndarray,
    taking_part: Sequence[str],
    n_larger: int = DEFAULTS.n_larger,
) -> list[Cells]:
    """Train the path of some networks; one that takes few of many features is offered promising ones.

    Parameters
    ----------
    comparison, lams, taking_part : as in `race`
    folds : ndarray, shape (n_folds, n_samples)
        Those of the comparison, or some of them.
    n_larger : int
        How many larger penalties may follow at most.
    """
    paths: list[Cells] = []
    for problem in (comparison.problems[name] for name in taking_part):
        offered = None
        if takes_few(problem):
            offered = promising(problem, comparison.bank, folds, paths, comparison.has_pairs)
        paths.append(train_path(problem, lams, folds, offered, n_larger))
    return paths


def train_path(
    problem: Problem,
    lams: np.ndarray,
    folds: np.ndarray,
    offered: np.ndarray | None = None,
    n_larger: int = DEFAULTS.n_larger,
) -> Cells:
    """Train every penalty on every fold, and larger ones while the largest leaves most gates open.

    With few columns and much to memorise the gain from all of them together may outweigh the penalty.

    Parameters
    ----------
    problem : Problem
    lams : ndarray, shape (n_lams,), falling
    folds : ndarray, shape (n_folds, n_samples), from `make_folds`
    offered : ndarray of bool, shape (n_folds, n_gates), optional
        The gates that each fold may open; all by default.
    n_larger : int
        How many larger penalties may follow at most.
    """

    def train(lams: np.ndarray) -> Cells:
        allowed = None if offered is None else np.repeat(offered[None], len(lams), axis=0)
        return train_cells(problem, "path", lams, folds, allowed)

    path, free = train(lams), np.tile(~problem.gates.keep, (len(folds), 1))
    free = free if offered is None else free & offered
    for _ in range(n_larger):
        if not free.any() or path.settled[0][free].mean() <= DEFAULTS.most_open:
            break
        path = train(path.lams[:1] * DEFAULTS.larger).before(path)
    return path


def go_on(problem: Problem, path: Cells, folds: np.ndarray, empty: np.ndarray) -> list[Cells]:
    """Train what a path leaves once more, under larger penalties, and refit what is left then.

    A fold goes on with the features it opened itself. The vote of the other folds must not prune them:
    those folds have seen the rows held out here, and on noise the models would look better than the base
    rate.
    """
    opened, few, n_samples = path.opened, DEFAULTS.always_few, folds.shape[1]
    some = opened.any(axis=(1, 2)) & ~opened.all(axis=(1, 2))
    some &= _small(opened, max(few, n_samples // DEFAULTS.rows_per_survivor))
    order = path.losses[some].mean(axis=1).argsort(kind="stable")
    best = np.flatnonzero(some)[order[: DEFAULTS.n_survivors]]
    most, stages = max(few, n_samples // DEFAULTS.rows_per_refitted), []
    if len(best):
        harder = np.multiply.outer(path.lams[best], DEFAULTS.harder).ravel()
        pool = opened[best].repeat(len(DEFAULTS.harder), axis=0)
        stages.append(train_cells(problem, "survivors", harder, folds, pool))
    unique = {
        gates[i].tobytes(): (cells.lams[i], gates[i])
        for cells in (path, *stages)
        for gates in (cells.opened, cells.settled)
        for i in np.flatnonzero(_small(gates, most) & _worth(cells, empty))
        if agreement(gates[i]) >= DEFAULTS.agreed
    }
    if unique:
        of, sets = zip(*unique.values(), strict=True)
        stages.append(train_cells(problem, "refit", np.array(of), folds, np.stack(sets)))
    return stages


def _small(gates: np.ndarray, n_features: int) -> np.ndarray:
    return gates.sum(axis=2).max(axis=1) <= n_features


def _worth(cells: Cells, empty: np.ndarray) -> np.ndarray:
    return cells.losses.mean(axis=1) < DEFAULTS.worth_refitting * empty.mean()
