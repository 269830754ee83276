"""A selector whose columns are made by the steps of a pipeline."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted, validate_data

from stochgate.evaluation.pipeline import (
    Steps,
    apply_steps,
    fit_without_y,
    name_columns,
    name_frame,
    undo_steps,
)
from stochgate.problem.problem import LARGEST_SEED
from stochgate.tables.check import check_table
from stochgate.tables.frame import in_memory


class PreprocessedMixin(SelectorMixin):
    """Selects from the columns that its fitted `steps_` make; without any, from those of X."""

    steps_: Steps

    def _preprocess(
        self, steps: Steps, X: Any, sample_weight: Any, random_state: np.random.RandomState
    ) -> tuple[Steps, Any]:
        """Check X; return the steps, fitted to its rows of positive weight, and what they make of X."""
        if not steps:
            check_table(self, X)
            return steps, X
        validate_data(self, X, reset=True, skip_check_array=True)
        steps = [(name, with_seeds(step, random_state, missing=True)) for name, step in steps]
        used = np.flatnonzero(_check_sample_weight(sample_weight, X))
        if 0 < len(used) < _num_samples(X):
            fit_without_y(steps, _safe_indexing(X, used))
            made = apply_steps(steps, X)
        else:
            made = fit_without_y(steps, X)
        return steps, name_frame(made, steps, X)

    def transform(self, X: Any) -> Any:
        """Apply the steps before the estimator, if any, and reduce X to the selected features."""
        check_is_fitted(self)
        X = in_memory(X)
        if not self.steps_:
            return super().transform(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        made = check_array(apply_steps(self.steps_, X), accept_sparse="csr", dtype=None)
        return self._transform(made)

    def inverse_transform(self, X: Any) -> Any:
        """Put columns of zeros where features were left out, and undo the steps before, if any."""
        check_is_fitted(self)
        if not self.steps_:
            return super().inverse_transform(X)
        X = X.toarray() if sparse.issparse(X) else X  # scikit-learn calls this method again for sparse X
        return undo_steps(self.steps_, super().inverse_transform(X))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the selected features, as the steps before the estimator call them."""
        check_is_fitted(self)
        if not self.steps_:
            return super().get_feature_names_out(input_features)
        return np.asarray(name_columns(self.steps_, input_features), dtype=object)[self.get_support()]


def with_seeds(estimator: Any, random_state: np.random.RandomState, missing: bool = False) -> Any:
    """Return a copy of an estimator whose random states, and those of its parts, are drawn from one.

    With `missing`, only those that are None are.
    """
    parameters = estimator.get_params()
    names = [name for name in sorted(parameters) if name.split("__")[-1] == "random_state"]
    names = [name for name in names if parameters[name] is None or not missing]
    return clone(estimator).set_params(**{name: random_state.randint(LARGEST_SEED) for name in names})
