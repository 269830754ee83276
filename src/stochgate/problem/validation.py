"""Checks of what users hand in: each error says what is wrong, where, and what to do."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import torch
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data
from torch import Tensor

from stochgate.engine import Trained
from stochgate.objectives import Objective, Target
from stochgate.objectives.base import is_date


def check_features(estimator: BaseEstimator, X: Any, *, reset: bool) -> np.ndarray | sparse.csr_array:
    """Check X and return it as a float array or CSR matrix.

    Parameters
    ----------
    estimator : the estimator that asks; gets `n_features_in_` and `feature_names_in_` on `reset`
    X : array, DataFrame or sparse matrix, shape (n_samples, n_features)
    reset : bool
        True in `fit`, False when X must have the columns seen there.
    """
    _refuse_duplicate_names(X)
    _refuse_dates(X)
    checked = {
        "accept_sparse": "csr",
        "dtype": [np.float64, np.float32],
        "ensure_all_finite": False,
    }
    try:
        X_checked = validate_data(
            estimator, X, reset=reset, ensure_min_samples=2 if reset else 1, **checked
        )
    except (ValueError, TypeError) as error:
        where = _first_text_column(X)
        if where is None or not any(word in str(error) for word in ("convert", "promoted", "cast")):
            raise
        raise ValueError(
            f"X holds text or dates in column {where[0]!r} ({where[1]!r}): features must be numbers; "
            f"encode the column first, for instance with OneHotEncoder. ({error})"
        ) from error
    _refuse_not_finite(X_checked, getattr(estimator, "feature_names_in_", None))
    return sparse.csr_array(X_checked) if sparse.issparse(X_checked) else X_checked


def _refuse_duplicate_names(X: Any) -> None:
    columns = getattr(X, "column_names", getattr(X, "columns", None))
    if columns is None:
        return
    names, counts = np.unique([str(c) for c in columns], return_counts=True)
    if (counts > 1).any():
        raise ValueError(
            f"X has duplicate column names: {names[counts > 1].tolist()}; rename or drop them, so that "
            "a selected feature has one meaning."
        )


def _refuse_dates(X: Any) -> None:
    """Raise where a column holds dates or durations: numpy would take them for numbers, and NaT too."""
    dtypes = getattr(X, "dtypes", getattr(X, "dtype", None))
    dtypes = list(dtypes) if isinstance(dtypes, Iterable) else [dtypes]
    names = list(getattr(X, "columns", range(len(dtypes))))
    for name, dtype in zip(names, dtypes, strict=False):
        if is_date(dtype):
            raise ValueError(
                f"X holds dates in column {name!r} ({dtype}): features must be numbers; take the days "
                "since a date, the year or the month."
            )


def _first_text_column(X: Any) -> tuple[Any, Any] | None:
    """Find the first cell that is no number, as (column, value)."""
    if sparse.issparse(X):
        return None
    names = list(getattr(X, "columns", []))
    values = np.asarray(X, dtype=object)
    for j in range(values.shape[1] if values.ndim == 2 else 0):
        for value in values[:, j]:
            try:
                float(value)
            except (TypeError, ValueError):
                return (names[j] if names else j), value
    return None


def _refuse_not_finite(X: np.ndarray | sparse.csr_array, names: np.ndarray | None) -> None:
    values: Any = X.data if sparse.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):  # one pass in the usual case
            return
    if np.isfinite(values).all():
        return
    row, column = _first_not_finite(X)
    name = column if names is None else repr(str(names[column]))
    what = "NaN" if np.isnan(X[row, column]) else "infinity"
    raise ValueError(
        f"Input X contains {what} in row {row}, column {name}: impute it (for instance with "
        "SimpleImputer in a Pipeline) or drop the row."
    )


def _first_not_finite(X: np.ndarray | sparse.csr_array) -> tuple[int, int]:
    if not sparse.issparse(X):
        return tuple(np.argwhere(~np.isfinite(X))[0])
    stored = sparse.coo_array(X)
    at = np.flatnonzero(~np.isfinite(stored.data))[0]
    return stored.row[at], stored.col[at]


def check_device(device: str) -> torch.device:
    """Return the device to train on; "auto" takes CUDA when it is there.

    Parameters
    ----------
    device : str
        "auto" or what torch calls it: "cpu", "cuda", "cuda:1".
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(device)
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"device={device!r} cannot be used here ({reason}); use device='auto' or 'cpu'."
        ) from error
    return found


def first_missing(labels: np.ndarray) -> int | None:
    """Return the position of the first label that is None or NaN, or None where none is."""
    return next((i for i, label in enumerate(labels.tolist()) if label is None or label != label), None)


def check_groups(groups: Any) -> np.ndarray:
    """Return the groups of the rows; a missing label is an error, and so is one group for all."""
    labels = np.asarray(groups)
    missing = first_missing(labels)
    if missing is not None:
        raise ValueError(f"The group of row {missing} is missing; give it a label, or remove the row.")
    if len(set(labels.tolist())) < 2:
        raise ValueError("groups holds one group only; folds keep groups whole, so give two or more.")
    return labels


def resolve(what: str, given: Any, known: Mapping[str, Callable[[], Any]], base: type) -> Any:
    """Turn a name into an instance; an instance is cloned, anything else refused.

    Parameters
    ----------
    what : str
        The parameter's name, for the message.
    given : str or instance of `base`
    known : mapping of names to what makes an instance
    base : type
    """
    from sklearn.base import clone

    if isinstance(given, str) and given in known:
        return known[given]()
    if isinstance(given, base):
        given = clone(given)
        given._validate_params()
        return given
    raise ValueError(
        f"Unknown {what} {given!r}; use one of {sorted(known)} or an instance of {base.__name__}."
    )


def refuse_not_callable(what: str, given: Iterable[Any] | None) -> None:
    """Raise unless every entry of a list can be called."""
    for entry in given or ():
        if not callable(entry):
            raise ValueError(f"{what} holds {entry!r}, which cannot be called; give functions.")


def refuse_no_weight(objective: Objective, target: Target, weights: Tensor, which: str) -> None:
    """Raise when some rows, e.g. those left to learn from, have no weight that counts, or no event."""
    learned = objective.learn(target.rows, weights)
    if not objective.total(target.rows, weights, learned)[0] > 0:
        raise ValueError(
            f"The rows {which} have no weight (or no event): check sample_weight and class_weight, and "
            "give early stopping more rows or another share of them."
        )


def refuse_diverged(trained: Trained) -> None:
    """Raise when a parameter is not a finite number any more, or never was after a step."""
    models = trained.models
    numbers = [models.gate_parameter, *models.parameters.values()]
    if trained.step[0] == 0 or not all(torch.isfinite(n).all() for n in numbers):
        raise ValueError(
            "The training diverged: weights are not finite numbers any more; use a smaller lr, "
            "standardize=True, or bring the columns of X to a smaller range."
        )
