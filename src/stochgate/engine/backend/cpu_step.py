"""A training step on a CPU, written out: no graph of operations, and no memory but what is there already.

Small networks are over before autograd has noted down what was done to them, and the memory of large
activations, asked for anew at every step, costs more than the arithmetic. What is computed is what
autograd would compute.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from stochgate.engine.backend.cpu_packing import OwnColumns, OwnProduct
from stochgate.engine.backend.cpu_product import Buffers, Product
from stochgate.engine.batches import Batch
from stochgate.engine.data import DenseColumns, Design
from stochgate.engine.optimizers import AnyOptimizer
from stochgate.engine.plan import FREE, Plan
from stochgate.engine.trained import Models
from stochgate.networks.base import Layers
from stochgate.objectives.base import Slope

_APPLY: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu_,
    "tanh": torch.tanh_,
    "sigmoid": torch.sigmoid_,
}
_aten = torch.ops.aten
# each takes the gradient of an activation's result, in place, and the result
_UNDO: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "relu": lambda grad, h: _aten.threshold_backward.grad_input(grad, h, 0, grad_input=grad),
    "tanh": lambda grad, h: _aten.tanh_backward.grad_input(grad, h, grad_input=grad),
    "sigmoid": lambda grad, h: _aten.sigmoid_backward.grad_input(grad, h, grad_input=grad),
}


def make_cpu_step(models: Models, design: Design, optimizer: AnyOptimizer) -> "CpuStep | None":
    """Return the step that is written out, or None where autograd is needed."""
    layers = layers_by_hand(models, design)
    return None if layers is None else CpuStep(models, design, optimizer, layers)


def layers_by_hand(models: Models, design: Design) -> Layers | None:
    """Return the layers of networks whose step can be written out, or None."""
    own_penalty = models.plan.network.penalty(models.parameters) is not None
    if models.gate_parameter.is_cuda or own_penalty or not may_be_by_hand(models.plan, design):
        return None
    return models.plan.network.layers(models.parameters)


def may_be_by_hand(plan: Plan, design: Design) -> bool:
    """Return whether the steps of a plan may be written out: for an MLP on dense columns, as a rule."""
    activation, dense = getattr(plan.network, "activation", None), (DenseColumns, OwnColumns)
    return isinstance(design.columns, dense) and activation in _APPLY and plan.training.n_draws == 1


class CpuStep:
    """One step of a stack of models whose networks are chains of layers, on dense columns.

    Parameters
    ----------
    models : Models
    design : Design
    optimizer : Optimizer
    layers : Layers
    """

    def __init__(self, models: Models, design: Design, optimizer: AnyOptimizer, layers: Layers):
        self.models, self.design, self.optimizer, self.layers = models, design, optimizer, layers
        self.buffers = Buffers(models.gate_parameter.detach())
        self.slopes: dict[int, Slope] = {}  # of batches that come again
        for parameter in (*layers.weights, *layers.biases):
            if parameter is not None:
                parameter.grad = parameter.new_empty(parameter.shape)
        mu = models.gate_parameter
        mu.grad = None if models.none_free else torch.empty_like(mu)
        self.free = models.fixed == FREE
        product: type[Any] = OwnProduct if isinstance(design.columns, OwnColumns) else Product
        self.first: Product | OwnProduct = product(layers.weights[0], models.scaling.shift, self.buffers)

    @torch.no_grad()
    def __call__(self, batch: Batch, noise: Tensor, lam: Tensor) -> None:
        """Take a step."""
        z = self.models.draw(noise[0])  # (n_models, n_gates)
        outputs = self._forward(batch.columns, z)
        grad = self._slope(batch)(outputs[-1].transpose(1, 2)).transpose(1, 2)
        of_scale = self._backward(outputs, grad.contiguous())
        if of_scale is not None:
            self._gates_backward(of_scale, noise[0], lam)
        self.optimizer.step()

    def _forward(self, columns: Any, z: Tensor) -> list[Tensor]:
        """Return every layer's outputs, each of shape (n_models, n_units, n_samples)."""
        models, layers = self.models, self.layers
        h = self.first.forward(
            columns,
            scale=self.design.spread(z) * models.scaling.scale,
            bias=layers.biases[0],
            h=self.buffers("first layer", *layers.weights[0].shape[:2], columns.n_samples),
        )
        outputs = [h]
        for number, (weight, bias) in enumerate(zip(layers.weights, layers.biases, strict=True)):
            if number == 0:
                continue
            _APPLY[layers.activation](h)
            after = self.buffers(f"layer {number}", *weight.shape[:2], h.shape[2])
            if bias is None:
                h = torch.bmm(weight, h, out=after)
            else:
                h = torch.baddbmm(bias.unsqueeze(2), weight, h, out=after)
            outputs.append(h)
        return outputs

    def _slope(self, batch: Batch) -> Slope:
        """Return the loss's gradient on a batch, as a function of the outputs."""
        columns: Any = batch.columns
        if id(columns) in self.slopes:
            return self.slopes[id(columns)]
        models = self.models
        slope = models.plan.objective.slope(batch.rows, batch.weigh(models.plan), models.learned)
        total = models.total * (columns.n_samples / self.design.columns.n_samples)
        share = total.clamp_min(torch.finfo(total.dtype).tiny).reciprocal().view(-1, 1, 1)

        def per_weight(output: Tensor) -> Tensor:
            return slope(output).mul_(share)

        if not columns.once:
            self.slopes[id(columns)] = per_weight
        return per_weight

    def _backward(self, outputs: list[Tensor], grad: Tensor) -> Tensor | None:
        """Write the layers' gradients; return that of the columns' factors, (n_models, n_columns)."""
        layers = self.layers
        for number in range(len(layers.weights) - 1, 0, -1):
            weight, bias, before = layers.weights[number], layers.biases[number], outputs[number - 1]
            torch.bmm(grad, before.transpose(1, 2), out=weight.grad)
            if bias is not None:
                torch.sum(grad, 2, out=bias.grad)
            below = self.buffers(f"gradient {number - 1}", *before.shape)
            grad = torch.bmm(weight.transpose(1, 2), grad, out=below)
            _UNDO[layers.activation](grad, before)
        weight, bias = layers.weights[0], layers.biases[0]
        summed = grad.sum(2) if bias is None else torch.sum(grad, 2, out=bias.grad)
        of_scale = None
        if not self.models.none_free:
            of_scale = self.buffers("of scale", *self.first.scale.shape)
        assert weight.grad is not None
        self.first.backward(grad, weight.grad, of_scale, summed)
        return of_scale

    def _gates_backward(self, of_scale: Tensor, noise: Tensor, lam: Tensor) -> None:
        """Write the gates' gradient: that of the loss, of free gates, and that of the penalty."""
        models, gate, mu = self.models, self.models.plan.gate, self.models.gate_parameter
        of_gate = of_scale.mul_(models.scaling.scale)
        of_gate = self.design.collect(of_gate) * gate.sample_slope(mu, noise)
        if not models.all_free:
            of_gate.masked_fill_(~self.free, 0)
        of_penalty = gate.probability_slope(mu).mul_(models.shares)
        assert mu.grad is not None
        torch.addcmul(of_gate, of_penalty, lam.unsqueeze(1), out=mu.grad)
