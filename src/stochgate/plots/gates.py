"""The gates over training."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from stochgate.optional import require
from stochgate.plots.display import (
    COLOURS,
    OTHERS,
    SELECTED,
    Display,
    label_of,
    name_at_right,
    names_of,
    need,
)

REASON = "the gates over training are kept by every fit of GatedClassifier, GatedRegressor and GatedCox."
MOST_THIN = 1000  # lines of features without a name, selected or not


@dataclass(eq=False, repr=False, kw_only=True)
class GatesDisplay(Display):
    """The gates over training, those of selected features in colour.

    Parameters
    ----------
    step, lam : ndarray, shape (n_snapshots,)
        The penalty is the horizontal axis where it grew during training.
    gates : ndarray, shape (n_snapshots, n_features)
    names : list, of length n_features
    selected : ndarray of bool, shape (n_features,)

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        Of the selected features that are named, those open longest first.
    names_ : list of matplotlib Annotation
    unnamed_, others_ : matplotlib LineCollection
        Of selected features without a name, and of those not selected; at most 1000 each.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate import GatedRegressor
    >>> from stochgate.plots import GatesDisplay
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> model = GatedRegressor(lam=0.3, random_state=0).fit(X, 2 * X[:, 3] + X[:, 1])
    >>> [text.get_text() for text in GatesDisplay.from_estimator(model).names_]
    ['3', '1']
    """

    step: np.ndarray
    lam: np.ndarray
    gates: np.ndarray
    names: list[Any]
    selected: np.ndarray

    @classmethod
    def from_estimator(cls, model: Any, *, most_names: int = 12, ax: Any = None) -> "GatesDisplay":
        """Read and draw the gates of a fitted model, its `gate_history_`.

        Parameters
        ----------
        model : fitted estimator
        most_names : int, default=12
            How many of the selected features are named.
        ax : matplotlib Axes, optional
        """
        history = need(model, "gate_history_", REASON)
        display = cls(**history, names=names_of(model), selected=np.asarray(model.support_))
        return display.plot(most_names=most_names, ax=ax)

    def plot(self, *, most_names: int = 12, ax: Any = None) -> "GatesDisplay":
        """Draw the gates.

        Parameters
        ----------
        most_names : int, default=12
            How many of the selected features are named.
        ax : matplotlib Axes, optional
            By default those of a new figure.

        Returns
        -------
        self
        """
        ax = self._start(ax)
        grows = len(self.lam) > 1 and self.lam[0] > 0 and bool((np.diff(self.lam) > 0).all())
        x = self.lam if grows else self.step
        ax.set(xscale="log" if grows else "linear", ylim=(-0.02, 1.04))
        if len(x) > 1:
            ax.set_xlim(x[0], x[-1])
        ax.set_xlabel("penalty, which grows during training" if grows else "training step")
        ax.set_ylabel("gate (0: closed, 1: open)")
        openness = np.nan_to_num(self.gates).mean(axis=0)
        order = np.argsort(-openness, kind="stable")
        chosen = order[self.selected[order]]
        named, unnamed = chosen[:most_names], chosen[most_names:]
        self.others_ = self._draw_many(x, order[~self.selected[order]], OTHERS)
        self.unnamed_ = self._draw_many(x, unnamed, SELECTED)
        self.lines_ = []
        for i, j in enumerate(named):
            self.lines_ += ax.plot(x, self.gates[:, j], zorder=3 - i / len(named), **_style(i))
        texts, styles = [label_of(self.names[j]) for j in named], [_style(i) for i in range(len(named))]
        self.names_ = name_at_right(ax, self.gates[-1, named], texts, styles)
        self._say_how_many(len(chosen), len(named))
        return self

    def _draw_many(self, x: np.ndarray, features: np.ndarray, colour: str) -> Any:
        """Draw features thinly; of very many, some that were open long, short and between."""
        shown = features[np.linspace(0, len(features) - 1, min(len(features), MOST_THIN)).astype(int)]
        matplotlib = require(
            "matplotlib.collections", package="matplotlib", needed_by="Drawing", extra="plots"
        )
        lines = [np.column_stack([x, self.gates[:, j]]) for j in shown]
        alpha = float(np.clip(60 / max(len(shown), 1), 0.15, 0.8))
        drawn = matplotlib.LineCollection(lines, colors=colour, linewidths=0.6, alpha=alpha)
        return self.ax_.add_collection(drawn, autolim=False)

    def _say_how_many(self, n_selected: int, n_named: int) -> None:
        n_features = len(self.names)
        which = f", {n_named} of them named" if n_named < n_selected else ""
        title = f"{n_selected:,} of {n_features:,} features selected{which}"
        self.ax_.set_title(title, loc="left", fontsize="medium")


def _style(i: int) -> dict[str, Any]:
    """Return how the line of the i-th named feature looks: after the last colour lines are dashed."""
    turn, colour = divmod(i, len(COLOURS))
    return {"color": COLOURS[colour], "linestyle": ("-", "--", ":")[turn % 3], "linewidth": 1.9}
