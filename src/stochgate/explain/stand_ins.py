"""Closed columns that could stand for a selected one."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

ALIKE = 0.7  # the correlation at which one column can stand for another,
RELATED = 0.3  # and at which it can when some fold opened it instead
MOST_STAND_INS = 5


def find_stand_ins(
    X: Any, support: np.ndarray, gate_of: np.ndarray, opened: np.ndarray
) -> list[np.ndarray]:
    """Return for every selected feature the closed ones that could stand for it, most alike first.

    Those are columns of absolute correlation 0.7 with it, or of 0.3 where some fold opened them and not it.

    Parameters
    ----------
    X : ndarray or csr_array, shape (n_samples, n_features)
    support : ndarray of bool, shape (n_features,)
    gate_of : ndarray of int, shape (n_features,)
    opened : ndarray of bool, shape (n_folds, n_gates)
    """
    selected = np.flatnonzero(support)
    found = []
    for feature, alike in zip(selected, correlations(X, selected).T, strict=True):
        instead = (opened & ~opened[:, [gate_of[feature]]]).any(axis=0)[gate_of]
        able = np.flatnonzero(~support & ((alike >= ALIKE) | instead & (alike >= RELATED)))
        found.append(able[np.argsort(-alike[able], kind="stable")][:MOST_STAND_INS])
    return found


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
