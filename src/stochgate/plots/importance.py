"""Feature importances."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from stochgate.plots.display import INK, OTHERS, SELECTED, Display, label_of, names_of, need

REASON = "importances are those of a fitted GatedClassifier, GatedRegressor or GatedCox."


@dataclass(eq=False, repr=False, kw_only=True)
class ImportanceDisplay(Display):
    """The most important features, the selected ones in colour.

    Parameters
    ----------
    importance : ndarray, shape (n_features,)
    names : list, of length n_features
    selected : ndarray of bool, shape (n_features,)

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.plots import ImportanceDisplay
    >>> shown = {"names": ["a", "b"], "selected": np.array([False, True])}
    >>> display = ImportanceDisplay(importance=np.array([0.1, 0.9]), **shown).plot()
    >>> [label.get_text() for label in display.ax_.get_yticklabels()]
    ['b', 'a']
    """

    importance: np.ndarray
    names: list[Any]
    selected: np.ndarray

    @classmethod
    def from_estimator(cls, model: Any, *, n_shown: int = 20, ax: Any = None) -> "ImportanceDisplay":
        """Read and draw the `feature_importances_` of a fitted model.

        Parameters
        ----------
        model : fitted estimator
        n_shown : int, default=20
            How many features are drawn.
        ax : matplotlib Axes, optional
        """
        importance = need(model, "feature_importances_", REASON)
        display = cls(importance=importance, names=names_of(model), selected=np.asarray(model.support_))
        return display.plot(n_shown=n_shown, ax=ax)

    def plot(self, *, n_shown: int = 20, ax: Any = None) -> "ImportanceDisplay":
        """Draw the importances.

        Parameters
        ----------
        n_shown : int, default=20
            How many features are drawn.
        ax : matplotlib Axes, optional
            By default those of a new figure.

        Returns
        -------
        self
        """
        order = np.lexsort((~self.selected, -self.importance))[:n_shown]
        ax, y = self._start(ax, (7.0, 1.2 + 0.21 * len(order))), np.arange(len(order))
        colours = np.where(self.selected[order], SELECTED, OTHERS)
        self.bars_ = ax.barh(y, self.importance[order], height=0.72, color=colours)
        ax.bar_label(self.bars_, fmt="%.2f", padding=3, fontsize="small", color=INK)
        ax.set_yticks(y, [label_of(self.names[j]) for j in order])
        ax.set(xlim=(0, 1.1 * max(float(self.importance.max()), 1e-9)), ylim=(len(order) - 0.4, -0.6))
        ax.set_xlabel("importance (0 to 1)")
        ax.grid(visible=False, axis="y")
        ax.tick_params(axis="y", length=0)
        self._explain()
        return self

    def _explain(self) -> None:
        for colour, label in ((SELECTED, "selected"), (OTHERS, "not selected")):
            self.ax_.bar([0], [0], color=colour, label=label)
        self.ax_.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
