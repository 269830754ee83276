"""The product of gated weights with the columns, which leaves out the columns whose gates are 0."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

# Multiplications that take as long as handling one model's set by itself does.
_HANDLING = 2e6
# Gathering columns costs this share of multiplying them.
_GATHERING = 0.2


def skipping_pays(n_units: int, n_columns: int, n_samples: int, share: float) -> bool:
    """Tell whether a model is trained faster on its open columns alone.

    Parameters
    ----------
    n_units, n_columns, n_samples : int
        Of the product of one model.
    share : float
        The share of the columns whose gates are open.
    """
    all_columns = 2.0 * n_units * n_columns * n_samples  # forward and backward
    return all_columns * (1 - (1 + _GATHERING) * share) > _HANDLING


class GatedProduct(torch.autograd.Function):
    r"""Every model's first layer on its gated input.

    .. math:: h_m = W_m \text{diag}(s_m) (X - 1 t_m^T)^T + b_m 1^T

    A column whose factor s is 0 adds nothing to h nor to the gradient of W. Its gate's gradient is 0 too,
    because a gate that draws 0 is clipped there. So it is left out exactly, where that is faster.
    """

    @staticmethod
    def forward(
        ctx: Any, X: Tensor, by_column: Any, weight: Tensor, scale: Tensor, shift: Any, bias: Any
    ) -> Tensor:
        """Multiply.

        Parameters
        ----------
        X : Tensor, shape (n_samples, n_columns)
        by_column : callable
            Returns X transposed, in contiguous memory.
        weight : Tensor, shape (n_models, n_units, n_columns)
        scale : Tensor, shape (n_models, n_columns)
        shift : Tensor, shape (n_models, n_columns), or None for no shift
        bias : Tensor, shape (n_models, n_units), or None for 0
        """
        ctx.is_open = _choose_open(weight, scale, len(X))
        ctx.save_for_backward(weight, scale, shift)
        if ctx.is_open is None:
            ctx.X = X
            h = ((weight * scale.unsqueeze(1)).flatten(0, 1) @ X.T).view(*weight.shape[:2], -1)
        else:
            ctx.X = by_column()
            h = weight.new_empty(*weight.shape[:2], len(X))
            for m, index, s in _each(ctx.is_open, scale):
                gated = weight[m].index_select(1, index).mul_(s)  # (n_units, n_open)
                torch.mm(gated, ctx.X.index_select(0, index), out=h[m])
        constant = bias
        if shift is not None:  # as a row times a matrix, which is far faster than a matrix times a column
            moved = ((scale * shift).unsqueeze(1) @ weight.transpose(1, 2)).squeeze(1)
            constant = -moved if bias is None else bias - moved
        return h if constant is None else h.add_(constant.unsqueeze(2))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of weight, scale and bias."""
        weight, scale, shift = ctx.saved_tensors
        wants_scale, wants_bias = ctx.needs_input_grad[3], ctx.needs_input_grad[5]
        summed = grad.sum(2)  # (n_models, n_units)
        if ctx.is_open is not None:
            of_weight, of_scale = _backward_open(ctx, grad, summed)
        else:
            of_weight = (grad.flatten(0, 1) @ ctx.X).view_as(weight)
            if shift is not None:
                of_weight.addcmul_(summed.unsqueeze(2), shift.unsqueeze(1), value=-1)
            of_scale = (of_weight * weight).sum(1) if wants_scale else None
            of_weight.mul_(scale.unsqueeze(1))
        return None, None, of_weight, of_scale, None, summed if wants_bias else None


def _backward_open(ctx: Any, grad: Tensor, summed: Tensor) -> tuple[Tensor, Tensor | None]:
    """Return the gradients of weight and scale, 0 where a gate is closed."""
    weight, scale, shift = ctx.saved_tensors
    of_weight, of_open = torch.zeros_like(weight), []
    for m, index, s, *t in _each(ctx.is_open, scale, *([] if shift is None else [shift])):
        of_gated = grad[m] @ ctx.X.index_select(0, index).T  # (n_units, n_open)
        if t:
            of_gated.addr_(summed[m], t[0], alpha=-1)
        if ctx.needs_input_grad[3]:
            of_open.append((of_gated * weight[m].index_select(1, index)).sum(0))
        of_weight[m].index_copy_(1, index, of_gated.mul_(s))
    if not ctx.needs_input_grad[3]:
        return of_weight, None
    return of_weight, torch.zeros_like(scale).masked_scatter_(ctx.is_open, torch.cat(of_open))


def _each(is_open: Tensor, *values: Tensor) -> Iterator[tuple[Any, ...]]:
    """Yield every model's number, its open columns, and their values."""
    counts = is_open.sum(1).tolist()
    split = (v.split(counts) for v in (is_open.nonzero()[:, 1], *(value[is_open] for value in values)))
    return zip(range(len(counts)), *split, strict=True)


def _choose_open(weight: Tensor, scale: Tensor, n_samples: int) -> Tensor | None:
    """Return which columns are multiplied, shape (n_models, n_columns), or None for all.

    A GPU is not asked: it would wait, and its recorded steps multiply all columns.
    """
    _, n_units, n_columns = weight.shape
    if weight.device.type != "cpu" or not skipping_pays(n_units, n_columns, n_samples, share=0.0):
        return None
    is_open = scale != 0
    share = is_open.count_nonzero().item() / is_open.numel()
    return is_open if skipping_pays(n_units, n_columns, n_samples, share=share) else None
