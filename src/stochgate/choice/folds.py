"""Folds as weights, and blocks of rows."""

from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import (
    BaseCrossValidator,
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)

from stochgate.choice.defaults import DEFAULTS
from stochgate.problem.rows import IDLE, JUDGES, LEARNS


def make_folds(cv: Any, strata: np.ndarray, seed: int, groups: Any = None) -> np.ndarray:
    """Return what each row does in each fold, an int8 array of shape (n_folds, n_samples).

    A row learns (1), judges (0) or, as in the gap of a split by time, does neither (-1).

    Parameters
    ----------
    cv : int or what scikit-learn's `cv` takes
        A number gives shuffled folds, stratified where every stratum has that many rows; of fewer than 200
        rows (or groups) three rounds of them.
    strata : ndarray of int, shape (n_samples,)
    seed : int
    groups : array, shape (n_samples,), optional
        Rows that belong together stay together.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.choice.folds import make_folds
    >>> (make_folds(5, np.repeat([0, 1], 100), seed=0) == 1).sum(axis=1)
    array([160, 160, 160, 160, 160])
    """
    n_samples = len(strata)
    n_units = n_samples if groups is None else len(np.unique(groups))
    cv = 5 if cv is None else cv  # as everywhere in scikit-learn
    a_number = isinstance(cv, (int, np.integer))
    n_folds = min(int(cv), n_units) if a_number else cv
    rounds = DEFAULTS.n_rounds if a_number and n_folds < n_units < DEFAULTS.few_rows else 1
    splits = chain.from_iterable(
        make_splitter(n_folds, strata, seed + i, groups).split(np.zeros((n_samples, 1)), strata, groups)
        for i in range(rounds)
    )
    made = []
    for train, test in splits:
        roles = np.full(n_samples, IDLE, dtype=np.int8)
        roles[test], roles[train] = JUDGES, LEARNS
        made.append(roles)
    return np.array(made)


def make_splitter(cv: Any, strata: np.ndarray, seed: int, groups: Any = None) -> BaseCrossValidator:
    """Return the splitter that `cv` stands for.

    Parameters
    ----------
    cv : int, None (5), or what scikit-learn's `cv` takes
        A number gives shuffled folds, stratified where every stratum has that many rows; with groups they
        keep groups of rows together.
    strata : ndarray of int, shape (n_samples,)
    seed : int
    groups : array, shape (n_samples,), optional

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.choice.folds import make_splitter
    >>> make_splitter(5, np.repeat([0, 1], 10), seed=0)
    StratifiedKFold(n_splits=5, random_state=0, shuffle=True)
    >>> make_splitter(5, np.zeros(20, dtype=int), seed=0, groups=np.arange(20) // 2)
    GroupKFold(n_splits=5, random_state=0, shuffle=True)
    """
    n_folds = 5 if cv is None else cv
    if not isinstance(n_folds, Integral):
        return check_cv(cv, strata, classifier=True)
    if n_folds < 2:
        raise ValueError(f"cv={cv!r} leaves no rows to judge by; use at least 2 folds.")
    counts = np.unique(strata, return_counts=True)[1]
    stratify = len(counts) > 1 and counts.min() >= n_folds
    if groups is None:
        kind = StratifiedKFold if stratify else KFold
    else:
        kind = StratifiedGroupKFold if stratify else GroupKFold
    return kind(int(n_folds), shuffle=True, random_state=seed)


def count_first(folds: np.ndarray) -> int:
    """Return how many folds hold out every row once: those of the first round, or as many random splits."""
    judges = folds == JUDGES
    once = round(judges.any(axis=0).sum() / judges.sum(axis=1).mean())
    return int(np.clip(once, min(2, len(folds)), len(folds)))


def make_blocks(n_blocks: int, strata: np.ndarray, seed: int, groups: Any = None) -> np.ndarray:
    """Return a block for each row, shape (n_samples,): of equal size, and alike in their strata.

    Groups of rows stay whole.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.choice.folds import make_blocks
    >>> np.bincount(make_blocks(4, np.repeat([0, 1], 10), seed=0))
    array([5, 5, 5, 5])
    """
    rng = np.random.RandomState(seed)
    if groups is not None:
        codes = np.unique(groups, return_inverse=True)[1]
        return rng.permutation(codes.max() + 1)[codes].astype(np.int64) % n_blocks
    shuffled = rng.permutation(len(strata))
    blocks = np.empty(len(strata), dtype=np.int64)
    blocks[shuffled[np.argsort(strata[shuffled], kind="stable")]] = np.arange(len(strata)) % n_blocks
    return blocks
