"""What an estimator can be asked besides its predictions."""

import copy
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from stochgate.backends import trained_on
from stochgate.choice.final import Choice
from stochgate.explain.at_size import at_penalty, at_size, on_all_columns
from stochgate.explain.summary import summarize
from stochgate.explain.summary_table import Summary
from stochgate.problem.validation import refuse_diverged


class ExplainMixin:
    """The summary, and the model at another size or penalty."""

    _summary: Summary | None
    _choice: Choice | None

    def summary(self: Any) -> Summary:
        """Return what a person acts on: a verdict, and for each selected feature what stands behind it.

        Features are left out in turn and the model trained again on every fold, so the first call takes a
        while. What it returns is kept with the model, also when that is pickled or lets go of its data
        (`forget_data`).
        Directions and stand-ins are read from the X of the fit, which must not have changed since.

        Returns
        -------
        Summary

        Examples
        --------
        >>> import numpy as np
        >>> from stochgate import GatedRegressor
        >>> X = np.random.default_rng(0).normal(size=(200, 5))
        >>> model = GatedRegressor(network="linear", random_state=0).fit(X, 2 * X[:, 3] - X[:, 1])
        >>> model.summary().verdict
        'clear signal'
        >>> model.summary().features[["feature", "direction"]].to_numpy().tolist()
        [[3, '+'], [1, '-']]
        """
        check_is_fitted(self)
        if self._summary is None:
            with trained_on(self.backend):
                self._summary = summarize(self)
        return self._summary

    def at(self, *, k: int | None = None, lam: float | None = None) -> Self:
        """Return a fitted estimator at another number of features or another penalty.

        Parameters
        ----------
        k : int, optional
            Exactly so many gates: the first of the ranking that the choice found best, the chosen ones
            before the others, so that sets of all sizes are nested.
        lam : float, optional
            A penalty of `path_` gives a model on the features its folds agree on at their last step
            (`n_at_end`), another a new model.

        Returns
        -------
        The same kind of estimator; its `source_` says whether it is this fit's model or was trained now.
        Its parameters ask for what it is, and its `selection_frequency_` is that of the nearest row of
        `path_`.
        """
        check_is_fitted(self)
        if (k is None) == (lam is None):
            raise ValueError("Give either k (a number of features) or lam (a penalty).")
        if self._choice is None:
            raise ValueError(
                "at() needs a fit with lam='auto' and its data, which are neither pickled nor copied, and "
                "which forget_data() lets go of."
            )
        model: Any = copy.copy(self)
        model._choice = self._choice  # which a copy, like a pickle, does without
        asked = {"n_features_to_select": k} if lam is None else {"lam": lam}
        clone(model).set_params(**asked)._validate_params()
        open_gates = np.unique(self._choice.problem.gates.number()[model.support_])
        if k == len(open_gates) or lam == model.lam_:
            model.source_ = "this fit's model"
            return model
        with trained_on(model.backend):
            fitted, model.source_ = (
                at_size(self._choice, int(k or 0)) if lam is None else at_penalty(self._choice, float(lam))
            )
        if lam is None:
            model.n_features_to_select = k
        else:
            model.lam, model.n_features_to_select = lam, None
            if model.network is None and model.hidden is None and model.activation is None:
                model.network = model.network_  # a given lam would take an MLP
        refuse_diverged(fitted.trained)
        model._keep(fitted)
        return model

    def _on_all_columns(self: Any) -> Any:
        """Return the fitted estimator of the best model on all columns, None where none was judged."""
        with trained_on(self.backend):
            final = None if self._choice is None else on_all_columns(self._choice)
        if final is None:
            return None
        model = copy.copy(self)
        model._keep(final)
        return model

    def forget_data(self) -> Self:
        """Let go of the data of the fit, which `summary` and `at` need and predictions do not.

        Call `summary` before: what it returned stays with the model. A pickled model has no data either.

        Returns
        -------
        self

        Examples
        --------
        >>> import numpy as np
        >>> from stochgate import GatedRegressor
        >>> X = np.random.default_rng(0).normal(size=(200, 5))
        >>> model = GatedRegressor(network="linear", random_state=0).fit(X, X[:, 3] + X[:, 1]).forget_data()
        >>> model.predict(X).shape
        (200,)
        """
        check_is_fitted(self)
        self._choice = None
        return self

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        return {**state, "_choice": None} if "_choice" in state else state
