"""What an evaluation found, and how it is made of its folds."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from stochgate.evaluation.outer_fold import JudgedFold
from stochgate.metrics import support_overlap
from stochgate.objectives import Objective

if TYPE_CHECKING:
    from pandas import DataFrame

_MOST_NAMES = 10
_OWN_NAMES = {"roc_auc": "AUC", "balanced_accuracy": "balanced accuracy"}  # of scikit-learn's metrics
_MOST_SIZES = 20


@dataclass(frozen=True, repr=False)
class Evaluation:
    """What `evaluate` found; shown or printed, it is a few lines.

    Attributes
    ----------
    metric : str
        As `scoring` names it: a name, or what a scorer is made of.
    scores : ndarray, shape (n_folds,)
        Of the model, on rows that took no part in its selection or training; higher is better.
    all_columns : ndarray, shape (n_folds,)
        Of the same model without selection; NaN where there is none.
    base_rate : ndarray, shape (n_folds,)
        Of the prediction that uses no feature.
    supports : ndarray of bool, shape (n_folds, n_features), or None
        What each fold selected; None when the model selects nothing that could be read.
    feature_names : list of str
        What is selected from: the columns of X or, where the steps of a pipeline make others, those of all
        folds together. A column that a fold does not have is not selected there.
    predictions : ndarray, shape (n_samples, ...), or None
        What was predicted for each row by the model that had not seen it; None unless every row was left
        out once.
    other_scores : dict of dict of float
        For classes, what accuracy hides where some are rare, as means over the folds: of two classes
        "AUC", "sensitivity" (the share of the second class, which stands in brackets, that is predicted
        right) and "specificity" (of the first), of more "balanced accuracy"; and "accuracy" beside another
        metric. Each has "score", "all_columns" and "base_rate", as far as they are known. Empty for other
        targets, and for a table that is read block by block.
    mean, sd, standard_error : float
        Of `scores`. Folds share rows to learn from, so that the standard error is somewhat too small.
    n_selected : ndarray of int, shape (n_folds,), or None
    selection_counts : ndarray of int, shape (n_features,), or None
        In how many folds a feature was selected.
    overlap : float
        Mean Jaccard overlap of the folds' supports (`stochgate.metrics.support_overlap`); NaN without.
    headline : str
        The scores in a sentence.
    """

    metric: str
    scores: np.ndarray
    all_columns: np.ndarray
    base_rate: np.ndarray
    supports: np.ndarray | None
    feature_names: list[str]
    predictions: np.ndarray | None = None
    other_scores: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """Mean score."""
        return float(self.scores.mean())

    @property
    def sd(self) -> float:
        """Standard deviation of the scores."""
        return _sd(self.scores)

    @property
    def standard_error(self) -> float:
        """Standard error of the mean score."""
        return self.sd / float(np.sqrt(len(self.scores)))

    @property
    def n_selected(self) -> np.ndarray | None:
        """How many features each fold selected."""
        return None if self.supports is None else self.supports.sum(axis=1)

    @property
    def selection_counts(self) -> np.ndarray | None:
        """How many folds selected each feature."""
        return None if self.supports is None else self.supports.sum(axis=0)

    @property
    def overlap(self) -> float:
        """Mean Jaccard overlap of the folds' supports."""
        if self.supports is None or len(self.supports) < 2:
            return float("nan")
        return support_overlap(list(self.supports))

    @property
    def headline(self) -> str:
        """The scores in a sentence."""
        own = f"{self.metric} {self.mean:.3f}" + ("" if np.isnan(self.sd) else f" ± {self.sd:.3f}")
        known = {"all columns": self.all_columns.mean(), "base rate": self.base_rate.mean()}
        rivals = "".join(f", {name} {score:.3f}" for name, score in known.items() if not np.isnan(score))
        named = [f"{name} {means['score']:.3f}" for name, means in self.other_scores.items()]
        others = f"; {', '.join(named)}" if named else ""
        return f"Honest score: {own} on rows that took no part in the choice{rivals}{others}."

    def _say_others(self) -> str:
        parts = []
        for name, means in self.other_scores.items():
            of_all = means.get("all_columns", np.nan)
            beside = "" if np.isnan(of_all) else f" (all columns {of_all:.3f})"
            parts.append(f"{name} {means['score']:.3f}{beside}")
        return ", ".join(parts)

    def to_frame(self) -> "DataFrame":
        """Return one row per fold."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: install it, or read the attributes.") from error
        columns = {"score": self.scores, "all_columns": self.all_columns, "base_rate": self.base_rate}
        frame = pd.DataFrame(columns).rename_axis("fold")
        return frame if self.supports is None else frame.assign(n_selected=self.n_selected)

    def __repr__(self) -> str:
        lines = [f"{self._head()} (mean, standard deviation, standard error)"]
        lines += [
            f"  {name:<12}" + "".join(f"{n:8.3f}" for n in numbers) for name, *numbers in self._rows()
        ]
        return "\n".join(lines + self._notes())

    def _repr_html_(self) -> str:
        header = "".join(
            f"<th>{name}</th>" for name in ("", "mean", "standard deviation", "standard error")
        )
        rows = "".join(
            f"<tr><th>{name}</th>" + "".join(f"<td>{n:.3f}</td>" for n in numbers) + "</tr>"
            for name, *numbers in self._rows()
        )
        notes = "<br>".join(escape(line) for line in self._notes())
        return f"<p><b>{escape(self._head())}</b></p><table><tr>{header}</tr>{rows}</table><p>{notes}</p>"

    def _head(self) -> str:
        n_folds = len(self.scores)
        return f"{self.metric} on held-out rows, " + ("1 fold" if n_folds == 1 else f"{n_folds} folds")

    def _rows(self) -> Iterator[tuple[str, float, float, float]]:
        """Yield what was scored, its mean, standard deviation and standard error."""
        known = {"model": self.scores, "all columns": self.all_columns, "base rate": self.base_rate}
        for name, scores in known.items():
            if not np.isnan(scores).all():
                sd = _sd(scores)
                yield name, float(scores.mean()), sd, sd / float(np.sqrt(len(scores)))

    def _notes(self) -> list[str]:
        """Return the lines on other scores, and on what was selected."""
        beside = [f"beside it: {self._say_others()}"] if self.other_scores else []
        if self.supports is None:
            return beside
        n_folds, n_features = self.supports.shape
        sizes, counts = self.supports.sum(axis=1), self.supports.sum(axis=0)
        order = np.argsort(-counts, kind="stable")[: (counts > 0).sum()]
        listed = ", ".join(map(str, sizes))
        if n_folds > _MOST_SIZES:
            listed = f"{sizes.min()} to {sizes.max()}, {sizes.mean():.1f} on average"
        lines = [*beside, f"selected of {n_features} features: {listed} (overlap {self.overlap:.2f})"]
        if n_empty := (sizes == 0).sum():
            lines.append(f"nothing selected in {n_empty} of {n_folds} folds")
        if len(order):
            names = [f"{self.feature_names[j]} ({counts[j]})" for j in order[:_MOST_NAMES]]
            more = f" and {len(order) - _MOST_NAMES} more" if len(order) > _MOST_NAMES else ""
            lines.append(f"folds that select a feature: {', '.join(names)}{more}")
        return lines


def join_folds(
    folds: list[JudgedFold],
    names: list[str],
    scoring: Any,
    objective: type[Objective] | None,
    n_samples: int | None = None,
) -> Evaluation:
    """Return what all folds found together.

    Parameters
    ----------
    folds : list of JudgedFold
    names : list of str
        Of the columns of X.
    scoring : as in `evaluate`
    objective : type of Objective, or None
    n_samples : int, optional
        Rows that were left out, where their predictions are known.
    """
    feature_names, supports = _join_selections(folds, names)
    metric = _name_metric(scoring, objective)
    return Evaluation(
        metric=metric,
        scores=np.array([fold.score for fold in folds]),
        all_columns=np.array([fold.all_columns for fold in folds]),
        base_rate=np.array([fold.base_rate for fold in folds]),
        supports=supports,
        feature_names=feature_names,
        predictions=None if n_samples is None else _join_predictions(folds, n_samples),
        other_scores=_join_other_scores(folds, metric),
    )


def _name_metric(scoring: Any, objective: type[Objective] | None) -> str:
    """Return what the scores are; a scorer without a name is called as its code is."""
    if scoring is None:
        return "score" if objective is None else objective.metric_name
    return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", repr(scoring))


def _join_other_scores(folds: list[JudgedFold], metric: str) -> dict[str, dict[str, float]]:
    """Return by the name of a score, but the metric itself, its means over the folds where it is known."""
    joined: dict[str, dict[str, float]] = {}
    for who in folds[0].other_scores:
        for name in folds[0].other_scores[who]:
            values = np.array([fold.other_scores[who][name] for fold in folds])
            if name != _OWN_NAMES.get(metric, metric) and not np.isnan(values).all():
                joined.setdefault(name, {})[who] = float(np.nanmean(values))
    return {name: means for name, means in joined.items() if "score" in means}


def _join_selections(folds: list[JudgedFold], names: list[str]) -> tuple[list[str], np.ndarray | None]:
    """Return the columns of all folds and what each fold selected of them, shape (n_folds, n_columns)."""
    supports = [fold.support for fold in folds if fold.support is not None]
    columns = [fold.columns for fold in folds]
    if len(supports) < len(folds):
        return names, None
    if all(others == columns[0] for others in columns):
        return columns[0], np.array(supports)
    joined = list(dict.fromkeys(name for own in columns for name in own))
    place = {name: j for j, name in enumerate(joined)}
    joint = np.zeros((len(folds), len(joined)), dtype=bool)
    for row, own, support in zip(joint, columns, supports, strict=True):
        row[[place[name] for name in own]] = support
    return joined, joint


def _join_predictions(folds: list[JudgedFold], n_samples: int) -> np.ndarray | None:
    """Return what was predicted for each row, None unless every row was left out once."""
    predicted = [fold.predicted for fold in folds if fold.predicted is not None]
    positions = np.concatenate([fold.rows for fold in folds])
    if len(predicted) < len(folds) or not np.array_equal(np.sort(positions), np.arange(n_samples)):
        return None
    return np.concatenate(predicted)[np.argsort(positions)]


def _sd(scores: np.ndarray) -> float:
    return float(scores.std(ddof=1)) if len(scores) > 1 else float("nan")
