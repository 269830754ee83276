"""How well predictions order and describe survival times."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length

from stochgate.optional import require
from stochgate.survival import SurvivalTarget, check_survival_target, read_survival_target


def concordance_index(
    event: ArrayLike,
    time: ArrayLike,
    risk: ArrayLike,
    *,
    entry: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return Harrell's concordance index in O(n log^2 n), as R's ``survival::concordance`` counts it.

    Of all pairs whose order of failure is known, the share in which the one that failed first has the
    higher risk; equal risks count a half. A pair is known when the earlier time is an event, or when
    the times are equal and exactly one of the two is an event (which then came first). Pairs of events
    at one time are left out.

    Parameters
    ----------
    event : array of 0 and 1 or bool, shape (n_samples,)
    time : array, shape (n_samples,)
    risk : array, shape (n_samples,)
        Higher means earlier failure.
    entry : array, shape (n_samples,), optional
        Pairs count where both rows were under observation at the event, entry < time.
    strata : array of labels, shape (n_samples,), optional
        Pairs count within a stratum.
    sample_weight : array, shape (n_samples,), optional
        A pair weighs the product of its rows' weights.

    Examples
    --------
    >>> from stochgate.metrics import concordance_index
    >>> concordance_index([1, 1, 0], [1.0, 2.0, 3.0], [0.9, 0.1, 0.2])
    0.6666666666666666
    """
    check_consistent_length(event, time, risk, entry, strata, sample_weight)
    target, risk = check_survival_target(event, time, entry, strata), check_risk(risk)
    weights = np.ones(len(risk)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    points, pairs, n_pairs = _count_pairs(target, risk, weights)
    if n_pairs == 0:
        raise ValueError("No pair of rows can be compared: there are too few events.")
    return points / pairs


def check_risk(risk: ArrayLike) -> np.ndarray:
    """Return the risks as numbers, shape (n_samples,); a missing one is an error."""
    risk = np.asarray(risk, dtype=np.float64)
    if np.isnan(risk).any():
        row = np.flatnonzero(np.isnan(risk))[0]
        raise ValueError(f"risk contains NaN in row {row}; give each row a number, or remove the row.")
    return risk


def _count_pairs(
    target: SurvivalTarget, risk: np.ndarray, weights: np.ndarray
) -> tuple[float, float, float]:
    """Return the weight of concordant pairs, ties counting half, and the weight and number of all pairs.

    The number is exact, which the weight is not where rows leave. Rows of weight 0 make no pair.
    """
    event, time, entry = target.event, target.time, target.entry
    stratum = np.zeros(len(time), dtype=np.int64)
    if target.stratum is not None:
        stratum = np.unique(target.stratum, return_inverse=True)[1]
    rows, deaths = np.arange(len(time)), np.flatnonzero(event)
    # From late to early rows come (to an event of the same time if censored), events ask who is there,
    # and rows leave again with their entry. What comes before an event in another stratum ranks higher.
    come = rows, time, np.where(event, 2, 0), weights, 0 * weights
    ask = deaths, time[deaths], np.ones(len(deaths)), np.zeros(len(deaths)), weights[deaths]
    leave = (rows[:0],) * 5 if entry is None else (rows, entry, 0 * rows, -weights, 0 * weights)
    row, moment, turn, comes, asks = map(np.concatenate, zip(come, ask, leave, strict=True))
    order = np.lexsort((turn, -moment, -stratum[row]))
    row, comes, asks = row[order], comes[order], asks[order]
    rank = np.unique(risk, return_inverse=True)[1] + len(risk) * stratum
    rank = np.unique(rank, return_inverse=True)[1][row]
    points = 0.5 * _sums_before(rank, comes)
    for bit in range(int(rank.max()).bit_length()):
        high = (rank >> bit) % 2 == 1  # above those that agree with it but for this bit and lower ones
        points += np.where(high, _sums_before(rank >> (bit + 1), np.where(high, 0, comes)), 0)
    pairs, n_pairs = _sums_before(stratum[row], comes), _sums_before(stratum[row], np.sign(comes))
    return float(asks @ points), float(asks @ pairs), float(np.sign(asks) @ n_pairs)


def _sums_before(group: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the sum of the values that come earlier in the same group, shape (n,)."""
    order = np.argsort(group.astype(np.min_scalar_type(group.max())), kind="stable")  # small ones sort fast
    group, values = group[order], values[order]
    sums = np.cumsum(values) - values
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    sums -= np.repeat(sums[starts], np.diff(starts, append=len(group)))
    result = np.empty_like(sums)
    result[order] = sums
    return result


def uno_concordance(y_train: Any, y_test: Any, risk: ArrayLike, tau: float | None = None) -> float:
    """Return Uno's concordance index, which weighs pairs by the inverse chance of not being censored.

    It needs scikit-survival.

    Parameters
    ----------
    y_train : survival target without entry times and strata
        From which the distribution of censoring is estimated.
    y_test : survival target
    risk : array, shape (n_samples,)
        Of the rows of `y_test`; higher means earlier failure.
    tau : float, optional
        The time up to which pairs count.

    Examples
    --------
    >>> from stochgate.metrics import uno_concordance
    >>> y = [1, 1, 0, 1], [1.0, 2.0, 3.0, 4.0]
    >>> uno_concordance(y, y, [0.9, 0.1, 0.2, 0.0], tau=3.5)
    0.8
    """
    metrics = require("sksurv.metrics", package="scikit-survival", needed_by="uno_concordance")
    train, test = _plain("uno_concordance", y_train), _plain("uno_concordance", y_test)
    return float(metrics.concordance_index_ipcw(train, test, np.asarray(risk), tau=tau)[0])


def integrated_brier_score(y_train: Any, y_test: Any, survival: ArrayLike, times: ArrayLike) -> float:
    """Return the mean squared error of survival probabilities over a span of times; lower is better.

    It needs scikit-survival.

    Parameters
    ----------
    y_train, y_test : as in `uno_concordance`
    survival : array, shape (n_samples, n_times)
        As `GatedCox.predict_survival_function` returns it.
    times : array, shape (n_times,)
        Rising, within the times of `y_test`.

    Examples
    --------
    >>> from stochgate.metrics import integrated_brier_score
    >>> y = [1, 1, 0, 1], [1.0, 2.0, 3.0, 4.0]
    >>> survival = [[0.2, 0.1], [0.9, 0.4], [0.9, 0.8], [1.0, 0.9]]
    >>> round(integrated_brier_score(y, y, survival, [1.5, 2.5]), 3)
    0.035
    """
    metrics = require("sksurv.metrics", package="scikit-survival", needed_by="integrated_brier_score")
    train, test = _plain("integrated_brier_score", y_train), _plain("integrated_brier_score", y_test)
    return float(metrics.integrated_brier_score(train, test, np.asarray(survival), np.asarray(times)))


def _plain(name: str, y: Any) -> np.ndarray:
    """Return events and times as scikit-survival has them, which knows no entry times and no strata."""
    target = read_survival_target(y)
    if target.entry is not None:
        raise ValueError(f"{name} is not defined for entry times: give y without them.")
    if target.stratum is not None:
        raise ValueError(
            f"{name} takes no note of strata: give y without them, a stratum at a time where its rows are "
            "to be compared with each other alone."
        )
    return target.to_array()[["event", "time"]]
