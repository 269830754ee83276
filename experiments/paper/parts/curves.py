"""Curves of accuracy against the number of selected features: how they are made, averaged and compared."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from experiments.claims import values_of

FARTHEST = 4.0  # neighbours on a curve that differ by a larger factor say nothing of what lies between
Curve = Sequence[Sequence[float]]


def curve_of(points: Iterable[Any], X: Any, y: Any) -> list[list[float]]:
    """Return [number of features, accuracy on X and y] of each fitted model."""
    return [[int(point.get_support().sum()), round(point.score(X, y), 4)] for point in points]


def describe_curve(curve: Curve) -> dict[str, Any]:
    """Return a curve as a record has it, with its ends and its best accuracy."""
    sizes = [size for size, _ in curve]
    best = max((accuracy for _, accuracy in curve), default=math.nan)
    return {"curve": curve, "fewest": min(sizes), "most": max(sizes), "best_accuracy": best}


def accuracy_at(curve: Curve, sizes: Sequence[float]) -> np.ndarray:
    """Return the accuracy at some numbers of features, shape (n_sizes,), linear in their logarithm.

    Models of the same size are averaged. It is NaN beyond the ends of the curve, and between neighbours
    that differ by more than a factor of 4.

    Examples
    --------
    >>> from experiments.paper.parts.curves import accuracy_at
    >>> accuracy_at([[4, 0.6], [4, 0.8], [16, 0.9], [100, 1.0]], [2, 4, 8, 50])
    array([nan, 0.7, 0.8, nan])
    """
    wanted = np.log(np.asarray(sizes, dtype=np.float64))
    counts = np.array([size for size, _ in curve if size > 0], dtype=np.float64)
    accuracies = np.array([accuracy for size, accuracy in curve if size > 0])
    if not len(counts):
        return np.full(len(wanted), np.nan)
    known, which = np.unique(np.log(counts), return_inverse=True)
    means = np.bincount(which, accuracies) / np.bincount(which)
    found = np.interp(wanted, known, means, left=np.nan, right=np.nan)
    right = np.searchsorted(known, wanted).clip(0, len(known) - 1)
    left = (right - 1).clip(0)
    far = (known[right] - known[left] > math.log(FARTHEST) + 1e-9) & (known[right] > wanted + 1e-9)
    return np.where(far, np.nan, found)


def mean_curve(table: Any, task: str, method: str, sizes: Sequence[float]) -> np.ndarray:
    """Return the mean accuracy at some sizes, shape (n_sizes,); NaN where most of the runs have none."""
    curves = values_of(table, "curve", method, task)
    if not len(curves):
        return np.full(len(sizes), np.nan)
    accuracies = np.array([accuracy_at(curve, sizes) for curve in curves])
    n_found = np.isfinite(accuracies).sum(axis=0)
    means = np.nansum(accuracies, axis=0) / np.maximum(n_found, 1)
    return np.where(2 * n_found >= len(curves), means, np.nan)


def mean_gain(table: Any, task: str, method: str, peer: str, sizes: Sequence[float]) -> float:
    """Return how far a method's mean accuracy lies above a peer's, over the sizes that both reach.

    The means are over the seeds that both have.
    """
    there = table[table["task"] == task]
    seeds = [set(there.loc[there["method"] == name, "seed"]) for name in (method, peer)]
    table = there[there["seed"].isin(seeds[0] & seeds[1])]
    difference = mean_curve(table, task, method, sizes) - mean_curve(table, task, peer, sizes)
    found = difference[np.isfinite(difference)]
    return float(found.mean()) if len(found) else math.nan


def draw_curves(axis: Any, table: Any, task: str, methods: Sequence[str], most: int) -> None:
    """Draw the mean curves of one task; a method's own choice of a size, where it has one, is a star."""
    from experiments.paper.parts.show import colour_of, label_of

    sizes = np.geomspace(1, most, 60).tolist()
    for method in methods:
        accuracies = mean_curve(table, task, method, sizes)
        if np.isfinite(accuracies).any():
            axis.plot(sizes, accuracies, color=colour_of(method), label=label_of(method))
        chosen, score = (values_of(table, name, method, task) for name in ("n_selected", "test_score"))
        if len(chosen):
            axis.plot(chosen.mean(), score.mean(), "*", ms=10, color=colour_of(method))
    axis.set(xscale="log", title=task, xlabel="selected features")
