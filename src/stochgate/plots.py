"""Pictures of a fitted model. A function returns the numbers, another draws them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.utils import check_consistent_length

from stochgate.optional import require
from stochgate.survival import read_survival_target


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
    event : array of bool, shape (n_samples,)
    time : array, shape (n_samples,)
    risk : array, shape (n_samples,)
        Higher means earlier failure; rows of equal risk stay together.
    n_groups : int, default=2

    Examples
    --------
    >>> from stochgate.plots import survival_curves_by_risk
    >>> groups = survival_curves_by_risk([1, 1, 1, 0], [1, 2, 3, 4], [4, 3, 2, 1])
    >>> groups.curves[1].survival
    array([1. , 0.5, 0. ])
    """
    target, risk = read_survival_target((event, time)), np.asarray(risk, dtype=np.float64)
    check_consistent_length(target.event, risk)
    group = ((stats.rankdata(risk) - 0.5) * n_groups / len(risk)).astype(int)  # (n_samples,)
    members = [group == g for g in range(n_groups)]
    if n_groups < 2 or not all(rows.any() for rows in members):
        raise ValueError(
            f"The risks take {len(np.unique(risk))} value(s), which does not make {n_groups} groups: "
            "n_groups must be at least 2, and a model without features has nothing to group by."
        )
    curves = tuple(kaplan_meier(target.event[rows], target.time[rows]) for rows in members)
    return RiskGroups(curves, log_rank_p_value(target.event, target.time, group))


def kaplan_meier(event: np.ndarray, time: np.ndarray) -> SurvivalCurve:
    r"""Return the Kaplan-Meier curve, :math:`S(t) = \prod_{t_i \le t} (1 - d_i / n_i)`.

    Parameters
    ----------
    event : array of bool, shape (n_samples,)
    time : array, shape (n_samples,)
    """
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


def log_rank_p_value(event: np.ndarray, time: np.ndarray, group: np.ndarray) -> float:
    """Return the p-value of the log-rank test that all groups survive alike.

    Parameters
    ----------
    event : array of bool, shape (n_samples,)
    time : array, shape (n_samples,)
    group : array of labels, shape (n_samples,)
    """
    member = group == np.unique(group)[:, None]  # (n_groups, n_samples)
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


def draw_survival_curves(groups: RiskGroups, ax: Any = None) -> Any:
    """Draw what `survival_curves_by_risk` returns; return the axes (needs matplotlib).

    Parameters
    ----------
    groups : RiskGroups
    ax : matplotlib Axes, optional
    """
    ax = _axes(ax)
    for number, curve in enumerate(groups.curves, start=1):
        label = f"risk group {number} of {len(groups.curves)} (n = {curve.n_at_risk[0]})"
        (line,) = ax.step(curve.time, curve.survival, where="post", label=label)
        ax.fill_between(curve.time, curve.low, curve.high, step="post", alpha=0.2, color=line.get_color())
    ax.set(xlabel="time", ylabel="share without event", ylim=(0, 1.02))
    ax.set_title(f"log-rank p = {groups.p_value:.2g}")
    ax.legend()
    return ax


def losses_along_path(path: Any) -> dict[str, dict[str, np.ndarray]]:
    """Return each network's held-out loss along the path of penalties.

    Parameters
    ----------
    path : DataFrame or list of dict
        The `path_` of a model whose penalty was chosen automatically.

    Returns
    -------
    dict
        For each network "lam" (rising), "n_features", "held_out_loss" and "held_out_sd" (over the folds).
    """
    rows = path.to_dict("records") if hasattr(path, "to_dict") else path
    rows = sorted((row for row in rows if row["stage"] == "path"), key=lambda row: row["lam"])
    names = ("lam", "n_features", "held_out_loss", "held_out_sd")
    return {
        network: {
            name: np.array([row[name] for row in rows if row["network"] == network]) for name in names
        }
        for network in dict.fromkeys(row["network"] for row in rows)
    }


def draw_path(losses: dict[str, dict[str, np.ndarray]], ax: Any = None) -> Any:
    """Draw what `losses_along_path` returns against the penalty; return the axes (needs matplotlib).

    Parameters
    ----------
    losses : dict
    ax : matplotlib Axes, optional
    """
    ax = _axes(ax)
    for network, along in losses.items():
        (line,) = ax.plot(along["lam"], along["held_out_loss"], marker=".", label=network)
        low, high = (along["held_out_loss"] + sign * along["held_out_sd"] for sign in (-1, 1))
        ax.fill_between(along["lam"], low, high, alpha=0.15, color=line.get_color())
    ax.set(xscale="log", xlabel="penalty lam", ylabel="held-out loss (band: sd over the folds)")
    ax.legend(title="network")
    return ax


def _axes(ax: Any) -> Any:
    """Return the given axes, or new ones."""
    if ax is not None:
        return ax
    pyplot = require("matplotlib.pyplot", package="matplotlib", needed_by="Drawing", extra="plots")
    return pyplot.subplots()[1]
