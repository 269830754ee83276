"""What a person acts on: the selected features, what stands behind each, and a verdict."""

from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Context
from html import escape
from typing import Any

import numpy as np

from stochgate.choice.defaults import DEFAULTS
from stochgate.explain.direction import explain_directions, mark_direction

_NAN = float("nan")
COLUMNS: dict[str, Any] = {  # and what stands where nothing is known
    "feature": None,
    "gate": _NAN,
    "frequency": _NAN,
    "frequency_low": _NAN,
    "frequency_high": _NAN,
    "direction": None,
    "direction_of": None,
    "direction_alone": None,
    "loss_without": _NAN,
    "loss_without_error": _NAN,
    "stand_ins": (),
    "members": (),
}
HEADER = ("feature", "gate", "frequency", "q", "direction", "loss without")
LEGEND = {
    "gain": (
        "each fold takes the {what} that is best on the other folds, so the luck of the choice is not in "
        "it{above}."
    ),
    "frequency": (
        "share of the {n_folds} folds that open the feature, with a 95 % interval as if the folds were "
        "independent."
    ),
    "q": "the lowest false discovery rate at which the feature is found.",
    "direction": "{direction}",
    "loss without": "rise of the held-out loss when the model is trained again without the feature.",
}
OF_HALVES = "frequency: share of the {n_halves} halves of the rows that select the feature."
MIXED_MEANS = " Mixed: it depends on the others."
HONEST = (
    "These numbers come from the rows that made the choice; evaluate(model, X, y) gives the honest score."
)
MOST_ROWS = 30
_TWO_DIGITS = Context(prec=2, rounding=ROUND_CEILING)


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Summary:
    """What `summary()` returns; `print` it.

    Attributes
    ----------
    features : DataFrame, or list of dict without pandas
        A row per selected feature, those worth most first. Features of a named group share one row under
        its name; features that share a gate without a name show its numbers.

        - feature, gate: its name or position, and the final model's gate
        - members: the features of a group
        - frequency, frequency_low, frequency_high: the share of folds in whose set it is, made as the
          chosen one was, and Wilson's 95 % interval of it; without one where `always_keep` opens it
        - direction, direction_of: "+" or "-", and of which class or output, the one affected most. In at
          most 1000 rows the feature goes from its lower quartile over the median to the upper one; where
          over a quarter of the output's change goes against the rest it is "-+" or "+-" for a curve that
          turns (falls, then rises, or the reverse) and "mixed" where it depends on the other features; None
          when the output does not change. Of text, the levels from the highest output to the lowest
        - direction_alone: which way the feature points by itself, where that is two standard errors from
          nothing; where it is not the model's direction, the feature corrects the others
        - loss_without, loss_without_error: by how much the folds' mean held-out loss rises when the feature
          (its whole group) is left out and the model trained again, and its standard error; for the 100
          most important gates
        - stand_ins: up to 5 closed features that could stand for it: of absolute correlation 0.7 with it,
          or of 0.3 when some fold opened them and not it, in the rows where both have a value
        - q_value: only where a selector with an error rate found the features; frequency is the share of
          its halves then, without an interval
    verdict : {"clear signal", "weak signal", "no signal"}, or None when lam was given
        Clear up to a p of 0.005, weak up to alpha. Beside `always_keep` the signal is one beside the kept
        features, unless all are kept.
    p, alpha : float or None
        Of the test whether anything beyond chance shows, and the level that was asked for.
    n_features, n_features_in : int
        How many features are selected, and of how many.
    network : str or None
    lam : float
    gain, error : float
        By how much models beat the base rate (or the kept features alone) in held-out loss, and its
        standard error.
    losses : dict of float
        Mean held-out losses of the selected features ("selected"), of the best model on all columns ("all")
        and of the one without features ("none"); empty when lam was given.
    scores : dict of float
        The same in accuracy, R2 or Harrell's C.
    other_scores : dict of dict of float
        The same in what accuracy hides where classes are rare: of two classes "AUC", "sensitivity" (the
        share of the second class, which stands in brackets, that is predicted right) and "specificity" (of
        the first), of more "balanced accuracy".
    score_name : str
    n_folds : int
    n_halves : int
        Of the rows, where a selector with an error rate found the features; 0 otherwise.
    n_kept : int
        How many features `always_keep` names.
    task : {"classification", "regression", "survival"}
    n_outputs : int
        Of the model; for more than two classes one each.
    hints : tuple of str
    headline : str or None
        What takes the place of the verdict where another question was asked, such as an error rate.
    has_signal : bool
        Whether the verdict is a clear or a weak signal.
    signal, advice, levels, direction_legend, text : str
    """

    features: Any
    n_features: int
    n_features_in: int
    lam: float
    hints: tuple[str, ...]
    verdict: str | None = None
    p: float | None = None
    alpha: float | None = None
    network: str | None = None
    gain: float = _NAN
    error: float = _NAN
    n_folds: int = 0
    n_halves: int = 0
    n_kept: int = 0
    task: str = "regression"
    n_outputs: int = 1
    losses: dict[str, float] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    other_scores: dict[str, dict[str, float]] = field(default_factory=dict)
    score_name: str = "score"
    headline: str | None = None

    @property
    def has_signal(self) -> bool:
        """Whether p is at most alpha."""
        return self.p is not None and self.alpha is not None and self.p <= self.alpha

    @property
    def signal(self) -> str:
        """The verdict with its p, such as "weak signal (p = 0.03)"."""
        beside = " beside the kept features" if self._is_beside else ""
        return f"{self.verdict}{beside}" + ("" if self.p is None else f" ({say_p(self.p)})")

    @property
    def advice(self) -> str:
        """What to make of features without a clear signal; empty where there is nothing to say."""
        if self.n_features == (self.n_kept if self._is_beside else 0):
            return ""
        return {"weak signal": "treat these as candidates", "no signal": "these were asked for"}.get(
            str(self.verdict), ""
        )

    @property
    def levels(self) -> str:
        """What p is, and which verdict it leads to; empty where it was not asked for."""
        if self.p is None or self.alpha is None or self.headline is not None:
            return ""
        means = "how rarely columns that have nothing to do with y would look as these do"
        clear, weak = DEFAULTS.clear_level, f"alpha = {self.alpha:g}"
        upto = weak if self.alpha <= clear else f"{clear:g}, weak up to {weak}"
        return f"{means}; the signal is clear up to {upto}."

    @property
    def direction_legend(self) -> str:
        """What the directions are of."""
        return explain_directions(self.task, self.n_outputs)

    @property
    def _is_beside(self) -> bool:
        return 0 < self.n_kept < self.n_features_in

    @property
    def _has_no_comparison(self) -> bool:
        return self.verdict is None and bool(np.isnan(self.gain))

    @property
    def text(self) -> str:
        """The summary for a terminal."""
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in cells]
        blocks = [self._head(), [line.rstrip() for line in lines], self._notes()]
        return "\n\n".join("\n".join(block) for block in blocks if block)

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        head = "<br>".join(escape(line) for line in self._head())
        notes = "".join(f"<li>{escape(note)}</li>" for note in self._notes())
        rows = "".join(_html_row(row, "td" if i else "th") for i, row in enumerate(self._cells()))
        table = f"<table>{rows}</table>" if rows else ""
        return f"<p><b>{head}</b></p>{table}<ul>{notes}</ul>"

    def _head(self) -> list[str]:
        chosen = f"{self.n_features} of {self.n_features_in} features, lam {self.lam:.3g}"
        if self._has_no_comparison:
            return [chosen] if self.headline is None else [self.headline]
        chosen = f"{chosen}, network {self.network}"
        advice = f"; {self.advice}" if self.advice else ""
        first = [f"{self.signal}: {chosen}{advice}"] if self.headline is None else [self.headline, chosen]
        over = "the kept features" if self._is_beside else "the base rate"
        whose = "" if self.n_features else " of the sets that were looked at"
        gain = f"gain{whose} over {over} in held-out loss: {self.gain:.3f} ± {self.error:.3f}"
        return [*first, *self._reference(), gain]

    def _reference(self) -> list[str]:
        """Return lines on what all columns reach, where a model was trained on them."""
        lines = []
        for name, values in ((self.score_name, self.scores), ("loss", self.losses)):
            selected, every, none = (values.get(of, np.nan) for of in ("selected", "all", "none"))
            needed = selected if self.headline else selected + every
            if np.isnan(needed if self.n_features else every):
                continue
            reached = [f"{self.n_features} of {self.n_features_in} columns reach {selected:.3f}"]
            others = {"all columns": every, "no column": none}
            if self.n_features == self.n_features_in:  # one number for all columns
                reached, others["all columns"] = [], selected
            reached = reached if self.n_features else []
            reached += [f"{of} {score:.3f}" for of, score in others.items() if not np.isnan(score)]
            lines.append(f"held-out {name}: {', '.join(reached)}")
            if name == self.score_name and self.n_features and self.other_scores:
                every_name = "" if self.n_features == self.n_features_in else "all"
                lines.append(f"beside it: {say_others(self.other_scores, 'selected', every_name)}")
        return lines

    def _notes(self) -> list[str]:
        more = len(self.features) - MOST_ROWS
        cut = [f"... and {more} more features: see the table `features`."] if more > 0 else []
        if self._has_no_comparison:
            return [*cut, *self.hints]
        p = [f"p: {self.levels}"] if self.levels else []
        shown = {name for header in self._cells()[:1] for name in header}
        shown |= {"gain"} if self.n_features and self.scores else set()
        has_losses = any(line.startswith("held-out loss") for line in self._reference())
        mixed = any(cell.startswith("mixed") for row in self._cells() for cell in row)
        told = {
            "n_folds": self.n_folds,
            "n_halves": self.n_halves,
            "what": "set" if self.headline is None else "model",
            "above": ", as it is in the losses above" if has_losses else "",
            "direction": f"{self.direction_legend}{MIXED_MEANS if mixed else ''}",
        }
        legend = [f"{name}: {text}" for name, text in LEGEND.items() if name in shown]
        if self.n_halves:
            legend = [OF_HALVES if line.startswith("frequency") else line for line in legend]
        return [*cut, *self.hints, *p, *(line.format(**told) for line in legend), HONEST]

    def _cells(self) -> list[tuple[str, ...]]:
        """Return the table as texts, header first, without columns of which nothing is known."""
        rows = self.features if isinstance(self.features, list) else self.features.to_dict("records")
        columns = zip(HEADER, *(_texts(row, self.task) for row in rows[:MOST_ROWS]), strict=True)
        return list(zip(*(column for column in columns if any(column[1:])), strict=True))


def say_others(scores: dict[str, dict[str, float]], own: str, every: str) -> str:
    """Return scores in a row, each with that of all columns where it is known.

    Examples
    --------
    >>> from stochgate.explain.summary_table import say_others
    >>> say_others({"AUC": {"model": 0.9, "all": 0.8}, "sensitivity (b)": {"model": 0.5}}, "model", "all")
    'AUC 0.900 (all columns 0.800), sensitivity (b) 0.500'
    """
    parts = []
    for name, values in scores.items():
        of_all = values.get(every, _NAN)
        beside = "" if np.isnan(of_all) else f" (all columns {of_all:.3f})"
        parts.append(f"{name} {values[own]:.3f}{beside}")
    return ", ".join(parts)


def say_p(p: float) -> str:
    """Return a p-value in words; 999 permutations go down to 0.001.

    It is rounded up, so that none looks as if it met a level that it exceeds.

    Examples
    --------
    >>> from stochgate.explain.summary_table import say_p
    >>> say_p(0.4123), say_p(0.05), say_p(0.0503), say_p(2e-9)
    ('p = 0.42', 'p = 0.05', 'p = 0.051', 'p < 0.001')
    """
    if p < 0.001:
        return "p < 0.001"
    return f"p = {float(_TWO_DIGITS.create_decimal(repr(float(p)))):g}"


def _texts(row: dict[str, Any], task: str) -> tuple[str, ...]:
    """Return a feature's line of the table."""
    others = ", ".join(map(str, row["stand_ins"]))
    name = f"{row['feature']} (or {others})" if others else str(row["feature"])
    name = f"{name}, {len(row['members'])} features" if len(row["members"]) else name
    known = isinstance(row["direction"], str)
    told = [row["direction"], row["direction_of"], task, row.get("direction_alone")]
    direction = mark_direction(*told) if known else ""
    q = row.get("q_value", _NAN)
    q_value = "" if np.isnan(q) else f"{q:.2g}"
    return name, f"{row['gate']:.2f}", _frequency(row), q_value, direction, _rise(row)


def _frequency(row: dict[str, Any]) -> str:
    if not np.isnan(row.get("q_value", _NAN)):
        return f"{row['frequency']:.0%}"
    if np.isnan(row["frequency_low"]):
        return "" if np.isnan(row["frequency"]) else "kept"
    return f"{row['frequency']:.0%} ({row['frequency_low']:.0%} to {row['frequency_high']:.0%})"


def _rise(row: dict[str, Any]) -> str:
    if np.isnan(row["loss_without"]):
        return ""
    return f"{row['loss_without']:.3f} ± {row['loss_without_error']:.3f}"


def _html_row(cells: tuple[str, ...], tag: str) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
