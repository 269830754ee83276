"""A fitted model cut down to the columns it uses."""

import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from stochgate.tables.frame import column_names, in_memory, take_columns

_PER_FEATURE = (
    "gates_",
    "support_",
    "open_probability_",
    "feature_importances_",
    "selection_frequency_",
    "feature_names_in_",
)
OF_ALL_COLUMNS = ("feature_groups", "costs", "always_keep")


class ReducedMixin:
    """What a model needs to be handed on: it can do without the columns it does not use."""

    support_: np.ndarray
    _is_reduced = False

    def reduced(self) -> Self:
        """Return the fitted model that takes only the selected columns, with the same predictions.

        It is what is saved, exported and deployed. Fitted to a DataFrame whose columns are named by texts,
        it also takes one with more columns, in any order, and finds its own by name.

        Returns
        -------
        The same kind of estimator; it has the summary of this one if that was asked for, but no data, so no
        `at`.

        Examples
        --------
        >>> import numpy as np
        >>> from stochgate import GatedRegressor
        >>> X = np.random.default_rng(0).normal(size=(200, 20))
        >>> model = GatedRegressor(lam=1.0, random_state=0).fit(X, X[:, 4] ** 2 + X[:, 9])
        >>> small = model.reduced()
        >>> small.n_features_in_, bool((small.predict(X[:, [4, 9]]) == model.predict(X)).all())
        (2, True)
        """
        check_is_fitted(self)
        if not self.support_.any():
            raise ValueError("No feature is selected, so there is no model of the selected columns.")
        return self._cut_down()

    def transform(self: Any, X: Any) -> Any:
        """Reduce X to the selected features; a reduced model finds its own by name."""
        check_is_fitted(self)
        return super().transform(self._own_columns(X))  # type: ignore[misc]

    def _cut_down(self: Any) -> Any:
        """Return the model of the selected columns; without any it predicts the base rate for all rows."""
        selected = np.flatnonzero(self.support_)
        model = copy.copy(self)
        model._choice, model._is_reduced = None, True
        for name in _PER_FEATURE:
            if hasattr(self, name):
                setattr(model, name, getattr(self, name)[selected])
        if getattr(self, "gate_history_", None) is not None:
            gates = self.gate_history_["gates"][:, selected]
            model.gate_history_ = {**self.gate_history_, "gates": gates}
        for name in OF_ALL_COLUMNS:
            setattr(model, name, None)
        model.n_features_in_ = len(selected)
        model._table = self._table.take(selected)
        features = np.searchsorted(self._columns_of(selected), self._predictor.features)
        model._predictor = replace(self._predictor, features=features)
        return model

    def _columns_of(self: Any, features: np.ndarray) -> np.ndarray:
        """Return the columns of numbers that some features are made into."""
        feature_of = self._table.feature_of()
        return features if feature_of is None else np.flatnonzero(np.isin(feature_of, features))

    def _features_of(self: Any, columns: np.ndarray) -> np.ndarray:
        """Return the features that columns of numbers are made of."""
        feature_of = self._table.feature_of()
        return columns if feature_of is None else feature_of[columns]

    def _own_columns(self: Any, X: Any) -> Any:
        """Return a table to predict from, of which a reduced model takes its own columns by name."""
        X = in_memory(X)
        names = column_names(X)
        if names is None or not hasattr(self, "feature_names_in_"):
            return X
        if not self._is_reduced:
            self._refuse_other_order(X, names)
            return X
        place = {name: i for i, name in enumerate(names)}
        lacking = [name for name in self.feature_names_in_ if name not in place]
        if lacking:
            listed = ", ".join(map(repr, lacking[:5])) + (", ..." if len(lacking) > 5 else "")
            raise ValueError(
                f"X lacks {len(lacking)} of the {self.n_features_in_} columns the model uses: {listed}; "
                "hand in a table that has them, by these names."
            )
        return take_columns(X, [place[name] for name in self.feature_names_in_])

    def _refuse_other_order(self: Any, X: Any, names: list[Any]) -> None:
        """Raise scikit-learn's error, with a way out, where X has all columns of the fit."""
        known = self.feature_names_in_.tolist()
        if names == known or not set(known) <= set(names) or len(set(names)) < len(names):
            return
        try:
            validate_data(self, X, reset=False, skip_check_array=True)
        except ValueError as error:
            raise ValueError(
                f"{error}Hand in X[model.feature_names_in_], or take model.reduced(), which finds its own "
                "columns by name."
            ) from None
