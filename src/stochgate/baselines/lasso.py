"""The lasso: linear, logistic and Cox regression with an L1 penalty chosen by cross-validation."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV, LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c

from stochgate.baselines.base import Baseline, Selection
from stochgate.baselines.kinds import Rows
from stochgate.optional import require


class LassoSelector(Baseline):
    """The lasso on standardised columns; features are those with a coefficient other than 0.

    Cross-validation chooses the penalty: by squared error for regression, log loss for classification and
    partial likelihood for survival (scikit-survival's Coxnet). The empty model is a candidate.

    Parameters
    ----------
    kind : {"classification", "regression", "survival"}, default="classification"
    n_splits : int, default=5
        Folds of the cross-validation.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    feature_importances_ : ndarray, shape (n_features,)
        Absolute coefficients, of several classes the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.baselines import LassoSelector
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> LassoSelector("regression", random_state=0).fit(X, 3 * X[:, 1]).feature_importances_.argmax()
    np.int64(1)
    """

    def __init__(self, kind: str = "classification", *, n_splits: int = 5, random_state: Any = None):
        self.kind = kind
        self.n_splits = n_splits
        self.random_state = random_state

    def _select(self, X: np.ndarray, y: np.ndarray, seed: int) -> Selection:
        scaler = StandardScaler().fit(X)
        folds = self._kind.folds(y, self.n_splits, seed)
        with warnings.catch_warnings():
            # the weakest penalties of a path need more steps than they are worth
            warnings.simplefilter("ignore", ConvergenceWarning)
            # said by Coxnet of the empty model, which is a candidate
            warnings.filterwarnings("ignore", "all coefficients are zero", UserWarning)
            model = _FITS[self.kind](scaler.transform(X), y, folds, seed)
        size = np.abs(model.coef_).reshape(-1, X.shape[1]).max(axis=0)
        return Selection(size > 0, size, make_pipeline(scaler, model))


def _fit_linear(X: np.ndarray, y: np.ndarray, folds: list[Rows], seed: int) -> Any:
    return LassoCV(cv=folds, random_state=seed).fit(X, y)


def _fit_logistic(X: np.ndarray, y: np.ndarray, folds: list[Rows], seed: int) -> Any:
    model = LogisticRegressionCV(
        Cs=l1_min_c(X, y, loss="log") * np.logspace(0, 2, 20),  # from the empty model on
        l1_ratios=(1.0,),
        solver="saga",
        scoring="neg_log_loss",
        tol=1e-3,
        max_iter=500,
        cv=folds,
        random_state=seed,
        use_legacy_attributes=False,
    )
    return model.fit(X, y)


def _fit_cox(X: np.ndarray, y: np.ndarray, folds: list[Rows], seed: int) -> Any:
    linear_model = require(
        "sksurv.linear_model", package="scikit-survival", needed_by="LassoSelector for survival"
    )

    def fit(rows: Any, alphas: Any = None) -> Any:
        coxnet = linear_model.CoxnetSurvivalAnalysis(l1_ratio=1.0, alpha_min_ratio=0.01, alphas=alphas)
        return coxnet.fit(X[rows], y[rows])

    alphas = fit(slice(None)).alphas_  # from the empty model on
    gain = np.zeros(len(alphas))
    for train, _ in folds:
        model = fit(train, alphas)
        for i, alpha in enumerate(alphas):
            risk = model.predict(X, alpha=alpha)
            # what the held-out rows add: their own risk sets alone would be too small
            gain[i] += log_partial_likelihood(y, risk) - log_partial_likelihood(y[train], risk[train])
    return fit(slice(None), alphas[[gain.argmax()]])


def log_partial_likelihood(y: np.ndarray, risk: np.ndarray) -> float:
    r"""Return the Cox log partial likelihood, ties by Breslow's rule.

    .. math:: \sum_{i: \text{event}} (r_i - \log \sum_{j: t_j \ge t_i} e^{r_j})

    Parameters
    ----------
    y : structured array with the fields "event" and "time", shape (n_samples,)
    risk : array, shape (n_samples,)
    """
    order = np.argsort(-y["time"], kind="stable")
    event, time, risk = y["event"][order], y["time"][order], risk[order]
    last_tied = np.searchsorted(-time, -time, side="right") - 1
    at_risk = np.logaddexp.accumulate(risk)[last_tied]
    return float((risk - at_risk)[event].sum())


_FITS = {"classification": _fit_logistic, "regression": _fit_linear, "survival": _fit_cox}
