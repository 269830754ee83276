"""XGBoost, whose importances are cut where held-out rows say so."""

from typing import Any

import numpy as np

from experiments.baselines.forest import ValidatedThreshold
from experiments.baselines.kinds import order_in_time
from stochgate.optional import require


class XGBoostSelector(ValidatedThreshold):
    """XGBoost at its defaults with a validated threshold on its gain importances.

    Parameters
    ----------
    kind : {"classification", "regression", "survival"}, default="classification"
        Survival is XGBoost's Cox objective.
    n_estimators : int, default=100
        Trees of each ensemble.
    max_depth : int, optional
        Levels of each tree; XGBoost's default is 6.
    threshold : float, optional
        Importance above which a feature is kept, where it is given instead of chosen.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    feature_importances_ : ndarray, shape (n_features,)
        Mean gain in the ensemble on all columns, scaled to the sum 1.
    """

    def __init__(
        self,
        kind: str = "classification",
        *,
        n_estimators: int = 100,
        max_depth: int | None = None,
        threshold: float | None = None,
        random_state: Any = None,
    ):
        self.kind = kind
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.threshold = threshold
        self.random_state = random_state

    def _fit_trees(self, X: np.ndarray, y: np.ndarray, seed: int) -> Any:
        xgboost = require("xgboost", package="xgboost", needed_by="XGBoostSelector")
        models = {
            "classification": xgboost.XGBClassifier,
            "regression": xgboost.XGBRegressor,
            "survival": lambda **settings: _CoxTrees(xgboost.XGBRegressor(**settings)),
        }
        model = models[self.kind](
            n_estimators=self.n_estimators, max_depth=self.max_depth, random_state=seed, n_jobs=1
        )
        return model.fit(X, y)


class _CoxTrees:
    """XGBoost's Cox objective: a negative time is a censored one, and the margin is the log hazard."""

    def __init__(self, model: Any):
        self.model = model.set_params(objective="survival:cox")

    def fit(self, X: np.ndarray, y: np.ndarray) -> "_CoxTrees":
        order = order_in_time(y)  # from 1 on: a censored row at time 0 would have no sign
        self.model.fit(X, np.where(y["event"], order, -order))
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.model.predict(X, output_margin=True)

    @property
    def feature_importances_(self) -> np.ndarray:
        return self.model.feature_importances_
