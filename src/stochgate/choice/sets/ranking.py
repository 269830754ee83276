"""Rankings of the gates, made on every fold, and how the first k of a ranking are judged."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.sets.cells import Cells, train_cells
from stochgate.problem.problem import Problem


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The gates in the order in which they matter, as every fold ranks them: the first k are its set.

    Among correlated columns the folds' sets have little in common, and each is a fair answer: what is
    judged is how such a set is made, and the one returned is made in the same way from all rows.

    Attributes
    ----------
    stage : {"growing", "elimination"}
        How it was made.
    order : ndarray of int, shape (n_folds, n_gates)
        Gates that are kept first, those that are closed for good last. The last fold learns from all rows.
    lams : ndarray, shape (n_gates,)
        The penalty, mean over the folds, under which as many gates are left.
    n_kept : int
        Gates that are kept; they are in every set and count in no size.
    n_free : int
        Other gates that may be open in every fold.
    """

    stage: str
    order: np.ndarray
    lams: np.ndarray
    n_kept: int
    n_free: int

    def sets(self, sizes: Sequence[int]) -> np.ndarray:
        """Return each fold's sets of some sizes, a mask of shape (n_sizes, n_folds, n_gates)."""
        made = np.zeros((len(sizes), *self.order.shape), dtype=bool)
        for chosen, size in zip(made, sizes, strict=True):
            np.put_along_axis(chosen, self.order[:, : self.n_kept + size], True, axis=1)
        return made

    def of_all_rows(self, first: np.ndarray) -> "Ranking":
        """Return the ranking of all rows alone, with some gates moved to the front."""
        order = self.order[-1]
        order = order[np.argsort(~first[order], kind="stable")]
        return replace(self, order=order[None])

    def judge(self, problem: Problem, folds: np.ndarray, sizes: Sequence[int], n_members: int = 1) -> Cells:
        """Refit the sets of some sizes on each fold.

        Parameters
        ----------
        problem : Problem
            Of the network that is refitted, which need not have made the ranking.
        folds : ndarray, shape (n_folds, n_samples), from `make_folds`
        sizes : sequence of int, at least one
        n_members : int
            Models in the team that is judged.
        """
        sets, lams = self.sets(sizes), self.lams[np.array(sizes) + self.n_kept - 1]
        return train_cells(
            problem,
            self.stage,
            lams,
            folds,
            sets[:, :-1],
            support=sets[:, -1],
            n_members=n_members,
        )


def grid_of_sizes(n_gates: int, n_samples: int) -> list[int]:
    """Return the sizes of the sets: 1, 2, 3, 4, 6, 9, ..., of many gates no more than there are rows.

    Examples
    --------
    >>> from stochgate.choice.sets.ranking import grid_of_sizes
    >>> grid_of_sizes(13, 60), grid_of_sizes(200, 500)[-2:], grid_of_sizes(9000, 57)[-2:]
    ([1, 2, 3, 4, 6, 9, 13], [72, 80], [48, 57])
    """
    most = most_gates(n_gates)
    if n_gates > DEFAULTS.many_gates:
        most = min(most, max(n_samples, DEFAULTS.most_of_few_rows))
    sizes = [1] if most else []
    while sizes and sizes[-1] < most:
        sizes.append(min(most, max(sizes[-1] + 1, round(DEFAULTS.size_ratio * sizes[-1]))))
    return sizes


def largest_size(n_gates: int, n_samples: int, is_linear: bool) -> int:
    """Return how many gates the largest set has that is tried, 0 where there is none."""
    largest = max(grid_of_sizes(n_gates, n_samples), default=0)
    return largest if is_linear else min(largest, max(DEFAULTS.pauses[-1], n_samples))


def most_gates(n_gates: int) -> int:
    """Return how many gates a set may have: all of few, a share of many."""
    if n_gates <= DEFAULTS.many_gates:
        return n_gates
    return min(DEFAULTS.most_gates, int(DEFAULTS.most_share * n_gates))


def judge_sizes(problem: Problem, ranking: Ranking, folds: np.ndarray) -> Cells | None:
    """Judge sets of every size, from small ones on, while larger ones may gain; then those near the best.

    A network with hidden layers is given no more than 300 features, or as many as there are rows. Between
    the best size, up to 32, and the next smaller one of the grid up to four more are judged. Where a fold
    has no column that varies there are no sets, and None is returned.

    Parameters
    ----------
    problem, folds : as in `Ranking.judge`
    ranking : Ranking
    """
    sizes = grid_of_sizes(ranking.n_free, folds.shape[1])
    largest = largest_size(ranking.n_free, folds.shape[1], problem.network.is_linear)
    found: Cells | None = None
    for low, high in pairwise((0, *(size for size in DEFAULTS.pauses if size < largest), largest)):
        some = [size for size in sizes if low < size <= high]
        if not some:
            continue
        cells = ranking.judge(problem, folds, some)
        found = cells if found is None else found.before(cells)
        if _past_best(found.losses):
            break
    if found is None:
        return None
    best = int(found.losses.mean(axis=1).argmin())
    between = _between(0 if best == 0 else sizes[best - 1], sizes[best])
    if not between or sizes[best] > DEFAULTS.most_between:
        return found
    return found.before(ranking.judge(problem, folds, between))


def _between(low: int, high: int) -> list[int]:
    """Return up to four sizes between two.

    Examples
    --------
    >>> from stochgate.choice.sets.ranking import _between
    >>> _between(2, 3), _between(9, 14), _between(21, 32)
    ([], [10, 11, 12, 13], [23, 25, 28, 30])
    """
    n = min(DEFAULTS.n_between, high - low - 1)
    return np.linspace(low, high, n + 2)[1:-1].round().astype(int).tolist()


def _past_best(losses: np.ndarray) -> bool:
    """Return whether the last of several sizes is clearly worse than the best, shape (n_sizes, n_folds)."""
    best = int(losses.mean(axis=1).argmin())
    if best >= len(losses) - 2 or not np.isfinite(losses[-1]).all():
        return not np.isfinite(losses[-1]).all()  # a network that diverged
    behind = losses[-1] - losses[best]
    return bool(behind.mean() > behind.std(ddof=1) / np.sqrt(len(behind)))
