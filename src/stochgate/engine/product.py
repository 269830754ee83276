"""The product of gated weights with the columns, which leaves out the columns whose gates are 0."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

# Gathering a column, forward and backward, takes as long as multiplying it for so many units.
_GATHERING = 128
# So does turning X round, so that its columns can be gathered.
_TURNING = 128
# Multiplications below which a step's product is over before it is sorted out.
_WORTH_IT = 4e6
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


class GatedProduct(torch.autograd.Function):
    r"""Every model's first layer on its gated input.

    .. math:: h_m = W_m \text{diag}(s_m) (X - 1 t_m^T)^T + b_m 1^T

    A column whose factor s is 0 adds nothing to h nor to the gradient of W. Its gate's gradient is 0 too,
    because a gate that draws 0 is clipped there. So it is left out exactly, where that is faster.
    """

    @staticmethod
    def forward(
        ctx: Any,
        X: Tensor,
        by_column: Callable[[], Tensor],
        once: bool,
        weight: Tensor,
        scale: Tensor,
        shift: Tensor | None,
        bias: Tensor | None,
    ) -> Tensor:
        """Multiply.

        Parameters
        ----------
        X : Tensor, shape (n_samples, n_columns)
        by_column : callable
            Returns X transposed, in contiguous memory.
        once : bool
            Whether this X is multiplied once, as a mini-batch is.
        weight : Tensor, shape (n_models, n_units, n_columns)
        scale : Tensor, shape (n_models, n_columns)
        shift : Tensor, shape (n_models, n_columns), or None for no shift
        bias : Tensor, shape (n_models, n_units), or None for 0
        """
        ctx.sets = _choose_sets(weight, scale, len(X), once)
        ctx.save_for_backward(weight, scale, shift)
        constant = weight.new_zeros(weight.shape[:2]) if bias is None else bias
        if shift is not None:  # as a row times a matrix, which is far faster than a matrix times a column
            constant = constant - ((scale * shift).unsqueeze(1) @ weight.transpose(1, 2)).squeeze(1)
        h = constant.unsqueeze(2).repeat(1, 1, len(X))
        if ctx.sets is None:
            ctx.X = X
            h.flatten(0, 1).addmm_((weight * scale.unsqueeze(1)).flatten(0, 1), X.T)
        else:
            ctx.X = by_column()
            for models, index in ctx.sets:
                gated = _take(weight[models], index).mul_(scale[models].gather(1, index).unsqueeze(1))
                h[models].baddbmm_(gated, _gather(ctx.X, index))
        return h

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of weight, scale and bias."""
        weight, scale, shift = ctx.saved_tensors
        wants_scale, wants_bias = ctx.needs_input_grad[4], ctx.needs_input_grad[6]
        summed = grad.sum(2)  # (n_models, n_units)
        if ctx.sets is not None:
            of_weight, of_scale = _backward_open(ctx, grad, summed)
        else:
            of_weight = (grad.flatten(0, 1) @ ctx.X).view_as(weight)
            if shift is not None:
                of_weight.addcmul_(summed.unsqueeze(2), shift.unsqueeze(1), value=-1)
            of_scale = (of_weight * weight).sum(1) if wants_scale else None
            of_weight.mul_(scale.unsqueeze(1))
        return None, None, None, of_weight, of_scale, None, summed if wants_bias else None


def _backward_open(ctx: Any, grad: Tensor, summed: Tensor) -> tuple[Tensor, Tensor | None]:
    """Return the gradients of weight and scale, 0 outside the sets."""
    weight, scale, shift = ctx.saved_tensors
    of_weight = torch.zeros_like(weight)
    of_scale = torch.zeros_like(scale) if ctx.needs_input_grad[4] else None
    for models, index in ctx.sets:
        of_gated = grad[models] @ _gather(ctx.X, index).transpose(1, 2)  # (n, n_units, n_open)
        if shift is not None:
            moved = shift[models].gather(1, index)
            of_gated.addcmul_(summed[models].unsqueeze(2), moved.unsqueeze(1), value=-1)
        if of_scale is not None:
            of_scale[models].scatter_(1, index, (of_gated * _take(weight[models], index)).sum(1))
        of_gated.mul_(scale[models].gather(1, index).unsqueeze(1))
        of_weight[models].scatter_(2, _per_unit(index, weight), of_gated)
    return of_weight, of_scale


def _gather(by_column: Tensor, index: Tensor) -> Tensor:
    """Return every model's columns, index (n, n_open) -> (n, n_open, n_samples)."""
    return by_column.index_select(0, index.flatten()).view(*index.shape, -1)


def _take(weight: Tensor, index: Tensor) -> Tensor:
    """Return the weights of every model's columns, shape (n, n_units, n_open)."""
    return weight.gather(2, _per_unit(index, weight))


def _per_unit(index: Tensor, weight: Tensor) -> Tensor:
    return index.unsqueeze(1).expand(-1, weight.shape[1], -1)


def _choose_sets(
    weight: Tensor, scale: Tensor, n_samples: int, once: bool
) -> list[tuple[slice, Tensor]] | None:
    """Return the columns that are multiplied, or None for all: models that follow each other, and theirs.

    Models share a product, so the smaller sets are filled up with closed columns.
    """
    shape = *weight.shape, n_samples
    if not skipping_pays(shape, 0.0, once):
        return None
    is_open = scale != 0
    counts = is_open.sum(1)
    if not skipping_pays(shape, float(counts.sum()) / is_open.numel(), once):
        return None
    # open columns first, closed ones after them, both in their order
    rank = torch.where(is_open, is_open.cumsum(1), counts.unsqueeze(1) + (~is_open).cumsum(1)) - 1
    columns = torch.arange(scale.shape[1]).expand_as(rank)
    order = torch.empty_like(rank).scatter_(1, rank, columns)  # (n_models, n_columns)
    return list(_buckets(order, counts.tolist(), n_samples * weight.element_size()))


def _buckets(order: Tensor, counts: list[int], bytes_per_column: int) -> Iterator[tuple[slice, Tensor]]:
    """Cut the stack into runs of models, or a model's columns into pieces, that fit into a cache."""
    n_columns = max(1, _CACHED // bytes_per_column)
    start, widest = 0, 1
    for m in range(1, len(counts) + 1):
        wider = max(widest, counts[m - 1])
        if m < len(counts) and (m + 1 - start) * max(wider, counts[m]) <= n_columns:
            widest = wider
            continue
        for piece in order[start:m, :wider].split(n_columns, dim=1):
            yield slice(start, m), piece
        start, widest = m, 1
