"""From a data frame to a table: which columns hold numbers, which text, and which neither."""

import re
from collections.abc import Callable
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from stochgate.tables.frame import (
    column_names,
    column_types,
    is_category,
    is_date,
    is_number,
    read_objects,
    take_columns,
)
from stochgate.tables.levels import label
from stochgate.tables.obstacles import Obstacle
from stochgate.tables.table import Table

DATE_ADVICE = "features must be numbers or text; take the days since a date, the year or the month"
MIXED_ADVICE = "make them all numbers, or make the texts missing values"
_A_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([T ]|$)|\d{1,2}[./]\d{1,2}[./](\d{4}|\d{2})$")
_NUMBERS = (int, float, bool, np.number, np.bool_, Decimal)
COMMA_ADVICE = "write them with a decimal point, and without a sign between thousands"
_MAY_HAVE_COMMA = re.compile(r"\s*[-+]?\d+(,\d+)?([eE][-+]?\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[-+]?[1-9]\d{0,2},\d{3}\s*")


def needs_reading(X: Any) -> bool:
    """Tell whether a data frame has a column that is neither of numbers nor of truth values."""
    return column_names(X) is not None and not all(map(is_number, column_types(X)))


def read_frame(
    X: Any, check_numbers: Callable[[Any], np.ndarray], texts: set[int] | None
) -> tuple[Table, list[Obstacle]]:
    """Read a data frame column by column.

    A column of text in which all values are numbers, with a decimal point or all with a decimal comma, is
    one of numbers. One in which half of the values are, but not all, is an obstacle, as are dates and
    objects, and numbers whose comma may stand between thousands.

    Parameters
    ----------
    X : DataFrame of pandas or polars, Table of pyarrow, or array of objects
    check_numbers : callable
        Makes an array of floats of a data frame of numbers.
    texts : set of int, or None
        The columns that held text in the fit; None in the fit itself.
    """
    names, types = column_names(X) or list(range(X.shape[1])), column_types(X)
    plain = [j for j, dtype in enumerate(types) if is_number(dtype) and j not in (texts or ())]
    numbers = np.full((_num_samples(X), len(names)), np.nan)
    if plain:
        numbers[:, plain] = check_numbers(take_columns(X, plain))
    labels, obstacles = {}, []
    for j in sorted(set(range(len(names))) - set(plain)):
        found = read_column(read_objects(X, j), names[j], types[j], None if texts is None else j in texts)
        if isinstance(found, Obstacle):
            obstacles.append(found)
        elif found.dtype == object:
            labels[j] = found
        else:
            numbers[:, j] = found
    return Table(numbers, labels), obstacles


def read_column(values: np.ndarray, name: Any, dtype: Any, is_text: bool | None) -> np.ndarray | Obstacle:
    """Return a column's numbers (NaN where missing), its texts (None where missing), or why neither.

    Parameters
    ----------
    values : ndarray of objects, None where missing
    name : str or int
    dtype : the column's dtype
    is_text : bool, or None
        What the column was in the fit; None in the fit itself.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.tables.read import read_column
    >>> read_column(np.array(["1", None, "2.5"], dtype=object), "dose", np.dtype(object), None)
    array([1. , nan, 2.5])
    >>> read_column(np.array(["1", "2", "<0.1"], dtype=object), "dose", np.dtype(object), None).what
    "numbers and text ('<0.1' in row 2)"
    """
    if is_date(dtype):
        return Obstacle(name, f"dates ({dtype})", DATE_ADVICE)
    odd = next((value for value in values if not isinstance(value, (str, type(None), *_NUMBERS))), None)
    if isinstance(odd, (date, time, timedelta)):
        return Obstacle(name, f"dates ({odd})", DATE_ADVICE)
    if odd is not None and not is_category(dtype):
        what = f"objects of the type {type(odd).__name__}"
        return Obstacle(name, what, "give one number or one text in each row")
    has_none = all(value is None for value in values)  # then a column of objects may hold text elsewhere
    if is_text or (is_text is None and (is_category(dtype) or has_none)):
        return _as_labels(values)
    numbers, first_text = _as_numbers(values)
    if first_text is not None and all(map(_may_have_comma, values)):
        with_comma = [value for value in values if isinstance(value, str) and "," in value]
        if all(map(_THOUSANDS.fullmatch, with_comma)):
            what = f"numbers with a comma ({with_comma[0]!r}) that may be decimals or thousands"
            return Obstacle(name, what, COMMA_ADVICE)
        numbers, first_text = _as_numbers(np.array([_with_point(value) for value in values], dtype=object))
    if first_text is None:
        return numbers
    text = f"{values[first_text]!r} in row {first_text}"
    if is_text is False:
        return Obstacle(name, f"text ({text}), but numbers in the fit", MIXED_ADVICE)
    n_texts = sum(isinstance(value, str) for value in values) - _count_number_texts(values, numbers)
    if 2 * n_texts <= sum(value is not None for value in values):
        return Obstacle(name, f"numbers and text ({text})", MIXED_ADVICE)
    if all(_A_DATE.match(value) for value in values if isinstance(value, str)):
        return Obstacle(name, f"dates as text ({text})", DATE_ADVICE)
    return _as_labels(values)


def _may_have_comma(value: object) -> bool:
    return not isinstance(value, str) or _MAY_HAVE_COMMA.fullmatch(value) is not None


def _with_point(value: object) -> object:
    return value.replace(",", ".") if isinstance(value, str) else value


def _as_labels(values: np.ndarray) -> np.ndarray:
    labels = np.empty(len(values), dtype=object)
    labels[:] = [label(value) for value in values]
    return labels


def _as_numbers(values: np.ndarray) -> tuple[np.ndarray, int | None]:
    """Return the values as floats, NaN where they are none, and the first row that holds other text."""
    numbers, first_text = np.full(len(values), np.nan), None
    for i, value in enumerate(values):
        if value is None:
            continue
        try:
            if isinstance(value, str) and "_" in value:  # Python reads 309_1 as 3091
                raise ValueError
            numbers[i] = float(value)
        except ValueError:
            first_text = i if first_text is None else first_text
    return numbers, first_text


def _count_number_texts(values: np.ndarray, numbers: np.ndarray) -> int:
    """Return how many texts are numbers."""
    return sum(
        isinstance(value, str) and not np.isnan(number)
        for value, number in zip(values, numbers, strict=True)
    )
