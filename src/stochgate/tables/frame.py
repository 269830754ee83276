"""Columns of a data frame, whichever library made it."""

import re
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

_ARROW_NUMBERS = re.compile(r"u?int\d+|float|double|halffloat|bool")
_ARROW_DATES = re.compile(r"(date|time|timestamp|duration)")


def in_memory(X: Any) -> Any:
    """Return a lazy data frame of polars with its rows, and anything else as it is."""
    return X.collect() if type(X).__name__ == "LazyFrame" and hasattr(X, "collect") else X


def column_names(X: Any) -> list[Any] | None:
    """Return the columns' names of a data frame (pandas, polars, pyarrow), None of anything else."""
    names = getattr(X, "column_names", None)
    names = getattr(X, "columns", None) if names is None else names
    return None if names is None or callable(names) else list(names)


def column_types(X: Any) -> list[Any]:
    """Return the columns' dtypes of a data frame."""
    if hasattr(X, "schema") and hasattr(X.schema, "types"):
        return list(X.schema.types)
    return list(X.dtypes) if hasattr(X, "dtypes") else [X.dtype] * X.shape[1]


def is_date(dtype: Any) -> bool:
    """Tell whether a dtype (of numpy, pandas, polars or pyarrow) is one of dates, times or durations."""
    if hasattr(dtype, "is_temporal"):
        return bool(dtype.is_temporal())
    if getattr(dtype, "kind", None) in ("m", "M"):
        return True
    return _is_arrow(dtype) and _ARROW_DATES.match(str(dtype)) is not None


def is_number(dtype: Any) -> bool:
    """Tell whether a dtype is one of numbers or truth values, which need no encoding.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.tables.frame import is_number
    >>> is_number(np.dtype(float)), is_number(np.dtype(bool)), is_number(np.dtype(object))
    (True, True, False)
    """
    if hasattr(dtype, "is_numeric"):  # polars
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    if _is_arrow(dtype):
        return _ARROW_NUMBERS.fullmatch(str(dtype)) is not None
    return getattr(dtype, "kind", None) in ("b", "i", "u", "f")


def is_category(dtype: Any) -> bool:
    """Tell whether a dtype marks its values as categories, even where they are numbers."""
    return any(word in type(dtype).__name__ for word in ("Categorical", "Enum", "DictionaryType"))


def take_columns(X: Any, columns: list[int]) -> Any:
    """Return some columns of a data frame."""
    return _safe_indexing(X, columns, axis=1)


def read_objects(X: Any, column: int) -> np.ndarray:
    """Return a column as Python objects, None where a value is missing, shape (n_samples,)."""
    if hasattr(X, "iloc"):
        series = X.iloc[:, column]
        values = series.astype(object).to_numpy(dtype=object, na_value=None, copy=True)
    elif hasattr(X, "get_column"):
        values = _object_array(X.get_column(X.columns[column]).to_list())
    elif hasattr(X, "column"):
        values = _object_array(X.column(column).to_pylist())
    else:
        values = np.array(X[:, column], dtype=object)
    missing = [v is None or (not isinstance(v, np.ndarray) and v != v) for v in values]
    values[missing] = None
    return values


def _object_array(values: list[Any]) -> np.ndarray:
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def _is_arrow(dtype: Any) -> bool:
    return type(dtype).__module__.startswith("pyarrow")
