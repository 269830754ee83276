"""Rows that can be taken apart, whatever holds them, and how to split them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing, indexable

from stochgate.choice.folds import make_splitter
from stochgate.objectives import OBJECTIVES, Classification, Objective


@dataclass(frozen=True, kw_only=True)
class Rows:
    """A data set by rows.

    Attributes
    ----------
    X, y : as the user gave them; a tuple (event, time) has become a structured array
    objective : type of Objective, or None
        What the model does with y, where that is known.
    strata : ndarray of int, shape (n_samples,)
        Classes, or whether there was an event; all 0 for others.
    classes : ndarray, shape (n_classes,)
        The different values of y where each is a class of its own, those of all rows.
    groups, weights : ndarray of shape (n_samples,), or None
    """

    X: Any
    y: Any
    objective: type[Objective] | None
    strata: np.ndarray
    classes: np.ndarray
    groups: np.ndarray | None
    weights: np.ndarray | None

    def other_scores(self, model: Any) -> dict[str, float]:
        """Return what is told beside the score of a fitted model on these rows, by name."""
        if self.objective is None or not hasattr(model, "predict"):
            return {}
        return self.objective.other_scores_of(model, self.X, self.y, self.classes)

    def take(self, rows: np.ndarray) -> "Rows":
        """Return some of the rows."""
        groups, weights = (None if part is None else part[rows] for part in (self.groups, self.weights))
        X, y = _safe_indexing(self.X, rows), _safe_indexing(self.y, rows)
        return replace(self, X=X, y=y, strata=self.strata[rows], groups=groups, weights=weights)


def read_rows(model: Any, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Rows:
    """Read a data set as the model would."""
    if y is None:
        raise ValueError("y is missing: without a target nothing can be scored.")
    objective = next((each for each in OBJECTIVES if each.suits(model, y)), None)
    strata = np.zeros(len(y), dtype=int) if objective is None else objective.strata_of(y)
    classes = np.unique(np.asarray(y)) if objective is Classification else np.empty(0)
    y = y if objective is None else objective.as_rows(y)
    X, y, groups, weights = indexable(X.tocsr() if sparse.issparse(X) else X, y, groups, sample_weight)
    groups, weights = (None if part is None else np.asarray(part) for part in (groups, weights))
    return Rows(
        X=X, y=y, objective=objective, strata=strata, classes=classes, groups=groups, weights=weights
    )


def split_rows(rows: Rows, cv: Any, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the positions to learn from and to be judged by; rows of weight 0 are in neither."""
    labels = rows.strata if rows.objective is not None and rows.objective.stratifies else rows.y
    splitter = make_splitter(cv, rows.strata, seed, rows.groups)
    for number, fold in enumerate(splitter.split(rows.X, labels, rows.groups), start=1):
        if rows.weights is not None:
            fold = tuple(part[rows.weights[part] > 0] for part in fold)
        for part, use in zip(fold, ("learn from", "be judged by"), strict=True):
            if len(part) == 0:
                raise ValueError(f"Fold {number} has no row with weight to {use}: use fewer folds (cv).")
        yield fold
