"""Accelerated gradient descent for linear networks, each model at its own step size.

Adam moves every weight by the same amount, whatever its gradient: of thousands of columns those that
tell nothing get as large a weight as the others. Steps along the gradient give each column what it tells;
stopped early they end where a ridge penalty would, and a later stop is a smaller penalty.
"""

import torch
from torch import Tensor

from stochgate.engine.data import Design
from stochgate.engine.optimizers import Optimizer
from stochgate.engine.trained import Models
from stochgate.objectives.base import Rows

_N_PRODUCTS = 15  # of the power iteration
_CAUTION = 1.1  # it ends a little below the largest eigenvalue


class Accelerated(Optimizer):
    """Nesterov's method; a model whose momentum points uphill starts it anew.

    The updates are model by model and ask for no number's value, so that they can be recorded on a GPU.

    Parameters
    ----------
    parameters : dict of Tensor, each of shape (n_models, ...)
    steps : dict of Tensor, shape (n_models,), for each of them
    """

    def __init__(self, parameters: dict[str, Tensor], steps: dict[str, Tensor]):
        groups = [{"params": [p.requires_grad_()], "step": steps[name]} for name, p in parameters.items()]
        super().__init__(groups)
        for p in parameters.values():
            self.state[p]["before"] = p.detach().clone()  # where the last step ended, without its momentum
        self.first = next(iter(parameters.values()))
        self.state[self.first]["age"] = torch.zeros_like(next(iter(steps.values())))

    @property
    def age(self) -> Tensor:
        """Steps since each model's momentum began, shape (n_models,)."""
        return self.state[self.first]["age"]

    @torch.no_grad()
    def step(self) -> None:
        """Take a step from where the gradients are, and one on in the direction moved."""
        moved, uphill = [], torch.zeros_like(self.age)
        for group in self.param_groups:
            p = group["params"][0]
            before = self.state[p]["before"]
            assert p.grad is not None
            after = p - _along(group["step"], p) * p.grad
            moved.append(after - before)
            uphill += (p.grad * moved[-1]).flatten(1).sum(1)
            before.copy_(after)
        self.age.copy_(torch.where(uphill > 0, 0, self.age + 1))
        momentum = self.age / (self.age + 3)
        for group, by in zip(self.param_groups, moved, strict=True):
            p = group["params"][0]
            p.copy_(torch.addcmul(self.state[p]["before"], _along(momentum, p), by))


def make_descent(models: Models, design: Design, rows: Rows) -> Accelerated:
    """Return the optimiser of a linear network whose gates are held.

    Weights and biases have step sizes of their own. Columns that are not centred move along with the bias:
    then the two steps, each times its curvature, must not add up to 4/3, and that of the bias is small.
    """
    curvature = models.plan.objective.curvature(models.base.shape[1])
    largest = _CAUTION * _largest_eigenvalue(models, design, rows)
    of_weight = 1 / (curvature * torch.where(largest > 0, largest, 1))
    share = 0.5 if models.plan.training.standardize and design.columns.are_centred else 0.25
    of_bias = torch.full_like(of_weight, share / curvature)
    steps = {name: of_weight if name.startswith("weight") else of_bias for name in models.parameters}
    return Accelerated(models.parameters, steps)


def _largest_eigenvalue(models: Models, design: Design, rows: Rows) -> Tensor:
    """Return that of the open columns' second moments, for each model, by power iteration."""
    plan, columns = models.plan, design.columns
    scale = design.spread(models.gates()) * models.scaling.scale
    share = plan.objective.weigh(rows, plan.weights, models.learned)
    share = share / share.sum(1, keepdim=True)
    drawn = torch.randn(columns.n_columns, generator=torch.Generator().manual_seed(0))
    direction = drawn.to(scale).expand_as(scale)
    for _ in range(_N_PRODUCTS):
        direction = (direction / _length(direction)).detach().requires_grad_()
        with torch.enable_grad():
            h = columns.affine(direction.unsqueeze(1), scale, models.scaling.shift, None)
            half = (h[:, 0, : columns.n_samples].square() * share).sum() / 2
        (direction,) = torch.autograd.grad(half, direction)
    return direction.norm(dim=1)  # 0 where no column is open


def _length(vectors: Tensor) -> Tensor:
    return vectors.norm(dim=1, keepdim=True).clamp_min(torch.finfo(vectors.dtype).tiny)


def _along(of_model: Tensor, like: Tensor) -> Tensor:
    """Return a number of each model in the shape of its parameters."""
    return of_model.view(-1, *[1] * (like.ndim - 1))
