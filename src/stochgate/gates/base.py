"""What every gate answers."""

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from sklearn.base import BaseEstimator
from torch import Tensor


class Gate(BaseEstimator, ABC):
    """A gate: how z is drawn, what it is after training, how likely it is open.

    All tensors have shape ``(n_models, n_gates)``; `noise`, `value` and `open_probability` are asked for
    several steps at once. Each number depends on its own parameter alone and rises with it.
    Feature groups and costs are not the gate's concern: one gate serves a group of columns, and the
    engine weighs `open_probability` by each gate's cost.
    """

    #: value of the parameter before training
    start: float
    #: how far the parameter moves where the Gaussian gate's moves by 1; multiplies the step size
    unit: float = 1.0

    def initial(self, n_models: int, n_gates: int, dtype: torch.dtype, device: torch.device) -> Tensor:
        """Return the trainable parameter before the first step."""
        return torch.full((n_models, n_gates), self.start, dtype=dtype, device=device)

    @abstractmethod
    def noise(self, u: Tensor) -> Tensor:
        """Turn uniform numbers into the gate's noise, one by one; 0 when the gate draws nothing."""

    @abstractmethod
    def sample(self, parameter: Tensor, noise: Tensor) -> Tensor:
        """Draw z, differentiable in `parameter` (the reparameterisation trick).

        A z of exactly 0 is a closed gate, clipped there: it passes no gradient, and the engine may leave
        its columns out.
        """

    def sample_slope(self, parameter: Tensor, noise: Tensor) -> Tensor:
        """Return the derivative of each z by its own parameter, in memory of its own."""
        return _slope(lambda p: self.sample(p, noise), parameter)

    def probability_slope(self, parameter: Tensor) -> Tensor:
        """Return the derivative of each P(z > 0) by its own parameter, in memory of its own."""
        return _slope(self.open_probability, parameter)

    @abstractmethod
    def value(self, parameter: Tensor) -> Tensor:
        """Return the deterministic gate after training."""

    @abstractmethod
    def open_probability(self, parameter: Tensor) -> Tensor:
        """Return P(z > 0), what the penalty sums."""


@torch.enable_grad()
def _slope(function: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
    """Return the derivative of a function that acts on each number alone."""
    at = at.detach().requires_grad_()
    (slope,) = torch.autograd.grad(function(at).sum(), at)
    return slope
