"""How often features are selected."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from stochgate.explain.summary import wilson_interval
from stochgate.plots.display import CHOSEN, OTHERS, SELECTED, Display, label_of, names_of, need

REASON = (
    "how often features are selected is known after a fit with lam='auto' or n_features_to_select, and of "
    "any fit of a StabilitySelector."
)


@dataclass(eq=False, repr=False, kw_only=True)
class StabilityDisplay(Display):
    """How often features are selected, the most frequent first, with Wilson's 95 % interval.

    The interval takes folds or halves of the rows for independent, which they are not quite.

    Parameters
    ----------
    frequency : ndarray, shape (n_features,)
        The share of `n_draws` folds (or halves of the rows) that select a feature.
    n_draws : int
    names : list, of length n_features
    selected : ndarray of bool, shape (n_features,)
    kept : ndarray of bool, shape (n_features,), optional
        Features that were kept anyway (`always_keep`): they have no interval.
    threshold : float, optional
        The share that decided.
    draws : str, default="folds"
        What the frequency is a share of.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    points_ : matplotlib PathCollection
    intervals_ : matplotlib LineCollection
    threshold_ : matplotlib Line2D or None

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.plots import StabilityDisplay
    >>> shown = {"names": ["a", "b", "c"], "selected": np.array([True, False, True])}
    >>> display = StabilityDisplay(frequency=np.array([1.0, 0.2, 0.8]), n_draws=5, **shown).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['a', 'c', 'b']
    """

    frequency: np.ndarray
    n_draws: int
    names: list[Any]
    selected: np.ndarray
    kept: np.ndarray | None = None
    threshold: float | None = None
    draws: str = "folds"

    @classmethod
    def from_estimator(cls, model: Any, *, n_shown: int = 25, ax: Any = None) -> "StabilityDisplay":
        """Read and draw the selection frequencies of a fitted model or `StabilitySelector`.

        Parameters
        ----------
        model : fitted estimator or StabilitySelector
        n_shown : int, default=25
            How many features are drawn.
        ax : matplotlib Axes, optional
        """
        frequency = need(model, "selection_frequency_", REASON)
        shown: dict[str, Any] = {"names": names_of(model), "selected": np.asarray(model.support_)}
        if hasattr(model, "n_pairs"):
            display = cls(
                frequency=frequency,
                n_draws=2 * model.n_pairs,
                threshold=model.threshold_,
                draws="halves",
                **shown,
            )
        else:
            display = cls(frequency=frequency, n_draws=_count_folds(model), kept=_kept(model), **shown)
        return display.plot(n_shown=n_shown, ax=ax)

    def plot(self, *, n_shown: int = 25, ax: Any = None) -> "StabilityDisplay":
        """Draw the frequencies.

        Parameters
        ----------
        n_shown : int, default=25
            How many features are drawn.
        ax : matplotlib Axes, optional
            By default those of a new figure.

        Returns
        -------
        self
        """
        order = np.lexsort((~self.selected, -self.frequency))[:n_shown]
        ax, y = self._start(ax, (7.0, 1.2 + 0.21 * len(order))), np.arange(len(order))
        colours = np.where(self.selected[order], SELECTED, OTHERS)
        ends = np.array([self._interval(j) for j in order])
        self.intervals_ = ax.hlines(y, ends[:, 0], ends[:, 1], colors=colours, linewidth=3, alpha=0.45)
        self.points_ = ax.scatter(self.frequency[order], y, c=colours, s=42, zorder=3)
        self.threshold_ = None
        if self.threshold is not None and np.isfinite(self.threshold):
            style = {"color": CHOSEN, "linestyle": "--", "linewidth": 1.2}
            self.threshold_ = ax.axvline(self.threshold, **style)
        ax.set(xlim=(-0.03, 1.03), ylim=(len(order) - 0.4, -0.6))
        ax.set_yticks(y, [label_of(self.names[j]) for j in order])
        ax.set_xticks(np.arange(0, 1.1, 0.2), [f"{share:.0%}" for share in np.arange(0, 1.1, 0.2)])
        ax.grid(visible=False, axis="y")
        n_left = len(self.frequency) - len(order)
        verb = "feature is" if n_left == 1 else "features are"
        left = f"\n({n_left:,} more {verb} not shown)" if n_left else ""
        ax.set_xlabel(f"share of {self.n_draws} {self.draws} that select it (95 % interval){left}")
        self._explain()
        return self

    def _interval(self, feature: int) -> tuple[float, float]:
        share = float(self.frequency[feature])
        alone = self.kept is not None and bool(self.kept[feature])
        return (share, share) if alone else wilson_interval(share, self.n_draws)

    def _explain(self) -> None:
        """Say what the colours mean."""
        handles = [
            self.ax_.scatter([], [], c=SELECTED, s=42, label="selected"),
            self.ax_.scatter([], [], c=OTHERS, s=42, label="not selected"),
        ]
        if self.threshold_ is not None:
            self.threshold_.set_label(f"threshold {self.threshold:.0%}")
            handles.append(self.threshold_)
        self.ax_.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, frameon=False)


def _count_folds(model: Any) -> int:
    """Return the number of folds that judged the chosen set; a first look has fewer."""
    path = model.path_
    return max(
        map(len, (path["n_by_fold"] if hasattr(path, "to_dict") else [r["n_by_fold"] for r in path]))
    )


def _kept(model: Any) -> np.ndarray | None:
    """Return the features that `always_keep` opens, where the model still has the data of its fit."""
    choice = getattr(model, "_choice", None)
    return None if choice is None else choice.problem.gates.spread(choice.problem.gates.keep)
