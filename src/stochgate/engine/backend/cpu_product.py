"""The product of gated weights with the columns, which leaves out the columns whose gates are 0."""

import math
from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from stochgate.engine.backend.cpu_runs import like_sizes

# Gathering a column, forward and backward, takes as long as multiplying it for so many units.
_GATHERING = 128
# So does turning X round, so that its columns can be gathered.
_TURNING = 128
# Multiplications below which a step's product is over before it is sorted out.
_WORTH_IT = 5e7
# Bytes of gathered columns that stay in a cache until they are multiplied.
_CACHED = 1 << 22


def skipping_pays(shape: Sequence[int], share: float, once: bool) -> bool:
    """Tell whether models are trained faster on their open columns alone.

    Parameters
    ----------
    shape : (n_models, n_units, n_columns, n_samples)
    share : float
        The share of the columns whose gates are open.
    once : bool
        Whether X is turned round for this product alone.
    """
    n_models, n_units, n_columns, n_samples = shape
    per_column = 2 * n_units  # forward and backward
    whole = per_column * float(n_models) * n_columns * n_samples
    turning = _TURNING / n_models if once else 0.0
    return whole > _WORTH_IT and share * (per_column + _GATHERING) + turning < per_column


class Buffers:
    """Memory by name that one step after another uses, so that no step has to ask the system for any."""

    def __init__(self, like: Tensor):
        self.like = like
        self.flat: dict[str, Tensor] = {}

    def __call__(self, name: str, *shape: int) -> Tensor:
        """Return a tensor of a shape, whatever it holds."""
        n = math.prod(shape)
        flat = self.flat.get(name)
        if flat is None or len(flat) < n:
            flat = self.flat[name] = self.like.new_empty(n)
        return flat[:n].view(shape)


class SharedColumns(Protocol):
    """Columns that all models share; `once` says that they are multiplied once only, as a mini-batch is."""

    X: Tensor  # (n_samples, n_columns)
    once: bool

    @property
    def by_column(self) -> Tensor:
        """X transposed, in contiguous memory."""


Parts = list[tuple[slice, Tensor | None]]


class FirstLayer:
    r"""Every model's first layer on its gated input.

    .. math:: h_m = W_m \text{diag}(s_m) (X - 1 t_m^T)^T + b_m 1^T

    Parameters
    ----------
    weight : Tensor, shape (n_models, n_units, n_columns)
    shift : Tensor, shape (n_models, n_columns), or None for no shift
    buffers : Buffers
    """

    def __init__(self, weight: Tensor, shift: Tensor | None, buffers: Buffers):
        self.weight, self.shift, self.buffers = weight, shift, buffers

    def constant(self, scale: Tensor, bias: Tensor | None) -> Tensor:
        """Return what does not depend on X: the bias less what the shift adds, (n_models, n_units, 1)."""
        constant = self.weight.new_zeros(self.weight.shape[:2]) if bias is None else bias
        if self.shift is not None:
            constant = constant - of_shift(self.weight, scale, self.shift)
        return constant.unsqueeze(2)


class Product(FirstLayer):
    """The first layer on columns that all models share, and its gradients.

    A column whose factor s is 0 adds nothing to h nor to the gradient of W. Its gate's gradient is 0 too,
    because a gate that draws 0 is clipped there. So it is left out exactly, where that is faster.
    """

    def forward(
        self,
        columns: SharedColumns,
        *,
        scale: Tensor,
        bias: Tensor | None,
        h: Tensor,
    ) -> Tensor:
        """Multiply, and write the result to `h`.

        Parameters
        ----------
        columns : SharedColumns
        scale : Tensor, shape (n_models, n_columns)
        bias : Tensor, shape (n_models, n_units), or None for 0
        h : Tensor, shape (n_models, n_units, n_samples)
        """
        X = columns.X
        self.columns, self.scale, weight = columns, scale, self.weight
        self.parts = _choose_parts(weight, scale, len(X), columns.once)
        h.copy_(self.constant(scale, bias).expand_as(h))
        if self.parts is None:
            gated = torch.mul(weight, scale.unsqueeze(1), out=self.buffers("gated", *weight.shape))
            h.flatten(0, 1).addmm_(gated.flatten(0, 1), X.T)
            return h
        self.taken: list[Tensor] = []
        for number, (models, index) in enumerate(self.parts):
            if index is None:
                gated = self.buffers("gated", *weight[models].shape)
                torch.mul(weight[models], scale[models].unsqueeze(1), out=gated)
                h[models].flatten(0, 1).addmm_(gated.flatten(0, 1), X.T)
            else:
                shape = len(index), weight.shape[1], index.shape[1]
                taken = self.buffers(f"taken {number}", *shape)  # (n, n_units, n_open)
                torch.gather(weight[models], 2, per_unit(index, weight), out=taken)
                gated = self.buffers("gated", *shape)
                torch.mul(taken, scale[models].gather(1, index).unsqueeze(1), out=gated)
                h[models].baddbmm_(gated, self._gather(index))
                self.taken.append(taken)
        return h

    def backward(self, grad: Tensor, of_weight: Tensor, of_scale: Tensor | None, summed: Tensor) -> None:
        """Write the gradients of weight and scale; those of columns left out are 0.

        Parameters
        ----------
        grad : Tensor, shape (n_models, n_units, n_samples)
            Of what `forward` returned.
        of_weight, of_scale : Tensor, shaped like weight and scale; None for no gradient of scale
        summed : Tensor, shape (n_models, n_units)
            The sum of `grad` over the rows.
        """
        if self.parts is None:
            torch.mm(grad.flatten(0, 1), self.columns.X, out=of_weight.flatten(0, 1))
            of_open = ungate(self.buffers, of_weight, self.weight, self.scale, self.shift, summed, of_scale)
            if of_scale is not None:
                of_scale.copy_(of_open)
            return
        of_weight.zero_()
        if of_scale is not None:
            of_scale.zero_()
        taken = iter(self.taken)
        for models, index in self.parts:
            shift = None if self.shift is None else self.shift[models]
            scale, of = self.scale[models], None if of_scale is None else of_scale[models]
            if index is None:
                of_gated = of_weight[models]
                torch.mm(grad[models].flatten(0, 1), self.columns.X, out=of_gated.flatten(0, 1))
                weight = self.weight[models]
                of_open = ungate(self.buffers, of_gated, weight, scale, shift, summed[models], of)
                if of is not None:
                    of.copy_(of_open)
                continue
            w, scale = next(taken), scale.gather(1, index)
            shift = None if shift is None else shift.gather(1, index)
            of_gated = self.buffers("of gated", *w.shape)
            torch.bmm(grad[models], self._gather(index).transpose(1, 2), out=of_gated)
            of_open = ungate(self.buffers, of_gated, w, scale, shift, summed[models], of)
            if of is not None:
                of.scatter_(1, index, of_open)
            of_weight[models].scatter_(2, per_unit(index, self.weight), of_gated)

    def _gather(self, index: Tensor) -> Tensor:
        """Return every model's columns, index (n, n_open) -> (n, n_open, n_samples)."""
        by_column = self.columns.by_column
        gathered = self.buffers("columns", index.numel(), by_column.shape[1])
        torch.index_select(by_column, 0, index.flatten(), out=gathered)
        return gathered.view(*index.shape, -1)


class GatedProduct(torch.autograd.Function):
    """A `Product` that autograd knows, for networks whose step is not written out."""

    @staticmethod
    def forward(
        ctx: Any,
        columns: SharedColumns,
        weight: Tensor,
        scale: Tensor,
        shift: Tensor | None,
        bias: Tensor | None,
    ) -> Tensor:
        """Multiply; the parameters are those of `Product`."""
        ctx.product = Product(weight, shift, Buffers(weight))
        h = weight.new_empty(*weight.shape[:2], len(columns.X))
        return ctx.product.forward(columns, scale=scale, bias=bias, h=h)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of weight, scale and bias; those of columns left out are 0."""
        wants_scale, wants_bias = ctx.needs_input_grad[2], ctx.needs_input_grad[4]
        summed = grad.sum(2)
        weight = ctx.product.weight
        of_weight = weight.new_empty(weight.shape)  # in order, whatever the order of the weights
        of_scale = torch.empty_like(ctx.product.scale) if wants_scale else None
        ctx.product.backward(grad, of_weight, of_scale, summed)
        return None, of_weight, of_scale, None, summed if wants_bias else None


def ungate(
    buffers: Buffers,
    of_gated: Tensor,
    weight: Tensor,
    scale: Tensor,
    shift: Tensor | None,
    summed: Tensor,
    of_scale: Tensor | None,
) -> Tensor:
    """Turn the gradient of gated weights, in place, into that of weights; return the factors'."""
    if shift is not None:
        of_gated.addcmul_(summed.unsqueeze(2), shift.unsqueeze(1), value=-1)
    of_open = summed
    if of_scale is not None:
        of_open = torch.mul(of_gated, weight, out=buffers("gated", *weight.shape)).sum(1)
    of_gated.mul_(scale.unsqueeze(1))
    return of_open


def of_shift(weight: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
    """Return what the shift of its columns adds to each unit, shape (n_models, n_units).

    It is a row times a matrix, which is far faster than a matrix times a column.
    """
    return ((scale * shift).unsqueeze(1) @ weight.transpose(1, 2)).squeeze(1)


def per_unit(index: Tensor, weight: Tensor) -> Tensor:
    """Return which columns to gather of weights, (n_models, n_units, n), given them for each model."""
    return index.unsqueeze(1).expand(-1, weight.shape[1], -1)


def _choose_parts(weight: Tensor, scale: Tensor, n_samples: int, once: bool) -> Parts | None:
    """Cut the stack into runs of models that share a product, each with the columns it multiplies.

    All of them are multiplied (None) where most are open, by all models at once where no model gains by
    less. Elsewhere a run's smaller sets are filled up with closed columns.
    """
    n_models, n_units, n_columns = weight.shape
    shape = n_models, n_units, n_columns, n_samples
    if not skipping_pays(shape, 0.0, once):
        return None
    is_open = scale != 0
    counts = is_open.sum(1)
    sizes = [n if skipping_pays(shape, n / n_columns, once) else None for n in counts.tolist()]
    if all(size is None for size in sizes):
        return None
    at_once = max(1, _CACHED // (n_samples * weight.element_size()))
    # open columns first, closed ones after them, both in their order
    rank = torch.where(is_open, is_open.cumsum(1), counts.unsqueeze(1) + (~is_open).cumsum(1)) - 1
    columns = torch.arange(n_columns, device=scale.device).expand_as(rank)
    order = torch.empty_like(rank).scatter_(1, rank, columns)  # (n_models, n_columns)
    parts: Parts = []
    for models, size in like_sizes(sizes, n_units * n_samples, at_once):
        if size is None:
            parts.append((models, None))
        else:  # one model's columns may be more than a cache holds
            parts += [(models, piece) for piece in order[models, : max(1, size)].split(at_once, dim=1)]
    return parts
