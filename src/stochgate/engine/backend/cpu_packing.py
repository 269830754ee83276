"""Refits of a few columns each, in a stack that has many: each model is trained on its own columns.

A column whose gate is closed for good adds nothing, and the weights on it never move. So it is left out
exactly, and put back with its initial weights at the end.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any, cast

import torch
from torch import Tensor

from stochgate.engine.backend.cpu_product import Buffers, FirstLayer, per_unit, ungate
from stochgate.engine.backend.cpu_runs import like_sizes, spare_columns
from stochgate.engine.data import Columns, DenseColumns, Design, Scaling
from stochgate.engine.plan import OPEN
from stochgate.engine.trained import Models
from stochgate.networks.base import Layers

_MOST_SHARE = 0.75  # of the work on all columns: one product of all models is a little faster
_MOST_BYTES = 1 << 26  # that the gathered columns of a stack may take, or an eighth of its budget


class OwnColumns:
    """Every model's own columns, in parts of models whose numbers of columns are alike.

    Parameters
    ----------
    parts : list of Tensor, each of shape (n_models, n_columns, n_samples)
        Of models in their order. Models have weights for as many columns as the widest part has.
    """

    once = False

    def __init__(self, parts: list[Tensor]):
        self.parts, self.n_samples = parts, parts[0].shape[2]

    def runs(self) -> Iterator[tuple[slice, Tensor]]:
        """Yield the models of each part, and their columns."""
        ends = accumulate((len(part) for part in self.parts), initial=0)
        for (start, end), part in zip(pairwise(ends), self.parts, strict=True):
            yield slice(start, end), part

    def affine(self, weight: Tensor, scale: Tensor, shift: Tensor | None, bias: Tensor | None) -> Tensor:
        """Return all models' first layers, shape (n_models, n_units, n_samples), without gradients."""
        h = weight.new_empty(*weight.shape[:2], self.n_samples)
        return OwnProduct(weight, shift, Buffers(weight)).forward(self, scale=scale, bias=bias, h=h)

    def rows(self, index: Tensor | slice, once: bool = False) -> "OwnColumns":
        """Return some of the rows."""
        some = [
            part[:, :, index] if isinstance(index, slice) else part.index_select(2, index)
            for part in self.parts
        ]
        return OwnColumns(some)

    def of_models(self, index: Tensor) -> "OwnColumns":
        """Return the columns of some of the models, in their order."""
        some = [X[index[(index >= m.start) & (index < m.stop)] - m.start] for m, X in self.runs()]
        return OwnColumns([part for part in some if len(part)])


class OwnProduct(FirstLayer):
    """The first layer on each model's own columns, and its gradients; as `cpu_product.Product`."""

    def forward(self, columns: Any, *, scale: Tensor, bias: Tensor | None, h: Tensor) -> Tensor:
        """Multiply `OwnColumns`, and write the result to `h`, shape (n_models, n_units, n_samples)."""
        self.columns: OwnColumns = columns
        self.scale, weight = scale, self.weight
        constant = self.constant(scale, bias)
        for models, X in columns.runs():
            some = models, slice(None), slice(X.shape[1])
            gated = self.buffers("gated", *weight[some].shape)
            torch.mul(weight[some], scale[models, : X.shape[1]].unsqueeze(1), out=gated)
            torch.baddbmm(constant[models], gated, X, out=h[models])
        return h

    def backward(self, grad: Tensor, of_weight: Tensor, of_scale: Tensor | None, summed: Tensor) -> None:
        """Write the gradient of weight, 0 for columns that are none; gates are held and have none."""
        assert of_scale is None
        if any(X.shape[1] < of_weight.shape[2] for X in self.columns.parts):
            of_weight.zero_()
        for models, X in self.columns.runs():
            some, n = (models, slice(None), slice(X.shape[1])), X.shape[1]
            shift = None if self.shift is None else self.shift[models, :n]
            of_gated = self.buffers("of gated", *self.weight[some].shape)
            torch.bmm(grad[models], X.transpose(1, 2), out=of_gated)
            scale = self.scale[models, :n]
            ungate(self.buffers, of_gated, self.weight[some], scale, shift, summed[models], None)
            of_weight[some] = of_gated


def own_columns_of(design: Design, models: Tensor) -> Design:
    """Return the packed design of some of the models."""
    assert isinstance(design.columns, OwnColumns)
    assert design.gate_of is not None
    columns = cast(Columns, design.columns.of_models(models))
    return replace(design, columns=columns, gate_of=design.gate_of[models])


@dataclass(frozen=True)
class Packing:
    """What was packed, to be put back into its place.

    Attributes
    ----------
    models : Models
        As they were before.
    index : int64 Tensor, shape (n_models, n_columns)
        The columns that each model has kept, filled up with closed ones.
    first : str
        What the first layer's weights are called.
    """

    models: Models
    index: Tensor
    first: str

    def unpack(self, packed: Models) -> Models:
        """Return trained models with all columns."""
        weight = self.models.parameters[self.first].detach().clone()
        weight.scatter_(2, per_unit(self.index, weight), packed.parameters[self.first].detach())
        return replace(
            packed,
            parameters={**packed.parameters, self.first: weight},
            scaling=self.models.scaling,
        )


def pack(models: Models, design: Design, layers: Layers) -> tuple[Models, Design, Packing | None]:
    """Give each model its open columns alone, where that is less work.

    Only for networks whose step is written out, with hidden layers (of a linear model the products are
    least of the work) and gates that are held (of free ones most are closed at each step, and other ones),
    and unless rows are gathered anew at each step.
    """
    columns, plan = design.columns, models.plan
    assert isinstance(columns, DenseColumns)
    if not models.none_free or plan.network.is_linear or plan.training.batch_size:
        return models, design, None
    may_open = design.spread(models.fixed == OPEN) & (models.scaling.scale != 0)
    weight, scaling = layers.weights[0], models.scaling
    first = next(name for name, p in models.parameters.items() if p is weight)
    n_rows = max(map(len, plan.turns), default=columns.n_samples)  # that a step sees
    per_column = float(weight.shape[1] * n_rows)
    counts = may_open.sum(1).clamp_min(1).tolist()
    runs = [(run, size or 0) for run, size in like_sizes(counts, per_column)]
    n_taken = sum((run.stop - run.start) * size for run, size in runs)
    n_copies = 1 + bool(plan.turns) + (plan.judged is not None)
    n_bytes = n_copies * n_taken * columns.n_samples * columns.X.element_size()
    budget = plan.training.max_memory
    most = _MOST_BYTES if budget is None else min(_MOST_BYTES, budget // 8)
    work = n_taken + (len(runs) - 1) * spare_columns(per_column)
    if work > _MOST_SHARE * may_open.numel() or n_bytes > most:
        return models, design, None
    widest = max(size for _, size in runs)
    index = torch.argsort((~may_open).to(torch.int8), dim=1, stable=True)[:, :widest]  # open ones first
    own = OwnColumns([columns.by_column[index[run, :size]] for run, size in runs])
    packed = replace(
        models,
        parameters={**models.parameters, first: weight.gather(2, per_unit(index, weight))},
        scaling=Scaling(
            scaling.scale.gather(1, index) * may_open.gather(1, index),
            None if scaling.shift is None else scaling.shift.gather(1, index),
        ),
    )
    design = replace(design, columns=cast(Columns, own), gate_of=design.gate_of_column()[index])
    return packed, design, Packing(models, index, first)
