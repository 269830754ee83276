"""How well a selection matches the features that matter."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata
from sklearn.metrics import precision_recall_fscore_support


def selection_scores(selected: ArrayLike, relevant: ArrayLike) -> dict[str, float]:
    r"""Return precision, recall and F1 of a selected set; each is 0 where it is 0/0.

    .. math:: F_1 = 2 \cdot \text{precision} \cdot \text{recall} / (\text{precision} + \text{recall})

    Parameters
    ----------
    selected, relevant : array of bool, shape (n_features,)

    Examples
    --------
    >>> from stochgate.metrics import selection_scores
    >>> selection_scores([True, True, False], [True, False, False])["recall"]
    1.0
    """
    precision, recall, f1, _ = precision_recall_fscore_support(
        np.asarray(relevant, dtype=bool),
        np.asarray(selected, dtype=bool),
        average="binary",
        zero_division=0.0,
    )
    return {"precision": float(precision), "recall": float(recall), "f1": float(f1)}


def median_rank(importances: ArrayLike, relevant: ArrayLike) -> float:
    """Return the median rank of the relevant features, 1 being the most important.

    Features of equal importance share the mean of their ranks: two relevant features ahead of all
    others have the median rank 1.5, and all features equal give (n_features + 1) / 2.

    Parameters
    ----------
    importances : array, shape (n_features,)
    relevant : array of bool, shape (n_features,)

    Examples
    --------
    >>> from stochgate.metrics import median_rank
    >>> median_rank([0.9, 0.1, 0.8], [True, False, True])
    1.5
    """
    ranks = rankdata(-np.asarray(importances, dtype=np.float64), method="average")
    return float(np.median(ranks[np.asarray(relevant, dtype=bool)]))


def informative_weight_ratio(weights: ArrayLike, relevant: ArrayLike) -> float:
    r"""Return the informative features' share of all weight (IFWR); 0 when there is no weight.

    .. math:: \sum_{d \in S^*} |W_d| / \sum_d |W_d|

    Parameters
    ----------
    weights : array, shape (n_features,)
    relevant : array of bool, shape (n_features,)

    Examples
    --------
    >>> from stochgate.metrics import informative_weight_ratio
    >>> informative_weight_ratio([3.0, 1.0, 0.0], [True, False, False])
    0.75
    """
    size = np.abs(np.asarray(weights, dtype=np.float64))
    total = size.sum()
    return float(size[np.asarray(relevant, dtype=bool)].sum() / total) if total > 0 else 0.0


def support_overlap(supports: Sequence[ArrayLike]) -> float:
    r"""Return the mean Jaccard overlap of all pairs of runs; two empty selections agree (1).

    .. math:: \text{mean}_{a < b} |S_a \cap S_b| / |S_a \cup S_b|

    Parameters
    ----------
    supports : sequence of bool arrays, shape (n_runs, n_features)

    Examples
    --------
    >>> from stochgate.metrics import support_overlap
    >>> support_overlap([[True, True], [True, False]])
    0.5
    """
    S = np.asarray(supports, dtype=float)
    if len(S) < 2:
        raise ValueError(f"Overlap needs at least two runs; got {len(S)}.")
    both = S @ S.T
    size = S.sum(axis=1)
    either = size[:, None] + size - both
    overlap = np.where(either > 0, both / np.maximum(either, 1), 1.0)
    return float(overlap[np.triu_indices(len(S), k=1)].mean())


def selection_stability(supports: Sequence[ArrayLike]) -> float:
    r"""Return Nogueira's stability of the selections of several runs (Nogueira, Sechidis, Brown, 2018).

    .. math:: 1 - \frac{\frac{1}{d} \sum_f \frac{M}{M - 1} p_f (1 - p_f)}
                     {\frac{\bar k}{d} (1 - \frac{\bar k}{d})}

    for M runs, d features, the share p_f of runs that select feature f and the mean number k of selected
    features. It is 1 when all runs select the same features and 0 in the mean when they select at random,
    whatever their number. When every run selects nothing, or everything, it is 0/0: NaN, since no choice
    was made that could be stable.

    Parameters
    ----------
    supports : sequence of bool arrays, shape (n_runs, n_features)

    Examples
    --------
    >>> from stochgate.metrics import selection_stability
    >>> round(selection_stability([[True, True, False, False], [True, False, False, False]]), 4)
    0.4667
    """
    S = np.asarray(supports, dtype=float)
    if len(S) < 2:
        raise ValueError(f"Stability needs at least two runs; got {len(S)}.")
    share = S.mean(axis=0)  # (n_features,)
    chance = share.mean() * (1 - share.mean())
    if chance == 0:
        return float("nan")
    return float(1 - S.var(axis=0, ddof=1).mean() / chance)
