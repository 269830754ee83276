"""How groups of rows survive: Kaplan-Meier curves and the log-rank test."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.utils import check_consistent_length

from stochgate.metrics.survival import check_risk
from stochgate.survival import check_survival_target


@dataclass(frozen=True)
class SurvivalCurve:
    """The Kaplan-Meier curve of some rows.

    Attributes
    ----------
    time : ndarray, shape (n_times,)
        0 and every distinct time.
    survival, low, high : ndarray, shape (n_times,)
        The share that outlives each time, with a 95 % interval (log-log, from Greenwood's variance).
    n_at_risk : ndarray of int, shape (n_times,)
    """

    time: np.ndarray
    survival: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_at_risk: np.ndarray


@dataclass(frozen=True)
class RiskGroups:
    """Survival of rows grouped by predicted risk.

    Attributes
    ----------
    curves : tuple of SurvivalCurve
        From the lowest risk to the highest.
    p_value : float
        Of the log-rank test that all groups survive alike. It says nothing about new rows unless the risks
        were predicted for rows that the model did not learn from.
    """

    curves: tuple[SurvivalCurve, ...]
    p_value: float


def survival_curves_by_risk(
    event: ArrayLike, time: ArrayLike, risk: ArrayLike, n_groups: int = 2
) -> RiskGroups:
    """Cut rows into groups of equal size by their risk, and return how each survives.

    Parameters
    ----------
    event : array of 0 and 1 or bool, shape (n_samples,)
    time : array, shape (n_samples,)
    risk : array, shape (n_samples,)
        Higher means earlier failure; rows of equal risk stay together.
    n_groups : int, default=2

    Examples
    --------
    >>> from stochgate.metrics import survival_curves_by_risk
    >>> groups = survival_curves_by_risk([1, 1, 1, 0], [1, 2, 3, 4], [4, 3, 2, 1])
    >>> groups.curves[1].survival
    array([1. , 0.5, 0. ])
    """
    check_consistent_length(event, time, risk)
    target, risk = check_survival_target(event, time), check_risk(risk)
    group = ((stats.rankdata(risk) - 0.5) * n_groups / len(risk)).astype(int)  # (n_samples,)
    members = [group == g for g in range(n_groups)]
    if n_groups < 2 or not all(rows.any() for rows in members):
        raise ValueError(
            f"The risks take {len(np.unique(risk))} value(s), which does not make {n_groups} groups: "
            "n_groups must be at least 2, and a model without features has nothing to group by."
        )
    curves = tuple(kaplan_meier(target.event[rows], target.time[rows]) for rows in members)
    return RiskGroups(curves, log_rank_p_value(target.event, target.time, group))


def kaplan_meier(event: ArrayLike, time: ArrayLike) -> SurvivalCurve:
    r"""Return the Kaplan-Meier curve, :math:`S(t) = \prod_{t_i \le t} (1 - d_i / n_i)`.

    Parameters
    ----------
    event : array of 0 and 1 or bool, shape (n_samples,)
    time : array, shape (n_samples,)

    Examples
    --------
    >>> from stochgate.metrics import kaplan_meier
    >>> kaplan_meier([1, 0, 1], [1, 2, 3]).survival.round(2)
    array([1.  , 0.67, 0.67, 0.  ])
    """
    target = check_survival_target(event, time)
    event, time = target.event, target.time
    times = np.unique(np.append(0.0, time))
    n_at_risk = len(time) - np.searchsorted(np.sort(time), times, side="left")
    deaths = np.bincount(np.searchsorted(times, time), weights=event, minlength=len(times))
    survival = np.cumprod(1 - deaths / n_at_risk)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.cumsum(deaths / (n_at_risk * (n_at_risk - deaths)))
        width = stats.norm.ppf(0.975) * np.sqrt(variance) / np.log(survival)
        # 1 before the first death and 0 after the last have no interval of their own
        low, high = (
            np.where(survival % 1 > 0, survival ** np.exp(sign * width), survival) for sign in (-1, 1)
        )
    return SurvivalCurve(times, survival, low, high, n_at_risk)


def log_rank_p_value(event: ArrayLike, time: ArrayLike, group: ArrayLike) -> float:
    """Return the p-value of the log-rank test that all groups survive alike.

    Parameters
    ----------
    event : array of 0 and 1 or bool, shape (n_samples,)
    time : array, shape (n_samples,)
    group : array of labels, shape (n_samples,)

    Examples
    --------
    >>> from stochgate.metrics import log_rank_p_value
    >>> round(log_rank_p_value([1, 1, 1, 0], [1, 2, 3, 4], ["a", "a", "b", "b"]), 3)
    0.09
    """
    check_consistent_length(event, time, group)
    target, labels = check_survival_target(event, time), np.unique(group)
    if not target.event.any():
        raise ValueError("No row has an event, so groups can not be compared; give rows with events.")
    event, time = target.event, target.time
    member = np.asarray(group) == labels[:, None]  # (n_groups, n_samples)
    excess, covariance = np.zeros(len(member)), np.zeros((len(member), len(member)))
    for t in np.unique(time[event]):
        at_risk, dies = time >= t, event & (time == t)
        n, d = at_risk.sum(), dies.sum()
        share = (member & at_risk).sum(axis=1) / n
        excess += (member & dies).sum(axis=1) - d * share
        if n > 1:
            covariance += d * (n - d) / (n - 1) * (np.diag(share) - np.outer(share, share))
    statistic = excess @ np.linalg.pinv(covariance) @ excess  # groups sum to 0: one is redundant
    return float(stats.chi2.sf(statistic, len(member) - 1))
