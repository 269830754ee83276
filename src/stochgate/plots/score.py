"""The score against the number of features."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from stochgate.plots.display import CHOSEN, INK, SELECTED, Display, count_axis, need

REASON = "models of other sizes come from at(k=...), which needs a fit with lam='auto'."
STEPS = (0.25, 0.5, 0.75, 1, 1.5, 2, 4)  # times the chosen number
SMALL = (1, 2, 3, 5, 8)  # where none is chosen
LEAST_RANGE = 0.1  # of the scores that are drawn: smaller differences are mostly luck


@dataclass(eq=False, repr=False, kw_only=True)
class ScoreDisplay(Display):
    """The score on some rows against the number of features, the chosen number marked.

    Parameters
    ----------
    k : ndarray of int, shape (n_sizes,), rising
        Numbers of features (of groups, where features share a gate).
    score : ndarray, shape (n_sizes,)
    chosen_k : int
        The number the model has chosen, 0 for none.
    chosen_score : float
    score_name : str, default="score"

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
    chosen_ : matplotlib Line2D
        The chosen model; a horizontal line where it has no feature.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.plots import ScoreDisplay
    >>> scores = {"k": np.array([1, 2, 4]), "score": np.array([0.6, 0.9, 0.91])}
    >>> ScoreDisplay(**scores, chosen_k=2, chosen_score=0.9, score_name="accuracy").plot().ax_.get_ylabel()
    'accuracy'
    """

    k: np.ndarray
    score: np.ndarray
    chosen_k: int
    chosen_score: float
    score_name: str = "score"

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, ks: Any = None, ax: Any = None
    ) -> "ScoreDisplay":
        """Train the model at several sizes by ``at(k=...)``, score each on some rows, and draw the scores.

        Parameters
        ----------
        model : fitted estimator
            Its features chosen automatically, and with the data of its fit.
        X, y : array-likes
            Rows the model was not fitted to: on its own rows every score flatters.
        ks : list of int, optional
            Numbers of features; by default a few from a quarter to four times the chosen one.
        ax : matplotlib Axes, optional
        """
        need(model, "network_", REASON)
        choice = model._choice
        if choice is None:
            raise ValueError(
                "Models of other sizes come from at(k=...), which needs the data of the fit; a model that "
                "was pickled or reduced, or has let go of them by forget_data(), is without."
            )
        gates = choice.problem.gates
        chosen = len(np.unique(gates.number()[model.support_]))
        ks = sizes_around(chosen, gates.n_gates) if ks is None else sorted({int(k) for k in ks})
        scores = [model.at(k=k).score(X, y) for k in ks]
        return cls(
            k=np.array(ks),
            score=np.array(scores),
            chosen_k=chosen,
            chosen_score=float(model.score(X, y)),
            score_name=choice.problem.objective.metric_name,
        ).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> "ScoreDisplay":
        """Draw the scores.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            By default those of a new figure.

        Returns
        -------
        self
        """
        ax = self._start(ax)
        style = {"color": SELECTED, "linewidth": 1.8, "markersize": 5}
        (self.line_,) = ax.plot(self.k, self.score, marker="o", **style)
        self._write_scores()
        if self.chosen_k:
            plural = "" if self.chosen_k == 1 else "s"
            style = {"color": CHOSEN, "markersize": 15, "markeredgecolor": "white", "zorder": 5}
            label = f"chosen: {self.chosen_k:,} feature{plural}"
            (self.chosen_,) = ax.plot(self.chosen_k, self.chosen_score, "*", label=label, **style)
        else:
            label = "chosen: no feature"
            self.chosen_ = ax.axhline(self.chosen_score, color=CHOSEN, linestyle="--", label=label)
        count_axis(ax.xaxis, np.append(self.k, self.chosen_k or self.k[0]))
        every = np.append(self.score, self.chosen_score)
        middle, half = (every.max() + every.min()) / 2, max(np.ptp(every), LEAST_RANGE) * 0.65
        ax.set_ylim(middle - half, middle + half)
        ax.set(xlabel="number of features", ylabel=self.score_name)
        ax.legend(frameon=False, fontsize="small", loc="best")
        return self

    def _write_scores(self) -> None:
        """Write each score beside its point, below it where the line comes from above."""
        around = np.pad(self.score, 1, mode="edge")
        below = self.score < (around[:-2] + around[2:]) / 2
        for k, score, under in zip(self.k, self.score, below, strict=True):
            at = {"textcoords": "offset points", "ha": "center", "fontsize": "small", "color": INK}
            self.ax_.annotate(f"{score:.3f}", (k, score), xytext=(0, -16 if under else 9), **at)


def sizes_around(chosen: int, n_gates: int) -> list[int]:
    """Return a few numbers of features around the chosen one, none above all of them.

    Examples
    --------
    >>> from stochgate.plots.score import sizes_around
    >>> sizes_around(8, 30), sizes_around(0, 4)
    ([2, 4, 6, 8, 12, 16, 30], [1, 2, 3, 4])
    """
    sizes = sorted({min(max(round(chosen * step), 1), n_gates) for step in STEPS})
    if not chosen:
        sizes = sorted({min(size, n_gates) for size in SMALL})
    nearly_all = [size for size in sizes if n_gates / 1.2 < size < n_gates and size != chosen]
    return [size for size in sizes if n_gates not in sizes or size not in nearly_all]
