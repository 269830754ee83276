"""The columns all models share, dense or sparse, and what each model learns of their scale."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from stochgate.engine.backend.cpu_product import GatedProduct
from stochgate.engine.backend.gpu_product import WholeProduct, with_ones
from stochgate.engine.sparse import SparseColumns, far_from_zero

_BLOCK = 1024  # columns whose variance is summed up at once: some hundred rows of them stay in a cache


class DenseColumns:
    """Dense columns on one device, shape (n_samples, n_columns)."""

    def __init__(self, X: Tensor, once: bool = False, was_sparse: bool = False):
        self.X, self.device, self.dtype = X, X.device, X.dtype
        self.once = once  # whether it is multiplied once only, as one of many mini-batches is
        self.was_sparse = was_sparse  # whether it is centred as sparse columns are
        self.n_samples, self.n_columns = X.shape

    @property
    def are_centred(self) -> bool:
        """Whether models that standardise their columns centre all of them."""
        return not self.was_sparse

    def affine(self, weight: Tensor, scale: Tensor, shift: Tensor | None, bias: Tensor | None) -> Tensor:
        """Return all models' first layers; X is not copied for each. On a GPU it has rows to spare."""
        if self.X.is_cuda:
            return WholeProduct.apply(
                self._with_ones, lambda: self._ones_by_column, weight, scale, shift, bias
            )
        return GatedProduct.apply(self, weight, scale, shift, bias)

    @cached_property
    def _with_ones(self) -> Tensor:
        return with_ones(self.X)

    @cached_property
    def _ones_by_column(self) -> Tensor:
        return self._with_ones.T.contiguous()

    @cached_property
    def by_column(self) -> Tensor:
        """X with the numbers of a column next to each other, so that columns are gathered fast."""
        return self.X.T.contiguous()

    def __reduce__(self) -> tuple[Any, ...]:  # X alone, not its copies
        return DenseColumns, (self.X, self.once, self.was_sparse)

    def shift(self, mean: Tensor, variance: Tensor) -> Tensor | None:
        """Return what is subtracted of every column, shape (n_models, n_columns), or None for nothing."""
        return far_from_zero(mean, variance) if self.was_sparse else mean

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
        return DenseColumns(self.X[:, columns].contiguous(), was_sparse=self.was_sparse)

    def blank(self, columns: Tensor) -> "DenseColumns":
        """Return the columns with 0 in some of them."""
        return DenseColumns(self.X.index_fill(1, columns, 0), was_sparse=self.was_sparse)

    def rows(self, index: Tensor | slice, once: bool = True) -> "DenseColumns":
        """Return some of the rows; `once` says that they are multiplied once only."""
        X = self.X[index] if isinstance(index, slice) else self.X.index_select(0, index)  # 3 times as fast
        return DenseColumns(X, once, self.was_sparse)

    def moments(self, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and variance under each model's weights; 0 for a constant column."""
        share = weights / weights.sum(1, keepdim=True)
        mean = share @ self.X  # (n_models, n_columns)
        some = zip(self.X.split(_BLOCK, 1), mean.split(_BLOCK, 1), strict=True)
        variance = torch.cat([_variance(X, m, share) for X, m in some], dim=1)
        return mean, _zero_rounding(mean, variance, self.n_samples)


def _variance(X: Tensor, mean: Tensor, share: Tensor) -> Tensor:
    """Return each model's variance of some columns, by a second pass, so that nothing cancels."""
    return torch.stack(
        [  # the root comes first: a row of weight 0 may hold any number
            (X - m).mul_(s.sqrt().unsqueeze(1)).square_().sum(0) for s, m in zip(share, mean, strict=True)
        ]
    )


def _zero_rounding(mean: Tensor, variance: Tensor, n_samples: int) -> Tensor:
    """Set a variance to 0 that is no larger than the rounding of its mean."""
    rounding = 4 * torch.finfo(mean.dtype).eps * n_samples**0.5
    return torch.where(variance > (rounding * mean) ** 2, variance, 0)


Columns = DenseColumns | SparseColumns


@dataclass(frozen=True)
class Design:
    """The input of a plan: columns on a common scale and the gate of each.

    Attributes
    ----------
    columns : Columns
    gate_of : Tensor, shape (n_columns,), or None when every column has a gate of its own; of shape
        (n_models, n_columns) where each model has columns of its own (`backend/cpu_packing.py`)
    n_gates : int
    kept : Tensor of int, or None for all
        The columns left of all those the network was made for, when gates are closed for good.
    n_total : int
        How many columns the network was made for.
    whole : Design or None
        What it was narrowed from, for those who have sent that elsewhere already.
    """

    columns: Columns
    gate_of: Tensor | None
    n_gates: int
    kept: Tensor | None = None
    n_total: int = -1
    whole: "Design | None" = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.n_total < 0:
            object.__setattr__(self, "n_total", self.columns.n_columns)

    def narrow(self, gates: Tensor) -> "Design":
        """Keep the columns of some gates, a mask of shape (n_gates,); no model may open the others."""
        return self.keep(torch.nonzero(gates[self.gate_of_column()])[:, 0])

    def keep(self, columns: Tensor) -> "Design":
        """Keep some columns, given by their positions; no model may open the others."""
        gate_of = self.gate_of_column()[columns]
        return Design(self.columns.take(columns), gate_of, self.n_gates, columns, self.n_total, self)

    def gate_of_column(self) -> Tensor:
        """Return the gate of every column, also where each has its own."""
        own = torch.arange(self.n_gates, device=self.columns.device)
        return own if self.gate_of is None else self.gate_of

    def spread(self, z: Tensor) -> Tensor:
        """Give every column its gate's value: (n_models, n_gates) -> (n_models, n_columns)."""
        if self.gate_of is None:
            return z
        return z[:, self.gate_of] if self.gate_of.ndim == 1 else z.gather(1, self.gate_of)

    def collect(self, values: Tensor) -> Tensor:
        """Sum the values of each gate's columns: (n_models, n_columns) -> (n_models, n_gates)."""
        if self.gate_of is None:
            return values
        summed = values.new_zeros(len(values), self.n_gates)
        return summed.scatter_add_(1, self.gate_of.expand_as(values), values)

    def all_columns(self, flags: Tensor) -> Tensor:
        """Ask of every gate whether a flag holds for all its columns, shape (n_models, n_gates)."""
        return self.collect((~flags).to(torch.get_default_dtype())) == 0


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
    """Learn each model's scaling from its own weights."""
    first, place = alike(weights)  # models of one fold learn the same
    mean, variance = (moment[place] for moment in columns.moments(weights[first]))
    varies = variance > 0
    if not standardize:
        return Scaling(varies.to(mean.dtype), None)
    scale = torch.where(varies, variance.clamp_min(torch.finfo(variance.dtype).tiny).rsqrt(), 0)
    return Scaling(scale.to(mean.dtype), columns.shift(mean, variance))


def alike(weights: Tensor) -> tuple[Tensor, Tensor]:
    """Return one model of each kind of weights, and the kind of every model."""
    models = torch.arange(len(weights), device=weights.device)
    mark = weights @ torch.linspace(1, 2, weights.shape[1]).sqrt().to(weights)
    kinds, place = mark.unique(return_inverse=True)
    first = torch.zeros_like(kinds, dtype=torch.int64).scatter_reduce(
        0, place, models, "amin", include_self=False
    )
    if torch.equal(weights[first][place], weights):
        return first, place
    return models, models  # two kinds share a mark
