"""Methods that select exactly k features: each takes (X, y, k), a seed and a device, and returns a mask."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import f_classif

from experiments.baselines import LassoNetSelector, STGSelector
from experiments.methods import make_model

Select = Callable[..., np.ndarray]


def select_by_ours(X: Any, y: np.ndarray, k: int, *, seed: int, device: str) -> np.ndarray:
    """Select with our defaults, asked for k features."""
    model = make_model("ours", "classification", seed=seed, device=device, n_features_to_select=k)
    return model.fit(X, y).get_support()


def select_by_stg(X: Any, y: np.ndarray, k: int, *, seed: int, device: str) -> np.ndarray:
    """Select with the authors' package, which runs on the CPU.

    The penalties that `STGSelector` has by default close no gate of thousands in so many steps.
    """
    lams = tuple(X.shape[1] * lam for lam in (0.005, 0.01, 0.02))  # which it divides by n_features
    return STGSelector(lams=lams, n_epochs=1000, random_state=seed).top_features(to_dense(X), y, k)


def select_by_lassonet(X: Any, y: np.ndarray, k: int, *, seed: int, device: str) -> np.ndarray:
    """Select with LassoNet, on a coarser path and with fewer epochs than its defaults."""
    model = LassoNetSelector(path_multiplier=1.05, n_iters=(300, 30), device=device, random_state=seed)
    return model.top_features(to_dense(X), y, k)


def select_by_score(
    X: Any, y: np.ndarray, k: int, *, seed: int, device: str, score: Callable[..., np.ndarray]
) -> np.ndarray:
    """Select the features with the highest scores; of equal ones the first."""
    scores = np.nan_to_num(score(to_dense(X), y, seed), nan=-np.inf)
    return np.isin(np.arange(len(scores)), np.argsort(-scores, kind="stable")[:k])


def tree_importances(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return the importances of extremely randomised trees, shape (n_features,)."""
    return ExtraTreesClassifier(300, random_state=seed).fit(X, y).feature_importances_


def f_scores(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return the F-test's statistic of each column, NaN of constant ones, shape (n_features,)."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Features \[", UserWarning)
        return f_classif(X, y)[0]


def keep_all(X: Any, y: np.ndarray, k: int, *, seed: int, device: str) -> np.ndarray:
    """Select every feature."""
    return np.ones(X.shape[1], dtype=bool)


def to_dense(X: Any) -> np.ndarray:
    """Return columns as an array of float64."""
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), dtype=np.float64)


METHODS: dict[str, Select] = {
    "ours": select_by_ours,
    "stg-package": select_by_stg,
    "lassonet": select_by_lassonet,
    "extra-trees": partial(select_by_score, score=tree_importances),
    "f-test": partial(select_by_score, score=f_scores),
    "all": keep_all,
}
PEERS = [method for method in METHODS if method not in ("ours", "all")]
