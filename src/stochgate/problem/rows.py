"""The rows that count: X, y and weights checked, and rows held out."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_sample_weight, check_consistent_length

from stochgate.objectives import Objective, Target
from stochgate.tables.check import check_table
from stochgate.tables.table import Table

LEARNS, JUDGES, IDLE = 1, 0, -1  # what a row does in a fold


def check_rows(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any, objective: Objective
) -> tuple[Table, Target, np.ndarray, np.ndarray]:
    """Check X, y and weights, and take out the rows of weight 0.

    Returns
    -------
    The table, the encoded y, the weights (1 on average), and the positions of the rows that are left.
    """
    allow_missing = getattr(estimator, "missing", "error") == "auto"
    table = check_table(estimator, X, allow_missing=allow_missing)
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    target = objective.encode(y)
    check_consistent_length(table.numbers, next(iter(target.rows.values())))
    weights = _check_sample_weight(sample_weight, table.numbers, dtype=np.float64, ensure_non_negative=True)
    used = np.flatnonzero(weights)
    if len(used) == 0:
        raise ValueError("All sample weights are 0: there is no row to learn from.")
    if len(used) < len(weights):
        parts = tuple(_safe_indexing(part, used) for part in y) if isinstance(y, tuple) else None
        target = objective.encode(_safe_indexing(y, used) if parts is None else parts)
        table, weights = table.take(used), weights[used]
    return table, target, weights / weights.mean(), used


def hold_out(strata: np.ndarray, share: float, random_state: np.random.RandomState) -> np.ndarray:
    """Draw about a share of the rows, evenly from every stratum, as a mask of shape (n_samples,).

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.problem.rows import hold_out
    >>> strata = np.repeat([0, 1], [80, 20])
    >>> drawn = hold_out(strata, 0.1, np.random.RandomState(0))
    >>> np.bincount(strata[drawn])
    array([8, 2])
    """
    n_samples = len(strata)
    n_drawn = min(n_samples - 1, max(1, round(share * n_samples)))
    shuffled = random_state.permutation(n_samples)
    ordered = shuffled[np.argsort(strata[shuffled], kind="stable")]
    places = np.floor((np.arange(n_drawn) + random_state.uniform()) * n_samples / n_drawn).astype(int)
    drawn = np.zeros(n_samples, dtype=bool)
    drawn[ordered[places]] = True
    return drawn
