"""Gates: how a feature is let through."""

from stochgate.gates.base import Gate
from stochgate.gates.deterministic import DeterministicGate
from stochgate.gates.gaussian import GaussianGate
from stochgate.gates.hard_concrete import HardConcreteGate

GATES: dict[str, type[Gate]] = {
    "gaussian": GaussianGate,
    "hard-concrete": HardConcreteGate,
    "deterministic": DeterministicGate,
}

__all__ = ["GATES", "DeterministicGate", "Gate", "GaussianGate", "HardConcreteGate"]
