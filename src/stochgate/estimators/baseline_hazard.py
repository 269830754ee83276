"""The baseline hazard of a Cox model, and the curves it gives each row."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stochgate.survival import as_labels


@dataclass(frozen=True)
class StepFunction:
    """A curve that changes at some times only, from each of them on.

    Attributes
    ----------
    x : ndarray, shape (n_times,)
        The times, rising.
    y : ndarray, shape (n_times,)
        The values from these times on; after the last one the curve stays as it is.
    before : float
        The value before the first time.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.estimators.baseline_hazard import StepFunction
    >>> StepFunction(np.array([1.0, 2.0]), np.array([0.8, 0.3]), 1.0)([0, 1, 1.5, 9])
    array([1. , 0.8, 0.8, 0.3])
    """

    x: np.ndarray
    y: np.ndarray
    before: float

    def __call__(self, times: ArrayLike) -> Any:
        """Return the values at some times, in the shape of `times`."""
        return np.append(self.before, self.y)[np.searchsorted(self.x, times, side="right")]


@dataclass(frozen=True)
class BaselineHazard:
    """The cumulative hazard of a row whose predicted log hazard is 0, by stratum.

    Attributes
    ----------
    log_cumulative_hazard : dict of StepFunction
        The logarithm of the cumulative hazard (it may be too large or too small for a number itself) of
        each stratum, in the order of their labels; the key is None for a model fitted without strata.
    """

    log_cumulative_hazard: dict[str | None, StepFunction]

    @classmethod
    def make(
        cls, block: np.ndarray, log_jumps: np.ndarray, times: np.ndarray, strata: np.ndarray | None
    ) -> "BaselineHazard":
        """Sum up jumps, of shape (n_samples,), each at a block of `Cox.encode`."""
        order = np.argsort(-block, kind="stable")
        starts = np.flatnonzero(np.diff(block[order], prepend=-1))
        blocks, jumps = block[order][starts], np.logaddexp.reduceat(log_jumps[order], starts)
        stratum, at = np.divmod(blocks, len(times) + 1)
        curves = {}
        for code, label in enumerate([None] if strata is None else strata.tolist()):
            own = stratum == code
            curves[label] = StepFunction(times[at[own]], np.logaddexp.accumulate(jumps[own]), -np.inf)
        return cls(curves)

    def cumulative_hazard(self, times: ArrayLike, stratum: Any = None) -> np.ndarray:
        """Return the cumulative hazard at some times, shape (n_times,)."""
        return self.predict(np.zeros(1), times, None if stratum is None else [stratum])[0]

    def predict(
        self, log_risk: np.ndarray, times: ArrayLike | None, strata: ArrayLike | None
    ) -> np.ndarray:
        """Return each row's cumulative hazard.

        Parameters
        ----------
        log_risk : ndarray, shape (n_samples,)
        times : array, shape (n_times,), or None for functions
        strata : array of labels, shape (n_samples,), or None

        Returns
        -------
        ndarray, shape (n_samples, n_times), or of StepFunction, shape (n_samples,)
        """
        curves, at = list(self.log_cumulative_hazard.values()), self._find(strata, len(log_risk))
        with np.errstate(over="ignore"):  # an infinite hazard is a survival of 0
            if times is not None:
                times = _check_times(times)
                table = np.array([curve(times) for curve in curves])  # (n_strata, n_times)
                return np.exp(table[at] + log_risk[:, None])
            own = [curves[position] for position in at]
            return _array(
                [StepFunction(c.x, np.exp(c.y + r), 0.0) for c, r in zip(own, log_risk, strict=True)]
            )

    def _find(self, strata: ArrayLike | None, n_samples: int) -> np.ndarray:
        """Return the position of each row's stratum; one that the fit did not know is an error."""
        known: list[Any] = list(self.log_cumulative_hazard)
        if strata is None and len(known) > 1:
            raise ValueError(f"The model has the strata {known[:5]}: give strata, a label for each row.")
        if strata is None:
            return np.zeros(n_samples, dtype=int)
        if known == [None]:
            raise ValueError("The model was fitted without strata: leave strata out.")
        labels = as_labels(strata)
        if len(labels) != n_samples:
            raise ValueError(f"strata has {len(labels)} labels for {n_samples} rows; give one per row.")
        unknown = labels[~np.isin(labels, known)]
        if len(unknown):
            raise ValueError(f"The stratum {str(unknown[0])!r} was not in the fit, which had {known[:5]}.")
        return np.searchsorted(known, labels)


def to_survival(hazard: np.ndarray) -> np.ndarray:
    """Return the probabilities of no event that belong to what `BaselineHazard.predict` returns."""
    if hazard.dtype != object:
        return np.exp(-hazard)
    return _array([StepFunction(curve.x, np.exp(-curve.y), 1.0) for curve in hazard])


def _array(curves: list[StepFunction]) -> np.ndarray:
    found = np.empty(len(curves), dtype=object)
    found[:] = curves
    return found


def _check_times(times: ArrayLike) -> np.ndarray:
    times = np.asarray(times, dtype=np.float64)
    if times.ndim != 1 or np.isnan(times).any():
        raise ValueError(f"times is {times!r}; give a list of numbers.")
    return times
