"""Deep feature selection (Li, Chen and Wasserman 2015): a weight per feature in front of a network."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from experiments.baselines.base import Selection
from experiments.baselines.gated_network import GatedNetwork
from experiments.baselines.pruning import prune
from stochgate.gates import Gate


class FreeWeight(Gate):
    r"""A weight without bounds or noise, whose penalty is its absolute value.

    .. math:: z = w, \quad \text{penalty } |w|

    w starts at 1.

    Examples
    --------
    >>> import torch
    >>> from experiments.baselines.dfs import FreeWeight
    >>> FreeWeight().open_probability(torch.tensor([[-0.2, 1.3]]))
    tensor([[0.2000, 1.3000]])
    """

    start = 1.0

    def noise(self, u: Tensor) -> Tensor:
        """Return 0: nothing is drawn."""
        return torch.zeros_like(u)

    def sample(self, parameter: Tensor, noise: Tensor) -> Tensor:
        """Return the weight."""
        return parameter

    def sample_slope(self, parameter: Tensor, noise: Tensor) -> Tensor:
        """Return 1."""
        return torch.ones_like(parameter)

    def probability_slope(self, parameter: Tensor) -> Tensor:
        """Return the sign."""
        return parameter.sign()

    def value(self, parameter: Tensor) -> Tensor:
        """Return the weight."""
        return parameter

    def open_probability(self, parameter: Tensor) -> Tensor:
        """Return the absolute value: no probability, but what the penalty sums."""
        return parameter.abs()


class DFSSelector(GatedNetwork):
    """A network behind one weight per feature, with an L1 penalty on these weights.

    The loss is the mean loss of the rows plus lam times the sum of the features' absolute weights. Gradient
    descent leaves no weight at exactly 0: a feature is selected if its absolute weight is above 1 % of the
    largest, and the others are taken out of the trained network.

    Parameters
    ----------
    kind, hidden, activation, optimizer, lr, n_epochs, max_steps, batch_size, init_std, standardize, \
    n_snapshots, device, random_state : as in `GatedNetwork`
    lams : sequence of float, default=(1e-3, 3e-3, 1e-2, 3e-2)
        Penalties.

    Attributes
    ----------
    feature_importances_ : ndarray, shape (n_features,)
        Absolute weights of the features.
    weight_sums_ : ndarray, shape (n_features,)
        The weights themselves: the first layer, of which the paper sums the weights of a feature, has one
        per feature.
    stack_ : Stack
        What was trained.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.baselines import DFSSelector
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> model = DFSSelector(lams=[0.03], hidden=(8,), n_epochs=1000, device="cpu", random_state=0)
    >>> model.fit(X, X[:, 1] > 0).get_support(indices=True)
    array([1])
    """

    gate = "free"
    penalty = "sum"
    gate_step = "same"

    def __init__(
        self,
        kind: str = "classification",
        *,
        lams: Sequence[float] = (1e-3, 3e-3, 1e-2, 3e-2),
        hidden: Sequence[int] = (64, 32),
        activation: str = "tanh",
        optimizer: str = "sgd",
        lr: float = 0.1,
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
        self.lams = lams
        self.hidden = hidden
        self.activation = activation
        self.optimizer = optimizer
        self.lr = lr
        self.n_epochs = n_epochs
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.init_std = init_std
        self.standardize = standardize
        self.n_snapshots = n_snapshots
        self.device = device
        self.random_state = random_state

    def _path(self, X: np.ndarray, y: np.ndarray, seed: int) -> list[Selection]:
        self.stack_ = self._train(X, y, seed, self.lams, self._make_network())
        weights = self.stack_.gates
        return prune(self.stack_, np.abs(weights), weights, self.kind)

    def _make_gate(self) -> Gate:
        return FreeWeight()
