"""Survival targets: events, times, entry times and strata, in the forms users have them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

_FIELDS = ("event", "time", "entry", "stratum")
_EVENTS = {"1": 1, "1.0": 1, "true": 1, "yes": 1, "0": 0, "0.0": 0, "false": 0, "no": 0}
_EXPECTED = (
    "expected y = (event, time): a tuple of two arrays, two columns of which the first is the event "
    "(1 = observed, 0 = censored), a structured array or DataFrame of an event and a time, or what "
    "survival_target returns"
)


@dataclass(frozen=True)
class SurvivalTarget:
    """A survival target that was read and checked.

    Attributes
    ----------
    event : ndarray of bool, shape (n_samples,)
    time : ndarray of float64, shape (n_samples,)
    entry : ndarray of float64, shape (n_samples,), or None
        When observation began; a row is at risk at t where entry < t <= time.
    stratum : ndarray of str, shape (n_samples,), or None
    """

    event: np.ndarray
    time: np.ndarray
    entry: np.ndarray | None = None
    stratum: np.ndarray | None = None

    def to_array(self) -> np.ndarray:
        """Return a structured array with the fields that are there."""
        fields = {name: getattr(self, name) for name in _FIELDS if getattr(self, name) is not None}
        y = np.empty(len(self.event), dtype=[(name, part.dtype) for name, part in fields.items()])
        for name, part in fields.items():
            y[name] = part
        return y

    def require_event(self) -> "SurvivalTarget":
        """Return the target itself; without an event nothing can be learnt from it, which is an error."""
        if not self.event.any():
            raise ValueError("y has no event: every time is censored, so there is nothing to learn from.")
        return self


def survival_target(
    event: ArrayLike, time: ArrayLike, entry: ArrayLike | None = None, strata: ArrayLike | None = None
) -> np.ndarray:
    """Return y for `GatedCox`, a structured array that is split along with the rows of X.

    Parameters
    ----------
    event : array, shape (n_samples,)
        Whether the event was observed: True or False, 1 or 0, "yes" or "no".
    time : array, shape (n_samples,)
        Of the event or of censoring, at least 0.
    entry : array, shape (n_samples,), optional
        When a row came under observation (left truncation), below its time: before that it is in no risk
        set.
    strata : array of labels, shape (n_samples,), optional
        Rows of a stratum share a baseline hazard, and are compared with each other alone. Labels are taken
        as text. To stratify by several columns, join their labels.

    Returns
    -------
    ndarray with the fields event, time and, where given, entry and stratum

    Examples
    --------
    >>> from stochgate import survival_target
    >>> survival_target(["yes", "no"], [5, 8], entry=[0, 2], strata=["Bern", "Basel"])
    array([( True, 5., 0., 'Bern'), (False, 8., 2., 'Basel')],
          dtype=[('event', '?'), ('time', '<f8'), ('entry', '<f8'), ('stratum', '<U5')])
    """
    return check_survival_target(event, time, entry, strata).to_array()


def check_survival_target(
    event: ArrayLike, time: ArrayLike, entry: ArrayLike | None = None, strata: ArrayLike | None = None
) -> SurvivalTarget:
    """Check the parts of a survival target; all as in `survival_target`."""
    given = {"event": event, "time": time, "entry": entry, "stratum": strata}
    return _check({name: np.asarray(part) for name, part in given.items() if part is not None})


def read_survival_target(y: Any) -> SurvivalTarget:
    """Read and check a survival target.

    Parameters
    ----------
    y : tuple (event, time), array with two columns, structured array or DataFrame
        Of two named columns the one that holds only events (0 and 1, True and False, yes and no) is the
        event. With the names event and time there may be entry and stratum too.

    Examples
    --------
    >>> from stochgate.survival import read_survival_target
    >>> read_survival_target(([True, False], [2, 3])).time
    array([2., 3.])
    """
    return _check(_columns(y))


def is_survival_target(y: Any) -> bool:
    """Return whether y has the form of a survival target: a tuple, two columns, or an event and a time."""
    named = _named(y)
    if isinstance(y, tuple) or named is None:
        return isinstance(y, tuple) or (np.ndim(y) == 2 and np.shape(y)[1] == 2)
    return len(named) == 2 or {"event", "time"} <= named.keys()


def _named(y: Any) -> dict[str, np.ndarray] | None:
    """Return the columns of a DataFrame or the fields of a structured array, names in lower case."""
    names = y.columns if hasattr(y, "columns") else getattr(getattr(y, "dtype", None), "names", None)
    return None if names is None else {str(name).lower(): np.asarray(y[name]) for name in names}


def _columns(y: Any) -> Mapping[str, np.ndarray]:
    """Take y apart into event, time and what else there is."""
    if isinstance(y, tuple) and len(y) == 2:
        return {"event": np.asarray(y[0]), "time": np.asarray(y[1])}
    if isinstance(y, tuple):
        raise ValueError(f"y is a tuple of {len(y)} parts; {_EXPECTED}.")
    named = _named(y)
    if named is not None and {"event", "time"} <= named.keys() <= set(_FIELDS):
        return named
    if named is not None and len(named) == 2:
        return _by_content(named)
    if named is not None:
        raise ValueError(f"y has the columns {list(named)}, not some of {list(_FIELDS)}; {_EXPECTED}.")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 2:
        return {"event": y[:, 0], "time": y[:, 1]}
    raise ValueError(f"y has shape {y.shape} and type {y.dtype}; {_EXPECTED}.")


def _by_content(named: dict[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    """Tell the event from the time by what the columns hold; a boolean column is an event."""
    could_be = [name for name, column in named.items() if not np.isnan(_as_events(column)).any()]
    boolean = [name for name, column in named.items() if column.dtype == bool]
    found = boolean if len(boolean) == 1 else could_be
    if len(found) != 1:
        which = "either column" if found else "neither column"
        held = {name: np.unique(column.astype(str))[:4].tolist() for name, column in named.items()}
        raise ValueError(
            f"By what they hold, {which} of y could be the event ({held}): code events as 0 and 1, and "
            "give y = (event, time) as a tuple, or name the columns 'event' and 'time'."
        )
    (event,) = found
    (time,) = named.keys() - {event}
    return {"event": named[event], "time": named[time]}


def _check(columns: Mapping[str, np.ndarray]) -> SurvivalTarget:
    shapes = {name: column.shape for name, column in columns.items()}
    if any(len(shape) != 1 for shape in shapes.values()):
        raise ValueError(f"The parts of y have the shapes {shapes}; {_EXPECTED}.")
    if len(set(shapes.values())) > 1:
        lengths = ", ".join(f"{shape[0]} for {name}" for name, shape in shapes.items())
        raise ValueError(f"The parts of y differ in length ({lengths}); give one of each a row.")
    event, time = _check_event(columns["event"], columns["time"]), _check_time(columns["time"])
    entry, stratum = columns.get("entry"), columns.get("stratum")
    return SurvivalTarget(
        event,
        time,
        None if entry is None else _check_entry(entry, time),
        None if stratum is None else as_labels(stratum),
    )


def _as_events(column: np.ndarray) -> np.ndarray:
    """Return 1, 0, or NaN for what is neither."""
    if column.dtype.kind in "biuf":
        values = column.astype(np.float64)
        return np.where(np.isin(values, (0, 1)), values, np.nan)
    texts, at = np.unique(column.astype(str), return_inverse=True)
    return np.array([_EVENTS.get(text.strip().lower(), np.nan) for text in texts])[at]


def _check_event(event: np.ndarray, time: np.ndarray) -> np.ndarray:
    values = _as_events(event)
    wrong = np.flatnonzero(np.isnan(values))
    if wrong.size == 0:
        return values.astype(bool)
    hint = ""
    if set(np.unique(event.astype(str))) <= {"1", "2", "1.0", "2.0"}:
        hint = ", as R allows, where 2 is the event: give event == 2"
    elif not np.isnan(_as_events(time)).any():
        hint = ", but the time column holds only such values: swap the two"
    held = event.tolist()[wrong[0]]
    raise ValueError(f"The event column holds {held!r} in row {wrong[0]}, not 0 or 1{hint}; {_EXPECTED}.")


def _check_time(time: np.ndarray) -> np.ndarray:
    time = _to_float(time, "time")
    wrong = np.flatnonzero(time < 0)
    if wrong.size:
        raise ValueError(
            f"The time in row {wrong[0]} is negative ({time[wrong[0]]}); times count from the start of "
            "observation and can not be below 0."
        )
    return time


def _check_entry(entry: np.ndarray, time: np.ndarray) -> np.ndarray:
    entry = _to_float(entry, "entry")
    wrong = np.flatnonzero(entry >= time)
    if wrong.size:
        at = wrong[0]
        raise ValueError(
            f"The entry in row {at} is {entry[at]}, not below its time {time[at]}; a row must be observed "
            "for a while: remove it, or mend its entry."
        )
    return entry


def as_labels(strata: ArrayLike) -> np.ndarray:
    """Return the labels of strata as text, whole numbers without a point; a missing one is an error.

    The text of a label does not depend on other rows, nor on the type of the array it came in.
    """
    labels = np.asarray(strata)
    if labels.ndim != 1:
        raise ValueError(f"strata has shape {labels.shape}; give one label a row.")
    missing = [i for i, v in enumerate(labels) if v is None or str(v) in ("nan", "<NA>", "NaT")]
    if missing:
        raise ValueError(f"The stratum of row {missing[0]} is missing; give it a label, or remove the row.")
    return np.array([_as_label(v) for v in labels], dtype=str)


def _as_label(value: Any) -> str:
    whole = isinstance(value, float | np.floating) and value.is_integer()
    return str(int(value) if whole else value)


def _to_float(column: np.ndarray, name: str) -> np.ndarray:
    if column.dtype.kind in "mM":
        raise ValueError(f"The {name} column holds dates or spans of time; give numbers, as of days.")
    try:
        numbers = column.astype(np.float64)
    except (TypeError, ValueError):
        wrong = next(value for value in column.tolist() if not _is_number(value))
        raise ValueError(f"The {name} column holds {wrong!r}, not a number; {_EXPECTED}.") from None
    wrong = np.flatnonzero(~np.isfinite(numbers))
    if wrong.size:
        at = wrong[0]
        raise ValueError(
            f"y contains NaN or infinity: the {name} in row {at} is {numbers[at]}; remove the row."
        )
    return numbers


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
