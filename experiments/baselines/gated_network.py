"""A gated network at given settings: the paper's STG, HC and DNC; without gates a plain DNN or DeepSurv."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.baselines.base import Baseline, Selection
from experiments.stack import Stack, train_stack
from stochgate.engine import Training
from stochgate.gates import DeterministicGate, Gate, GaussianGate, HardConcreteGate
from stochgate.networks import MLP, Network
from stochgate.objectives import Classification, Cox, Objective, Regression

GATES: dict[str, type[Gate]] = {
    "gaussian": GaussianGate,
    "hard-concrete": HardConcreteGate,
    "deterministic": DeterministicGate,
}
# y comes standardised where it is a number (`kinds.Regression`)
OBJECTIVES: dict[str, Callable[[], Objective]] = {
    "classification": Classification,
    "regression": lambda: Regression(standardize=False),
    "survival": Cox,
}
MEMORY = 16 << 30  # bytes: each recorded mini-batch has gradients of its own


class GatedNetwork(Baseline):
    """One network per penalty, all trained as one stack, at the settings a paper prints.

    Of several penalties the one is kept whose model predicts validation rows best (those of `fit`, or else
    a tenth of the rows); ties go to fewer features. Mini-batches are made once and take turns.

    Parameters
    ----------
    kind : {"classification", "regression", "survival"}, default="classification"
    gate : {"gaussian", "hard-concrete", "deterministic"} or None, default="gaussian"
        STG, HC, DNC, or no gates: every feature is kept.
    lams : sequence of float, default=(0.1,)
        Penalties.
    penalty : {"mean", "sum"}, default="mean"
        Whether a penalty multiplies the mean of the gates' open probabilities, as the supplement (S3) says,
        or their sum, as the paper's equations say.
    hidden : sequence of int, default=(64, 32)
        Widths of the hidden layers; () is a linear model.
    activation : {"relu", "tanh", "sigmoid", "selu", "silu"}, default="tanh"
    optimizer : {"sgd", "adam"}, default="sgd"
        "sgd" has no momentum.
    lr : float, default=0.1
        Step size of weights and gates, constant during training.
    gate_step : {"same", "scaled"}, default="same"
        Whether Hard-Concrete gates take steps of the same size, or 4.8 times that, since their parameter
        has that much farther to go; the other gates do not differ.
    n_epochs : int, default=2000
        Passes over the rows.
    max_steps : int, optional
        Steps after which training ends, whatever the epochs.
    batch_size : int, optional
        Rows per step; all by default.
    init_std : float or None, default=0.1
        Standard deviation of the initial weights.
    standardize : bool, default=True
        Whether columns are scaled to mean 0 and variance 1 of the training rows.
    n_snapshots : int, default=1
        How often gates are recorded (`stack_.gate_path`).
    device : str, default="auto"
        "auto" takes CUDA when it is there.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    feature_importances_ : ndarray, shape (n_features,)
        P(z > 0) of each gate; 1 without gates.
    stack_ : Stack
        What was trained.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.baselines import GatedNetwork
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> model = GatedNetwork(lams=[0.3], hidden=(8,), n_epochs=1000, device="cpu", random_state=0)
    >>> model.fit(X, X[:, 1] > 0).get_support(indices=True)
    array([1])
    """

    def __init__(
        self,
        kind: str = "classification",
        *,
        gate: str | None = "gaussian",
        lams: Sequence[float] = (0.1,),
        penalty: str = "mean",
        hidden: Sequence[int] = (64, 32),
        activation: str = "tanh",
        optimizer: str = "sgd",
        lr: float = 0.1,
        gate_step: str = "same",
        n_epochs: int = 2000,
        max_steps: int | None = None,
        batch_size: int | None = None,
        init_std: float | None = 0.1,
        standardize: bool = True,
        n_snapshots: int = 1,
        device: str = "auto",
        random_state: Any = None,
    ):
        self.kind = kind
        self.gate = gate
        self.lams = lams
        self.penalty = penalty
        self.hidden = hidden
        self.activation = activation
        self.optimizer = optimizer
        self.lr = lr
        self.gate_step = gate_step
        self.n_epochs = n_epochs
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.init_std = init_std
        self.standardize = standardize
        self.n_snapshots = n_snapshots
        self.device = device
        self.random_state = random_state

    def count_steps(self, n_samples: int) -> int:
        """Return how many steps training takes."""
        steps = self.n_epochs * math.ceil(n_samples / min(self.batch_size or n_samples, n_samples))
        return min(steps, self.max_steps or steps)

    def _is_given(self) -> bool:
        return len(self.lams) == 1

    def _path(self, X: np.ndarray, y: np.ndarray, seed: int) -> list[Selection]:
        self.stack_ = self._train(X, y, seed, self.lams, self._make_network())
        models = self.stack_.trained.models
        supports, importances = self.stack_.supports, models.open_probability().cpu().numpy()
        finite = np.isfinite(importances).all(axis=1)
        return [
            Selection(support, np.nan_to_num(chance.astype(np.float64)), OneOf(self.stack_, i, self.kind))
            for i, (support, chance) in enumerate(zip(supports, importances, strict=True))
            if finite[i] or not finite.any()  # of models that diverged no prediction is worth a look
        ]

    def _train(
        self, X: np.ndarray, y: np.ndarray, seed: int, lams: Sequence[float], network: Network
    ) -> Stack:
        for name, known in (("penalty", ("mean", "sum")), ("gate_step", ("same", "scaled"))):
            if getattr(self, name) not in known:
                raise ValueError(f"Unknown {name} {getattr(self, name)!r}; use one of {list(known)}.")
        gate = self._make_gate()
        training = Training(
            self.count_steps(X.shape[0]),
            batch_size=self.batch_size,
            optimizer=self.optimizer,
            lr=self.lr,
            gate_lr=self.lr if self.gate_step == "scaled" else self.lr / gate.unit,
            momentum=0.0,
            lr_decay="constant",
            n_snapshots=self.n_snapshots,
            standardize=self.standardize,
            tf32=True,  # a GPU then multiplies several times as fast
            max_memory=MEMORY,
        )
        return train_stack(
            X,
            y,
            objective=OBJECTIVES[self.kind](),
            gate=gate,
            network=network,
            training=training,
            lam=np.asarray(lams) * (X.shape[1] if self.penalty == "sum" else 1),
            seed=seed,
            hold_open=self.gate is None,
            device=self.device,
        )

    def _make_gate(self) -> Gate:
        return GATES[self.gate or "gaussian"]()

    def _make_network(self) -> Network:
        return MLP(tuple(self.hidden), self.activation, init_std=self.init_std)


@dataclass(frozen=True)
class OneOf:
    """One model of a stack, which predicts an encoded y."""

    stack: Stack
    index: int
    kind: str

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the predictions, shape (n_samples,)."""
        (output,) = self.stack.outputs(X, [self.index])  # (n_samples, n_outputs)
        return output.argmax(axis=1) if self.kind == "classification" else output[:, 0]
