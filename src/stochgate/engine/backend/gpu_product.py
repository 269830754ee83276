"""The first layer on a GPU: all columns, since a recorded step can not ask which gates are open."""

import sys
import warnings
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from stochgate.engine.backend.cpu_product import of_shift

ALIGNED = 8  # the GPU's fast products want every side to be a multiple of this


def with_ones(X: Tensor) -> Tensor:
    """Return X and a column of ones, filled up with 0 to sides of multiples of 8."""
    n_samples, n_columns = X.shape
    spare = -(n_columns + 1) % ALIGNED, -n_samples % ALIGNED
    X = torch.cat([X, X.new_ones(n_samples, 1)], dim=1)
    return F.pad(X, (0, spare[0], 0, spare[1]))


class WholeProduct(torch.autograd.Function):
    r"""Every model's first layer on its gated input, as `GatedProduct`, by all columns.

    What is constant for a unit, its bias and the shift of its columns, is multiplied by a column of ones:

    .. math:: h_m = [W_m \text{diag}(s_m), b_m - W_m (s_m \circ t_m)]\, [X, 1]^T
    """

    @staticmethod
    def forward(
        ctx: Any,
        X: Tensor,
        by_column: Callable[[], Tensor],
        weight: Tensor,
        scale: Tensor,
        shift: Tensor | None,
        bias: Tensor | None,
    ) -> Tensor:
        """Multiply.

        Parameters
        ----------
        X : Tensor, shape (n_rows, width), as of `with_ones`
        by_column : callable
            Returns X transposed, in contiguous memory: the fast products on the way back sum along it.
        weight, scale, shift, bias : as in `GatedProduct`
        """
        ctx.save_for_backward(weight, scale, shift)
        ctx.by_column = by_column
        gated = _kernels().gate(weight, scale, shift, bias, X.shape[1])
        h = weight.new_empty(*weight.shape[:2], len(X))  # no view: activations change it in place
        torch.mm(gated.flatten(0, 1), X.T, out=h.flatten(0, 1))
        return h

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of weight, scale and bias."""
        weight, scale, shift = ctx.saved_tensors
        _, _, _, wants_scale, _, wants_bias = ctx.needs_input_grad
        of_gated = (grad.flatten(0, 1) @ ctx.by_column().T).unflatten(0, weight.shape[:2])
        of_weight, of_scale = _kernels().ungate(of_gated, weight, scale, shift, wants_scale)
        of_bias = of_gated[:, :, weight.shape[2]].contiguous() if wants_bias else None
        return None, None, of_weight, of_scale, None, of_bias


def gate(weight: Tensor, scale: Tensor, shift: Tensor | None, bias: Tensor | None, width: int) -> Tensor:
    """Return gated weights, each unit's constant and zeros, shape (n_models, n_units, width)."""
    n_columns = weight.shape[2]
    gated = weight.new_zeros(*weight.shape[:2], width)
    torch.mul(weight, scale.unsqueeze(1), out=gated[:, :, :n_columns])
    constant = gated[:, :, n_columns]
    if bias is not None:
        constant += bias
    if shift is not None:
        constant -= of_shift(weight, scale, shift)
    return gated


def ungate(
    of_gated: Tensor, weight: Tensor, scale: Tensor, shift: Tensor | None, wants_scale: bool
) -> tuple[Tensor, Tensor | None]:
    """Return the gradients of weight and scale, given that of what `gate` returns."""
    n_columns = weight.shape[2]
    of_weight, summed = of_gated[:, :, :n_columns], of_gated[:, :, n_columns:][:, :, :1]
    if shift is not None:
        of_weight = torch.addcmul(of_weight, summed, shift.unsqueeze(1), value=-1)
    of_scale = (of_weight * weight).sum(1) if wants_scale else None
    return of_weight * scale.unsqueeze(1), of_scale


@cache
def _kernels() -> ModuleType:
    """Return the Triton kernels where they are installed and can be compiled, else this module."""
    plain = sys.modules[__name__]
    try:
        from stochgate.engine.backend import triton as kernels
    except ImportError:
        return plain
    try:
        one = torch.ones(1, 1, 1, device="cuda")
        gated = kernels.gate(one, one[0], one[0], one[0], ALIGNED)
        kernels.ungate(gated, one, one[0], one[0], wants_scale=True)
    except Exception as error:  # no C compiler beside Triton, or a GPU it does not know
        warnings.warn(
            f"Triton is installed, but its kernels fail and are left aside: {error}", stacklevel=2
        )
        return plain
    return kernels
