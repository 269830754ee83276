"""Error control: how many of the selected features are there by chance.

References
----------
Meinshausen and Bühlmann (2010), Stability selection, JRSS B 72, 417-473.
Shah and Samworth (2013), Variable selection with error control: another look at stability selection,
JRSS B 75, 55-80.
"""

import numpy as np

from stochgate.stability.tail_bounds import r_concave_tail, unimodal_constant

KINDS = ("unimodal", "r-concave")


def meinshausen_buehlmann_bound(q: float, n_features: int, threshold: float) -> float:
    r"""Bound the expected number of falsely selected features (Meinshausen and Bühlmann 2010, Theorem 1).

    .. math:: E(V) \le \frac{q^2}{(2 \tau - 1) p}

    It holds when noise features are exchangeable and the selection is no worse than guessing; with
    complementary pairs it holds without these for features of selection probability at most q/p (Shah
    and Samworth 2013, Theorem 1).

    Parameters
    ----------
    q : float
        How many features one half of the rows selects, on average.
    n_features : int
    threshold : float
        The frequency from which a feature is selected (tau); up to 0.5 nothing is known, and the bound is
        infinite.

    Examples
    --------
    >>> from stochgate.stability.bounds import meinshausen_buehlmann_bound
    >>> meinshausen_buehlmann_bound(q=10, n_features=1000, threshold=0.75)
    0.2
    """
    _check_size(q, n_features)
    return q**2 / ((2 * threshold - 1) * n_features) if threshold > 0.5 else float("inf")


def shah_samworth_bound(
    q: float, n_features: int, threshold: float, n_pairs: int, kind: str = "r-concave"
) -> float:
    r"""Bound the expected number of selected features of low selection probability.

    With complementary pairs, of the features that one half of the rows selects with a probability of at
    most theta = q/p, the expected number whose frequency reaches tau is at most

    .. math:: C(\tau, B) \, q^2 / p \quad\text{("unimodal", Theorem 2), or}

    .. math:: p \min\{D(\theta^2, 2 \tau - 1, B, -1/2), \; D(\theta, \tau, 2 B, -1/4)\}
        \quad\text{("r-concave", equation 8)}

    if the frequencies' distributions are unimodal, or r-concave. Where a bound says nothing or less, the
    wider one takes its place: "r-concave" <= "unimodal" <= `meinshausen_buehlmann_bound`.

    Parameters
    ----------
    q : float
        How many features one half of the rows selects, on average.
    n_features : int
    threshold : float
        The frequency from which a feature is selected; a multiple of 1 / (2 n_pairs), or else the next
        one counts.
    n_pairs : int
    kind : {"r-concave", "unimodal"}

    Examples
    --------
    >>> from stochgate.stability.bounds import shah_samworth_bound
    >>> round(shah_samworth_bound(q=50, n_features=1000, threshold=0.6, n_pairs=50), 3)
    2.605
    """
    _check_size(q, n_features)
    _check_kind(kind, n_pairs)
    count = int(np.ceil(2 * n_pairs * threshold - 1e-9))
    if count > 2 * n_pairs:
        return 0.0
    theta = q / n_features
    widest = meinshausen_buehlmann_bound(q, n_features, count / (2 * n_pairs))
    bound = min(widest, unimodal_constant(theta, count, n_pairs) * theta * q) if q > 0 else widest
    if kind == "unimodal":
        return bound
    both = r_concave_tail(theta**2, count - n_pairs, n_pairs, -1 / 2)
    either = r_concave_tail(theta, count, 2 * n_pairs, -1 / 4)
    return min(bound, n_features * min(both, either))


def smallest_threshold(
    q: float, n_features: int, n_pairs: int, max_false: float, kind: str = "r-concave"
) -> float:
    """Return the lowest frequency at which at most `max_false` features are expected to be false.

    The frequencies are 1/2 + 1 / (2 n_pairs), ..., 1. Where even 1 promises too little the answer is
    infinite, which no feature reaches.

    Parameters
    ----------
    q, n_features, n_pairs, kind : as in `shah_samworth_bound`
    max_false : float

    Examples
    --------
    >>> from stochgate.stability.bounds import smallest_threshold
    >>> smallest_threshold(q=10, n_features=1000, n_pairs=50, max_false=0.05)
    0.66
    """
    _check_kind(kind, n_pairs)
    for count in range(n_pairs + 1, 2 * n_pairs + 1):
        threshold = count / (2 * n_pairs)
        if shah_samworth_bound(q, n_features, threshold, n_pairs, kind) <= max_false:
            return threshold
    return float("inf")


def _check_size(q: float, n_features: int) -> None:
    if not 0 <= q <= n_features:
        raise ValueError(
            f"q={q!r} features of n_features={n_features!r} cannot be: q is from 0 to n_features."
        )


def _check_kind(kind: str, n_pairs: int) -> None:
    if kind not in KINDS:
        raise ValueError(f"Unknown kind {kind!r}; use one of {list(KINDS)}.")
    if n_pairs < 1:
        raise ValueError(f"n_pairs={n_pairs!r} gives no frequency: use at least 1 pair.")
