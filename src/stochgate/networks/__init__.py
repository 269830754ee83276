"""Networks: what is computed from the gated features."""

from collections.abc import Callable

from stochgate.networks.base import Encoding, Network
from stochgate.networks.encoded import EncodedMLP
from stochgate.networks.mlp import ACTIVATIONS, MLP
from stochgate.networks.module import ModuleNetwork


def linear() -> MLP:
    """Return a linear model: an MLP without hidden layers."""
    return MLP(hidden=())


NETWORKS: dict[str, Callable[[], Network]] = {"linear": linear, "mlp": MLP, "encoded": EncodedMLP}

__all__ = ["ACTIVATIONS", "MLP", "NETWORKS", "EncodedMLP", "Encoding", "ModuleNetwork", "Network"]
