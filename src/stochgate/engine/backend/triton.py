"""Triton kernels of the first layer on a GPU: its weights are read once each way.

Imported only by `gpu_product.py`, and only where Triton is installed; what they compute is written out
there.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

from stochgate.engine.backend.gpu_product import ALIGNED

_UNITS, _COLUMNS = 4, 512  # of a block that is gated: rows as long as possible
_BACK_UNITS, _BACK_COLUMNS = 32, 64  # of one on the way back, where units are summed


def gate(weight: Tensor, scale: Tensor, shift: Tensor | None, bias: Tensor | None, width: int) -> Tensor:
    """Do what `gpu_product.gate` does, in one pass."""
    n_models, n_units, n_columns = weight.shape
    gated = weight.new_empty(n_models, n_units, width)
    grid = (n_models, triton.cdiv(n_units, _UNITS))
    with torch.cuda.device_of(weight):
        _gate[grid](
            weight.contiguous(),
            scale.contiguous(),
            scale if shift is None else shift.contiguous(),
            scale if bias is None else bias.contiguous(),
            gated,
            n_units,
            n_columns,
            width,
            shift is not None,
            bias is not None,
            ALIGNED,
            _UNITS,
            _COLUMNS,
        )
    return gated


def ungate(
    of_gated: Tensor, weight: Tensor, scale: Tensor, shift: Tensor | None, wants_scale: bool
) -> tuple[Tensor, Tensor | None]:
    """Do what `gpu_product.ungate` does, in one pass."""
    n_models, n_units, n_columns = weight.shape
    of_weight = weight.new_empty(weight.shape)
    of_scale = scale.new_empty(scale.shape) if wants_scale else None
    grid = (n_models, triton.cdiv(n_columns, _BACK_COLUMNS))
    with torch.cuda.device_of(weight):
        _ungate[grid](
            of_gated.contiguous(),
            weight.contiguous(),
            scale.contiguous(),
            scale if shift is None else shift.contiguous(),
            of_weight,
            of_weight if of_scale is None else of_scale,
            n_units,
            n_columns,
            of_gated.shape[2],
            shift is not None,
            wants_scale,
            _BACK_UNITS,
            _BACK_COLUMNS,
        )
    return of_weight, of_scale


@triton.jit
def _gate(  # type: ignore[no-untyped-def]
    weight,
    scale,
    shift,
    bias,
    gated,
    n_units,
    n_columns,
    width,
    HAS_SHIFT: tl.constexpr,
    HAS_BIAS: tl.constexpr,
    SPARE: tl.constexpr,
    UNITS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    model = tl.program_id(0).to(tl.int64)
    units = tl.program_id(1) * UNITS + tl.arange(0, UNITS)
    is_unit = units < n_units
    rows = model * n_units + units
    shifted = tl.zeros([UNITS, COLUMNS], dtype=weight.dtype.element_ty)
    for start in range(0, n_columns, COLUMNS):
        columns = start + tl.arange(0, COLUMNS)
        is_column = columns < n_columns
        inside = is_unit[:, None] & is_column[None, :]
        w = tl.load(weight + rows[:, None] * n_columns + columns[None, :], mask=inside, other=0.0)
        s = tl.load(scale + model * n_columns + columns, mask=is_column, other=0.0)
        value = w * s[None, :]
        if HAS_SHIFT:
            t = tl.load(shift + model * n_columns + columns, mask=is_column, other=0.0)
            shifted += value * t[None, :]
        tl.store(gated + rows[:, None] * width + columns[None, :], value, mask=inside)
    constant = -tl.sum(shifted, axis=1)
    if HAS_BIAS:
        constant += tl.load(bias + rows, mask=is_unit, other=0.0)
    rest = n_columns + tl.arange(0, SPARE)
    value = tl.where(rest[None, :] == n_columns, constant[:, None], 0.0)
    inside = is_unit[:, None] & (rest < width)[None, :]
    tl.store(gated + rows[:, None] * width + rest[None, :], value, mask=inside)


@triton.jit
def _ungate(  # type: ignore[no-untyped-def]
    of_gated,
    weight,
    scale,
    shift,
    of_weight,
    of_scale,
    n_units,
    n_columns,
    width,
    HAS_SHIFT: tl.constexpr,
    WANTS_SCALE: tl.constexpr,
    UNITS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    model = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    is_column = columns < n_columns
    s = tl.load(scale + model * n_columns + columns, mask=is_column, other=0.0)
    if HAS_SHIFT:
        t = tl.load(shift + model * n_columns + columns, mask=is_column, other=0.0)
    product = tl.zeros([UNITS, COLUMNS], dtype=weight.dtype.element_ty)
    for start in range(0, n_units, UNITS):
        units = start + tl.arange(0, UNITS)
        is_unit = units < n_units
        rows = model * n_units + units
        inside = is_unit[:, None] & is_column[None, :]
        g = tl.load(of_gated + rows[:, None] * width + columns[None, :], mask=inside, other=0.0)
        if HAS_SHIFT:
            summed = tl.load(of_gated + rows * width + n_columns, mask=is_unit, other=0.0)
            g -= summed[:, None] * t[None, :]
        at = rows[:, None] * n_columns + columns[None, :]
        if WANTS_SCALE:
            product += g * tl.load(weight + at, mask=inside, other=0.0)
        tl.store(of_weight + at, g * s[None, :], mask=inside)
    if WANTS_SCALE:
        tl.store(of_scale + model * n_columns + columns, tl.sum(product, axis=0), mask=is_column)
