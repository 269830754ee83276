"""Stability selection: what most halves of the rows agree on, with error control."""

import warnings
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from stochgate.backends import NAMES, Backend, trained_on
from stochgate.engine.checkpoint import Checkpoint, open_checkpoint
from stochgate.estimators.base import GatedEstimator
from stochgate.estimators.warnings import NoFeatureSelectedWarning
from stochgate.evaluation.pipeline import list_steps
from stochgate.problem.checkpoint import keep_plans
from stochgate.problem.problem import LARGEST_SEED
from stochgate.sources.opening import is_stream
from stochgate.stability.frequencies import Frequencies, gated_frequencies, other_frequencies
from stochgate.stability.halves import complementary_pairs
from stochgate.stability.preprocessed import PreprocessedMixin, with_seeds
from stochgate.stability.shadows import add_shadows, number_of_shadows
from stochgate.stability.stable import (
    Stable,
    stable_and_telling,
    stable_at,
    stable_by_bound,
    stable_by_shadows,
)
from stochgate.stability.why_empty import Reason
from stochgate.tables.check import check_numbers
from stochgate.tables.frame import in_memory


class StabilitySelector(PreprocessedMixin, MetaEstimatorMixin, BaseEstimator):
    """Selects the features that most halves of the rows agree on.

    An estimator of this library trains its whole path on all halves as one stack of models; any other
    estimator is fitted half by half. Give one of `threshold`, `max_false` and `fdr`; where `max_false` or
    `fdr` select nothing, a `NoFeatureSelectedWarning` says why.

    A pipeline that ends in an estimator of this library is a preprocessing and a selection: its earlier
    steps are fitted once, to all rows and without y (a step that needs y is refused), and
    ``StabilitySelector(make_pipeline(scaler, GatedRegressor()))`` equals
    ``make_pipeline(scaler, StabilitySelector(GatedRegressor()))``. So `support_` and the other attributes
    refer to the columns that enter the last step (those of X, where the steps keep them), and `transform`
    applies the steps first.

    Parameters
    ----------
    estimator : estimator
        `GatedClassifier`, `GatedRegressor`, `GatedCox`, a pipeline that ends in one, or any with
        get_support, coef_ (other than 0 is selected) or feature_importances_ (above the mean is selected)
        after its fit; a pipeline that ends in such a one is fitted half by half, all its steps, and must
        keep the columns. Of an estimator of this library `lam`, networks, gates, groups, costs and training
        count; its `cv`, `rule` and `threshold` play no part.
    threshold : float, optional
        The share of halves that must select a feature, above 0.5; 0.6 when nothing else is given.
    max_false : float, optional
        Select as many as a bound on the expected number of false selections allows (Shah and Samworth,
        2013; r-concave frequencies). The bound counts features that are selected no more often than by
        chance; with an estimator of this library a feature must besides tell what no other column does,
        with a p-value of at most max_false / n_features.
    fdr : float, optional
        Select, of the features that more than half of the halves agree on, those that stand out from
        shadow columns at this false discovery rate. With an estimator of this library a shadow is drawn
        from what the other columns say of a column (their prediction plus permuted residuals) and
        takes its place in trained models that judge rows they have not seen; with any other, shadows are
        permuted copies that take part in the fits.
    n_pairs : int, default=25
        Complementary pairs of halves.
    n_shadows : int, optional
        Sets of permuted copies for estimators of other libraries; by default two, and more where columns
        are few. With m sets an fdr is out of reach below 1 / (m fdr) selected features.
    n_jobs : int, optional
        Processes for estimators of other libraries.
    backend : {"local", "ray"} or Backend, optional
        Where the models of an estimator of this library are trained; by default as its own `backend` says.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        Of the columns of X or, after a pipeline's steps, of the columns these make.
    selection_frequency_ : ndarray, shape (n_features,)
        The share of halves that select a feature, at the penalty that decided.
    frequencies_ : ndarray, shape (n_lams, n_features)
        The same along the path.
    lams_ : ndarray, shape (n_lams,)
        The penalties of the path; NaN for estimators of other libraries.
    lam_, threshold_ : float
        The penalty and the share that decided.
    expected_false_ : float
        The bound on the expected number of false selections at that threshold.
    q_values_ : ndarray, shape (n_features,)
        With `fdr` alone: the lowest rate at which a feature stands out from the shadows.
    network_ : str
        With an estimator of this library: the kind of network, chosen on the first pairs.
    steps_ : list of (str, transformer)
        The fitted steps before an estimator of this library; empty without a pipeline.

    Examples
    --------
    >>> from sklearn.linear_model import Lasso
    >>> from stochgate import StabilitySelector
    >>> from stochgate.datasets import make_linear
    >>> problem = make_linear(200, n_features=20, n_relevant=3, random_state=0)
    >>> selector = StabilitySelector(Lasso(0.3), max_false=0.5, random_state=0).fit(problem.X, problem.y)
    >>> bool((selector.get_support() == problem.relevant).all())
    True
    """

    _parameter_constraints = {
        "estimator": [BaseEstimator],
        "threshold": [Interval(Real, 0.5, 1, closed="right"), None],
        "max_false": [Interval(Real, 0, None, closed="neither"), None],
        "fdr": [Interval(Real, 0, 1, closed="neither"), None],
        "n_pairs": [Interval(Integral, 1, None, closed="left")],
        "n_shadows": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
        "backend": [StrOptions(set(NAMES)), Backend, None],
        "random_state": ["random_state"],
    }
    n_first = 10  # halves on which the kinds of network are compared

    def __init__(
        self,
        estimator: Any,
        *,
        threshold: float | None = None,
        max_false: float | None = None,
        fdr: float | None = None,
        n_pairs: int = 25,
        n_shadows: int | None = None,
        n_jobs: int | None = None,
        backend: str | Backend | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.estimator = estimator
        self.threshold = threshold
        self.max_false = max_false
        self.fdr = fdr
        self.n_pairs = n_pairs
        self.n_shadows = n_shadows
        self.n_jobs = n_jobs
        self.backend = backend
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, checkpoint: Any = None
    ) -> Self:
        """Select features.

        Parameters
        ----------
        X, y : as the estimator takes them
        sample_weight : array, shape (n_samples,), optional
            For estimators of this library.
        groups : array, shape (n_samples,), optional
            Rows that belong together (patients, batches) go to the same half.
        checkpoint : str or path, optional
            For estimators of this library: a folder, new or empty, that keeps what is trained, so that the
            same call goes on from there when the process ended early (docs/checkpoints.md).

        Returns
        -------
        self
        """
        for name in ("network_", "q_values_"):  # not every fit sets them
            self.__dict__.pop(name, None)
        self._validate_params()
        if sum(given is not None for given in (self.threshold, self.max_false, self.fdr)) > 1:
            raise ValueError("Give one of threshold, max_false and fdr: each of them sets the others.")
        if groups is not None and (self.fdr or self.max_false):
            raise ValueError(
                "fdr and max_false take rows for independent, which rows of a group are not: give one "
                "row a group, or a threshold."
            )
        if is_stream(X, y):
            raise ValueError(
                "StabilitySelector draws halves of rows in memory, but X is read block by block: give it a "
                "sample of the rows."
            )
        X, y = in_memory(X), in_memory(y)
        *steps, (_, last) = list_steps(self.estimator)
        if isinstance(last, GatedEstimator):
            where = last.backend if self.backend is None else self.backend
            with open_checkpoint(checkpoint) as saved, trained_on(where):
                seeds = (check_random_state if saved is None else saved.random_state)(self.random_state)
                steps, X = self._preprocess(steps, X, sample_weight, seeds)
                found, stable, spread = self._fit_gated(last, X, y, sample_weight, groups, seeds, saved)
        elif sample_weight is not None or checkpoint is not None:
            raise ValueError("sample_weight and checkpoint are for estimators of this library.")
        else:
            steps, seeds = [], check_random_state(self.random_state)  # steps are fitted in every half
            found, stable, spread = self._fit_other(X, y, groups, seeds)
        self.steps_ = steps
        self.support_, self.selection_frequency_ = spread(stable.support), spread(stable.frequency)
        self.lams_, self.lam_, self.threshold_ = found.lams, found.lams[stable.at], stable.threshold
        self.frequencies_ = np.array([spread(share[: len(stable.support)]) for share in found.share])
        self.expected_false_ = stable.expected_false
        if stable.q_values is not None:
            self.q_values_ = spread(stable.q_values)
        if stable.reason is not None:
            self._warn_of_nothing(stable.reason)
        return self

    def _fit_gated(
        self,
        estimator: GatedEstimator,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        random_state: np.random.RandomState,
        checkpoint: Checkpoint | None,
    ) -> tuple[Frequencies, Stable, Any]:
        model = clone(estimator).set_params(random_state=random_state.randint(LARGEST_SEED))
        model._validate_params()
        problem, groups = model._make_problem(X, y, sample_weight, groups)
        problem = keep_plans(problem, checkpoint, self, groups)
        strata, gates = problem.strata, problem.gates
        halves = self._halves(len(strata), strata, groups, random_state)
        n_first = min(self.n_first, len(halves))
        if model.n_features_to_select is not None:
            raise ValueError("n_features_to_select has no meaning here: leave it out of the estimator.")
        self.network_, problem, found = gated_frequencies(problem, halves, model.lam, n_first)
        if self.fdr is None and self.max_false is None:
            stable = self._by_threshold(found)
        else:
            seed = int(random_state.randint(LARGEST_SEED))
            stable = stable_and_telling(
                problem, found, halves, seed, fdr=self.fdr, max_false=self.max_false or 0.0
            )
        if stable.reason is not None:
            stable = replace(stable, reason=stable.reason.with_names(gates.spread, model._names()))
        return found, replace(stable, support=stable.support | gates.keep), gates.spread

    def _fit_other(
        self, X: Any, y: Any, groups: Any, random_state: np.random.RandomState
    ) -> tuple[Frequencies, Stable, Any]:
        X = check_numbers(self, X)
        if y is None:
            raise ValueError("StabilitySelector requires y to be passed, but the target y is None.")
        y = np.asarray(y)
        check_consistent_length(X, y)
        n_features = X.shape[1]
        discrete = y.ndim == 1 and type_of_target(y) in ("binary", "multiclass")
        halves = self._halves(len(y), y if discrete else None, groups, random_state)
        if self.fdr is not None:
            given = self.n_shadows
            n_sets = number_of_shadows(n_features, self.fdr) if given is None else given
            X = add_shadows(X, n_sets, random_state)
        found = other_frequencies(with_seeds(self.estimator, random_state), X, y, halves, self.n_jobs)
        if self.fdr is not None:
            stable = stable_by_shadows(found, n_features, self.fdr)
        elif self.max_false is not None:
            stable = stable_by_bound(found, self.max_false)
        else:
            stable = self._by_threshold(found)
        return found, stable, lambda values: values

    def _halves(
        self, n_samples: int, strata: Any, groups: Any, random_state: np.random.RandomState
    ) -> np.ndarray:
        seed = int(random_state.randint(LARGEST_SEED))
        return complementary_pairs(n_samples, self.n_pairs, seed, strata, groups)

    def _by_threshold(self, found: Frequencies) -> Stable:
        return stable_at(found, 0.6 if self.threshold is None else self.threshold)

    def _warn_of_nothing(self, reason: Reason) -> None:
        promise = f"fdr={self.fdr:g}" if self.fdr is not None else f"max_false={self.max_false:g}"
        besides = " besides always_keep" if self.support_.any() else ""
        text = f"No feature was selected{besides} at {promise}: {reason.text}."
        warnings.warn(text, NoFeatureSelectedWarning, stacklevel=3)

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        of_estimator = get_tags(self.estimator).input_tags
        tags.input_tags.sparse = of_estimator.sparse
        tags.input_tags.allow_nan = isinstance(self.estimator, GatedEstimator) and of_estimator.allow_nan
        tags.target_tags.required = True
        return tags
