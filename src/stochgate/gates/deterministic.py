"""The paper's deterministic non-convex counterpart (DNC)."""

import torch
from torch import Tensor

from stochgate.gates.gaussian import GaussianGate


class DeterministicGate(GaussianGate):
    r"""The deterministic gate (DNC) of the paper, section 7: no noise, the Gaussian gate's penalty.

    .. math:: z = \max(0, \min(1, \mu)), \quad \text{penalty } \Phi(\mu / \sigma)

    Once mu is below 0 the gate gets no gradient from the loss and stays closed: it has no "second
    chance". mu starts at 0.5.

    Parameters
    ----------
    sigma : float, default=0.5
        Scale of the penalty alone.

    Examples
    --------
    >>> import torch
    >>> from stochgate.gates import DeterministicGate
    >>> DeterministicGate().value(torch.tensor([[-0.2, 0.3]]))
    tensor([[0.0000, 0.3000]])
    """

    def noise(self, u: Tensor) -> Tensor:  # noqa: D102
        return torch.zeros_like(u)
