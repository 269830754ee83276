"""Held-out loss against the number of features."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from stochgate.explain.by_size import best_by_size
from stochgate.plots.display import CHOSEN, COLOURS, INK, Display, count_axis, name_at_right, need

REASON = (
    "the loss of sets of every size comes from a fit with lam='auto', since a given lam compares nothing."
)
NETWORK_COLOURS = [COLOURS[i] for i in (0, 2, 3, 5)]
ROOM = 0.15  # below the lowest loss that counts and above the highest, as a share of their distance


@dataclass(eq=False, repr=False, kw_only=True)
class PathDisplay(Display):
    """Held-out loss against the number of features, for each network that was compared.

    The losses made the choice: they rank the sets, and flatter the chosen one a little.

    Parameters
    ----------
    curves : dict of dict
        What `losses_by_size` returns.
    n_selected : int
        How many features the model has.
    losses : dict of float
        Held-out losses of the chosen features ("selected"), of all columns ("all") and of none ("none");
        what is missing or NaN is not drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        One per network, through the sets that no smaller one beats, or no larger one; others are points.
    bands_ : list of matplotlib PolyCollection
        One standard deviation over the folds to either side.
    chosen_ : matplotlib Line2D or None
        The chosen number of features and its loss.

    Examples
    --------
    >>> from stochgate.plots import PathDisplay
    >>> curve = {"n_features": [1, 2, 4], "loss": [0.5, 0.2, 0.19], "sd": [0.1, 0.05, 0.05]}
    >>> losses = {"selected": 0.2, "none": 0.7}
    >>> display = PathDisplay(curves={"linear": curve}, n_selected=2, losses=losses).plot()
    >>> display.ax_.get_xlabel()
    'number of features'
    """

    curves: dict[str, dict[str, Any]]
    n_selected: int
    losses: dict[str, float]

    @classmethod
    def from_estimator(cls, model: Any, *, ax: Any = None) -> "PathDisplay":
        """Read and draw the losses of a fitted model.

        Parameters
        ----------
        model : fitted estimator
            Its penalty chosen automatically.
        ax : matplotlib Axes, optional
        """
        curves = losses_by_size(need(model, "path_", REASON))
        if not curves:
            raise ValueError("The folds agree on no set of features in path_, so there is nothing to draw.")
        n_selected = int(model.support_.sum())
        return cls(curves=curves, n_selected=n_selected, losses=losses_of(model)).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "PathDisplay":
        """Draw the losses.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default those of a new figure.

        Returns
        -------
        self
        """
        ax = self._start(ax)
        self.lines_, self.bands_ = [], []
        for i, (network, curve) in enumerate(self.curves.items()):
            n, loss, sd = (np.asarray(curve[name], dtype=float) for name in ("n_features", "loss", "sd"))
            on, colour = worth_a_line(loss), NETWORK_COLOURS[i % len(NETWORK_COLOURS)]
            ax.plot(n[~on], loss[~on], "o", color=colour, markersize=3.5, alpha=0.45, markeredgewidth=0)
            style = {"color": colour, "label": f"{network} network", "linewidth": 1.8, "markersize": 4.5}
            self.lines_ += ax.plot(n[on], loss[on], marker="o", **style)
            low, high = loss[on] - sd[on], loss[on] + sd[on]
            self.bands_.append(ax.fill_between(n[on], low, high, color=colour, alpha=0.13, linewidth=0))
        count_axis(ax.xaxis, np.array([n for curve in self.curves.values() for n in curve["n_features"]]))
        ax.set(xlabel="number of features", ylabel="held-out loss (band: sd over the folds)")
        self._set_height()
        self._draw_references()
        self._draw_chosen()
        ax.legend(frameon=False, fontsize="small")
        return self

    def _set_height(self) -> None:
        """Show all that is better than no column; the rest only where that is not known."""
        levels = [loss for curve in self.curves.values() for loss in curve["loss"]]
        worst = self.losses.get("none", np.nan)
        if np.isfinite(worst):
            levels = [min(loss, worst) for loss in levels] + [worst]
        levels += [loss for loss in self.losses.values() if np.isfinite(loss)]
        room = ROOM * (max(levels) - min(levels)) or 0.1
        self.ax_.set_ylim(min(levels) - room, max(levels) + room)

    def _draw_references(self) -> None:
        names = {"none": "no column", "all": "all columns"}
        known = {of: self.losses[of] for of in names if np.isfinite(self.losses.get(of, np.nan))}
        styles = [{"color": INK, "linestyle": ":" if of == "none" else "--"} for of in known]
        for loss, style in zip(known.values(), styles, strict=True):
            self.ax_.axhline(loss, linewidth=1.2, **style)
        name_at_right(self.ax_, list(known.values()), [names[of] for of in known], styles)

    def _draw_chosen(self) -> None:
        loss, self.chosen_ = self.losses.get("selected", np.nan), None
        plural = "" if self.n_selected == 1 else "s"
        label = f"chosen: {self.n_selected:,} feature{plural}"
        if not self.n_selected:
            self.ax_.plot([], [], " ", label="no feature was chosen")
        elif np.isfinite(loss):
            style = {"color": CHOSEN, "markersize": 15, "markeredgecolor": "white", "zorder": 5}
            (self.chosen_,) = self.ax_.plot(self.n_selected, loss, "*", label=label, **style)
        else:
            self.chosen_ = self.ax_.axvline(self.n_selected, color=CHOSEN, linewidth=1.5, label=label)


def worth_a_line(loss: np.ndarray) -> np.ndarray:
    """Return which of several sets, by rising size, no smaller one beats, or no larger one.

    The line through them falls to the best and rises after it; the others are bumps in the way.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.plots.path import worth_a_line
    >>> worth_a_line(np.array([5.0, 2.0, 4.0, 1.0, 3.0]))
    array([ True,  True, False,  True,  True])
    """
    as_good_before = loss <= np.minimum.accumulate(loss)
    return as_good_before | (loss <= np.minimum.accumulate(loss[::-1])[::-1])


def losses_by_size(path: Any) -> dict[str, dict[str, np.ndarray]]:
    """Return each network's best held-out loss for every number of features.

    Sets that were not judged as they are, and models on all columns, are left out (`best_by_size`).

    Parameters
    ----------
    path : DataFrame or list of dict
        The `path_` of a model.

    Returns
    -------
    dict
        For each network "n_features" (rising), "loss" and "sd" (over the folds).

    Examples
    --------
    >>> from stochgate.plots.path import losses_by_size
    >>> row = {"network": "mlp", "stage": "path", "n_features": 2, "n_by_fold": [2, 3], "held_out_sd": 0.1}
    >>> losses_by_size([{**row, "held_out_loss": 0.4}, {**row, "held_out_loss": 0.3}])["mlp"]["loss"]
    array([0.3])
    """
    rows = path.to_dict("records") if hasattr(path, "to_dict") else path
    networks = dict.fromkeys(row["network"] for row in rows)
    best = {name: best_by_size([row for row in rows if row["network"] == name]) for name in networks}
    columns = {"n_features": "n_features", "loss": "held_out_loss", "sd": "held_out_sd"}
    return {
        network: {name: np.array([of[n][column] for n in of]) for name, column in columns.items()}
        for network, of in best.items()
        if of
    }


def losses_of(model: Any) -> dict[str, float]:
    """Return the held-out losses of the chosen features, of all columns and of none, as far as known.

    A model that was pickled, or has let go of its data, knows them from an earlier `summary`; otherwise
    what is left of them in `path_` is that of all columns.
    """
    source = getattr(model, "_choice", None) or getattr(model, "_summary", None)
    if source is not None:
        return dict(source.losses)
    rows = model.path_.to_dict("records") if hasattr(model.path_, "to_dict") else model.path_
    every = [row["held_out_loss"] for row in rows if row["stage"] == "all"]
    return {"all": min(every)} if every else {}
