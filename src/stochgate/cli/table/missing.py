"""Values that a user says are missing."""

import csv
from collections.abc import Iterable, Sequence

import pandas as pd

from stochgate.cli.table.columns import split_condition


def mark_missing(frame: pd.DataFrame, given: Sequence[str]) -> tuple[pd.DataFrame, dict[str, int]]:
    """Return a frame in which some values are missing, and how many cells held each of them.

    Parameters
    ----------
    frame : DataFrame
    given : sequence of str
        Each one value or several with commas between; after "COLUMN=" those of one column.

    Examples
    --------
    >>> import pandas as pd
    >>> from stochgate.cli.table.missing import mark_missing
    >>> frame = pd.DataFrame({"age": [30, -999], "dose": [99.0, 2.0], "unit": ["mg", "99"]})
    >>> marked, counts = mark_missing(frame, ["age=-999", "99"])
    >>> marked.isna().sum().to_dict(), counts
    ({'age': 1, 'dose': 1, 'unit': 1}, {'age=-999': 1, '99': 2})
    """
    names, marked, counts = list(frame.columns), frame.copy(deep=False), {}
    column: str | None
    values: str | None
    for entry in given:
        column, values = None, entry
        if "=" in entry:
            column, values = split_condition(names, entry, "--missing-values")
        for value in filter(None, next(csv.reader([values or ""], skipinitialspace=True), [])):
            n = 0
            for name in names if column is None else [column]:
                found = _equals(frame[name], value.strip())
                n += int(found.sum())
                if found.any():
                    marked[name] = marked[name].mask(found)
            counts[value if column is None else f"{column}={value}"] = n
    return marked, counts


def names_no_other(given: str, columns: Iterable[str]) -> bool:
    """Tell whether an entry is of all columns, or of one of these."""
    return "=" not in given or any(given.startswith(f"{name}=") for name in columns)


def _equals(column: pd.Series, value: str) -> pd.Series:
    """Tell which cells hold a value: as a number in numbers, else as text."""
    if not pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype):
        return column.astype(str).str.strip() == value
    number = pd.to_numeric(value, errors="coerce")
    return (column == number).fillna(False).astype(bool)
