"""Networks: what is computed from the gated features."""

from collections.abc import Callable

from stochgate.networks.base import Network
from stochgate.networks.mlp import ACTIVATIONS, MLP
from stochgate.networks.module import ModuleNetwork


def linear() -> MLP:
    """Return a linear model: an MLP without hidden layers."""
    return MLP(hidden=())


NETWORKS: dict[str, Callable[[], Network]] = {"linear": linear, "mlp": MLP}

__all__ = ["ACTIVATIONS", "MLP", "NETWORKS", "ModuleNetwork", "Network"]
