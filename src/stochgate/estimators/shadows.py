"""Shadow columns: copies of the features with their rows permuted, so that nothing but chance is left."""

from typing import Any

import numpy as np
from scipy import sparse

COLUMNS = 600  # with fewer columns than that in all, there are more sets of shadows


def number_of_shadows(n_features: int, fdr: float) -> int:
    """Return how many sets of shadows to draw: at least two, more where columns are few.

    With m sets no q-value is below 1 / (m n_selected): two make a rate of 0.1 reachable from five
    selected features on; 1 / fdr sets make it reachable from one.

    Examples
    --------
    >>> from stochgate.estimators.shadows import number_of_shadows
    >>> number_of_shadows(12, 0.1), number_of_shadows(64, 0.1), number_of_shadows(500, 0.1)
    (10, 8, 2)
    """
    return max(2, min(int(np.ceil(1 / fdr)), COLUMNS // n_features - 1))


def add_shadows(X: Any, n_shadows: int, rng: np.random.RandomState) -> Any:
    """Return X with n_shadows permuted copies beside it; a copy's rows move together."""
    copies = [X] + [X[rng.permutation(X.shape[0])] for _ in range(n_shadows)]
    return sparse.csr_array(sparse.hstack(copies)) if sparse.issparse(X) else np.hstack(copies)
