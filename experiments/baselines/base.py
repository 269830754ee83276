"""The interface all baselines share."""

from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from experiments.baselines.kinds import KINDS


class FittedModel(Protocol):
    """Whatever predicts an encoded y from all columns of X."""

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the predictions, shape (n_samples,)."""


@dataclass(frozen=True)
class Selection:
    """What a baseline found.

    Attributes
    ----------
    support : ndarray of bool, shape (n_features,)
    importances : ndarray, shape (n_features,)
    model : FittedModel
    """

    support: np.ndarray
    importances: np.ndarray
    model: FittedModel


@dataclass(frozen=True)
class OnColumns:
    """A model that was trained on some columns, asked with all of them."""

    model: Any
    columns: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the predictions, shape (n_samples,)."""
        return self.model.predict(X[:, self.columns])


class Baseline(SelectorMixin, BaseEstimator):
    """Selects features and predicts from them, as every baseline does.

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
    feature_importances_ : ndarray, shape (n_features,)
        Ranks every feature; what it is differs from family to family.
    """

    # kinds that a family cannot do, each with the reason
    _refused: dict[str, str] = {}

    kind: str
    random_state: Any

    @classmethod
    def kinds(cls) -> list[str]:
        """Return the kinds of problem this baseline can do."""
        return [kind for kind in KINDS if kind not in cls._refused]

    def fit(self, X: Any, y: Any) -> Self:
        """Select features and train the model that predicts from them.

        Parameters
        ----------
        X : array, shape (n_samples, n_features)
        y : labels, numbers, or (event, time) as in `GatedCox`
        """
        self._refuse()
        kind = KINDS[self.kind]()
        X = validate_data(self, X, dtype=np.float64)
        target = kind.encode(y)
        check_consistent_length(X, target)
        self._kind = kind
        found = self._select(X, target, int(check_random_state(self.random_state).randint(2**31 - 1)))
        self.support_, self.feature_importances_ = found.support, found.importances
        self._model = found.model
        return self

    @abstractmethod
    def _select(self, X: np.ndarray, y: np.ndarray, seed: int) -> Selection:
        """Return the features and the model, given an encoded y."""

    def predict(self, X: Any) -> np.ndarray:
        """Return labels, numbers, or risks (higher means earlier failure), shape (n_samples,)."""
        check_is_fitted(self, "support_")
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return self._kind.decode(self._model.predict(X))

    def score(self, X: Any, y: Any) -> float:
        """Return the accuracy, R2 or Harrell's C of the predictions."""
        return self._kind.score(y, self.predict(X))

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self, "support_")
        return self.support_

    def _refuse(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"Unknown kind {self.kind!r}; use one of {self.kinds()}.")
        if self.kind in self._refused:
            raise ValueError(
                f"{type(self).__name__} cannot do {self.kind}: {self._refused[self.kind]}; "
                f"use one of {self.kinds()}."
            )


@contextmanager
def torch_seed(seed: int) -> Iterator[None]:
    """Seed torch's global stream, which the peers draw from, and put it back afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
