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

    centred = True

    def __init__(self, X: Tensor):
        self.X, self.device, self.dtype = X, X.device, X.dtype
        self.n_samples, self.n_columns = X.shape

    def linear(self, weight: Tensor) -> Tensor:
        """Multiply all models' weights at once: one matrix product, X is not copied."""
        n_models, n_units, n_columns = weight.shape
        return (weight.reshape(-1, n_columns) @ self.X.T).view(n_models, n_units, -1)

    def project(self, directions: Tensor) -> Tensor:
        """Return the columns' products with some directions, (n_samples, k) -> (n_columns, k)."""
        return self.X.T @ directions

    def squares(self) -> Tensor:
        """Return the columns' sums of squares, shape (n_columns,)."""
        return self.X.square().sum(0)

    def dense(self) -> Tensor:
        """Return the columns themselves."""
        return self.X

    def take(self, columns: Tensor) -> "DenseColumns":
        """Return some of the columns."""
        return DenseColumns(self.X[:, columns].contiguous())

    def rows(self, index: Tensor | slice) -> "DenseColumns":
        """Return some of the rows."""
        return DenseColumns(self.X[index])

    def moments(self, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and variance under each model's weights; 0 for a constant column."""
        share = weights / weights.sum(1, keepdim=True)
        mean = share @ self.X  # (n_models, n_columns)
        # a second pass, so that nothing cancels; a row of weight 0 may hold any number
        variance = torch.stack(
            [
                ((self.X - m) * s.sqrt().unsqueeze(1)).square().sum(0)
                for s, m in zip(share, mean, strict=True)
            ]
        )
        return mean, _zero_rounding(mean, variance, self.n_samples)


class SparseColumns:
    """Sparse columns (CSR); only a custom module makes them dense."""

    centred = False

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

    def project(self, directions: Tensor) -> Tensor:
        """Return the columns' products with some directions, (n_samples, k) -> (n_columns, k)."""
        return self._transposed @ directions

    def squares(self) -> Tensor:
        """Return the columns' sums of squares, shape (n_columns,)."""
        return torch.tensor(self.X.multiply(self.X).sum(0), dtype=self.dtype, device=self.device).ravel()

    def dense(self) -> Tensor:
        """Return the columns as a dense tensor (for modules that know no sparse input)."""
        return torch.from_numpy(self.X.toarray()).to(self.device, self.dtype)

    def take(self, columns: Tensor) -> "SparseColumns":
        """Return some of the columns."""
        return SparseColumns(self.X[:, columns.cpu().numpy()], self.dtype, self.device)

    def rows(self, index: Tensor | slice) -> "SparseColumns":
        """Return some of the rows."""
        rows = index.cpu().numpy() if isinstance(index, Tensor) else index
        return SparseColumns(self.X[rows], self.dtype, self.device)

    def moments(self, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and variance under each model's weights; 0 for a constant column."""
        share = weights.double().cpu().numpy()
        share = share / share.sum(1, keepdims=True)
        first = torch.tensor((self.X.T @ share.T).T)
        second = torch.tensor((self.X.multiply(self.X).tocsr().T @ share.T).T)
        variance = _zero_rounding(first, second - first**2, self.n_samples)
        return first.to(self.device, self.dtype), variance.to(self.device)


def _zero_rounding(mean: Tensor, variance: Tensor, n_samples: int) -> Tensor:
    """Set a variance to 0 that is no larger than the rounding of its mean."""
    rounding = 4 * torch.finfo(mean.dtype).eps * n_samples**0.5
    return torch.where(variance > (rounding * mean) ** 2, variance, 0)


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
    kept : Tensor of int, or None for all
        The columns left of all those the network was made for, when gates are closed for good.
    n_total : int
        How many columns the network was made for.
    """

    columns: Columns
    gate_of: Tensor | None
    n_gates: int
    kept: Tensor | None = None
    n_total: int = -1

    def __post_init__(self) -> None:
        if self.n_total < 0:
            object.__setattr__(self, "n_total", self.columns.n_columns)

    def narrow(self, gates: Tensor) -> "Design":
        """Keep the columns of some gates, a mask of shape (n_gates,); no model may open the others."""
        gate_of = self.gate_of_column()
        kept = torch.nonzero(gates[gate_of])[:, 0]
        return Design(self.columns.take(kept), gate_of[kept], self.n_gates, kept, self.n_total)

    def gate_of_column(self) -> Tensor:
        """Return the gate of every column, also where each has its own."""
        own = torch.arange(self.n_gates, device=self.columns.device)
        return own if self.gate_of is None else self.gate_of

    def spread(self, z: Tensor) -> Tensor:
        """Give every column its gate's value: (n_models, n_gates) -> (n_models, n_columns)."""
        return z if self.gate_of is None else z[:, self.gate_of]

    def all_columns(self, flags: Tensor) -> Tensor:
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
    varies = variance > 0
    if not standardize:
        return Scaling(varies.to(mean.dtype), None)
    scale = torch.where(varies, variance.clamp_min(torch.finfo(variance.dtype).tiny).rsqrt(), 0)
    return Scaling(scale.to(mean.dtype), mean if columns.centred else None)
