"""The lasso at one penalty after another, from the empty model on."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c

from experiments.baselines.base import Selection
from stochgate.optional import require


@contextmanager
def paths_silenced() -> Iterator[None]:
    """Silence what packages say of the two ends of a path."""
    with warnings.catch_warnings():
        # the weakest penalties of a path need more steps than they are worth
        warnings.simplefilter("ignore", ConvergenceWarning)
        # said by Coxnet of the empty model, which is a candidate
        warnings.filterwarnings("ignore", "all coefficients are zero", UserWarning)
        yield


def select_by_coefficients(scaler: StandardScaler, model: Any) -> Selection:
    """Return the features with a coefficient other than 0, of several classes with any."""
    size = np.abs(model.coef_).reshape(-1, scaler.n_features_in_).max(axis=0)
    return Selection(size > 0, size, _OnScaled(scaler, model))


@dataclass(frozen=True)
class _OnScaled:
    """A model that was trained on standardised columns."""

    scaler: StandardScaler
    model: Any

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.model.predict(self.scaler.transform(X))


class OneVsRest(OneVsRestClassifier):
    """A logistic model for each class against the rest."""

    @property
    def coef_(self) -> np.ndarray:
        """The coefficients, one row per model."""
        return np.vstack([model.coef_ for model in self.estimators_])


def fit_one_vs_rest(X: np.ndarray, y: np.ndarray, C: float, seed: int, tol: float = 1e-2) -> OneVsRest:
    """Return liblinear's logistic lasso of each class against the rest."""
    # liblinear penalises the intercept; as the weight of a large constant it costs next to nothing
    model = LogisticRegression(
        C=C, l1_ratio=1.0, solver="liblinear", tol=tol, intercept_scaling=100.0, random_state=seed
    )
    return OneVsRest(model).fit(X, y)


def logistic_penalties(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return values of liblinear's C, which is one over the penalty."""
    return l1_min_c(X, y, loss="log") * np.logspace(0, 2.5, 10)  # from the empty model on


def _linear_path(X: np.ndarray, y: np.ndarray, alpha: float | None, seed: int) -> list[Any]:
    largest = np.abs(X.T @ y).max() / len(y) * (1 + 1e-9)  # of the empty model, also after rounding
    alphas = largest * np.logspace(0, -3, 20) if alpha is None else [alpha]
    return [Lasso(alpha=alpha).fit(X, y) for alpha in alphas]


def _logistic_path(X: np.ndarray, y: np.ndarray, alpha: float | None, seed: int) -> list[Any]:
    if alpha is not None:
        return [fit_one_vs_rest(X, y, 1 / (alpha * len(y)), seed, tol=1e-4)]
    return [fit_one_vs_rest(X, y, C, seed) for C in logistic_penalties(X, y)]


def _cox_path(X: np.ndarray, y: np.ndarray, alpha: float | None, seed: int) -> list[Any]:
    linear_model = require("sksurv.linear_model", package="scikit-survival", needed_by="Cox regression")
    alphas = None if alpha is None else [alpha]
    model = linear_model.CoxnetSurvivalAnalysis(
        l1_ratio=1.0, n_alphas=20, alpha_min_ratio=0.01, alphas=alphas
    )
    model.fit(X, y)
    return [_CoxPoint(model, i) for i in range(len(model.alphas_))]


@dataclass(frozen=True)
class _CoxPoint:
    """One penalty of Coxnet's path."""

    model: Any
    index: int

    @property
    def coef_(self) -> np.ndarray:
        return self.model.coef_[:, self.index]

    def predict(self, X: np.ndarray) -> np.ndarray:
        return self.model.predict(X, alpha=self.model.alphas_[self.index])


# given standardised X, an encoded y, a penalty or None for many, and a seed; each returns fitted models
PATHS = {"classification": _logistic_path, "regression": _linear_path, "survival": _cox_path}
