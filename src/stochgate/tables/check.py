"""Checks of X: numbers, text, missing values, and everything that stands in the way in one message."""

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples, validate_data

from stochgate.tables.frame import column_names, is_date
from stochgate.tables.obstacles import Obstacle, refuse
from stochgate.tables.read import DATE_ADVICE, needs_reading, read_frame
from stochgate.tables.table import Table

NUMBERS: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": False}
FEWEST_ROWS = 2  # in a fit
MISSING_ADVICE = "fill it in (for instance with SimpleImputer in a Pipeline) or drop the row"
INFINITY_ADVICE = "make it a number or a missing value, or drop the row"


def check_table(
    estimator: BaseEstimator, X: Any, *, texts: set[int] | None = None, allow_missing: bool = True
) -> Table:
    """Check X and return it as a table of numbers and texts.

    Parameters
    ----------
    estimator : the estimator that asks; in a fit it gets `n_features_in_` and `feature_names_in_`
    X : array, DataFrame or sparse matrix, shape (n_samples, n_features)
    texts : set of int, or None
        The columns that held text in the fit; None in the fit itself.
    allow_missing : bool
        Whether numbers and texts may be missing (never in sparse X).
    """
    in_fit, names = texts is None, column_names(X)
    _refuse_duplicate_names(names)
    if texts and names is None:
        X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=object)
    if texts or needs_reading(X):
        validate_data(estimator, X, reset=in_fit, skip_check_array=True)
        _refuse_too_few(X, in_fit)
        table, obstacles = read_frame(X, dense_numbers, texts)
    else:
        table, obstacles = Table(_plain_numbers(estimator, X, in_fit), {}), []
    known = getattr(estimator, "feature_names_in_", None)
    names = names if known is None else known.tolist()
    obstacles += _not_finite(table, names, allow_missing, hasattr(estimator, "missing"))
    refuse(obstacles)
    return table


def check_numbers(estimator: BaseEstimator, X: Any) -> Any:
    """Check the X of a fit that must be numbers, none missing; return it as an array or a CSR matrix."""
    return check_table(estimator, X, allow_missing=False).numbers


def _plain_numbers(estimator: BaseEstimator, X: Any, in_fit: bool) -> Any:
    dtype = getattr(X, "dtype", None)
    if is_date(dtype):
        refuse([Obstacle(0, f"dates ({dtype})", DATE_ADVICE)])
    rows = {"ensure_min_samples": FEWEST_ROWS if in_fit else 1}
    try:
        checked = validate_data(estimator, X, reset=in_fit, accept_sparse="csr", **rows, **NUMBERS)
    except (ValueError, TypeError) as error:
        where = _first_text(X)
        if where is None or not any(word in str(error) for word in ("convert", "promoted", "cast")):
            raise
        raise ValueError(
            f"X holds text in column {where[0]!r} ({where[1]!r}), and an array must hold numbers: hand in "
            f"a DataFrame, whose columns of text are encoded. ({error})"
        ) from error
    return sparse.csr_array(checked) if sparse.issparse(checked) else checked


def _refuse_duplicate_names(names: list[Any] | None) -> None:
    found, counts = np.unique([str(name) for name in names or []], return_counts=True)
    if (counts > 1).any():
        raise ValueError(
            f"X has duplicate column names: {found[counts > 1].tolist()}; rename or drop them, so that "
            "a selected feature has one meaning."
        )


def _refuse_too_few(X: Any, in_fit: bool) -> None:
    n_samples, fewest = _num_samples(X), FEWEST_ROWS if in_fit else 1
    if n_samples < fewest:
        raise ValueError(f"Found array with {n_samples} sample(s) while a minimum of {fewest} is required.")


def _first_text(X: Any) -> tuple[Any, Any] | None:
    """Find the first cell that is no number, as (column, value)."""
    if sparse.issparse(X):
        return None
    values = np.asarray(X, dtype=object)
    for j in range(values.shape[1] if values.ndim == 2 else 0):
        for value in values[:, j]:
            try:
                float(value)
            except (TypeError, ValueError):
                return j, value
    return None


def _not_finite(
    table: Table, names: list[Any] | None, allow_missing: bool, may_allow: bool
) -> list[Obstacle]:
    """Return an obstacle for each column with an infinite number, or a missing one where none may be.

    `may_allow` says that the estimator has a parameter `missing`.
    """
    X, found = table.numbers, []
    is_sparse = sparse.issparse(X)
    values = X.data if is_sparse else X
    with np.errstate(over="ignore", invalid="ignore"):
        if not table.labels and np.isfinite(values.sum(dtype=np.float64)):  # one pass in the usual case
            return []
    or_else = ", or say missing='auto'" if may_allow and not is_sparse else ""
    kinds = (("infinity", np.isinf, INFINITY_ADVICE), ("NaN", np.isnan, MISSING_ADVICE + or_else))
    for what, test, advice in kinds:
        if what == "NaN" and allow_missing and not is_sparse:
            continue
        bad = test(values)
        rows, columns = _places(X, bad) if is_sparse else np.nonzero(bad)
        for column in np.unique(columns).tolist():
            if column in table.labels:
                continue
            at = rows[columns == column]
            more = f" and {len(at) - 1} more" if len(at) > 1 else ""
            found.append(Obstacle(_name(names, column), f"{what} in row {at.min()}{more}", advice))
    for column, labels in table.labels.items():
        missing = [] if allow_missing else [i for i, label in enumerate(labels) if label is None]
        if missing:
            advice = MISSING_ADVICE + or_else
            found.append(Obstacle(_name(names, column), f"no text in row {missing[0]}", advice))
    return found


def dense_numbers(numbers: Any) -> np.ndarray:
    """Return a data frame of numbers as a dense array of floats, NaN where they are missing."""
    with warnings.catch_warnings():  # sparse columns among others are made dense
        warnings.filterwarnings("ignore", message="pandas.DataFrame with sparse columns")
        checked = check_array(numbers, accept_sparse="csr", **NUMBERS)
    return checked.toarray() if sparse.issparse(checked) else checked


def _places(X: Any, bad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    stored = sparse.coo_array(X)
    return stored.row[bad], stored.col[bad]


def _name(names: list[Any] | None, column: int) -> Any:
    return column if names is None else names[column]
