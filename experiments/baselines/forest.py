"""Tree ensembles, whose importances are cut where held-out rows say so."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from experiments.baselines.base import Baseline, OnColumns, Selection
from experiments.baselines.kinds import Rows
from experiments.baselines.survival_forest import SurvivalForest, permutation_importances

FORESTS = {
    "classification": RandomForestClassifier,
    "regression": RandomForestRegressor,
    "survival": SurvivalForest,
}
EXTRA_TREES = {"classification": ExtraTreesClassifier, "regression": ExtraTreesRegressor}


def feature_counts(n_features: int) -> list[int]:
    """Return how many top features to try: 1, 2, 3, 5, 8, 12, ..., each 1.5 times the last, and all.

    Examples
    --------
    >>> from experiments.baselines.forest import feature_counts
    >>> feature_counts(20)
    [1, 2, 3, 5, 8, 12, 18, 20]
    """
    counts = [1]
    while counts[-1] < n_features:
        counts.append(min(n_features, max(counts[-1] + 1, -(-3 * counts[-1] // 2))))
    return counts


class ValidatedThreshold(Baseline):
    """Ranks features by importance and keeps as many as held-out rows ask for.

    A fifth of the rows is held out, or each of several folds in turn; an ensemble on the others ranks the
    features; the number of top features is the one whose refitted ensemble scores best on the held-out rows
    (fewer on a tie); the final ensemble is trained on these features and all rows. Of several folds scores
    and importances are averaged. At least one feature is kept.

    In `path`, and where validation rows are given, all rows rank the features and train the ensembles. With
    a given `threshold` nothing is chosen: all rows rank the features, and those above it are kept.
    """

    n_estimators: int
    select: bool = True
    n_splits: int | None = None
    threshold: float | None = None

    @abstractmethod
    def _fit_trees(self, X: np.ndarray, y: np.ndarray, seed: int) -> Any:
        """Return a fitted ensemble with `predict`."""

    def _importances(self, trees: Any, X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
        """Return the importances of an ensemble that was trained on X and y, shape (n_features,)."""
        return np.asarray(trees.feature_importances_, dtype=np.float64)

    def _is_given(self) -> bool:
        return self.threshold is not None

    def _counts(self, n_features: int) -> list[int]:
        """Return how many top features to try."""
        return feature_counts(n_features) if self.select else [n_features]

    def _path(self, X: np.ndarray, y: np.ndarray, seed: int) -> list[Selection]:
        everything = self._fit_trees(X, y, seed)
        importances = self._importances(everything, X, y, seed)
        order = np.argsort(-importances, kind="stable")

        def refit(n: int) -> Selection:
            support = np.isin(np.arange(X.shape[1]), order[:n])
            trees = everything if support.all() else self._fit_trees(X[:, support], y, seed)
            return Selection(support, importances, OnColumns(trees, support))

        if self.threshold is not None:
            return [refit(max(1, int((importances > self.threshold).sum())))]
        return [refit(n) for n in self._counts(X.shape[1])]

    def _select(self, X: np.ndarray, y: np.ndarray, seed: int) -> Selection:
        if self._is_given():
            return super()._select(X, y, seed)
        counts = self._counts(X.shape[1])
        if self.n_splits is None:
            folds = [self._kind.hold_out(y, 0.2, seed)]
        else:
            folds = self._kind.folds(y, self.n_splits, seed)
        judged = [self._judge(X, y, fold, counts, seed) for fold in folds]
        scores, importances = (np.mean(part, axis=0) for part in zip(*judged, strict=True))
        top = np.argsort(-importances, kind="stable")[: counts[int(scores.argmax())]]
        support = np.isin(np.arange(X.shape[1]), top)
        return Selection(support, importances, OnColumns(self._fit_trees(X[:, support], y, seed), support))

    def _judge(
        self, X: np.ndarray, y: np.ndarray, fold: Rows, counts: list[int], seed: int
    ) -> tuple[list[float], np.ndarray]:
        """Return the score of each number of top features on the held-out rows, and the importances."""
        train, valid = fold
        everything = self._fit_trees(X[train], y[train], seed)
        importances = self._importances(everything, X[train], y[train], seed)
        order = np.argsort(-importances, kind="stable")

        def validate(n: int) -> float:
            top = order[:n]
            trees = everything if n == len(order) else self._fit_trees(X[train][:, top], y[train], seed)
            columns = slice(None) if n == len(order) else top
            return self._kind.score(y[valid], trees.predict(X[valid][:, columns]))

        return [validate(n) for n in counts], importances


class ForestSelector(ValidatedThreshold):
    """A random forest with a validated threshold on its importances.

    Parameters
    ----------
    kind : {"classification", "regression", "survival"}, default="classification"
        Survival is scikit-survival's random survival forest.
    n_estimators : int, default=200
        Trees of each forest.
    select : bool, default=True
        Whether there is a threshold; without one every feature is kept.
    n_splits : int, optional
        Folds of a cross-validation of the threshold; by default a fifth of the rows is held out once.
    threshold : float, optional
        Importance above which a feature is kept, where it is given instead of chosen.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    feature_importances_ : ndarray, shape (n_features,)
        Impurity importances of the forest on all columns. A survival forest has none: there it is how much
        of Harrell's C forests on two thirds of the rows lose on the others when the column is permuted.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.baselines import ForestSelector
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> ForestSelector(random_state=0).fit(X, X[:, 1] > 0).get_support(indices=True)
    array([1])
    """

    _forests: Mapping[str, Callable[..., Any]] = FORESTS

    def __init__(
        self,
        kind: str = "classification",
        *,
        n_estimators: int = 200,
        select: bool = True,
        n_splits: int | None = None,
        threshold: float | None = None,
        random_state: Any = None,
    ):
        self.kind = kind
        self.n_estimators = n_estimators
        self.select = select
        self.n_splits = n_splits
        self.threshold = threshold
        self.random_state = random_state

    def _fit_trees(self, X: np.ndarray, y: np.ndarray, seed: int) -> Any:
        return self._forests[self.kind](self.n_estimators, random_state=seed).fit(X, y)

    def _importances(self, trees: Any, X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
        if hasattr(trees, "feature_importances_"):
            return super()._importances(trees, X, y, seed)
        folds = self._kind.folds(y, 3, seed)
        return permutation_importances(partial(self._fit_trees, seed=seed), self._kind, X, y, folds, seed)


class ExtraTreesSelector(ForestSelector):
    """Extremely randomised trees with a threshold on their importances; else as `ForestSelector`.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.baselines import ExtraTreesSelector
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> model = ExtraTreesSelector(threshold=0.2, random_state=0).fit(X, X[:, 1] > 0)
    >>> model.get_support(indices=True)
    array([1])
    """

    _refused = {"survival": "scikit-learn's extremely randomised trees know no censored times"}
    _forests = EXTRA_TREES
