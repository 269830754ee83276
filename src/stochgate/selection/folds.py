"""Folds as weights."""

from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold, check_cv


def make_folds(cv: Any, strata: np.ndarray, seed: int, groups: Any = None) -> np.ndarray:
    """Return which rows each fold learns from, a boolean array of shape (n_folds, n_samples).

    Parameters
    ----------
    cv : int or what scikit-learn's `cv` takes
        A number gives shuffled folds, stratified where every stratum has that many rows.
    strata : ndarray of int, shape (n_samples,)
    seed : int
    groups : array, shape (n_samples,), optional
        For splitters that keep groups of rows together.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.selection import make_folds
    >>> make_folds(5, np.repeat([0, 1], 10), seed=0).sum(axis=1)
    array([16, 16, 16, 16, 16])
    """
    n_samples = len(strata)
    if isinstance(cv, (int, np.integer)):
        n_folds = min(int(cv), n_samples)
        if n_folds < 2:
            raise ValueError(f"cv={cv!r} leaves no rows to judge by; use at least 2 folds.")
        counts = np.unique(strata, return_counts=True)[1]
        kind = StratifiedKFold if len(counts) > 1 and counts.min() >= n_folds else KFold
        splitter = kind(n_folds, shuffle=True, random_state=seed)
    else:
        splitter = check_cv(cv, strata, classifier=True)
    learns = []
    for train, _ in splitter.split(np.zeros((n_samples, 1)), strata, groups):
        learns.append(np.isin(np.arange(n_samples), train))
    return np.array(learns)


def make_blocks(n_blocks: int, strata: np.ndarray, seed: int) -> np.ndarray:
    """Return a block for each row, shape (n_samples,): of equal size, and alike in their strata.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.selection.folds import make_blocks
    >>> np.bincount(make_blocks(4, np.repeat([0, 1], 10), seed=0))
    array([5, 5, 5, 5])
    """
    shuffled = np.random.RandomState(seed).permutation(len(strata))
    blocks = np.empty(len(strata), dtype=np.int64)
    blocks[shuffled[np.argsort(strata[shuffled], kind="stable")]] = np.arange(len(strata)) % n_blocks
    return blocks
