"""What a model knows of y, by estimator: classes, the number of outputs, or the baseline hazard."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from stochgate.estimators.baseline_hazard import BaselineHazard, StepFunction
from stochgate.files.errors import ModelFileError
from stochgate.files.reading import Reading, expect, is_list_of

_NUMBERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
_LABELS = (str, int, float, bool)


@dataclass(frozen=True)
class KnownTarget:
    """What a file says of y.

    Attributes
    ----------
    facts : dict
        As the objective's `encode` returns them.
    n_outputs : int, or None for any number
    learned : dict of str to (bool, int or None)
        The tensors the objective may have learnt: whether it must have, and how wide they are.
    attributes : dict
        What the estimator has besides.
    """

    facts: dict[str, Any]
    n_outputs: int | None
    learned: dict[str, tuple[bool, int | None]]
    attributes: dict[str, Any]


Description = tuple[dict[str, Any], dict[str, np.ndarray]]


def describe_classes(model: Any) -> Description:
    """Return the labels of the classes: numbers as a tensor, texts and mixed ones as JSON."""
    classes = model.classes_
    if classes.dtype.name in (*_NUMBERS, "bool", "float32", "float64"):
        return {"labels": None, "are_objects": False}, {"target.classes": classes}
    labels = classes.tolist()
    if classes.dtype.kind not in "OU" or not all(type(label) in _LABELS for label in labels):
        raise ModelFileError(
            f"The classes are of type {classes.dtype}, which a file cannot hold; name them by texts, "
            "numbers or truth values, and fit again."
        )
    return {"labels": labels, "are_objects": classes.dtype.kind == "O"}, {}


def read_classes(reading: Reading) -> KnownTarget:
    """Return the classes, with the type they had."""
    labels, are_objects = reading.section("target", ["labels", "are_objects"])
    if labels is None:
        classes = reading.array("target.classes", [*_NUMBERS, "bool", "float32", "float64"], (None,))
    else:
        texts = is_list_of(str, labels)
        plain = isinstance(labels, list) and all(type(label) in _LABELS for label in labels)
        expect(texts or (plain and are_objects is True), "its classes are no labels")
        classes = np.empty(len(labels), dtype=object) if are_objects else np.array(labels, dtype=str)
        classes[:] = labels
    n_classes = len(classes)
    expect(len(set(classes.tolist())) == n_classes >= 2, "it does not have two or more different classes")
    n_outputs = 1 if n_classes == 2 else n_classes
    return KnownTarget({"classes": classes}, n_outputs, {"factor": (False, n_classes)}, {})


def describe_response(model: Any) -> Description:
    """Return whether y had several columns."""
    return {"many": bool(model._facts["many"])}, {}


def read_response(reading: Reading) -> KnownTarget:
    """Return what a regression knows of y."""
    [many] = reading.section("target", ["many"])
    expect(type(many) is bool, "it does not say whether y has several columns")
    learned: dict[str, tuple[bool, int | None]] = {"center": (True, None), "scale": (True, None)}
    return KnownTarget({"many": many}, None if many else 1, learned, {})


def describe_survival(model: Any) -> Description:
    """Return strata, times and the baseline hazard of each stratum."""
    facts, arrays = model._facts, {"target.times": model._facts["times"]}
    for i, curve in enumerate(model.baseline_.log_cumulative_hazard.values()):
        arrays |= {f"baseline.{i}.times": curve.x, f"baseline.{i}.log_hazard": curve.y}
    return {"strata": None if facts["strata"] is None else facts["strata"].tolist()}, arrays


def read_survival(reading: Reading) -> KnownTarget:
    """Return what a Cox model knows of y, and its baseline hazard."""
    [strata] = reading.section("target", ["strata"])
    times = reading.array("target.times", ["float64"], (None,), finite=True)
    expect(bool((np.diff(times) < 0).all()), "the times of the fit, latest first, do not fall")
    fits = strata is None or (is_list_of(str, strata) and len(strata) > 0)
    expect(fits and (strata is None or sorted(set(strata)) == strata), "its strata are no sorted texts")
    curves: dict[str | None, StepFunction] = {}
    for i, label in enumerate([None] if strata is None else strata):
        x = reading.array(f"baseline.{i}.times", ["float64"], (None,), finite=True)
        y = reading.array(f"baseline.{i}.log_hazard", ["float64"], x.shape)
        rise = (np.diff(x) > 0).all() and np.isin(x, times).all()
        expect(bool(rise), "the times of its baseline hazard do not rise, or are not those of the fit")
        expect(not np.isnan(y).any(), "its baseline hazard is not a number everywhere")
        curves[label] = StepFunction(x, y, -np.inf)
    facts = {"times": times, "strata": None if strata is None else np.array(strata, dtype=str)}
    return KnownTarget(facts, 1, {}, {"baseline_": BaselineHazard(curves)})


DESCRIBE: dict[str, Callable[[Any], Description]] = {
    "GatedClassifier": describe_classes,
    "GatedRegressor": describe_response,
    "GatedCox": describe_survival,
}
READ: dict[str, Callable[[Reading], KnownTarget]] = {
    "GatedClassifier": read_classes,
    "GatedRegressor": read_response,
    "GatedCox": read_survival,
}
