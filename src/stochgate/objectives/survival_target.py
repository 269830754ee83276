"""Read survival targets in the forms users have them."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

_EXPECTED = (
    "expected y = (event, time): a structured array with a boolean and a float field, a tuple of two "
    "arrays, or two columns of which the first is the event (1 = observed, 0 = censored)"
)


def read_survival_target(y: ArrayLike | tuple[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return (event, time) as a boolean and a float64 array of the same length.

    Parameters
    ----------
    y : structured array, DataFrame or array with two columns, or tuple (event, time)

    Examples
    --------
    >>> from stochgate.objectives.survival_target import read_survival_target
    >>> read_survival_target(([True, False], [2, 3]))
    (array([ True, False]), array([2., 3.]))
    """
    event, time = _split(y)
    if event.ndim != 1 or time.ndim != 1:
        raise ValueError(
            f"y holds events of shape {event.shape} and times of shape {time.shape}; {_EXPECTED}."
        )
    event, time = _check_event(event), _check_time(time)
    if len(event) != len(time):
        raise ValueError(f"y has {len(event)} events but {len(time)} times; give one of each a row.")
    if not event.any():
        raise ValueError("y has no event: every time is censored, so there is nothing to learn from.")
    return event, time


def _split(y: Any) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(y, tuple) and len(y) == 2:
        return np.asarray(y[0]), np.asarray(y[1])
    y = np.asarray(y)
    if y.dtype.names is not None and len(y.dtype.names) == 2:
        first, second = (y[name] for name in y.dtype.names)
        return (second, first) if second.dtype == bool and first.dtype != bool else (first, second)
    if y.dtype.names is None and y.ndim == 2 and y.shape[1] == 2:
        return y[:, 0], y[:, 1]
    raise ValueError(f"y has shape {y.shape} and type {y.dtype}; {_EXPECTED}.")


def _check_event(event: np.ndarray) -> np.ndarray:
    if event.dtype == bool:
        return event
    event = _to_float(event, "event")
    wrong = np.flatnonzero(~np.isin(event, (0, 1)))
    if wrong.size:
        raise ValueError(
            f"The event column holds {event[wrong[0]]!s} in row {wrong[0]}, not 0 or 1; {_EXPECTED}."
        )
    return event.astype(bool)


def _check_time(time: np.ndarray) -> np.ndarray:
    time = _to_float(time, "time")
    wrong = np.flatnonzero(~np.isfinite(time))
    if wrong.size:
        raise ValueError(
            f"y contains NaN or infinity: the time in row {wrong[0]} is {time[wrong[0]]}; remove the row."
        )
    wrong = np.flatnonzero(time < 0)
    if wrong.size:
        raise ValueError(
            f"The time in row {wrong[0]} is negative ({time[wrong[0]]}); times count from the start of "
            "observation and can not be below 0."
        )
    return time


def _to_float(column: np.ndarray, name: str) -> np.ndarray:
    try:
        return column.astype(np.float64)
    except (TypeError, ValueError):
        wrong = next(value for value in column.tolist() if not _is_number(value))
        raise ValueError(f"The {name} column holds {wrong!r}, not a number; {_EXPECTED}.") from None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
