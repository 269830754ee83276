"""How well a predicted risk orders survival times."""

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length


def concordance_index(event: ArrayLike, time: ArrayLike, risk: ArrayLike) -> float:
    """Return Harrell's concordance index in O(n log n).

    Of all pairs whose order of failure is known, the share in which the one that failed first has the
    higher risk; equal risks count a half. A pair is known when the earlier time is an event, or when
    the times are equal and exactly one of the two is an event (which then came first). Pairs of events
    at one time are left out.

    Parameters
    ----------
    event : array of bool, shape (n_samples,)
    time : array, shape (n_samples,)
    risk : array, shape (n_samples,)
        Higher means earlier failure.

    Examples
    --------
    >>> from stochgate.metrics import concordance_index
    >>> concordance_index([1, 1, 0], [1.0, 2.0, 3.0], [0.9, 0.1, 0.2])
    0.6666666666666666
    """
    event, time = np.asarray(event, dtype=bool), np.asarray(time, dtype=np.float64)
    risk = np.asarray(risk, dtype=np.float64)
    check_consistent_length(event, time, risk)
    if np.isnan(risk).any():
        raise ValueError(f"risk contains NaN in row {np.flatnonzero(np.isnan(risk))[0]}.")
    _, rank = np.unique(risk, return_inverse=True)
    counts = _Counts(rank.max() + 1)
    concordant = tied = pairs = 0
    # from the latest time to the earliest: whoever is in `counts` outlives the events to come
    order = np.lexsort((event, -time))
    boundaries = np.flatnonzero(np.diff(time[order])) + 1
    for group in np.split(order, boundaries):
        for i in group[~event[group]]:
            counts.add(rank[i])
        deaths = group[event[group]]
        for i in deaths:
            below, equal = counts.below(rank[i]), counts.equal(rank[i])
            concordant, tied, pairs = concordant + below, tied + equal, pairs + counts.n
        for i in deaths:
            counts.add(rank[i])
    if pairs == 0:
        raise ValueError("No pair of rows can be compared: there are too few events.")
    return float((concordant + 0.5 * tied) / pairs)


class _Counts:
    """How many of the ranks seen lie below a given one (a Fenwick tree)."""

    def __init__(self, size: int):
        self.tree = [0] * (int(size) + 1)
        self.exact = [0] * int(size)
        self.n = 0

    def add(self, rank: int) -> None:
        self.n += 1
        self.exact[rank] += 1
        i = int(rank) + 1
        while i < len(self.tree):
            self.tree[i] += 1
            i += i & -i

    def below(self, rank: int) -> int:
        i, total = int(rank), 0
        while i > 0:
            total += self.tree[i]
            i -= i & -i
        return total

    def equal(self, rank: int) -> int:
        return self.exact[rank]
