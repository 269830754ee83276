"""What the three estimators share."""

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from stochgate.engine import FREE, OPEN, Plan, Predictor, Trained, Training, execute, make_plan
from stochgate.estimators.features import make_gate_map
from stochgate.estimators.prepare import Prepared, check_rows, hold_out, prepare
from stochgate.estimators.progress import ProgressBar
from stochgate.estimators.validation import (
    FeatureIndex,
    check_device,
    check_features,
    refuse_diverged,
    refuse_no_weight,
    refuse_not_callable,
    resolve,
)
from stochgate.gates import GATES, Gate
from stochgate.networks import ACTIVATIONS, NETWORKS, Network
from stochgate.objectives import Objective

#: default penalty per gate: the middle of what worked on problems with 50 to 500 columns
LAM_PER_GATE = 0.015


class NoFeatureSelectedWarning(UserWarning):
    """No feature was selected: the model predicts the base rate."""


class ConstantColumnWarning(UserWarning):
    """A column has one value only, so its gate is closed."""


class GatedEstimator(SelectorMixin, BaseEstimator):
    """Selects features and trains the model that uses them, in one fit."""

    _parameter_constraints = {
        "lam": [Interval(Real, 0, None, closed="left"), None],
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
        lam: float | None = None,
        *,
        gate: str | Gate = "gaussian",
        network: str | Network = "mlp",
        hidden: tuple[int, ...] | None = None,
        activation: str | None = None,
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
        objective = self._make_objective(training)
        objective._validate_params()
        device = check_device(self.device)

        X, target, weights = check_rows(self, X, y, sample_weight, objective)
        index = FeatureIndex(X.shape[1], getattr(self, "feature_names_in_", None))
        gate_map = make_gate_map(index, self.feature_groups, self.costs, self.always_keep)
        data = prepare(X, target, weights, gate_map, network, training, device)
        plan = self._plan(gate, network, objective, training, data)
        with ProgressBar(self.verbose) as bar:
            trained = execute(plan, data.design, data.target, (*bar.callbacks, *(self.callbacks or ())))
        refuse_diverged(trained)
        self._keep(trained, data)
        return self

    def _plan(
        self, gate: Gate, network: Network, objective: Objective, training: Training, data: Prepared
    ) -> Plan:
        """Plan one model, with rows held out when it may stop early."""
        random_state = check_random_state(self.random_state)
        seed, data_seed = random_state.randint(np.iinfo(np.int32).max, size=2)
        held_out = np.zeros(len(data.weights), dtype=bool)
        if training.patience is not None:
            strata = objective.strata(data.target.rows).cpu().numpy()
            held_out = hold_out(strata, training.validation_fraction, random_state)
        rows = torch.from_numpy(np.stack([data.weights * ~held_out, data.weights * held_out]))
        rows = rows.to(data.design.columns.device, getattr(torch, training.dtype))
        refuse_no_weight(objective, data.target, rows[:1], "left to learn from")
        if held_out.any():
            refuse_no_weight(objective, data.target, rows[1:], "held out for early stopping")
        keep = torch.from_numpy(data.gate_map.keep)
        return make_plan(
            gate,
            network,
            objective,
            training,
            lam=self._lam(data.gate_map.n_gates),
            seed=seed,
            weights=rows[:1],
            test_weights=rows[1:] if held_out.any() else None,
            n_gates=data.gate_map.n_gates,
            costs=torch.from_numpy(data.gate_map.costs),
            fixed=torch.where(keep, OPEN, FREE).to(torch.int8)[None],
            data_seed=int(data_seed),
        )

    def _lam(self, n_gates: int) -> float:
        return LAM_PER_GATE * n_gates if self.lam is None else float(self.lam)

    def _keep(self, trained: Trained, data: Prepared) -> None:
        """Set the fitted attributes from a stack of one model."""
        models, spread = trained.models, data.gate_map.spread
        gates = models.gates()  # (1, n_gates)
        self.gates_ = spread(gates[0].double().cpu().numpy())
        self.support_ = self.gates_ > self.threshold
        self.open_probability_ = spread(models.open_probability()[0].double().cpu().numpy())
        self.feature_importances_ = self.open_probability_.copy()
        self.lam_ = self._lam(data.gate_map.n_gates)
        self.n_steps_ = int(trained.step[0])
        self.history_ = {
            "step": trained.steps.numpy(),
            "train_loss": trained.train_loss[:, 0].double().cpu().numpy(),
            "held_out_loss": trained.held_out_loss[:, 0].double().cpu().numpy(),
        }
        gates = torch.where(gates > self.threshold, gates, 0)
        self._predictor = Predictor.make(models, data.design, data.inputs, gates)
        self._objective = models.plan.objective
        self._learned = {name: value.cpu() for name, value in models.learned.items()}
        self._facts = data.target.facts
        constant = (models.fixed != models.plan.fixed)[0].cpu().numpy()
        self._warn(np.flatnonzero(spread(constant)))

    def _warn(self, constant: np.ndarray) -> None:
        """Warn of constant columns, and of an empty selection."""
        if len(constant):
            names = getattr(self, "feature_names_in_", None)
            shown = [int(j) if names is None else str(names[j]) for j in constant[:5]]
            more = "..." if len(constant) > 5 else ""
            warnings.warn(
                f"{len(constant)} column(s) have one value only and stay closed: {shown}{more}.",
                ConstantColumnWarning,
                stacklevel=4,
            )
        if not self.support_.any():
            warnings.warn(
                f"No feature was selected at lam={self.lam_:g} and threshold={self.threshold:g}: the model "
                "predicts the base rate; try a smaller lam.",
                NoFeatureSelectedWarning,
                stacklevel=4,
            )

    def _outputs(self, X: Any) -> Tensor:
        """Return the network's outputs, shape (1, n_samples, n_outputs)."""
        check_is_fitted(self)
        return self._predictor.outputs(check_features(self, X, reset=False)).double()

    def _read(self, X: Any) -> np.ndarray:
        """Return predictions as the objective reads them, shape (n_samples, ...)."""
        outputs = self._outputs(X)
        return self._objective.read(outputs, self._learned)[0].numpy()

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
        """Return the network; `hidden` and `activation` belong to the MLP that "mlp" stands for."""
        if self.network != "mlp" and not (self.hidden is None and self.activation is None):
            raise ValueError(
                f"hidden and activation describe network='mlp', but network={self.network!r} was given: "
                "give one or the other."
            )
        network: Network = resolve("network", self.network, NETWORKS, Network)
        if self.activation is not None:
            if self.activation not in ACTIVATIONS:
                raise ValueError(
                    f"Unknown activation {self.activation!r}; use one of {sorted(ACTIVATIONS)}."
                )
            network.set_params(activation=self.activation)
        if self.hidden is not None:
            network.set_params(hidden=self.hidden)
        network._validate_params()
        return network
