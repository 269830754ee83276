"""The columns all models share, dense or sparse, and what each model learns of their scale."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor


class DenseColumns:
    """Dense columns on one device, shape (n_samples, n_columns)."""

    def __init__(self, X: Tensor):
        self.X = X
        self.n_samples, self.n_columns = X.shape

    def linear(self, weight: Tensor) -> Tensor:
        """Multiply all models' weights at once: one matrix product, X is not copied."""
        n_models, n_units, n_columns = weight.shape
        return (weight.reshape(-1, n_columns) @ self.X.T).view(n_models, n_units, -1)

    def dense(self) -> Tensor:
        """Return the columns themselves."""
        return self.X

    def rows(self, index: Tensor | slice) -> "DenseColumns":
        """Return some of the rows."""
        return DenseColumns(self.X[index])

    def moments(self, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and variance under each model's weights, two passes so nothing cancels."""
        share = weights / weights.sum(1, keepdim=True)
        mean = share @ self.X  # (n_models, n_columns)
        variance = torch.stack([s @ (self.X - m) ** 2 for s, m in zip(share, mean, strict=True)])
        return mean, variance


class SparseColumns:
    """Sparse columns (CSR), never made dense."""

    def __init__(self, X: sparse.csr_array, dtype: torch.dtype, device: torch.device):
        self.X, self.dtype, self.device = X, dtype, device
        self.n_samples, self.n_columns = X.shape
        self._tensor = _to_torch(X, dtype, device)
        self._transposed = _to_torch(X.T.tocsr(), dtype, device)

    def linear(self, weight: Tensor) -> Tensor:
        """Multiply all models' weights at once."""
        n_models, n_units, n_columns = weight.shape
        flat = weight.reshape(-1, n_columns).T  # (n_columns, n_models * n_units)
        return _SparseProduct.apply(self._tensor, self._transposed, flat).T.reshape(n_models, n_units, -1)

    def dense(self) -> Tensor:
        """Return the columns as a dense tensor (for modules that know no sparse input)."""
        return torch.from_numpy(self.X.toarray()).to(self.device, self.dtype)

    def rows(self, index: Tensor | slice) -> "SparseColumns":
        """Return some of the rows."""
        rows = index.cpu().numpy() if isinstance(index, Tensor) else index
        return SparseColumns(self.X[rows], self.dtype, self.device)

    def moments(self, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and variance under each model's weights."""
        share = weights.double().cpu().numpy()
        share = share / share.sum(1, keepdims=True)
        mean = (self.X.T @ share.T).T
        variance = (self.X.multiply(self.X).tocsr().T @ share.T).T - mean**2
        mean, variance = (torch.from_numpy(np.ascontiguousarray(a)) for a in (mean, variance))
        return mean.to(self.device, self.dtype), variance.to(self.device, self.dtype)


class _SparseProduct(torch.autograd.Function):
    """X @ W for sparse X, with the transposed X at hand for the gradient."""

    @staticmethod
    def forward(ctx: Any, X: Tensor, transposed: Tensor, weight: Tensor) -> Tensor:
        ctx.transposed = transposed
        return X @ weight

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[None, None, Tensor]:
        return None, None, ctx.transposed @ grad


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


Columns = DenseColumns | SparseColumns


@dataclass(frozen=True)
class Design:
    """The input of a plan: columns on a common scale and the gate of each.

    Attributes
    ----------
    columns : Columns
    gate_of : Tensor, shape (n_columns,), or None when every column has a gate of its own
    n_gates : int
    """

    columns: Columns
    gate_of: Tensor | None
    n_gates: int

    def spread(self, z: Tensor) -> Tensor:
        """Give every column its gate's value: (n_models, n_gates) -> (n_models, n_columns)."""
        return z if self.gate_of is None else z[:, self.gate_of]

    def gather(self, flags: Tensor) -> Tensor:
        """Ask of every gate whether a flag holds for all its columns, shape (n_models, n_gates)."""
        if self.gate_of is None:
            return flags
        count = torch.zeros(len(flags), self.n_gates, device=flags.device)
        count.index_add_(1, self.gate_of, (~flags).to(count.dtype))
        return count == 0


@dataclass(frozen=True)
class Scaling:
    """Each model's standardisation of the columns: its input is ``scale * (X - shift)``.

    Attributes
    ----------
    scale : Tensor, shape (n_models, n_columns); 0 where the column is constant for the model
    shift : Tensor, shape (n_models, n_columns), or None for no shift
    """

    scale: Tensor
    shift: Tensor | None


def learn_scaling(columns: Columns, weights: Tensor, standardize: bool) -> Scaling:
    """Learn each model's scaling from its own weights; sparse columns are not centred."""
    mean, variance = columns.moments(weights)
    rounding = 4 * torch.finfo(mean.dtype).eps * columns.n_samples**0.5
    varies = variance > (rounding * mean) ** 2
    if not standardize:
        return Scaling(varies.to(mean.dtype), None)
    scale = torch.where(varies, torch.where(varies, variance, 1).rsqrt(), 0)
    return Scaling(scale, None if isinstance(columns, SparseColumns) else mean)
