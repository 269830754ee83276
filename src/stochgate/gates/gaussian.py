"""The paper's gate: a clipped, mean-shifted Gaussian."""

import math
from numbers import Real

import torch
from sklearn.utils._param_validation import Interval
from torch import Tensor

from stochgate.gates.base import Gate
from stochgate.streams import to_normal


class GaussianGate(Gate):
    r"""The stochastic gate (STG) of the paper, section 3.1.

    .. math:: z = \max(0, \min(1, \mu + \sigma \epsilon)), \quad \epsilon \sim N(0, 1),
       \quad P(z > 0) = \Phi(\mu / \sigma)

    mu starts at 0.5: the gate is then open with probability 0.84.

    Parameters
    ----------
    sigma : float, default=0.5
        Standard deviation of the noise, fixed during training.

    Examples
    --------
    >>> import torch
    >>> from stochgate.gates import GaussianGate
    >>> GaussianGate().open_probability(torch.tensor([[0.0, 0.5]]))
    tensor([[0.5000, 0.8413]])
    """

    start = 0.5
    _parameter_constraints = {"sigma": [Interval(Real, 0, None, closed="neither")]}

    def __init__(self, sigma: float = 0.5):
        self.sigma = sigma

    def noise(self, u: Tensor) -> Tensor:  # noqa: D102
        return to_normal(u) * self.sigma

    def sample(self, parameter: Tensor, noise: Tensor) -> Tensor:  # noqa: D102
        return (parameter + noise).clamp(0, 1)

    def sample_slope(self, parameter: Tensor, noise: Tensor) -> Tensor:  # noqa: D102
        z = parameter + noise
        return ((z >= 0) & (z <= 1)).to(parameter.dtype)

    def probability_slope(self, parameter: Tensor) -> Tensor:  # noqa: D102
        density = (parameter / self.sigma).square_().mul_(-0.5).exp_()
        return density.mul_(1 / (self.sigma * math.sqrt(2 * math.pi)))

    def value(self, parameter: Tensor) -> Tensor:  # noqa: D102
        return parameter.clamp(0, 1)

    def open_probability(self, parameter: Tensor) -> Tensor:  # noqa: D102
        return torch.special.ndtr(parameter / self.sigma)
