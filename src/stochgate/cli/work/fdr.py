"""Columns chosen at a false discovery rate, and the model that uses them."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if

from stochgate.cli.notes import collect_notes
from stochgate.engine import Training
from stochgate.problem.remarks import find_remarks
from stochgate.stability.selector import StabilitySelector

_CLOSES_ALL = {"lam": 1e12, "training": Training(n_steps=10, gate_lr=1.0)}  # in the first step


class FdrModel(BaseEstimator):
    """A selector with error control, and after it a model on what that found.

    The model's network and number of steps are chosen on folds; its columns are not up for choice any more.
    Without any column it predicts the base rate.

    Parameters
    ----------
    model : GatedClassifier, GatedRegressor or GatedCox
    fdr : float

    Attributes
    ----------
    selector_ : StabilitySelector
    model_ : of the kind of `model`, fitted to the columns found
    remarks_ : list of str
        On all columns.
    notes_ : list of str
        Why nothing was found.

    Examples
    --------
    >>> from stochgate import GatedRegressor
    >>> from stochgate.cli.work.fdr import FdrModel
    >>> FdrModel(GatedRegressor(), fdr=0.1)
    FdrModel(fdr=0.1, model=GatedRegressor())
    """

    def __init__(self, model: Any, fdr: float):
        self.model = model
        self.fdr = fdr

    def fit(self, X: Any, y: Any) -> "FdrModel":
        """Select columns of the DataFrame X, then fit the model to them."""
        selector = StabilitySelector(self.model, fdr=self.fdr, random_state=self.model.random_state)
        with collect_notes() as self.notes_:
            self.selector_ = selector.fit(X, y)
        names = list(X.columns)
        problem, _ = clone(self.model)._make_problem(X, y, None, None)
        self.remarks_ = find_remarks(problem, names).sentences(names)
        self.found_ = [name for name, chosen in zip(names, selector.support_, strict=True) if chosen]
        if self.found_:
            self.model_ = clone(self.model).set_params(always_keep=self.found_).fit(X[self.found_], y)
        else:
            with collect_notes():  # the selector has said that nothing was found
                self.model_ = clone(self.model).set_params(**_CLOSES_ALL).fit(X, y)
        return self

    def _columns(self, X: Any) -> Any:
        return X[self.found_] if self.found_ else X

    def predict(self, X: Any) -> np.ndarray:
        """Return the model's predictions."""
        return self.model_.predict(self._columns(X))

    def score(self, X: Any, y: Any) -> float:
        """Return the model's score."""
        return self.model_.score(self._columns(X), y)

    @property
    def classes_(self) -> np.ndarray:
        """The class labels of a classifier, sorted."""
        return self.model_.classes_

    @available_if(lambda self: hasattr(self.model, "predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the model's probabilities of the classes."""
        return self.model_.predict_proba(self._columns(X))

    def get_support(self) -> np.ndarray:
        """Return which columns were found, shape (n_features,)."""
        return self.selector_.get_support()

    def __sklearn_tags__(self) -> Tags:
        return get_tags(self.model)
