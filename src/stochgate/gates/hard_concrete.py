"""The Hard-Concrete gate of Louizos et al. (2017), the paper's comparison."""

import math
from numbers import Real

import torch
from sklearn.utils._param_validation import Interval
from torch import Tensor

from stochgate.gates.base import Gate
from stochgate.gates.gaussian import GaussianGate


class HardConcreteGate(Gate):
    r"""The Hard-Concrete gate, supplement S5: a stretched and clipped logistic relaxation.

    .. math:: s = \text{sigmoid}((\log\alpha + \text{logit}(u)) / \beta), \quad
       z = \max(0, \min(1, s (\zeta - \tau) + \tau)), \quad
       P(z > 0) = \text{sigmoid}(\log\alpha - \beta \log(-\tau / \zeta))

    log alpha starts at 0: with the default settings the gate's value is then 0.5 and it is open with
    probability 0.83, as the Gaussian gate's 0.5 and 0.84, so the two start alike. log alpha lives on a
    wider scale (the gate closes at -2.4, the Gaussian one 0.5 below its start), so its step size is
    larger by that factor, 4.8.

    Parameters
    ----------
    beta : float, default=2/3
        Temperature.
    tau, zeta : float, default=-0.1 and 1.1
        Interval to which s is stretched before clipping.

    Examples
    --------
    >>> import torch
    >>> from stochgate.gates import HardConcreteGate
    >>> HardConcreteGate().value(torch.tensor([[-9.0, 0.0, 9.0]]))
    tensor([[0.0000, 0.5000, 1.0000]])
    """

    start = 0.0
    _parameter_constraints = {
        "beta": [Interval(Real, 0, None, closed="neither")],
        "tau": [Interval(Real, None, 0, closed="neither")],
        "zeta": [Interval(Real, 1, None, closed="neither")],
    }

    def __init__(self, beta: float = 2 / 3, tau: float = -0.1, zeta: float = 1.1):
        self.beta = beta
        self.tau = tau
        self.zeta = zeta

    @property
    def unit(self) -> float:  # type: ignore[override]
        """The way from the start to a closed gate, over the Gaussian gate's 0.5."""
        return math.log(self.zeta / -self.tau) / GaussianGate.start

    def noise(self, u: Tensor) -> Tensor:  # noqa: D102
        return torch.logit(u)

    def sample(self, parameter: Tensor, noise: Tensor) -> Tensor:  # noqa: D102
        return self._stretch((parameter + noise) / self.beta)

    def value(self, parameter: Tensor) -> Tensor:  # noqa: D102
        return self._stretch(parameter)

    def open_probability(self, parameter: Tensor) -> Tensor:  # noqa: D102
        return torch.sigmoid(parameter - self.beta * math.log(-self.tau / self.zeta))

    def _stretch(self, logit: Tensor) -> Tensor:
        return (torch.sigmoid(logit) * (self.zeta - self.tau) + self.tau).clamp(0, 1)
