"""Sparse group regularised networks (Scardapane et al. 2017): a group lasso over each feature's weights."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from experiments.baselines.base import Selection
from experiments.baselines.gated_network import GatedNetwork
from experiments.baselines.pruning import prune
from stochgate.networks import MLP
from stochgate.networks.base import Parameters


class SparseGroupMLP(MLP):
    r"""A multi-layer perceptron with a sparse group penalty on its first layer.

    .. math:: \lambda \sum_d \left(\sqrt{n_\text{units}} \, \|W_d\|_2 + \alpha \|W_d\|_1\right)

    W_d are the weights of feature d, one for each unit of the first layer.

    Parameters
    ----------
    hidden, activation, skip, init_std, linear : as in `MLP`
    lam : float, default=0.0
    alpha : float, default=1.0
        Weight of the L1 norm against the group norms.
    """

    def __init__(
        self,
        hidden: tuple[int, ...] = (64, 32),
        activation: str = "relu",
        skip: bool = False,
        init_std: float | None = None,
        linear: tuple[int, ...] = (),
        lam: float = 0.0,
        alpha: float = 1.0,
    ):
        super().__init__(hidden, activation, skip, init_std, linear)
        self.lam = lam
        self.alpha = alpha

    def penalty(self, parameters: Parameters) -> Tensor:
        """Return the penalty of each model, shape (n_models,)."""
        weight = parameters["weight_0"]  # (n_models, n_units, n_features)
        groups = weight.norm(dim=1).sum(1)
        return self.lam * (weight.shape[1] ** 0.5 * groups + self.alpha * weight.abs().sum((1, 2)))


class SparseGroupSelector(GatedNetwork):
    """A network without gates and with a sparse group penalty on each feature's first weights (SG-NN).

    Only the first layer is penalised, the one that selects features. Gradient descent leaves no weights at
    exactly 0: a feature is selected if the norm of its weights is above 1 % of the largest, and the others
    are taken out of the trained network. The networks of several penalties are trained one after another.

    Parameters
    ----------
    kind, hidden, activation, optimizer, lr, n_epochs, max_steps, batch_size, init_std, standardize, \
    n_snapshots, device, random_state : as in `GatedNetwork`
    lams : sequence of float, default=(1e-4, 3e-4, 1e-3, 3e-3)
        Penalties.
    alpha : float, default=1.0
        Weight of the L1 norm against the group norms.

    Attributes
    ----------
    feature_importances_ : ndarray, shape (n_features,)
        Norms of the features' weights in the first layer.
    weight_sums_ : ndarray, shape (n_features,)
        Sums of the features' weights in the first layer, with their signs.
    stacks_ : list of Stack
        What was trained, one network each.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.baselines import SparseGroupSelector
    >>> X = np.random.default_rng(0).normal(size=(200, 5))
    >>> model = SparseGroupSelector(lams=[3e-3], hidden=(8,), n_epochs=1000, device="cpu", random_state=0)
    >>> model.fit(X, X[:, 1] > 0).feature_importances_.argmax()
    np.int64(1)
    """

    gate = None
    penalty = "sum"
    gate_step = "same"

    def __init__(
        self,
        kind: str = "classification",
        *,
        lams: Sequence[float] = (1e-4, 3e-4, 1e-3, 3e-3),
        alpha: float = 1.0,
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
        self.alpha = alpha
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
        self.stacks_, points = [], []
        for lam in self.lams:
            network = SparseGroupMLP(
                tuple(self.hidden), self.activation, init_std=self.init_std, lam=lam, alpha=self.alpha
            )
            stack = self._train(X, y, seed, [0.0], network)
            weight = stack.trained.models.parameters["weight_0"].cpu().numpy().astype(np.float64)
            used = stack.gates  # 0 for a constant column
            points += prune(
                stack, used * np.linalg.norm(weight, axis=1), used * weight.sum(axis=1), self.kind
            )
            self.stacks_.append(stack)
        return points
