"""What classification, regression and survival ask of a baseline."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score, root_mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from sklearn.utils import column_or_1d

from stochgate.metrics import concordance_index
from stochgate.survival import read_survival_target

Rows = tuple[np.ndarray, np.ndarray]


class Kind(ABC):
    """Encodes y for the models, reads their predictions and scores them."""

    @abstractmethod
    def encode(self, y: Any) -> np.ndarray:
        """Check y and return what the models learn from, shape (n_samples,)."""

    @abstractmethod
    def score(self, y: Any, prediction: np.ndarray) -> float:
        """Return how well predictions match y, encoded both or not; higher is better."""

    def decode(self, prediction: np.ndarray) -> np.ndarray:
        """Return predictions in the terms of the y that was given."""
        return prediction

    def strata(self, y: np.ndarray) -> np.ndarray | None:
        """Return what every part of a split should hold in equal shares, from an encoded y."""
        return None

    def hold_out(self, y: np.ndarray, share: float, seed: int) -> Rows:
        """Return the rows to train on and a share of rows to validate on, of an encoded y."""
        rows, strata = np.arange(len(y)), self._strata_of(y, at_least=2)
        train, valid = train_test_split(rows, test_size=share, random_state=seed, stratify=strata)
        return train, valid

    def folds(self, y: np.ndarray, n_splits: int, seed: int) -> list[Rows]:
        """Return shuffled folds of an encoded y."""
        strata = self._strata_of(y, at_least=n_splits)
        splitter = KFold if strata is None else StratifiedKFold
        return list(splitter(n_splits, shuffle=True, random_state=seed).split(np.zeros(len(y)), strata))

    def _strata_of(self, y: np.ndarray, at_least: int) -> np.ndarray | None:
        """Return the strata; rows of one with too few to be split count as rows of the largest."""
        strata = self.strata(y)
        if strata is None:
            return None
        values, codes, counts = np.unique(strata, return_inverse=True, return_counts=True)
        return np.where(counts[codes] < at_least, values[counts.argmax()], strata)


class Classification(Kind):
    """Labels become 0, 1, ...; the score is accuracy."""

    def encode(self, y: Any) -> np.ndarray:
        """Return the position of each label among the sorted labels."""
        self.classes, codes = np.unique(column_or_1d(y), return_inverse=True)
        if len(self.classes) < 2:
            raise ValueError(f"y holds one class only ({self.classes[0]!r}); give at least two.")
        return codes

    def decode(self, prediction: np.ndarray) -> np.ndarray:
        """Return labels."""
        return self.classes[prediction]

    def strata(self, y: np.ndarray) -> np.ndarray:
        """Return the classes."""
        return y

    def score(self, y: Any, prediction: np.ndarray) -> float:
        """Return the accuracy."""
        return float(accuracy_score(y, prediction))


class Regression(Kind):
    """A y of mean 0 and standard deviation 1, so that networks can learn it; the score is R2."""

    def encode(self, y: Any) -> np.ndarray:
        """Return y, standardised."""
        y = column_or_1d(y).astype(np.float64)
        self.mean, self.scale = y.mean(), y.std() or 1.0
        return (y - self.mean) / self.scale

    def decode(self, prediction: np.ndarray) -> np.ndarray:
        """Return predictions on the scale of y."""
        return self.mean + self.scale * prediction

    def score(self, y: Any, prediction: np.ndarray) -> float:
        """Return R2."""
        return float(r2_score(y, prediction))


class Survival(Kind):
    """A structured array with the fields "event" and "time"; the score is Harrell's C of the risk."""

    def encode(self, y: Any) -> np.ndarray:
        """Return the structured array, whatever form y has."""
        target = read_survival_target(y).require_event()
        if target.entry is not None or target.stratum is not None:
            raise ValueError("Baselines know no entry times and no strata: leave them out of y.")
        return target.to_array()

    def strata(self, y: np.ndarray) -> np.ndarray:
        """Return the events."""
        return y["event"]

    def score(self, y: Any, prediction: np.ndarray) -> float:
        """Return Harrell's C."""
        target = read_survival_target(y)
        return concordance_index(target.event, target.time, prediction)


def rmse(y: Any, prediction: np.ndarray) -> float:
    """Return the root of the mean squared error.

    Examples
    --------
    >>> from experiments.baselines.kinds import rmse
    >>> rmse([1.0, 2.0], [1.0, 4.0])
    1.4142135623730951
    """
    return float(root_mean_squared_error(y, prediction))


def order_in_time(y: np.ndarray) -> np.ndarray:
    """Return numbers from 1 on in the order of the times, a censored row after the events tied with it.

    The partial likelihood knows nothing else of the times. Some packages need a censored row that shares
    the time of an event to be told apart to keep it at risk, or lose close times in single precision.

    Parameters
    ----------
    y : structured array with the fields "event" and "time", shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.baselines.kinds import order_in_time
    >>> y = np.array([(0, 2.5), (1, 2.5), (1, 0.0)], dtype=[("event", bool), ("time", float)])
    >>> order_in_time(y)
    array([4., 3., 1.])
    """
    _, rank = np.unique(y["time"], return_inverse=True)
    return 1.0 + 2 * rank + ~y["event"]


KINDS: dict[str, type[Kind]] = {
    "classification": Classification,
    "regression": Regression,
    "survival": Survival,
}
