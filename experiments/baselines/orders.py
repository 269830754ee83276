"""Orders of all columns by peers that rank, and the three learners that judge the first k of an order."""

from collections.abc import Callable

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import f_classif
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from experiments.baselines.lasso_path import paths_silenced

SIZES = (5, 10, 20, 50)
_ONE_BY_ONE = 60  # SVM-RFE drops a fifth of the columns at a time above so many


def svm_rfe(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return the columns by recursive elimination with a linear SVM, the last to be dropped first."""
    left, dropped = np.arange(X.shape[1]), []
    while len(left):
        model = LinearSVC(C=1.0, dual=True, tol=1e-2, random_state=seed).fit(X[:, left], y)
        order = np.argsort(-np.square(model.coef_).sum(axis=0), kind="stable")
        keep = len(left) - 1 if len(left) <= _ONE_BY_ONE else max(_ONE_BY_ONE, int(0.8 * len(left)))
        dropped.append(left[order[keep:]])
        left = left[order[:keep]]
    return np.concatenate(dropped[::-1])


def forest_order(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return the columns by a random forest's importances."""
    model = RandomForestClassifier(500, random_state=seed).fit(X, y)
    return np.argsort(-model.feature_importances_, kind="stable")


def mrmr(X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return 50 columns of most relevance (F) over redundancy (mean correlation with those before)."""
    F = np.nan_to_num(f_classif(X, y)[0])
    Z = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
    chosen, redundancy = [int(F.argmax())], np.zeros(X.shape[1])
    while len(chosen) < min(max(SIZES), X.shape[1]):
        redundancy += np.abs(Z.T @ Z[:, chosen[-1]]) / len(Z)
        score = F / np.maximum(redundancy / len(chosen), 1e-3)
        score[chosen] = -np.inf
        chosen.append(int(score.argmax()))
    return np.array(chosen)


ORDERS: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "svm-rfe": svm_rfe,
    "forest": forest_order,
    "mrmr": mrmr,
}


def learners(seed: int, n_trees: int = 300) -> dict[str, ClassifierMixin]:
    """Return the learners that judge columns, unfitted."""
    return {
        "forest": RandomForestClassifier(n_trees, random_state=seed),
        "linear": make_pipeline(StandardScaler(), LinearSVC(C=0.1, dual=True, tol=1e-2, random_state=seed)),
        "rbf": make_pipeline(StandardScaler(), SVC()),
    }


def judge(
    X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, seed: int, n_trees: int = 300
) -> dict[str, float]:
    """Return each learner's accuracy on test rows."""
    with paths_silenced():
        return {
            name: float(m.fit(X, y).score(X_test, y_test)) for name, m in learners(seed, n_trees).items()
        }


def choose_size(
    order: Callable[[np.ndarray, np.ndarray, int], np.ndarray], X: np.ndarray, y: np.ndarray, seed: int
) -> tuple[int, str]:
    """Return size and learner of the best accuracy over five inner folds, of equal ones the smallest."""
    sizes = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200)
    scores: dict[tuple[int, str], list[float]] = {}
    n_splits = max(2, min(5, int(np.bincount(y).min()))) if np.bincount(y).min() > 1 else 5
    for train, held_out in StratifiedKFold(n_splits, shuffle=True, random_state=seed).split(X, y):
        scaler = StandardScaler().fit(X[train])
        ranked = order(scaler.transform(X[train]), y[train], seed)
        for k in (k for k in sizes if k <= len(ranked)):
            columns = ranked[:k]
            found = judge(X[train][:, columns], y[train], X[held_out][:, columns], y[held_out], seed, 100)
            for name, score in found.items():
                scores.setdefault((k, name), []).append(score)
    return max(scores, key=lambda at: (np.mean(scores[at]), -at[0]))
