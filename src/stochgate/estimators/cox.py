"""Cox survival models with gated features."""

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from stochgate.backends import Backend
from stochgate.engine import Training
from stochgate.estimators.base import GatedEstimator
from stochgate.estimators.baseline_hazard import BaselineHazard, to_survival
from stochgate.estimators.documentation import document
from stochgate.gates import Gate
from stochgate.metrics import concordance_index
from stochgate.networks import Network
from stochgate.objectives import Cox, Objective
from stochgate.problem.problem import Problem
from stochgate.survival import read_survival_target


@document
class GatedCox(GatedEstimator):
    """Cox proportional hazards model that selects its features with stochastic gates.

    y is (event, time): a tuple of two arrays, two columns of which the first is the event (1 = observed,
    0 = censored), a structured array as in scikit-survival, or a DataFrame with an event and a time. With
    entry times (left truncation) or strata it is what `survival_target` returns, or a DataFrame with the
    columns event, time, entry and stratum.

    Parameters
    ----------
    %(lam)s
    ties : {"breslow", "efron"}, default="breslow"
        How tied events enter the likelihood and the baseline hazard.
    %(parameters)s

    Attributes
    ----------
    %(attributes)s
    baseline_ : BaselineHazard
        The cumulative hazard of a row whose `predict` is 0, of each stratum, estimated from all rows of the
        fit: ``baseline_.cumulative_hazard(times, stratum)``.
    n_features_in_, feature_names_in_ : as everywhere in scikit-learn

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate import GatedCox
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 10))
    >>> time = rng.exponential(np.exp(-1.5 * X[:, 2]))
    >>> model = GatedCox(lam=1.0, random_state=0).fit(X, (np.ones(200), time))
    >>> np.flatnonzero(model.get_support())
    array([2])
    """

    def __init__(
        self,
        lam: float | str = "auto",
        *,
        ties: str = "breslow",
        gate: str | Gate = "gaussian",
        network: str | Network | None = None,
        hidden: tuple[int, ...] | None = None,
        activation: str | None = None,
        feature_groups: Any = None,
        costs: Any = None,
        always_keep: Any = None,
        threshold: float = 0.0,
        cv: Any = 5,
        rule: Any = "auto",
        alpha: float = 0.05,
        n_features_to_select: int | None = None,
        missing: str = "auto",
        training: Training | None = None,
        device: str = "auto",
        backend: str | Backend | None = None,
        callbacks: Any = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ):
        super().__init__(
            lam, gate=gate, network=network, hidden=hidden, activation=activation,
            feature_groups=feature_groups, costs=costs, always_keep=always_keep, threshold=threshold,
            cv=cv, rule=rule, alpha=alpha, n_features_to_select=n_features_to_select, missing=missing,
            training=training, device=device, backend=backend, callbacks=callbacks, verbose=verbose,
            random_state=random_state,
        )  # fmt: skip
        self.ties = ties

    def _make_objective(self, training: Training) -> Objective:
        return Cox(self.ties)

    def predict(self, X: Any) -> np.ndarray:
        """Return the log hazard of each row relative to the baseline, shape (n_samples,)."""
        return self._read(X)[:, 0]

    def predict_survival_function(
        self, X: Any, times: ArrayLike | None = None, strata: ArrayLike | None = None
    ) -> np.ndarray:
        r"""Return the probability of no event up to each time, :math:`\exp(-H_0(t) e^{f(x)})`.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix, shape (n_samples, n_features)
        times : array, shape (n_times,), optional
        strata : array of labels, shape (n_samples,), optional
            Needed where the fit had strata, and known to it.

        Returns
        -------
        ndarray, shape (n_samples, n_times); without times an array of functions, shape (n_samples,), to be
        called with times, with the distinct times x of the fit (of the row's stratum, censored ones too)
        and the values y from there on. After the last time of the fit curves stay as they are.

        Examples
        --------
        >>> import numpy as np
        >>> from stochgate import GatedCox
        >>> X = np.random.default_rng(0).normal(size=(100, 2))
        >>> y = np.ones(100), np.exp(-X[:, 0] - X[:, 1])
        >>> model = GatedCox(lam=0.1, network="linear", random_state=0).fit(X, y)
        >>> model.predict_survival_function(X[:3], times=[0.5, 1.0, 2.0]).shape
        (3, 3)
        >>> model.predict_survival_function(X[:3])[0](0.0)
        np.float64(1.0)
        """
        return to_survival(self.predict_cumulative_hazard_function(X, times, strata))

    def predict_cumulative_hazard_function(
        self, X: Any, times: ArrayLike | None = None, strata: ArrayLike | None = None
    ) -> np.ndarray:
        """Return the cumulative hazard at each time; all as in `predict_survival_function`."""
        log_risk = self.predict(X)
        return self.baseline_.predict(log_risk, times, strata)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return Harrell's concordance index of the predicted risk, of pairs within a stratum."""
        X, y, sample_weight = self._scored(X, y, sample_weight)
        target = read_survival_target(y)
        return concordance_index(
            target.event,
            target.time,
            self.predict(X),
            entry=target.entry,
            strata=target.stratum,
            sample_weight=sample_weight,
        )

    def _learn_from_rows(self, problem: Problem) -> None:
        """Estimate the baseline hazard, in double precision."""
        rows = {name: value.cpu() for name, value in problem.target.rows.items()}
        output, weights = (
            self._predictor.outputs(problem.X).double(),
            torch.from_numpy(problem.sample_weight)[None],
        )
        log_jumps = Cox(self.ties).log_jumps(output, rows, weights)[0].numpy()
        self.baseline_ = BaselineHazard.make(rows["block"].numpy(), log_jumps, **self._facts)
