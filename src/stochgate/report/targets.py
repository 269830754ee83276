"""What the model was asked to predict, and how well it does: classes, numbers or survival times."""

from typing import Any

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils import get_tags

from stochgate.metrics import survival_curves_by_risk
from stochgate.report.plain import spread_out, to_text
from stochgate.survival import read_survival_target

MOST_CLASSES = 20
MOST_POINTS = 600
MOST_TIMES = 200
MOST_BINS = 10
ROWS_PER_GROUP = 40


class Classes:
    """A target of classes."""

    task = "classification"
    called = None
    base = "always the most common class"

    def describe(self, model: Any, y: Any) -> dict[str, Any]:
        """Return the classes and how many rows each has, the largest first."""
        labels, counts = np.unique(_places(model, y), return_counts=True)
        order = np.argsort(-counts, kind="stable")
        names = [to_text(label) for label in model.classes_.tolist()]
        return {"classes": [{"label": names[labels[i]], "count": int(counts[i])} for i in order]}

    def judge(self, model: Any, y: Any, predicted: np.ndarray) -> dict[str, Any]:
        """Return how often each class was taken for which; of many classes the largest."""
        true, said = _places(model, y), _places(model, predicted)
        n_classes = len(model.classes_)
        counts = np.zeros((n_classes, n_classes), dtype=int)
        np.add.at(counts, (true, said), 1)
        kept = np.sort(np.argsort(-counts.sum(axis=1), kind="stable")[:MOST_CLASSES])
        labels = [to_text(model.classes_.tolist()[i]) for i in kept]
        return {
            "kind": "confusion",
            "labels": labels,
            "counts": counts[np.ix_(kept, kept)].tolist(),
            "n_classes": n_classes,
            "score": float((true == said).mean()),
        }


class Numbers:
    """A target of numbers."""

    task = "regression"
    called = None
    base = "always the mean"

    def describe(self, model: Any, y: Any) -> dict[str, Any]:
        """Return the mean and the range of y, of its first output."""
        values, n_outputs = _first_output(y)
        low, high = values.min(), values.max()
        numbers = {"mean": values.mean(), "sd": values.std(), "low": low, "high": high}
        return {"numbers": numbers, "n_outputs": n_outputs}

    def judge(self, model: Any, y: Any, predicted: np.ndarray) -> dict[str, Any]:
        """Return predicted against observed values: some rows, and means of rows of like prediction."""
        observed, n_outputs = _first_output(y)
        said, _ = _first_output(predicted)
        order = np.argsort(said, kind="stable")
        bins = [rows for rows in np.array_split(order, MOST_BINS) if len(rows)]
        shown = order[spread_out(len(order), MOST_POINTS)]
        return {
            "kind": "numbers",
            "n_outputs": n_outputs,
            "predicted": said[shown].tolist(),
            "observed": observed[shown].tolist(),
            "bins": [
                {"n": len(rows), "predicted": said[rows].mean(), "observed": observed[rows].mean()}
                for rows in bins
            ],
            "score": float(r2_score(observed, said)) if len(observed) > 1 else None,
        }


class Survival:
    """A target of times, some of them censored."""

    task = "survival"
    called = "survival"  # whatever its columns are called
    base = "order by chance"

    def describe(self, model: Any, y: Any) -> dict[str, Any]:
        """Return how many events there are, and how long rows were observed."""
        target = read_survival_target(y)
        times = {"median": float(np.median(target.time)), "longest": float(target.time.max())}
        n_events = int(target.event.sum())
        n_strata = None if target.stratum is None else len(np.unique(target.stratum))
        how = {"has_entry": target.entry is not None, "n_strata": n_strata}
        return {
            "events": {"n_events": n_events, "n_censored": len(target.event) - n_events, **times, **how}
        }

    def judge(self, model: Any, y: Any, predicted: np.ndarray) -> dict[str, Any] | None:
        """Return the survival of two or three groups of rows by risk; None where risks do not differ."""
        target = read_survival_target(y)
        enough = len(predicted) >= 3 * ROWS_PER_GROUP and len(np.unique(predicted)) > 2
        n_groups = 3 if enough else 2
        try:
            groups = survival_curves_by_risk(target.event, target.time, predicted, n_groups)
        except ValueError:  # ties leave a group without rows
            return None
        names = ("low risk", "middle risk", "high risk") if enough else ("low risk", "high risk")
        return {
            "kind": "survival",
            "curves": [_thin(name, curve) for name, curve in zip(names, groups.curves, strict=True)],
            "p_value": groups.p_value,
            "is_simple": target.entry is None and target.stratum is None,
        }


def find_target(model: Any) -> Classes | Numbers | Survival:
    """Return what kind of target a model predicts."""
    kinds: dict[str | None, type[Classes | Numbers]] = {"classifier": Classes, "regressor": Numbers}
    return kinds.get(get_tags(model).estimator_type, Survival)()


def name_target(y: Any) -> str | None:
    """Return what y is called where it has a name, as a column of a DataFrame has.

    Examples
    --------
    >>> import pandas as pd
    >>> from stochgate.report.targets import name_target
    >>> name_target(pd.Series([0, 1], name="diagnosis")), name_target([0, 1])
    ('diagnosis', None)
    """
    if hasattr(y, "columns"):
        return ", ".join(to_text(name) for name in list(y.columns)[:5])
    name = getattr(y, "name", None)
    return None if name is None or name == "" else to_text(name)


def _places(model: Any, labels: Any) -> np.ndarray:
    """Return the place of each label among the classes of the model."""
    place = {str(label): i for i, label in enumerate(model.classes_.tolist())}
    return np.array([place[str(label)] for label in np.asarray(labels).ravel().tolist()])


def _first_output(values: Any) -> tuple[np.ndarray, int]:
    """Return the first output, and how many there are."""
    array = np.asarray(values, dtype=float)
    return (array, 1) if array.ndim == 1 else (array[:, 0], array.shape[1])


def _thin(name: str, curve: Any) -> dict[str, Any]:
    """Return a survival curve at a limited number of times."""
    at = spread_out(len(curve.time), MOST_TIMES)
    below = np.flatnonzero(curve.survival <= 0.5)
    parts = {part: getattr(curve, part)[at].tolist() for part in ("time", "survival", "low", "high")}
    median = float(curve.time[below[0]]) if len(below) else None
    return {"name": name, "n": int(curve.n_at_risk[0]), "median": median, **parts}
