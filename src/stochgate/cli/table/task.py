"""What is to be learnt: classes, numbers or survival, told from the target's values."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from stochgate.cli.errors import UserError, about_the_file
from stochgate.cli.text import count, list_names, quote
from stochgate.survival import check_survival_target

MOST_CLASSES = 20  # different whole numbers that may be classes,
LARGEST_SHARE = 0.05  # if they are so few of the rows


@dataclass(frozen=True)
class Detected:
    """What a target looks like.

    Attributes
    ----------
    task : {"classification", "regression"}
    why : str
    """

    task: str
    why: str


def detect_task(values: pd.Series) -> Detected:
    """Tell classes from numbers.

    Text, truth values and categories are classes, and so are two different values, or whole numbers of
    which there are at most 20 different ones, at most one in 20 rows. Other numbers are a quantity.

    Parameters
    ----------
    values : Series without missing values

    Examples
    --------
    >>> import pandas as pd
    >>> from stochgate.cli.table.task import detect_task
    >>> detect_task(pd.Series(["a", "b", "b"])).task, detect_task(pd.Series([0.5, 1.5, 2.5])).task
    ('classification', 'regression')
    >>> detect_task(pd.Series([1, 2, 3] * 20)).why
    'it has 3 different whole numbers in 60 rows (--task regression takes them as a quantity)'
    """
    n, n_rows = values.nunique(), len(values)
    if pd.api.types.is_bool_dtype(values.dtype):
        return Detected("classification", "it holds truth values")
    if not pd.api.types.is_numeric_dtype(values.dtype):
        return Detected("classification", f"it holds text, {count(n, 'different value')}")
    if n == 2:
        return Detected("classification", "it has two different values")
    if not is_whole(values):
        return Detected("regression", "it holds numbers with decimals")
    found = f"it has {count(n, 'different whole number')} in {count(n_rows, 'row')}"
    if n <= MOST_CLASSES and n <= LARGEST_SHARE * n_rows:
        return Detected("classification", f"{found} (--task regression takes them as a quantity)")
    return Detected("regression", found)


def is_whole(values: pd.Series) -> bool:
    """Tell whether all numbers are whole."""
    numbers = values.to_numpy(dtype=float)
    return bool((np.isfinite(numbers) & (numbers == np.round(numbers))).all())


def as_numbers(values: pd.Series) -> pd.Series:
    """Return texts that are all numbers as numbers, and other values as they are.

    Whole numbers become integers, so that a class is called "1" and not "1.0".

    Examples
    --------
    >>> import pandas as pd
    >>> from stochgate.cli.table.task import as_numbers
    >>> as_numbers(pd.Series(["1", "2.0"])).tolist(), as_numbers(pd.Series(["1", "b"])).tolist()
    ([1, 2], ['1', 'b'])
    """
    _refuse_objects(values)
    if pd.api.types.is_bool_dtype(values.dtype):
        return values.astype(bool)
    if isinstance(values.dtype, pd.CategoricalDtype):
        return values.astype(object).map(str)
    if not pd.api.types.is_numeric_dtype(values.dtype):
        numbers = pd.to_numeric(values, errors="coerce")
        if numbers.isna().any() or all(isinstance(value, bool) for value in values):
            return values
        values = numbers
    values = values.astype(float)
    small = bool((values.abs() < 2**53).all())
    return values.astype(int) if small and is_whole(values) else values


def _refuse_objects(values: pd.Series) -> None:
    """Raise where a column holds what is neither text nor number: dates, or lists."""
    has_dates = values.dtype.kind in "mM"
    if has_dates or not values.map(lambda value: isinstance(value, Hashable)).all():
        what = "dates" if has_dates else f"objects ({quote(values.iloc[0])})"
        raise UserError(
            f"The column {quote(values.name)} holds {what}: give one number or one text in each row."
        )


def make_target(values: pd.Series, name: str, task: str) -> np.ndarray:
    """Return y for a classifier or a regressor.

    Parameters
    ----------
    values : Series without missing values, from `as_numbers`
    name : str
        For messages.
    task : {"classification", "regression"}
    """
    n, n_rows = values.nunique(), len(values)
    if n == 1:
        raise UserError(
            f"The target {quote(name)} has one value only ({quote(values.iloc[0])}), so there is nothing "
            "to learn: name another column."
        )
    if task == "regression":
        return _quantity(values, name)
    if 2 * n > n_rows:
        raise UserError(
            f"The target {quote(name)} has {n} classes in {n_rows} rows, as names or ids do: name a column "
            "with a few classes, or with numbers for --task regression."
        )
    if pd.api.types.is_bool_dtype(values.dtype) or pd.api.types.is_integer_dtype(values.dtype):
        return values.to_numpy()
    return values.map(str).to_numpy(dtype=object).astype(str)


def _quantity(values: pd.Series, name: str) -> np.ndarray:
    """Return numbers, or say which value is none."""
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float)
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if len(wrong):
        raise UserError(
            f"The target {quote(name)} holds {quote(values.iloc[wrong[0]])}, which is not a number that "
            "regression can learn: mend it, or use --task classification for classes."
        )
    return numbers


def make_survival_target(
    event: pd.Series,
    time: pd.Series,
    code: str | None,
    entry: pd.Series | None = None,
    strata: np.ndarray | None = None,
) -> np.ndarray:
    """Return y for a Cox model.

    Parameters
    ----------
    event, time : Series without missing values
    code : str or None
        The value that means an event; by default 1, true or yes.
    entry : Series, optional
        Without missing values.
    strata : ndarray, optional
        A label per row, from `join_labels`.
    """
    happened: Any = as_numbers(event)
    if code is not None:
        texts = happened.map(str)
        if code not in set(texts):
            raise UserError(
                f"The event {quote(event.name)} is never {quote(code)}; its values are {_values(texts)}."
            )
        happened = texts == code
    since = None if entry is None else entry.to_numpy()
    with about_the_file(event.index):
        try:
            target = check_survival_target(happened.to_numpy(), time.to_numpy(), since, strata)
            return target.require_event().to_array()
        except ValueError as error:
            if "event column" not in str(error):
                raise
            raise UserError(
                f"The event {quote(event.name)} must be 1 or 0 (or yes and no), but has the values "
                f"{_values(happened)}: say which of them is the event with --event 'COLUMN=VALUE'."
            ) from error


def _values(event: pd.Series) -> str:
    return list_names(sorted(set(event.map(str))))


def join_labels(frame: pd.DataFrame) -> np.ndarray:
    """Return a label per row from some columns; None where a value is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> from stochgate.cli.table.task import join_labels
    >>> join_labels(pd.DataFrame({"site": ["Bern", "Basel", None], "ward": [1.0, 2.0, 2.0]}))
    array(['Bern, 1', 'Basel, 2', None], dtype=object)
    """
    columns = [as_numbers(frame[name].dropna()).map(str).reindex(frame.index) for name in frame.columns]
    rows = zip(frame.notna().all(axis=1), *columns, strict=True)
    return np.array([", ".join(labels) if known else None for known, *labels in rows], dtype=object)
