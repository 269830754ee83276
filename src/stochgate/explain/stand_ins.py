"""Closed columns that could stand for a selected one."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

ALIKE = 0.7  # the correlation at which one column can stand for another,
RELATED = 0.3  # and at which it can when some fold opened it instead
MOST_STAND_INS = 5
FEWEST_ROWS = 20  # of fewer rows in which both have a value two columns may be alike by chance
_COLUMNS_AT_ONCE = 512


def find_stand_ins(
    X: Any,
    support: np.ndarray,
    gate_of: np.ndarray,
    opened: np.ndarray,
    feature_of: np.ndarray | None = None,
    missing_of: np.ndarray | None = None,
) -> list[np.ndarray]:
    """Return for every selected feature the closed ones that could stand for it, most alike first.

    Those are columns of absolute correlation 0.7 with it, or of 0.3 where some fold opened them and not it,
    in the rows where both have a value.

    Parameters
    ----------
    X : ndarray or csr_array, shape (n_samples, n_columns)
    support : ndarray of bool, shape (n_features,)
    gate_of : ndarray of int, shape (n_features,)
    opened : ndarray of bool, shape (n_folds, n_gates)
    feature_of : ndarray of int, shape (n_columns,), or None when the features are the columns
        Two features are as alike as the two columns of theirs that are most alike.
    missing_of : ndarray of int, shape (n_columns,), or None when no column has one
        The column that says where the values of a column are missing, -1 where none does.
    """
    selected = np.flatnonzero(support)
    alike_to = _alike(X, selected, feature_of, missing_of, len(support))
    found = []
    for feature, alike in zip(selected, alike_to, strict=True):
        instead = (opened & ~opened[:, [gate_of[feature]]]).any(axis=0)[gate_of]
        able = np.flatnonzero(~support & ((alike >= ALIKE) | instead & (alike >= RELATED)))
        found.append(able[np.argsort(-alike[able], kind="stable")][:MOST_STAND_INS])
    return found


def _alike(
    X: Any,
    selected: np.ndarray,
    feature_of: np.ndarray | None,
    missing_of: np.ndarray | None,
    n_features: int,
) -> Iterator[np.ndarray]:
    """Yield how alike all features are to each of the selected ones, shape (n_features,)."""
    if feature_of is None:
        yield from correlations(X, selected).T
        return
    columns = np.flatnonzero(np.isin(feature_of, selected))
    if missing_of is None or (missing_of < 0).all():
        of_columns = correlations(X, columns)
    else:
        of_columns = correlations_where_known(X, columns, missing_of)
    owner = feature_of[np.isin(feature_of, selected)]
    for feature in selected:
        alike = np.zeros(n_features)
        np.maximum.at(alike, feature_of, of_columns[:, owner == feature].max(axis=1, initial=0.0))
        yield alike


def correlations_where_known(X: np.ndarray, selected: np.ndarray, missing_of: np.ndarray) -> np.ndarray:
    """Return the absolute correlation of all columns with some where both have a value.

    It is 0 where fewer than 20 rows have both (of a shorter table, where a row lacks one), and of the
    columns that say where values are missing.

    Returns
    -------
    ndarray, shape (n_columns, n_selected)

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.explain.stand_ins import correlations_where_known
    >>> X = np.array([[1.0, 3.0, 0.0], [2.0, 2.0, 0.0], [3.0, 1.0, 0.0], [9.0, 2.0, 1.0]] * 7)
    >>> correlations_where_known(X, [0], np.array([-1, 2, 2])).round(3).T
    array([[1., 1., 0.]])
    """
    fewest = min(FEWEST_ROWS, len(X))
    known, values, _ = _known_part(X, selected, missing_of)
    found = np.zeros((X.shape[1], len(selected)))
    for start in range(0, X.shape[1], _COLUMNS_AT_ONCE):
        columns = np.arange(start, min(X.shape[1], start + _COLUMNS_AT_ONCE))
        own_known, own, mean = _known_part(X, columns, missing_of)
        n_both = own_known.T @ known  # (n_columns, n_selected), as are all that follow
        per_row = 1 / np.maximum(n_both, 1)
        own_sum, own_squares = own.T @ known, (own**2).T @ known
        other_sum, other_squares = own_known.T @ values, own_known.T @ values**2
        own_spread = own_squares - own_sum**2 * per_row
        other_spread = other_squares - other_sum**2 * per_row
        varies = own_spread > np.maximum(1e-12 * own_squares, 1e-14 * n_both * mean[:, None] ** 2)
        varies &= (other_spread > 1e-12 * other_squares) & (n_both >= fewest)
        varies[missing_of[columns] == columns] = False
        together = np.abs(own.T @ values - own_sum * other_sum * per_row)
        np.divide(
            together,
            np.sqrt(own_spread * other_spread),
            out=found[columns[0] : columns[-1] + 1],
            where=varies,
        )
    found[:, missing_of[selected] == selected] = 0
    return found


def _known_part(
    X: np.ndarray, columns: np.ndarray, missing_of: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where columns have values, these less their mean (0 where there is none), and the mean."""
    known = np.ones((len(X), len(columns)))
    says = missing_of[columns]
    known[:, says >= 0] = X[:, says[says >= 0]] == 0
    values = X[:, columns] * known
    mean = values.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return known, (values - mean) * known, mean


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
