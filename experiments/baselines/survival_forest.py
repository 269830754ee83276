"""Random survival forests, and what permuting a column costs them."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from experiments.baselines.kinds import Kind, Rows
from stochgate.optional import require

_N_TIMES = 150  # as in R's randomForestSRC; a split weighs every distinct time
_N_REPEATS = 3
_BLOCK = 10_000_000  # numbers in the rows that are permuted at once


class SurvivalForest:
    """scikit-survival's random survival forest with the settings of R's randomForestSRC.

    Leaves hold 15 rows or more, and times are cut to 150 quantiles of the events' times: each makes the
    forest two to four times faster than scikit-survival's defaults.

    Parameters
    ----------
    n_estimators : int
        Trees.
    random_state : int
    """

    def __init__(self, n_estimators: int, random_state: int):
        ensemble = require(
            "sksurv.ensemble", package="scikit-survival", needed_by="ForestSelector for survival"
        )
        self.forest = ensemble.RandomSurvivalForest(
            n_estimators, min_samples_leaf=15, low_memory=True, random_state=random_state
        )

    def fit(self, X: np.ndarray, y: np.ndarray) -> "SurvivalForest":
        """Grow the trees."""
        self.forest.fit(X, coarsen(y))
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the expected number of events, which orders the risks, shape (n_samples,)."""
        return self.forest.predict(X)


def coarsen(y: np.ndarray) -> np.ndarray:
    """Return y with times counted in quantiles: how many of the event times' 150 have passed.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.baselines.survival_forest import coarsen
    >>> y = np.array([(1, 2.0), (0, 2.5), (1, 3.0)], dtype=[("event", bool), ("time", float)])
    >>> np.unique(coarsen(y)["time"]).size
    3
    """
    quantiles = np.quantile(y["time"][y["event"]], np.linspace(0, 1, _N_TIMES))
    coarse = y.copy()
    coarse["time"] = np.searchsorted(np.unique(quantiles), y["time"], side="right")
    return coarse


def permutation_importances(
    grow: Callable[[np.ndarray, np.ndarray], Any],
    kind: Kind,
    X: np.ndarray,
    y: np.ndarray,
    folds: list[Rows],
    seed: int,
) -> np.ndarray:
    """Return how much of its held-out score a model loses when a column is permuted, the mean over folds.

    Parameters
    ----------
    grow : callable
        Returns a model trained on some rows of X and y.
    kind : Kind
        Scores it.
    X, y : arrays
    folds : list of (train, held out) rows
    seed : int

    Returns
    -------
    ndarray, shape (n_features,)
    """
    rng = np.random.default_rng(seed)
    loss = np.zeros(X.shape[1])
    for train, held_out in folds:
        model = grow(X[train], y[train])
        score = kind.score(y[held_out], model.predict(X[held_out]))
        for column, rows in _permuted(X[held_out], rng):
            risks = np.split(model.predict(rows), len(column) * _N_REPEATS)
            scores = np.array([kind.score(y[held_out], risk) for risk in risks])
            loss[column] += score - scores.reshape(len(column), _N_REPEATS).mean(axis=1)
    return loss / len(folds)


def _permuted(X: np.ndarray, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield some columns' numbers and copies of X below each other, each with one of them permuted.

    Many copies at once, since a forest predicts few rows no faster than many.
    """
    n_features = X.shape[1]
    n_columns = max(1, _BLOCK // (X.size * _N_REPEATS))
    for start in range(0, n_features, n_columns):
        columns = np.arange(start, min(start + n_columns, n_features))
        copies = np.tile(X, (len(columns) * _N_REPEATS, 1, 1))
        for copy, column in zip(copies, np.repeat(columns, _N_REPEATS), strict=True):
            copy[:, column] = rng.permutation(copy[:, column])
        yield columns, copies.reshape(-1, n_features)
