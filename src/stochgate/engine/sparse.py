"""Sparse columns, and the first layer on them."""

import warnings
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

# From so many units on every model is multiplied by itself, on its open columns alone.
_WIDE = 8


class SparseColumns:
    """Sparse columns (CSR); only a custom module makes them dense."""

    are_centred = False  # only those far from 0 are

    def __init__(self, X: sparse.csr_array, dtype: torch.dtype, device: torch.device):
        self.X = X.astype(str(dtype).removeprefix("torch."), copy=False)
        self.dtype, self.device = dtype, device
        self.n_samples, self.n_columns = X.shape

    def __reduce__(self) -> tuple[Any, ...]:  # X alone, not its copies
        return SparseColumns, (self.X, self.dtype, self.device)

    def affine(self, weight: Tensor, scale: Tensor, shift: Tensor | None, bias: Tensor | None) -> Tensor:
        """Return all models' first layers; a shift of columns is a constant of every unit."""
        h = SparseProduct.apply(self, weight, scale, shift)
        return h if bias is None else h + bias.unsqueeze(2)

    def shift(self, mean: Tensor, variance: Tensor) -> Tensor | None:
        """Return what is subtracted of every column, shape (n_models, n_columns), or None."""
        return far_from_zero(mean, variance)

    def each_open(self, scale: Tensor) -> Iterator[tuple[int, Tensor, sparse.csr_array]]:
        """Yield every model's number, its open columns that hold anything, and their numbers."""
        is_open = (scale != 0).numpy() & self._holds_any
        for m, mask in enumerate(is_open):
            index = np.flatnonzero(mask)
            yield m, torch.from_numpy(index), self.X[:, index]

    @cached_property
    def _holds_any(self) -> np.ndarray:
        """Whether a column holds anything but 0: in a mini-batch few may."""
        return np.bincount(self.X.indices, minlength=self.n_columns) > 0

    @cached_property
    def tensor(self) -> Tensor:
        """The columns as torch has them."""
        return _to_torch(self.X, self.dtype, self.device)

    @cached_property
    def transposed(self) -> Tensor:
        """The same with a row a column, for gradients."""
        return _to_torch(self.X.T.tocsr(), self.dtype, self.device)

    def project(self, directions: Tensor) -> Tensor:
        """Return the columns' products with some directions, (n_samples, k) -> (n_columns, k)."""
        return self.transposed @ directions

    def squares(self) -> Tensor:
        """Return the columns' sums of squares, shape (n_columns,)."""
        return torch.tensor(self.X.multiply(self.X).sum(0), dtype=self.dtype, device=self.device).ravel()

    def dense(self) -> Tensor:
        """Return the columns as a dense tensor (for modules that know no sparse input)."""
        return torch.from_numpy(self.X.toarray()).to(self.device, self.dtype)

    def take(self, columns: Tensor) -> "SparseColumns":
        """Return some of the columns."""
        return SparseColumns(self.X[:, columns.cpu().numpy()], self.dtype, self.device)

    def blank(self, columns: Tensor) -> "SparseColumns":
        """Return the columns with 0 in some of them."""
        X = self.X.copy()
        X.data[np.isin(X.indices, columns.cpu().numpy())] = 0
        X.eliminate_zeros()
        return SparseColumns(X, self.dtype, self.device)

    def rows(self, index: Tensor | slice, once: bool = True) -> "SparseColumns":
        """Return some of the rows; whether once only does not matter here."""
        rows = index.cpu().numpy() if isinstance(index, Tensor) else index
        return SparseColumns(self.X[rows], self.dtype, self.device)

    def moments(self, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and variance under each model's weights; 0 for a constant column."""
        share = weights.double().cpu().numpy()
        share = share / share.sum(1, keepdims=True)
        X = self.X.astype(np.float64)  # or squares would be rounded, and constant columns seem to vary
        first = torch.tensor((X.T @ share.T).T)
        second = torch.tensor((X.multiply(X).tocsr().T @ share.T).T)
        # a variance no larger than the rounding of its two terms is none
        rounding = 4 * torch.finfo(torch.float64).eps * self.n_samples**0.5 * second
        variance = torch.where(second - first**2 > rounding, second - first**2, 0)
        return first.to(self.device, self.dtype), variance.to(self.device)


class SparseProduct(torch.autograd.Function):
    """Every model's product of its weights with its gated sparse input.

    As in `GatedProduct`, a column whose factor is 0 adds nothing and is left out. The columns that are
    shifted, few as a rule, subtract a constant of every unit.
    """

    @staticmethod
    def forward(
        ctx: Any, columns: SparseColumns, weight: Tensor, scale: Tensor, shift: Tensor | None
    ) -> Tensor:
        """Multiply: weight (n_models, n_units, n_columns) -> (n_models, n_units, n_samples)."""
        ctx.columns = columns
        ctx.save_for_backward(weight, scale, shift)
        h = SparseProduct._multiply(ctx, columns, weight, scale)
        if shift is not None:
            ctx.moved = torch.nonzero(shift.any(0))[:, 0]
            by = (scale * shift)[:, ctx.moved].unsqueeze(1) @ weight[:, :, ctx.moved].transpose(1, 2)
            h -= by.transpose(1, 2)
        return h

    @staticmethod
    def _multiply(ctx: Any, columns: SparseColumns, weight: Tensor, scale: Tensor) -> Tensor:
        ctx.one_by_one = weight.device.type == "cpu" and weight.shape[1] >= _WIDE
        if not ctx.one_by_one:
            flat = (weight * scale.unsqueeze(1)).flatten(0, 1).T  # (n_columns, n_models * n_units)
            return (columns.tensor @ flat).T.reshape(*weight.shape[:2], -1)
        h = weight.new_empty(*weight.shape[:2], columns.n_samples)
        for m, index, X in columns.each_open(scale):
            gated = weight[m].index_select(1, index) * scale[m, index]  # (n_units, n_open)
            h[m] = torch.from_numpy(X @ gated.T.numpy()).T
        return h

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of weight and scale."""
        weight, scale, shift = ctx.saved_tensors
        of_weight, of_scale = SparseProduct._gradients(ctx, grad, weight, scale)
        if shift is not None:
            at = ctx.moved
            of_gated = grad.sum(2).unsqueeze(2) * -shift[:, at].unsqueeze(1)  # (n_models, n_units, n_moved)
            of_weight.index_add_(2, at, of_gated * scale[:, at].unsqueeze(1))
            of_scale.index_add_(1, at, (of_gated * weight[:, :, at]).sum(1))
        return None, of_weight, of_scale, None

    @staticmethod
    def _gradients(ctx: Any, grad: Tensor, weight: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
        if not ctx.one_by_one:
            of_gated = (ctx.columns.transposed @ grad.flatten(0, 1).T).T.view_as(weight)
            return of_gated * scale.unsqueeze(1), (of_gated * weight).sum(1)
        of_weight, of_scale = torch.zeros_like(weight), torch.zeros_like(scale)
        for m, index, X in ctx.columns.each_open(scale):
            of_gated = torch.from_numpy(X.T @ grad[m].T.numpy()).T  # (n_units, n_open)
            of_scale[m, index] = (of_gated * weight[m].index_select(1, index)).sum(0)
            of_weight[m].index_copy_(1, index, of_gated * scale[m, index])
        return of_weight, of_scale


def far_from_zero(mean: Tensor, variance: Tensor) -> Tensor | None:
    """Return the means of the columns that lie further from 0 than they spread, 0 for the others.

    Columns of few numbers lie near 0: to shift them would change little and cost as if they were dense.
    """
    far = mean.square() > variance  # (n_models, n_columns)
    return torch.where(far, mean, 0) if far.any() else None


def _to_torch(X: sparse.csr_array, dtype: torch.dtype, device: torch.device) -> Tensor:
    with warnings.catch_warnings():  # torch announces that its CSR support is a beta
        warnings.filterwarnings("ignore", message=".*Sparse")
        return torch.sparse_csr_tensor(
            torch.from_numpy(X.indptr.astype(np.int64)),
            torch.from_numpy(X.indices.astype(np.int64)),
            torch.tensor(X.data, dtype=dtype),  # a copy: the input may be read-only
            X.shape,
            device=device,
            check_invariants=False,
        )
