"""What all displays share: axes, colours, the names of features, and where texts go."""

from typing import Any

import numpy as np
from sklearn.isotonic import isotonic_regression
from sklearn.utils.validation import check_is_fitted

from stochgate.optional import require

# Okabe and Ito's colours, told apart with any colour vision; their yellow is too pale for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
SELECTED, CHOSEN = COLOURS[0], COLOURS[1]
OTHERS, INK = "#B3B3B3", "#4D4D4D"
MOST_LETTERS = 28
GAP = 0.055  # between two names beside the axes, as a share of their height


class Display:
    """The numbers of a picture, and how they are drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What `plot` has drawn on.
    figure_ : matplotlib Figure
    """

    ax_: Any
    figure_: Any

    def _start(self, ax: Any, size: tuple[float, float] = (7.0, 4.2)) -> Any:
        """Set the axes, the given ones or those of a new figure of some size; return them."""
        if ax is None:
            ax = new_axes(size)
        self.ax_, self.figure_ = ax, ax.figure
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(color="#EBEBEB", linewidth=0.8)
        ax.set_axisbelow(True)
        return ax


def new_axes(size: tuple[float, float] | None = None) -> Any:
    """Return the axes of a new figure, which makes room for texts beside them."""
    pyplot = require("matplotlib.pyplot", package="matplotlib", needed_by="Drawing", extra="plots")
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def label_of(name: Any, most: int = MOST_LETTERS) -> str:
    r"""Return a name as text for a picture: one line, not too long, and no mathematics.

    Parameters
    ----------
    name : object
        A column's name, which may be any text; or its position.
    most : int
        Letters; longer names lose their middle.

    Examples
    --------
    >>> from stochgate.plots.display import label_of
    >>> label_of("$x_"), label_of("a name that goes\non and on", most=12)
    ('\\$x_', 'a name…nd on')
    """
    text = "".join(letter if letter.isprintable() else " " for letter in str(name))
    text = " ".join(text.split()) or "(no name)"
    if len(text) > most:
        text = f"{text[: most // 2]}…{text[-(most - most // 2 - 1) :]}"
    return text.replace("$", r"\$")


def spread_out(positions: np.ndarray, gap: float) -> np.ndarray:
    """Return positions from 0 to 1 at least a gap apart, in the same order and moved as little as possible.

    Of equal ones the first comes to lie highest. Where there are too many for the gap it is smaller.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.plots.display import spread_out
    >>> spread_out(np.array([0.5, 0.1, 0.5]), gap=0.25)
    array([0.625, 0.1  , 0.375])
    """
    n = len(positions)
    if n == 0:
        return np.empty(0)
    order, steps = np.argsort(-np.asarray(positions), kind="stable")[::-1], np.arange(n) * min(gap, 1 / n)
    moved = isotonic_regression(np.asarray(positions, float)[order] - steps, y_min=0, y_max=1 - steps[-1])
    apart = np.empty(n)
    apart[order] = moved + steps
    return apart


def name_at_right(ax: Any, y: Any, names: list[str], styles: list[dict[str, Any]]) -> list[Any]:
    """Write names beside the right end of the axes, each near its y, and return the texts.

    Parameters
    ----------
    ax : matplotlib Axes
        With its final limits.
    y : ndarray, shape (n_names,)
        In the units of the axis.
    names : list of str
    styles : list of dict
        With "color" and "linestyle", those of the lines that are named.
    """
    low, high = ax.get_ylim()
    share = np.clip((np.nan_to_num(y) - low) / (high - low), 0, 1)
    places = spread_out(share, GAP)
    return [
        ax.annotate(
            name,
            (1.0, at),
            (1.05, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            fontsize="small",
            color=style["color"],
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": style["color"],
                "linestyle": style["linestyle"],
                "linewidth": 0.7,
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 0,
            },
        )
        for name, at, place, style in zip(names, share, places, styles, strict=True)
    ]


def names_of(model: Any) -> list[Any]:
    """Return what the features of a fitted model are called: their names, or their positions."""
    n_features = len(model.support_)
    names = list(getattr(model, "feature_names_in_", ()))
    return names if len(names) == n_features else list(range(n_features))


def need(model: Any, attribute: str, reason: str) -> Any:
    """Return an attribute of a fitted model, or say in one sentence why there is none.

    Parameters
    ----------
    model : estimator
    attribute : str
    reason : str
        What the display shows and which fit has it.
    """
    check_is_fitted(model)
    value = getattr(model, attribute, None)
    if value is None:
        raise ValueError(f"{type(model).__name__} has no {attribute}: {reason}")
    return value


def count_axis(axis: Any, counts: np.ndarray) -> None:
    """Make an axis of counts logarithmic, with ticks at 1, 2, 5, 10, 20, ... as plain numbers."""
    low, high = float(np.min(counts)), float(np.max(counts))
    axis.axes.set_xscale("log")
    ticks = [m * 10**e for e in range(int(np.log10(high)) + 1) for m in (1, 2, 5)]
    ticks = [tick for tick in ticks if low / 1.2 <= tick <= high * 1.2]
    axis.set_ticks(ticks, labels=[f"{tick:,}" for tick in ticks])
    axis.set_ticks([], minor=True)
    axis.axes.set_xlim(low / 1.15, high * 1.15)
