"""The steps of a fitted model as torch modules, to be traced: buffers and torch operations alone."""

import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from stochgate.export.formula import Formula
from stochgate.export.layers import FoldedLayers
from stochgate.networks import ModuleNetwork
from stochgate.networks.module import BASE

_ACTIVATIONS = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "selu": F.selu,
    "silu": F.silu,
}


class BaseRate(nn.Module):
    """The base rate, for any input."""

    base: Tensor

    def __init__(self, formula: Formula):
        super().__init__()
        _keep(self, base=formula.base)

    def forward(self, x: Tensor) -> Tensor:
        """Return the base rate for each row."""
        x = x * 1.0
        return (x.new_zeros((x.shape[0], 1)) + self.base).to(x)


class Team(nn.Module):
    """From the selected columns to the mean output of the team."""

    value_scale: Tensor
    value_shift: Tensor
    base: Tensor

    def __init__(self, formula: Formula):
        super().__init__()
        self.shrink = formula.predictor.shrink
        self.columns = Columns(formula)
        is_module = isinstance(formula.predictor.network, ModuleNetwork)
        self.network: nn.Module = Members(formula) if is_module else Layers(formula)
        scale, shift = (
            formula.value_scale[:, None],
            formula.value_shift[:, None],
        )  # (n_members, 1, n_outputs)
        _keep(self, value_scale=scale, value_shift=shift, base=formula.base)

    def forward(self, x: Tensor) -> Tensor:
        """Return the mean of the members' outputs, shape (n_samples, n_outputs)."""
        x = x * 1.0  # whole numbers become floats
        outputs = self.network(self.columns(x)).to(self.base)  # (n_members, n_samples, n_outputs)
        mean = (outputs * self.value_scale + self.value_shift).mean(0)
        return (self.base + self.shrink * (mean - self.base)).to(x)


class Columns(nn.Module):
    """From the selected columns to those the network is given."""

    source: Tensor
    center: Tensor
    scale: Tensor
    fill: Tensor
    is_mask: Tensor
    feature_of: Tensor
    lower: Tensor
    width: Tensor
    floor: Tensor
    ceiling: Tensor
    reach: Tensor

    def __init__(self, formula: Formula):
        super().__init__()
        columns, inputs = formula.columns, formula.inputs
        encoding: Any = inputs.encoding
        self.has_masks, self.fills = bool(columns.is_mask.any()), columns.fill is not None
        self.cuts, self.draws_in = encoding is not None, inputs.reach is not None
        _keep(self, source=columns.source, center=inputs.center, scale=inputs.scale)
        if self.fills:
            _keep(self, fill=columns.fill)
        if self.has_masks:
            _keep(self, is_mask=columns.is_mask)
        if encoding is not None:
            _keep(self, feature_of=encoding.feature_of, lower=encoding.lower)
            _keep(self, width=encoding.upper - encoding.lower)
            _keep(self, floor=encoding.floor, ceiling=encoding.ceiling)
        if self.draws_in:
            _keep(self, reach=inputs.reach)

    def forward(self, x: Tensor) -> Tensor:
        """Return the columns of the network, shape (n_samples, n_columns)."""
        x = x.to(self.center)
        missing = torch.isnan(x)
        if self.fills:
            x = torch.where(missing, self.fill, x)
        read = x[:, self.source]
        if self.has_masks:
            read = torch.where(self.is_mask, missing[:, self.source].to(x), read)
        if self.cuts:
            pieces = (read[:, self.feature_of] - self.lower) / self.width
            read = torch.minimum(torch.maximum(pieces, self.floor), self.ceiling)
        read = (read - self.center) / self.scale
        if self.draws_in:
            read = read / torch.hypot(torch.ones_like(read), read / self.reach)
        return read


class Layers(nn.Module):
    """An MLP of each member."""

    weight_0: Tensor
    bias_0: Tensor
    skip: Tensor

    def __init__(self, formula: Formula):
        super().__init__()
        layers = FoldedLayers.fold(formula.predictor)
        self.n_layers, self.activation = len(layers.weights), _ACTIVATIONS[layers.activation]
        self.skips = layers.skip is not None
        for i, (weight, bias) in enumerate(zip(layers.weights, layers.biases, strict=True)):
            _keep(self, **{f"weight_{i}": weight, f"bias_{i}": bias})
        if self.skips:
            _keep(self, skip=layers.skip)

    def forward(self, x: Tensor) -> Tensor:
        """Return each member's outputs, shape (n_members, n_samples, n_outputs)."""
        x = x.to(self.weight_0).T  # (n_columns, n_samples)
        h = torch.matmul(self.weight_0, x) + self.bias_0  # (n_members, n_units, n_samples)
        for i in range(1, self.n_layers):
            h = torch.matmul(getattr(self, f"weight_{i}"), self.activation(h)) + getattr(self, f"bias_{i}")
        if self.skips:
            h = h + torch.matmul(self.skip, x)
        return h.transpose(1, 2)


class Members(nn.Module):
    """A module of the user's for each member."""

    scale: Tensor
    shift: Tensor
    fed: Tensor
    own_base: Tensor

    def __init__(self, formula: Formula):
        super().__init__()
        predictor = formula.predictor
        network: Any = predictor.network
        self.n_columns, self.has_base = network.n_columns_, BASE in predictor.parameters
        self.has_shift, n_members = predictor.shift is not None, len(predictor.base)
        self.members = nn.ModuleList(_member(predictor, i) for i in range(n_members))
        _keep(self, scale=predictor.scale.unsqueeze(1).numpy(), fed=network.fed_.numpy())
        if predictor.shift is not None:
            _keep(self, shift=predictor.shift.unsqueeze(1).numpy())
        if self.has_base:
            _keep(self, own_base=predictor.parameters[BASE].unsqueeze(1).numpy())

    def forward(self, x: Tensor) -> Tensor:
        """Return each member's outputs, shape (n_members, n_samples, n_outputs)."""
        x = x.to(self.scale)
        gated = (x - self.shift if self.has_shift else x) * self.scale  # (n_members, n_samples, n_columns)
        nothing = x.new_zeros((x.shape[0], self.n_columns))
        outputs = [
            member(nothing.index_copy(1, self.fed, gated[i])) for i, member in enumerate(self.members)
        ]
        stacked = torch.stack(outputs)
        return stacked + self.own_base if self.has_base else stacked


def _member(predictor: Any, i: int) -> nn.Module:
    """Return the module of one member with its own parameters."""
    module = copy.deepcopy(predictor.network.skeleton_).to_empty(device="cpu")
    own = {name: p[i] for name, p in predictor.parameters.items() if name != BASE}
    module.load_state_dict(own)
    return module


def _keep(module: nn.Module, **arrays: Any) -> None:
    """Register arrays as buffers, which move with the module; a trace keeps them by name."""
    for name, array in arrays.items():
        module.register_buffer(name, torch.from_numpy(np.array(array)))
