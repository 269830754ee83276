"""Pictures of a fitted model. A function returns the numbers, another draws them."""

from typing import Any

import numpy as np

from stochgate.metrics import RiskGroups
from stochgate.optional import require


def draw_survival_curves(groups: RiskGroups, ax: Any = None) -> Any:
    """Draw what `stochgate.metrics.survival_curves_by_risk` returns; return the axes (needs matplotlib).

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
