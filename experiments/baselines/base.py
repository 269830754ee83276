"""The interface all baselines share."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
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
    more : dict of ndarray
        Further attributes of the fitted baseline, by their names.
    """

    support: np.ndarray
    importances: np.ndarray
    model: FittedModel
    more: Mapping[str, np.ndarray] = field(default_factory=dict)


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

    def fit(self, X: Any, y: Any, validation: tuple[Any, Any] | None = None) -> Self:
        """Select features and train the model that predicts from them.

        Parameters
        ----------
        X : array, shape (n_samples, n_features)
        y : labels, numbers, or (event, time) as in `GatedCox`
        validation : (X, y), optional
            Rows that choose among the models of `path`, as a paper's experiment has them: the best score
            wins, of equal ones the one with fewer features. Without them a baseline holds out rows itself.
        """
        X, target, seed = self._begin(X, y)
        if validation is None:
            return self._keep(self._select(X, target, seed))
        X_valid = validate_data(self, validation[0], dtype=np.float64, reset=False)

        def score(prediction: np.ndarray) -> float:
            return self._kind.score(validation[1], self._kind.decode(prediction))

        return self._keep(best_of(self._path(X, target, seed), X_valid, score))

    def path(self, X: Any, y: Any) -> list[Self]:
        """Return fitted copies of this baseline with different numbers of features, trained on all rows."""
        X, target, seed = self._begin(X, y)
        return [copy(self)._keep(found) for found in self._path(X, target, seed)]

    def top_features(self, X: Any, y: Any, k: int) -> np.ndarray:
        """Return the k strongest features of the smallest set on the path with at least k, as a mask.

        Where no set has so many, the k most important of all features.
        """
        points = self.path(X, y)
        enough = [point for point in points if point.support_.sum() >= k]
        if enough:
            point = min(enough, key=lambda point: point.support_.sum())
            strength = np.where(point.support_, point.feature_importances_, -np.inf)
        else:
            strength = max(points, key=lambda point: point.support_.sum()).feature_importances_
        return np.isin(np.arange(len(strength)), np.argsort(-strength, kind="stable")[:k])

    def _begin(self, X: Any, y: Any) -> tuple[np.ndarray, np.ndarray, int]:
        """Check the data; return X, the encoded y and a seed."""
        self._refuse()
        kind = KINDS[self.kind]()
        X = validate_data(self, X, dtype=np.float64)
        target = kind.encode(y)
        check_consistent_length(X, target)
        self._kind = kind
        return X, target, int(check_random_state(self.random_state).randint(2**31 - 1))

    def _keep(self, found: Selection) -> Self:
        self.support_, self.feature_importances_ = found.support, found.importances
        self._model = found.model
        for name, value in found.more.items():
            setattr(self, name, value)
        return self

    def _is_given(self) -> bool:
        """Return whether the settings say how sparse the model is, so that no rows have to choose."""
        return False

    def _select(self, X: np.ndarray, y: np.ndarray, seed: int) -> Selection:
        """Return the features and the model, given an encoded y; by default a tenth of the rows chooses."""
        if self._is_given():
            (found,) = self._path(X, y, seed)
            return found
        train, valid = self._kind.hold_out(y, 0.1, seed)
        points = self._path(X[train], y[train], seed)
        return best_of(points, X[valid], lambda prediction: self._kind.score(y[valid], prediction))

    @abstractmethod
    def _path(self, X: np.ndarray, y: np.ndarray, seed: int) -> list[Selection]:
        """Return models with different numbers of features, given an encoded y."""

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


def best_of(points: list[Selection], X: np.ndarray, score: Callable[[np.ndarray], float]) -> Selection:
    """Return the model whose predictions score best, of equal ones the one with fewer features.

    Predictions that are no numbers, of a network that diverged, come last.
    """

    def rank(point: Selection) -> tuple[float, int]:
        prediction = point.model.predict(X)
        found = score(prediction) if np.isfinite(prediction).all() else -np.inf
        return found, -int(point.support.sum())

    return max(points, key=rank)


@contextmanager
def torch_seed(seed: int) -> Iterator[None]:
    """Seed torch's global stream, which the peers draw from, and put it back afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
