"""Selection frequencies of any estimator over halves of the rows."""

from dataclasses import replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from stochgate.choice.comparison import make_lams, make_settings
from stochgate.problem.setting import Setting
from stochgate.problem.task import Task
from stochgate.stability.stable import Frequencies, train_halves


def gated_frequencies(
    task: Task, halves: np.ndarray, lam: Any, n_first: int
) -> tuple[str, Setting, Frequencies]:
    """Train a gated estimator's networks on halves of the rows, as stacks of models.

    Parameters
    ----------
    task : Task
    halves : ndarray of bool, shape (2 * n_pairs, n_samples)
    lam : "auto" or float
        A path of penalties, or one.
    n_first : int
        Halves on which the networks are compared.

    Returns
    -------
    Name of the network, its setting and its frequencies
    """
    settings = make_settings(task, np.zeros(len(task.weights), dtype=np.int64))
    n_gates = task.gate_map.n_gates
    lams = make_lams(len(task.weights) // 2) * n_gates if lam == "auto" else np.array([float(lam)])
    at, found = train_halves([setting for setting, _ in settings.values()], lams, halves, n_first)
    if lam != "auto":
        found = replace(found, best=0)  # a given penalty is not to be judged
    name = list(settings)[at]
    return name, settings[name][0], found


def other_frequencies(
    estimator: Any, X: Any, y: Any, halves: np.ndarray, n_jobs: int | None
) -> Frequencies:
    """Fit any scikit-learn estimator to halves of the rows.

    Parameters
    ----------
    estimator : estimator with get_support, coef_ or feature_importances_
    X, y : the data
    halves : ndarray of bool, shape (2 * n_pairs, n_samples)
    n_jobs : int or None
    """
    chosen = Parallel(n_jobs=n_jobs)(delayed(fit_half)(estimator, X, y, half) for half in halves)
    share = np.mean(chosen, axis=0)
    return Frequencies(np.array([np.nan]), share[None], np.zeros(1, dtype=int), 0, len(halves) // 2)


def fit_half(estimator: Any, X: Any, y: Any, half: np.ndarray) -> np.ndarray:
    """Fit an estimator to some rows and return what it selects, shape (n_features,).

    That is its own support where it has one, coefficients other than 0, or importances above their mean; of
    a pipeline those of its last step, if the steps before keep the columns.
    """
    rows = np.flatnonzero(half)
    fitted = clone(estimator).fit(_safe_indexing(X, rows), _safe_indexing(y, rows))
    fitted = getattr(fitted, "best_estimator_", fitted)
    if hasattr(fitted, "steps"):
        fitted = fitted[-1]
        if getattr(fitted, "n_features_in_", X.shape[1]) != X.shape[1]:
            raise ValueError("The pipeline changes the columns: do that before the StabilitySelector.")
    if hasattr(fitted, "get_support"):
        return np.asarray(fitted.get_support(), dtype=bool)
    if hasattr(fitted, "coef_"):
        coefficients = np.asarray(fitted.coef_)
        return (np.atleast_2d(coefficients.reshape(-1, X.shape[1])) != 0).any(axis=0)
    if hasattr(fitted, "feature_importances_"):
        importances = np.asarray(fitted.feature_importances_)
        return importances > importances.mean()
    raise ValueError(
        f"{type(estimator).__name__} has neither get_support nor coef_ nor feature_importances_ after its "
        "fit, so it selects no features."
    )
