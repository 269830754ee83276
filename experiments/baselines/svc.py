"""A linear support vector classifier with an L1 penalty."""

from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, l1_min_c

from experiments.baselines.base import Baseline, Selection
from experiments.baselines.lasso_path import paths_silenced, select_by_coefficients

_LARGEST_C = 1.0  # of the paper's search
_N_POINTS = 15


class LinearSVCSelector(Baseline):
    """A linear SVC with an L1 penalty on standardised columns; features have a coefficient other than 0.

    The models of `path` go from the empty one to C = 1, the end of the paper's range. Without validation
    rows a tenth of the rows chooses among them.

    Parameters
    ----------
    kind : {"classification"}, default="classification"
    C : float, optional
        The weight of the squared hinge loss against the penalty, where it is given instead of chosen.
    random_state : int, RandomState or None, default=None
        Chooses the rows that are held out.

    Attributes
    ----------
    feature_importances_ : ndarray, shape (n_features,)
        Absolute coefficients, of several classes the largest.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.baselines import LinearSVCSelector
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> LinearSVCSelector(C=0.05, random_state=0).fit(X, X[:, 1] > 0).get_support(indices=True)
    array([1])
    """

    _refused = {
        "regression": "a support vector classifier needs classes",
        "survival": "a support vector classifier needs classes",
    }

    def __init__(self, kind: str = "classification", *, C: float | None = None, random_state: Any = None):
        self.kind = kind
        self.C = C
        self.random_state = random_state

    def _is_given(self) -> bool:
        return self.C is not None

    def _path(self, X: np.ndarray, y: np.ndarray, seed: int) -> list[Selection]:
        scaler = StandardScaler().fit(X)
        inputs = scaler.transform(X)
        if self.C is None:
            smallest = l1_min_c(inputs, y, loss="squared_hinge")  # of the empty model
            Cs = np.geomspace(min(smallest, _LARGEST_C), _LARGEST_C, _N_POINTS)
        else:
            Cs = np.array([self.C])
        with paths_silenced():
            return [select_by_coefficients(scaler, self._fit_one(inputs, y, C, seed)) for C in Cs]

    def _fit_one(self, X: np.ndarray, y: np.ndarray, C: float, seed: int) -> LinearSVC:
        # the intercept is penalised; as the weight of a large constant it costs next to nothing
        model = LinearSVC(penalty="l1", dual=False, C=C, intercept_scaling=100.0, random_state=seed)
        return model.fit(X, y)
