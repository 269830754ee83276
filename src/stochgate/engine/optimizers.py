"""Optimisers of a stack: their updates are element by element, so models stay apart.

Those of `torch.optim` load torch's compiler when the first one is made, which takes longer than many a fit;
they are used where they are needed: for SGD, and for steps that a GPU records.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


class Optimizer:
    """What updates parameters, group by group, from their gradients.

    Parameters
    ----------
    groups : list of dict
        Each with its parameters ("params") and what else the update needs.
    """

    def __init__(self, groups: list[dict[str, Any]]):
        self.param_groups = groups
        self.state: dict[Tensor, dict[str, Tensor]] = {p: {} for group in groups for p in group["params"]}

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients."""
        for p in self.state:
            p.grad = None

    def step(self) -> None:
        """Update the parameters that have a gradient."""
        raise NotImplementedError


class Adam(Optimizer):
    """Adam with its usual decay rates; the step size of a group may change from step to step."""

    betas, eps = (0.9, 0.999), 1e-8

    @torch.no_grad()
    def step(self) -> None:
        """Update the parameters that have a gradient."""
        for group in self.param_groups:
            parameters = [p for p in group["params"] if p.grad is not None]
            if not parameters:
                continue
            states = [self._state(p) for p in parameters]
            steps = [state["step"] for state in states]
            torch._foreach_add_(steps, 1)
            torch._fused_adam_(
                parameters,
                [p.grad for p in parameters],
                [state["exp_avg"] for state in states],
                [state["exp_avg_sq"] for state in states],
                [],
                steps,
                lr=group["lr"],
                beta1=self.betas[0],
                beta2=self.betas[1],
                weight_decay=0.0,
                eps=self.eps,
                amsgrad=False,
                maximize=False,
            )

    def _state(self, p: Tensor) -> dict[str, Tensor]:
        state = self.state[p]
        if not state:
            state.update(step=torch.zeros(()), exp_avg=torch.zeros_like(p), exp_avg_sq=torch.zeros_like(p))
        return state


class Averaged:
    """Averages the gradients over processes before each step of another optimiser.

    Parameters
    ----------
    optimizer : Optimizer
    average : callable
        Takes gradients and averages them in place.
    """

    def __init__(self, optimizer: "AnyOptimizer", average: Callable[[list[Tensor]], None]):
        self.optimizer, self.average, self.param_groups = optimizer, average, optimizer.param_groups

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients."""
        self.optimizer.zero_grad(set_to_none)

    def step(self) -> None:
        """Average the gradients, then update the parameters."""
        parameters = (p for group in self.param_groups for p in group["params"])
        self.average([p.grad for p in parameters if p.grad is not None])
        self.optimizer.step()


AnyOptimizer = Optimizer | torch.optim.Optimizer
