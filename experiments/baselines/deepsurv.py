"""DeepSurv, and the paper's Cox-STG and Cox-HC: the same network behind gates."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.baselines.base import Baseline, Selection
from stochgate import GatedCox, Training
from stochgate.networks import MLP


class DeepSurvSelector(Baseline):
    """The network of the paper's Table 2, trained once at given settings; without gates it is DeepSurv.

    Widths, step size, epochs and 0.023 are the paper's. Two things are our reading, not its words. The
    optimiser is gradient descent without momentum, which the authors' public code runs under the name Adam;
    Adam itself ended, on METABRIC, in networks that predict nothing. And 0.023 is the penalty of each gate:
    divided by the number of gates it closed none there. So read, Cox-STG kept one feature
    on each of two splits; the paper prints 2.

    Parameters
    ----------
    kind : {"survival"}, default="survival"
    gate : {"gaussian", "hard-concrete"} or None, default=None
        None keeps every feature (DeepSurv); the others are Cox-STG and Cox-HC.
    lam : float, default=0.023
        Penalty of each gate: `GatedCox`'s lam is this times the number of features.
    hidden : sequence of int, default=(60, 20, 3)
        Widths of the hidden layers, with SELU between them.
    optimizer : {"sgd", "adam"}, default="sgd"
    lr : float, default=0.152
        Step size of weights and gates, constant during training; of Hard-Concrete gates 4.8 times that, as
        everywhere here (with the plain step size they did not close).
    n_epochs : int, default=2000
        Steps, each on all rows.
    device : str, default="auto"
        "auto" takes CUDA when it is there.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    feature_importances_ : ndarray, shape (n_features,)
        P(z > 0) of each gate; 1 without gates.
    """

    _refused = dict.fromkeys(("classification", "regression"), "its loss is Cox's partial likelihood")

    def __init__(
        self,
        kind: str = "survival",
        *,
        gate: str | None = None,
        lam: float = 0.023,
        hidden: Sequence[int] = (60, 20, 3),
        optimizer: str = "sgd",
        lr: float = 0.152,
        n_epochs: int = 2000,
        device: str = "auto",
        random_state: Any = None,
    ):
        self.kind = kind
        self.gate = gate
        self.lam = lam
        self.hidden = hidden
        self.optimizer = optimizer
        self.lr = lr
        self.n_epochs = n_epochs
        self.device = device
        self.random_state = random_state

    def _select(self, X: np.ndarray, y: np.ndarray, seed: int) -> Selection:
        training = Training(
            self.n_epochs,
            optimizer=self.optimizer,
            lr=self.lr,
            gate_lr=self.lr,
            momentum=0.0,
            lr_decay="constant",
        )
        model = GatedCox(
            self.lam * X.shape[1],
            gate="gaussian" if self.gate is None else self.gate,
            network=MLP(tuple(self.hidden), "selu", init_std=0.1),
            always_keep=np.ones(X.shape[1], dtype=bool) if self.gate is None else None,
            training=training,
            device=self.device,
            random_state=seed,
        )
        model.fit(X, y)
        return Selection(model.get_support(), model.feature_importances_, model)
