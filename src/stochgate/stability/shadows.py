"""Shadow columns: copies of the features with their rows permuted, so that nothing but chance is left.

References
----------
Bates, Candès, Lei, Romano and Sesia (2023), Testing for outliers with conformal p-values, Annals of
Statistics 51, 149-178.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

COLUMNS = 600  # with fewer columns than that in all, there are more sets of shadows


def number_of_shadows(n_features: int, fdr: float) -> int:
    """Return how many sets of shadows to draw: at least two, more where columns are few.

    With m sets no q-value is below 1 / (m n_selected): two make a rate of 0.1 reachable from five
    selected features on; 1 / fdr sets make it reachable from one.

    Examples
    --------
    >>> from stochgate.stability.shadows import number_of_shadows
    >>> number_of_shadows(12, 0.1), number_of_shadows(64, 0.1), number_of_shadows(500, 0.1)
    (10, 8, 2)
    """
    return max(2, min(int(np.ceil(1 / fdr)), COLUMNS // n_features - 1))


def add_shadows(X: Any, n_shadows: int, rng: np.random.RandomState) -> Any:
    """Return X with n_shadows permuted copies beside it; a copy's rows move together."""
    copies = [X] + [X[rng.permutation(X.shape[0])] for _ in range(n_shadows)]
    return sparse.csr_array(sparse.hstack(copies)) if sparse.issparse(X) else np.hstack(copies)


def shadow_fdr(scores: ArrayLike, shadow_scores: ArrayLike) -> np.ndarray:
    r"""Return the smallest false discovery rate at which each feature is selected (its q-value).

    Shadows are copies of the features with their rows permuted: whatever score they reach, they reach by
    chance. Of p features, those with a score of at least t contain an estimated share of false ones of

    .. math:: \widehat{FDR}(t) = \frac{p}{n + 1} \cdot
        \frac{1 + \#\{\text{shadow scores} \ge t\}}{\max(1, \#\{\text{scores} \ge t\})}

    with n shadow scores, from one set of shadows or several. A feature's q-value is the lowest estimate
    among the t that select it, at most 1. These are Benjamini and Hochberg's adjusted conformal p-values
    (Bates et al. 2023): selecting what is at most alpha controls the false discovery rate when scores of
    noise features and of shadows are exchangeable. With one set of shadows no q-value is below
    about 1 / n_selected; with m sets, below 1 / (m n_selected).

    Parameters
    ----------
    scores : array, shape (n_features,)
    shadow_scores : array of any shape

    Examples
    --------
    >>> from stochgate.stability.shadows import shadow_fdr
    >>> shadow_fdr([0.9, 0.8, 0.2, 0.1], [0.3, 0.1, 0.0, 0.2, 0.1, 0.0, 0.1])
    array([0.25, 0.25, 0.5 , 0.75])
    """
    values = _check_scores("scores", scores)
    shadows = np.sort(_check_scores("shadow_scores", shadow_scores))
    order = np.argsort(values)
    ascending = values[order]
    above = len(values) - np.searchsorted(ascending, ascending, side="left")  # at least 1
    shadows_above = len(shadows) - np.searchsorted(shadows, ascending, side="left")
    estimates = len(values) / (len(shadows) + 1) * (1 + shadows_above) / above
    q_values = np.empty(len(values))
    q_values[order] = np.minimum(np.minimum.accumulate(estimates), 1.0)
    return q_values


def select_by_fdr(scores: ArrayLike, shadow_scores: ArrayLike, fdr: float) -> np.ndarray:
    """Return which features `shadow_fdr` selects at a false discovery rate, a boolean mask.

    Parameters
    ----------
    scores, shadow_scores : as in `shadow_fdr`
    fdr : float
        Between 0 and 1.

    Examples
    --------
    >>> from stochgate.stability.shadows import select_by_fdr
    >>> select_by_fdr([0.9, 0.8, 0.1], [0.3, 0.1, 0.0, 0.2, 0.1, 0.0], fdr=0.25)
    array([ True,  True, False])
    """
    if not 0 < fdr < 1:
        raise ValueError(f"fdr={fdr!r} is no rate: give a number between 0 and 1, such as 0.1.")
    return shadow_fdr(scores, shadow_scores) <= fdr


def _check_scores(name: str, scores: ArrayLike) -> np.ndarray:
    values = np.ravel(np.asarray(scores, dtype=np.float64))
    if len(values) == 0:
        raise ValueError(f"{name} is empty: at least one score is needed.")
    if np.isnan(values).any():
        raise ValueError(
            f"{name} contains NaN at {np.flatnonzero(np.isnan(values))[0]}: give every one a score."
        )
    return values
