"""Closed columns that could stand for a selected one."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

ALIKE = 0.7  # the correlation at which one column can stand for another,
RELATED = 0.3  # and at which it can when some fold opened it instead
MOST_STAND_INS = 5


def find_stand_ins(
    X: Any,
    support: np.ndarray,
    gate_of: np.ndarray,
    opened: np.ndarray,
    feature_of: np.ndarray | None = None,
) -> list[np.ndarray]:
    """Return for every selected feature the closed ones that could stand for it, most alike first.

    Those are columns of absolute correlation 0.7 with it, or of 0.3 where some fold opened them and not it.

    Parameters
    ----------
    X : ndarray or csr_array, shape (n_samples, n_columns)
    support : ndarray of bool, shape (n_features,)
    gate_of : ndarray of int, shape (n_features,)
    opened : ndarray of bool, shape (n_folds, n_gates)
    feature_of : ndarray of int, shape (n_columns,), or None when the features are the columns
        Two features are as alike as the two columns of theirs that are most alike.
    """
    selected = np.flatnonzero(support)
    found = []
    for feature, alike in zip(selected, _alike(X, selected, feature_of, len(support)), strict=True):
        instead = (opened & ~opened[:, [gate_of[feature]]]).any(axis=0)[gate_of]
        able = np.flatnonzero(~support & ((alike >= ALIKE) | instead & (alike >= RELATED)))
        found.append(able[np.argsort(-alike[able], kind="stable")][:MOST_STAND_INS])
    return found


def _alike(
    X: Any, selected: np.ndarray, feature_of: np.ndarray | None, n_features: int
) -> Iterator[np.ndarray]:
    """Yield how alike all features are to each of the selected ones, shape (n_features,)."""
    if feature_of is None:
        yield from correlations(X, selected).T
        return
    of_columns = correlations(X, np.flatnonzero(np.isin(feature_of, selected)))
    owner = feature_of[np.isin(feature_of, selected)]
    for feature in selected:
        alike = np.zeros(n_features)
        np.maximum.at(alike, feature_of, of_columns[:, owner == feature].max(axis=1, initial=0.0))
        yield alike


def correlations(X: Any, selected: np.ndarray) -> np.ndarray:
    """Return the absolute correlation of all columns with some, shape (n_features, n_selected).

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.explain.stand_ins import correlations
    >>> correlations(np.array([[0.0, 3.0, 1.0], [1.0, 1.0, 1.0], [2.0, -1.0, 1.0]]), [0]).round(3).T
    array([[1., 1., 0.]])
    """
    chosen = X[:, selected]
    chosen = (chosen.toarray() if sparse.issparse(X) else chosen).astype(np.float64)
    chosen -= chosen.mean(axis=0)
    if sparse.issparse(X):
        mean, variance = mean_variance_axis(X, axis=0)
    else:
        mean, variance = X.mean(axis=0, dtype=np.float64), X.var(axis=0, dtype=np.float64)
    size = np.sqrt(variance * X.shape[0])  # of each column once its mean is taken off
    varies = size > 1e-7 * np.sqrt(X.shape[0]) * np.abs(mean)
    scale = np.divide(1.0, size, where=varies, out=np.zeros_like(size))
    return np.abs(X.T @ chosen) * scale[:, None] * scale[selected]
