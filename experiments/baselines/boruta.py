"""Boruta: features whose importance beats that of shuffled copies of all features."""

from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor

from experiments.baselines.base import Baseline, OnColumns, Selection
from experiments.baselines.forest import FORESTS
from stochgate.optional import require

# the forests that its documentation recommends
_SETTINGS: dict[str, dict[str, Any]] = {
    "classification": {"max_depth": 5, "class_weight": "balanced"},
    "regression": {"max_depth": 5},
}
_EMPTY = {"classification": DummyClassifier, "regression": DummyRegressor}


class BorutaSelector(Baseline):
    """BorutaPy with the forest its documentation recommends, then a forest on the confirmed features.

    Parameters
    ----------
    kind : {"classification", "regression"}, default="classification"
    max_iter : int, default=100
        Rounds of Boruta.
    n_estimators : int, default=200
        Trees of the forest that predicts; Boruta sets the number of its own.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    feature_importances_ : ndarray, shape (n_features,)
        Mean importance over the rounds, 0 in those after a feature was rejected.
    """

    _refused = {"survival": "Boruta has no survival forest to take importances from"}

    def __init__(
        self,
        kind: str = "classification",
        *,
        max_iter: int = 100,
        n_estimators: int = 200,
        random_state: Any = None,
    ):
        self.kind = kind
        self.max_iter = max_iter
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _is_given(self) -> bool:
        return True

    def _path(self, X: np.ndarray, y: np.ndarray, seed: int) -> list[Selection]:
        boruta = require("boruta", package="Boruta", needed_by="BorutaSelector")
        selector = boruta.BorutaPy(
            FORESTS[self.kind](n_jobs=1, **_SETTINGS[self.kind]),
            n_estimators="auto",
            max_iter=self.max_iter,
            random_state=seed,
        )
        selector.fit(X, y)
        support = selector.support_
        importances = np.nan_to_num(selector.importance_history_[1:]).mean(axis=0)  # the first row is empty
        if not support.any():
            return [Selection(support, importances, _EMPTY[self.kind]().fit(X, y))]
        forest = FORESTS[self.kind](self.n_estimators, random_state=seed).fit(X[:, support], y)
        return [Selection(support, importances, OnColumns(forest, support))]
