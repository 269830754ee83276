"""How groups of predicted risk survive."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from stochgate.metrics import RiskGroups, survival_curves_by_risk
from stochgate.plots.display import COLOURS, INK, Display, new_axes
from stochgate.survival import read_survival_target


@dataclass(eq=False, repr=False, kw_only=True)
class SurvivalDisplay(Display):
    """Kaplan-Meier curves of groups by predicted risk, with 95 % bands and the log-rank test.

    Parameters
    ----------
    groups : RiskGroups
        What `stochgate.metrics.survival_curves_by_risk` returns.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        From the lowest risk to the highest.
    bands_ : list of matplotlib PolyCollection

    Examples
    --------
    >>> from stochgate.metrics import survival_curves_by_risk
    >>> from stochgate.plots import SurvivalDisplay
    >>> groups = survival_curves_by_risk([1, 1, 1, 0], [1, 2, 3, 4], [4, 3, 2, 1])
    >>> SurvivalDisplay(groups=groups).plot().lines_[1].get_ydata()
    array([1. , 0.5, 0. ])
    """

    groups: RiskGroups

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, n_groups: int = 3, ax: Any = None
    ) -> "SurvivalDisplay":
        """Predict the risk of some rows, cut them into groups of equal size, and draw how each survives.

        Parameters
        ----------
        model : fitted GatedCox
        X, y : as in its fit
            Rows the model was not fitted to: on its own rows the groups differ more.
        n_groups : int, default=3
        ax : matplotlib Axes, optional
        """
        check_is_fitted(model)
        if not hasattr(model, "predict_survival_function"):
            raise ValueError(f"{type(model).__name__} predicts no risk; survival curves need a GatedCox.")
        target = read_survival_target(y)
        if target.entry is not None:
            raise ValueError(
                "y has entry times, of which these Kaplan-Meier curves take no note; give y without them, "
                "or draw predict_survival_function."
            )
        groups = survival_curves_by_risk(target.event, target.time, model.predict(X), n_groups)
        return cls(groups=groups).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "SurvivalDisplay":
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default those of a new figure.

        Returns
        -------
        self
        """
        ax, n = self._start(ax), len(self.groups.curves)
        self.lines_, self.bands_ = [], []
        for i, (curve, name) in enumerate(zip(self.groups.curves, _risk_names(n), strict=True)):
            colour = _RISK_COLOURS[n][i] if n in _RISK_COLOURS else COLOURS[i % len(COLOURS)]
            label = f"{name} risk (n = {curve.n_at_risk[0]:,})"
            style = {"color": colour, "linewidth": 1.8, "label": label}
            self.lines_ += ax.step(curve.time, curve.survival, where="post", **style)
            band = {"step": "post", "color": colour, "alpha": 0.15, "linewidth": 0}
            self.bands_.append(ax.fill_between(curve.time, curve.low, curve.high, **band))
        ax.set(xlabel="time", ylabel="share without event", ylim=(0, 1.02))
        ax.set_xlim(0, 1.01 * max(float(curve.time[-1]) for curve in self.groups.curves))
        ax.set_yticks(np.arange(0, 1.1, 0.25), ["0 %", "25 %", "50 %", "75 %", "100 %"])
        title = f"log-rank p {_p_text(self.groups.p_value)}"
        legend = ax.legend(title=title, frameon=False, alignment="left", fontsize="small")
        legend.get_title().set_color(INK)
        return self


_RISK_COLOURS = {2: (COLOURS[0], COLOURS[1]), 3: (COLOURS[0], COLOURS[4], COLOURS[1])}


def _risk_names(n_groups: int) -> list[str]:
    names = {2: ["low", "high"], 3: ["low", "middle", "high"]}
    ordinals = [f"{i} of {n_groups} by" for i in range(1, n_groups + 1)]
    return names.get(n_groups, ordinals)


def _p_text(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"= {p:.2g}"


def draw_survival_curves(groups: RiskGroups, ax: Any = None) -> Any:
    """Draw what `stochgate.metrics.survival_curves_by_risk` returns; return the axes (needs matplotlib).

    Parameters
    ----------
    groups : RiskGroups
    ax : matplotlib Axes, optional
    """
    ax = new_axes() if ax is None else ax
    for number, curve in enumerate(groups.curves, start=1):
        label = f"risk group {number} of {len(groups.curves)} (n = {curve.n_at_risk[0]})"
        (line,) = ax.step(curve.time, curve.survival, where="post", label=label)
        ax.fill_between(curve.time, curve.low, curve.high, step="post", alpha=0.2, color=line.get_color())
    ax.set(xlabel="time", ylabel="share without event", ylim=(0, 1.02))
    ax.set_title(f"log-rank p = {groups.p_value:.2g}")
    ax.legend()
    return ax
