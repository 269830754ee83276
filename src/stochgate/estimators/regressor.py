"""Regression with gated features."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from stochgate.engine import Training
from stochgate.estimators.base import GatedEstimator
from stochgate.estimators.documentation import document
from stochgate.objectives import Objective, Regression


@document
class GatedRegressor(RegressorMixin, GatedEstimator):
    """Regressor, for one or several outputs, that selects its features with stochastic gates.

    Parameters
    ----------
    %(lam)s
    %(parameters)s

    Attributes
    ----------
    %(attributes)s
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate import GatedRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 20))
    >>> model = GatedRegressor(lam=1.0, random_state=0).fit(X, X[:, 4] ** 2 + X[:, 9])
    >>> np.flatnonzero(model.get_support())
    array([4, 9])
    """

    def _make_objective(self, training: Training) -> Objective:
        return Regression(standardize=training.standardize)

    def _as_coefficients(self, values: np.ndarray) -> np.ndarray:
        return values if self._facts["many"] else values[0]

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted y, shaped as the y of `fit`."""
        predicted = self._read(X)
        return predicted if self._facts["many"] else predicted[:, 0]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R2; of a table on disk y is the name of its column."""
        return super().score(*self._scored(X, y, sample_weight))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
