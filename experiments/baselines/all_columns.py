"""Models that select nothing: what can be reached with all columns."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from experiments.baselines.base import Baseline, Selection
from experiments.baselines.forest import FORESTS
from experiments.baselines.kinds import Rows
from experiments.baselines.lasso import fit_cox
from experiments.baselines.lasso_path import paths_silenced
from stochgate.optional import require


class AllColumns(Baseline):
    """Predicts from every column; the support is full and every importance is 1."""

    @abstractmethod
    def _fit_model(self, X: np.ndarray, y: np.ndarray, seed: int) -> Any:
        """Return a fitted model with `predict`, given an encoded y."""

    def _is_given(self) -> bool:
        return True

    def _path(self, X: np.ndarray, y: np.ndarray, seed: int) -> list[Selection]:
        n_features = X.shape[1]
        return [
            Selection(np.ones(n_features, dtype=bool), np.ones(n_features), self._fit_model(X, y, seed))
        ]


class AllColumnsForest(AllColumns):
    """A random forest on all columns.

    Parameters
    ----------
    kind : {"classification", "regression", "survival"}, default="classification"
        Survival is scikit-survival's random survival forest, with the settings of `SurvivalForest`.
    n_estimators : int, default=500
        Trees.
    random_state : int, RandomState or None, default=None

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.baselines import AllColumnsForest
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> AllColumnsForest(n_estimators=50, random_state=0).fit(X, X[:, 1] > 0).score(X, X[:, 1] > 0)
    1.0
    """

    def __init__(self, kind: str = "classification", *, n_estimators: int = 500, random_state: Any = None):
        self.kind = kind
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _fit_model(self, X: np.ndarray, y: np.ndarray, seed: int) -> Any:
        return FORESTS[self.kind](self.n_estimators, random_state=seed).fit(X, y)


class AllColumnsBoosting(AllColumns):
    """Gradient boosting on all columns, at the packages' defaults.

    Parameters
    ----------
    kind : {"classification", "regression", "survival"}, default="classification"
        scikit-learn's boosting of histograms; survival is scikit-survival's boosting of the Cox loss.
    n_estimators : int, default=100
        Rounds; of several classes each has one tree per class.
    random_state : int, RandomState or None, default=None
        Takes part only where the packages draw: with over 10,000 rows, and for survival.
    """

    def __init__(self, kind: str = "classification", *, n_estimators: int = 100, random_state: Any = None):
        self.kind = kind
        self.n_estimators = n_estimators
        self.random_state = random_state

    def _fit_model(self, X: np.ndarray, y: np.ndarray, seed: int) -> Any:
        return _BOOSTING[self.kind](self.n_estimators, seed).fit(X, y)


def _survival_boosting(n_estimators: int, seed: int) -> Any:
    ensemble = require("sksurv.ensemble", package="scikit-survival", needed_by="AllColumnsBoosting")
    return ensemble.GradientBoostingSurvivalAnalysis(n_estimators=n_estimators, random_state=seed)


_BOOSTING = {
    "classification": lambda n, seed: HistGradientBoostingClassifier(max_iter=n, random_state=seed),
    "regression": lambda n, seed: HistGradientBoostingRegressor(max_iter=n, random_state=seed),
    "survival": _survival_boosting,
}


class AllColumnsLinear(AllColumns):
    """A linear model on all columns, standardised, with its L2 penalty by cross-validation.

    Parameters
    ----------
    kind : {"classification", "regression", "survival"}, default="classification"
        A linear support vector machine, ridge regression, or Coxnet with 1 % of its penalty as L1, since
        it has no pure ridge.
    n_splits : int, default=5
        Folds of the cross-validation.
    random_state : int, RandomState or None, default=None
    """

    def __init__(self, kind: str = "classification", *, n_splits: int = 5, random_state: Any = None):
        self.kind = kind
        self.n_splits = n_splits
        self.random_state = random_state

    def _fit_model(self, X: np.ndarray, y: np.ndarray, seed: int) -> Any:
        scaler = StandardScaler().fit(X)
        folds = self._kind.folds(y, self.n_splits, seed)
        with paths_silenced():
            model = _LINEAR[self.kind](scaler.transform(X), y, folds, seed)
        return make_pipeline(scaler, model)


def _fit_svm(X: np.ndarray, y: np.ndarray, folds: list[Rows], seed: int) -> Any:
    grid = {"C": np.logspace(-4, 0, 5)}
    # as accurate on isolet as the defaults, and several times faster
    model = LinearSVC(dual=True, tol=1e-2, random_state=seed)
    return GridSearchCV(model, grid, cv=folds).fit(X, y).best_estimator_


def _fit_ridge(X: np.ndarray, y: np.ndarray, folds: list[Rows], seed: int) -> Any:
    return RidgeCV(np.logspace(-2, 5, 15), cv=folds).fit(X, y)


def _fit_ridge_cox(X: np.ndarray, y: np.ndarray, folds: list[Rows], seed: int) -> Any:
    return fit_cox(X, y, folds, l1_ratio=0.01, smallest=1e-4)


_LINEAR = {"classification": _fit_svm, "regression": _fit_ridge, "survival": _fit_ridge_cox}
