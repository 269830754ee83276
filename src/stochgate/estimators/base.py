"""What the three estimators share."""

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, check_is_fitted
from torch import Tensor

from stochgate.engine import (
    FREE,
    OPEN,
    Design,
    Predictor,
    Prescale,
    Trained,
    Training,
    execute,
    make_plan,
)
from stochgate.estimators.features import GateMap, make_gate_map
from stochgate.estimators.progress import ProgressBar
from stochgate.estimators.validation import (
    FeatureIndex,
    check_device,
    check_features,
    refuse_not_callable,
    resolve,
)
from stochgate.gates import GATES, Gate
from stochgate.networks import ACTIVATIONS, MLP, NETWORKS, Network
from stochgate.objectives import Objective, Target


class NoFeatureSelectedWarning(UserWarning):
    """No feature was selected: the model predicts the base rate."""


class ConstantColumnWarning(UserWarning):
    """A column has one value only, so its gate is closed."""


class GatedEstimator(SelectorMixin, BaseEstimator):
    """Selects features and trains the model that uses them, in one fit."""

    _parameter_constraints = {
        "lam": [Interval(Real, 0, None, closed="left")],
        "hidden": [tuple, list, None],
        "threshold": [Interval(Real, 0, 1, closed="left")],
        "training": [Training, None],
        "device": [str],
        "callbacks": [tuple, list, None],
        "verbose": ["verbose", Interval(Integral, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        lam: float = 0.5,
        *,
        gate: str | Gate = "gaussian",
        network: str | Network = "mlp",
        hidden: tuple[int, ...] | None = None,
        activation: str = "relu",
        feature_groups: Any = None,
        costs: Any = None,
        always_keep: Any = None,
        threshold: float = 0.0,
        training: Training | None = None,
        device: str = "auto",
        callbacks: Any = None,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.lam = lam
        self.gate = gate
        self.network = network
        self.hidden = hidden
        self.activation = activation
        self.feature_groups = feature_groups
        self.costs = costs
        self.always_keep = always_keep
        self.threshold = threshold
        self.training = training
        self.device = device
        self.callbacks = callbacks
        self.verbose = verbose
        self.random_state = random_state

    def _make_objective(self, training: Training) -> Objective:
        """Return the estimator's objective."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "GatedEstimator":
        """Select features and train the model.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix, shape (n_samples, n_features)
        y : the target; see the class
        sample_weight : array, shape (n_samples,), optional
            Weights of the rows inside the loss; 0 equals the row removed.

        Returns
        -------
        self
        """
        self.__dict__.pop("_predictor", None)  # whatever fails below leaves no older model behind
        self._validate_params()
        refuse_not_callable("callbacks", self.callbacks)
        training = Training() if self.training is None else self.training
        training._validate_params()
        gate, network = resolve("gate", self.gate, GATES, Gate), self._make_network()
        device, dtype = check_device(self.device), getattr(torch, training.dtype)
        objective = self._make_objective(training)
        objective._validate_params()

        X = check_features(self, X, reset=True)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        target = objective.encode(y)
        check_consistent_length(X, next(iter(target.rows.values())))
        index = FeatureIndex(X.shape[1], getattr(self, "feature_names_in_", None))
        gate_map = make_gate_map(index, self.feature_groups, self.costs, self.always_keep)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        random_state = check_random_state(self.random_state)
        held_out = self._hold_out(training, random_state, X.shape[0])
        self._refuse_no_weight(objective, target, weights * ~held_out, "left to learn from")
        if held_out.any():
            self._refuse_no_weight(objective, target, weights * held_out, "held out for early stopping")
        self._warn_of_constant_columns(X, weights)

        seen = X if weights.all() else X[weights > 0]
        prescale = Prescale.learn(seen, identity=not training.standardize)
        gate_of = None if gate_map.gate_of is None else torch.from_numpy(gate_map.gate_of).to(device)
        design = Design(prescale.apply(X, dtype, device), gate_of, gate_map.n_gates)
        rows = torch.from_numpy(np.stack([weights * ~held_out, weights * held_out]))
        rows = rows.to(device, dtype)
        plan = make_plan(
            gate,
            network,
            objective,
            training,
            lam=self.lam,
            seed=random_state.randint(np.iinfo(np.int32).max),
            weights=rows[:1],
            test_weights=rows[1:] if held_out.any() else None,
            n_gates=gate_map.n_gates,
            costs=torch.from_numpy(gate_map.costs),
            fixed=torch.where(torch.from_numpy(gate_map.keep), OPEN, FREE).to(torch.int8)[None],
            data_seed=random_state.randint(np.iinfo(np.int32).max),
        )
        target = _to_device(target, device)
        with ProgressBar(self.verbose) as bar:
            trained = execute(plan, design, target, (*bar.callbacks, *(self.callbacks or ())))
        self._refuse_diverged(trained)
        self._keep(trained, objective, target, design, prescale, gate_map)
        return self

    def _keep(
        self,
        trained: Trained,
        objective: Objective,
        target: Target,
        design: Design,
        prescale: Prescale,
        gate_map: GateMap,
    ) -> None:
        """Set the fitted attributes from a stack of one model."""
        models = trained.models
        gates = models.gates()  # (1, n_gates)
        self.gates_ = gate_map.spread(gates[0].double().cpu().numpy())
        self.support_ = self.gates_ > self.threshold
        self.open_probability_ = gate_map.spread(models.open_probability()[0].double().cpu().numpy())
        self.feature_importances_ = self.open_probability_
        self.lam_ = float(models.plan.lam[0])
        self.n_steps_ = int(trained.step[0])
        self.history_ = {
            "step": trained.steps.numpy(),
            "train_loss": trained.train_loss[:, 0].double().cpu().numpy(),
            "held_out_loss": trained.held_out_loss[:, 0].double().cpu().numpy(),
        }
        base = objective.base(target.rows, models.plan.weights, models.learned)
        gates = torch.where(gates > self.threshold, gates, 0)
        self._predictor = Predictor.make(models, design, prescale, gates, base)
        self._objective = objective
        self._learned = {name: value.cpu() for name, value in models.learned.items()}
        self._facts = target.facts
        if not self.support_.any():
            warnings.warn(
                f"No feature was selected at lam={self.lam_:g}: the model predicts the base rate; try a "
                "smaller lam.",
                NoFeatureSelectedWarning,
                stacklevel=3,
            )

    def _read(self, X: Any) -> np.ndarray:
        """Return predictions as the objective reads them, shape (n_samples, ...)."""
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        return self._objective.read(self._predictor.outputs(X), self._learned)[0].double().numpy()

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_predictor")

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _make_network(self) -> Network:
        """Return the network: `hidden` and `activation` make an MLP, an instance is taken as it is."""
        if self.activation not in ACTIVATIONS:
            raise ValueError(f"Unknown activation {self.activation!r}; use one of {sorted(ACTIVATIONS)}.")
        if self.hidden is not None:
            network: Network = MLP(tuple(self.hidden), activation=self.activation)
            network._validate_params()
            return network
        network = resolve("network", self.network, NETWORKS, Network)
        if isinstance(self.network, str) and self.network == "mlp":
            network.set_params(activation=self.activation)
        return network

    @staticmethod
    def _hold_out(training: Training, random_state: np.random.RandomState, n_samples: int) -> np.ndarray:
        """Choose the rows that early stopping is judged on, shape (n_samples,)."""
        held_out = np.zeros(n_samples, dtype=bool)
        if training.patience is not None:
            n = min(n_samples - 1, max(1, round(training.validation_fraction * n_samples)))
            held_out[random_state.permutation(n_samples)[:n]] = True
        return held_out

    @staticmethod
    def _refuse_no_weight(objective: Objective, target: Target, weights: np.ndarray, which: str) -> None:
        rows = torch.from_numpy(weights)[None]
        learned = objective.learn(target.rows, rows)
        if not objective.total(target.rows, rows, learned)[0] > 0:
            raise ValueError(
                f"The rows that are {which} have no weight (or no event): check sample_weight, and "
                "give early stopping more rows or another share of them."
            )

    @staticmethod
    def _refuse_diverged(trained: Trained) -> None:
        models = trained.models
        numbers = [models.gate_parameter, *models.parameters.values()]
        if trained.step[0] == 0 or not all(torch.isfinite(n).all() for n in numbers):
            raise ValueError(
                "The training diverged: weights are not finite numbers any more; use a smaller lr, "
                "standardize=True, or bring the columns of X to a smaller range."
            )

    def _warn_of_constant_columns(self, X: np.ndarray | sparse.csr_array, weights: np.ndarray) -> None:
        used = X[np.flatnonzero(weights)]
        lowest, highest = used.min(axis=0), used.max(axis=0)
        if sparse.issparse(used):
            lowest, highest = lowest.toarray().ravel(), highest.toarray().ravel()
        constant = lowest == highest
        if constant.any():
            which = np.flatnonzero(constant)
            names = getattr(self, "feature_names_in_", None)
            shown = [int(j) if names is None else str(names[j]) for j in which[:5]]
            more = "..." if len(which) > 5 else ""
            warnings.warn(
                f"{len(which)} column(s) have one value only and stay closed: {shown}{more}.",
                ConstantColumnWarning,
                stacklevel=3,
            )


def _to_device(target: Target, device: torch.device) -> Target:
    rows: dict[str, Tensor] = {name: value.to(device) for name, value in target.rows.items()}
    return Target(rows, target.n_outputs, target.facts)
