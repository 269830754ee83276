"""The lasso: linear, logistic and Cox regression with an L1 penalty."""

from typing import Any

import numpy as np
from sklearn.linear_model import LassoCV, LogisticRegressionCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c

from experiments.baselines.base import Baseline, Selection
from experiments.baselines.kinds import Rows
from experiments.baselines.lasso_path import (
    PATHS,
    fit_one_vs_rest,
    logistic_penalties,
    paths_silenced,
    select_by_coefficients,
)
from stochgate.optional import require


class LassoSelector(Baseline):
    """The lasso on standardised columns; features are those with a coefficient other than 0.

    Cross-validation chooses the penalty: by squared error for regression, log loss for classification and
    partial likelihood for survival (scikit-survival's Coxnet). The empty model is a candidate. The models
    of `path`, among which validation rows choose, go from the empty one to a hundredth of its penalty or
    less; those of classification are fitted by liblinear.

    Parameters
    ----------
    kind : {"classification", "regression", "survival"}, default="classification"
    n_splits : int, default=5
        Folds of the cross-validation.
    solver : {"saga", "liblinear"}, default="saga"
        Of classification alone. "saga" fits one multinomial model at 20 penalties; on 1,000 rows x 5,000
        columns one of these fits takes half a minute. "liblinear" fits one model per class against the
        rest, at 10 penalties, and is 20 to 100 times faster; it all but leaves the intercept free.
    alpha : float, optional
        The penalty of each absolute coefficient, where it is given instead of chosen: added to half the
        mean squared error of the standardised y, to the mean log loss (liblinear's C is
        1 / (alpha n_samples)), or to Coxnet's loss.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    feature_importances_ : ndarray, shape (n_features,)
        Absolute coefficients, of several classes the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.baselines import LassoSelector
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> LassoSelector("regression", random_state=0).fit(X, 3 * X[:, 1]).feature_importances_.argmax()
    np.int64(1)
    """

    def __init__(
        self,
        kind: str = "classification",
        *,
        n_splits: int = 5,
        solver: str = "saga",
        alpha: float | None = None,
        random_state: Any = None,
    ):
        self.kind = kind
        self.n_splits = n_splits
        self.solver = solver
        self.alpha = alpha
        self.random_state = random_state

    def _is_given(self) -> bool:
        return self.alpha is not None

    def _select(self, X: np.ndarray, y: np.ndarray, seed: int) -> Selection:
        if self._is_given():
            return super()._select(X, y, seed)
        scaler = StandardScaler().fit(X)
        folds = self._kind.folds(y, self.n_splits, seed)
        with paths_silenced():
            model = self._fit_model(scaler.transform(X), y, folds, seed)
        return select_by_coefficients(scaler, model)

    def _path(self, X: np.ndarray, y: np.ndarray, seed: int) -> list[Selection]:
        scaler = StandardScaler().fit(X)
        with paths_silenced():
            models = PATHS[self.kind](scaler.transform(X), y, self.alpha, seed)
        return [select_by_coefficients(scaler, model) for model in models]

    def _fit_model(self, X: np.ndarray, y: np.ndarray, folds: list[Rows], seed: int) -> Any:
        if self.solver not in _LOGISTIC:
            raise ValueError(f"Unknown solver {self.solver!r}; use one of {list(_LOGISTIC)}.")
        fit = _LOGISTIC[self.solver] if self.kind == "classification" else _FITS[self.kind]
        return fit(X, y, folds, seed)


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


def _choose_one_vs_rest(X: np.ndarray, y: np.ndarray, folds: list[Rows], seed: int) -> Any:
    def loss(C: float) -> float:
        return sum(
            _log_loss(fit_one_vs_rest(X[train], y[train], C, seed), X[valid], y[valid])
            for train, valid in folds
        )

    Cs = logistic_penalties(X, y)
    return fit_one_vs_rest(X, y, Cs[np.argmin([loss(C) for C in Cs])], seed)


def _log_loss(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return the sum of the log losses; a class that the model was not shown has next to no chance."""
    chances = np.zeros((len(y), int(max(y.max(), model.classes_.max())) + 1))
    chances[:, model.classes_] = model.predict_proba(X)
    return float(-np.log(np.maximum(chances[np.arange(len(y)), y], 1e-15)).sum())


def fit_cox(
    X: np.ndarray, y: np.ndarray, folds: list[Rows], l1_ratio: float = 1.0, smallest: float = 0.01
) -> Any:
    """Return the Coxnet model whose penalty adds most to the partial likelihood of held-out rows.

    Parameters
    ----------
    X, y : arrays
        Standardised columns, and a structured array with the fields "event" and "time".
    folds : list of (train, held out) rows
    l1_ratio : float, default=1.0
        The share of the penalty that is L1; the rest is L2.
    smallest : float, default=0.01
        The smallest penalty of the path, in units of the largest.
    """
    linear_model = require("sksurv.linear_model", package="scikit-survival", needed_by="Cox regression")

    def fit(rows: Any, alphas: Any = None) -> Any:
        coxnet = linear_model.CoxnetSurvivalAnalysis(
            l1_ratio=l1_ratio, alpha_min_ratio=smallest, alphas=alphas
        )
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


_FITS = {"regression": _fit_linear, "survival": lambda X, y, folds, seed: fit_cox(X, y, folds)}
_LOGISTIC = {"saga": _fit_logistic, "liblinear": _choose_one_vs_rest}
