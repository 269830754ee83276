"""Cox survival models with gated features."""

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from stochgate.engine import Training
from stochgate.estimators.base import GatedEstimator
from stochgate.estimators.baseline_hazard import BaselineHazard, to_survival
from stochgate.gates import Gate
from stochgate.metrics import concordance_index
from stochgate.networks import Network
from stochgate.objectives import Cox, Objective
from stochgate.problem.problem import Problem
from stochgate.survival import read_survival_target


class GatedCox(GatedEstimator):
    """Cox proportional hazards model that selects its features with stochastic gates.

    y is (event, time): a tuple of two arrays, two columns of which the first is the event (1 = observed,
    0 = censored), a structured array as in scikit-survival, or a DataFrame with an event and a time. With
    entry times (left truncation) or strata it is what `survival_target` returns, or a DataFrame with the
    columns event, time, entry and stratum.

    Parameters
    ----------
    lam : "auto" or float, default="auto"
        Strength of the penalty ``lam * sum_g cost_g P(z_g > 0) / n_gates``. "auto" looks for the fewest
        features that predict as well as the best model: several kinds of network and sets of every size are
        judged on held-out rows, and the final model is trained on the chosen features and all rows. What
        transfers between data sets is lam / n_gates.
    ties : {"breslow", "efron"}, default="breslow"
        How tied events enter the likelihood and the baseline hazard.
    gate : {"gaussian", "hard-concrete", "deterministic"} or Gate, default="gaussian"
    network : {"linear", "mlp", "encoded"} or Network, optional
        By default "auto" races the three kinds, and a given lam takes "mlp".
    hidden : tuple of int, optional
        Widths of the MLP's hidden layers, (64, 32) by default; () is a linear model.
    activation : {"relu", "tanh", "sigmoid", "selu", "silu"}, optional
        Of the MLP, "relu" by default.
    feature_groups : array of labels or mapping, optional
        Features that share one gate: a label a feature, or ``{name: [features]}``.
    costs : array or mapping, optional
        What opening a feature costs, 1 by default; a group costs the mean of its features.
    always_keep : list of names or positions, or mask, optional
        Features whose gate is open and not penalised. A whole number is a position.
    threshold : float, default=0
        A feature is selected when its gate is above; 0.5 is the paper's cutoff for weak signals.
    cv : int or splitter, default=5
        Folds of the automatic choice; whatever scikit-learn's `cv` takes. A number of them is drawn three
        times where there are fewer than 200 rows, or groups of rows.
    rule : {"auto", "best", "one-se"} or callable, default="auto"
        What the automatic choice takes: the fewest features that predict as well as the best model, the one
        on all columns included; the lowest held-out loss; or the fewest features within one standard error
        of it. A function is given the table `path_` and returns the position of a row, or None for no
        feature.
    n_features_to_select : int, optional
        Select exactly so many gates (a group counts once, `always_keep` counts): the strongest of one model
        on all rows, which chooses features that complement each other.
    training : Training, optional
        Steps, step sizes, batches, early stopping.
    device : str, default="auto"
        "auto" takes CUDA when it is there.
    callbacks : list of callables, optional
        Each is called with a `Snapshot` during training.
    verbose : int, default=0
        Above 0 shows a progress bar.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    support_ : ndarray of bool, shape (n_features,)
        ``gates_ > threshold``; a column outside it changes no prediction.
    gates_ : ndarray, shape (n_features,)
        The final model's deterministic gates, from 0 (closed) to 1 (open).
    open_probability_ : ndarray, shape (n_features,)
        P(z > 0), what the penalty sums.
    feature_importances_ : ndarray, shape (n_features,)
        P(z > 0). After an automatic choice the mean of the selection frequency and of P(z > 0) over folds
        and penalties of the chosen network's path (for a given number of features, of the model that
        chose them): it ranks closed features too.
    lam_ : float
        The penalty of the model, or the one chosen.
    network_ : str
        The kind of network chosen (automatic choice only, as the two that follow).
    selection_frequency_ : ndarray, shape (n_features,)
        The share of folds in whose set a feature is, made as the chosen set was.
    path_ : DataFrame, or list of dict without pandas
        A row for every network and set of features that was judged: how many features a model on all rows
        uses, how many each fold has open (`n_by_fold`), the folds' vote at their last step (`n_at_end`),
        and losses with their spread over the folds. The losses made the choice: they rank, they are not
        an estimate of performance.
    n_steps_ : int
        The step the model is from.
    history_ : dict of ndarray
        "step", "train_loss" and "held_out_loss" at each snapshot.
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
        n_features_to_select: int | None = None,
        training: Training | None = None,
        device: str = "auto",
        callbacks: Any = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ):
        super().__init__(
            lam,
            gate=gate,
            network=network,
            hidden=hidden,
            activation=activation,
            feature_groups=feature_groups,
            costs=costs,
            always_keep=always_keep,
            threshold=threshold,
            cv=cv,
            rule=rule,
            n_features_to_select=n_features_to_select,
            training=training,
            device=device,
            callbacks=callbacks,
            verbose=verbose,
            random_state=random_state,
        )
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
        >>> y = np.ones(100), np.exp(-X[:, 0])
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

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return Harrell's concordance index of the predicted risk, of pairs within a stratum."""
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
