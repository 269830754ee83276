"""A bank of scores: what single columns and pairs of columns tell of residuals, as lines and as curves."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from scipy.stats import chi2, norm
from torch import Tensor

from stochgate.choice.defaults import DEFAULTS
from stochgate.engine import DenseColumns, Design

_NUMBERS_AT_ONCE = 1 << 24  # in the forms of some columns
_COLUMNS_AT_ONCE = 1024  # whose pairs are asked together
_N_CURVES = 4


@dataclass(frozen=True)
class Pairs:
    """Pairs of columns that tell of residuals together, the strongest first.

    Attributes
    ----------
    columns : Tensor of int, shape (n_pairs, 2)
    z : Tensor, shape (n_pairs,)
        Standard normal if the product of the two columns has nothing to do with the residuals.
    alone : Tensor, shape (n_pairs,)
        The same, free of what each column of the pair tells by itself.
    level : float
        The z that the largest of so many pairs of noise passes once in a hundred times.
    p : float
        At most the chance that the strongest of so many pairs of noise were as strong.
    """

    columns: Tensor
    z: Tensor
    alone: Tensor
    level: float
    p: float

    @property
    def clear(self) -> Tensor:
        """Which pairs tell something that neither of the columns tells alone."""
        return (self.z > self.level) & (self.alone > self.level)


class Bank:
    r"""Forms of every column: the line, and four curves that any smooth function of it is made of.

    The line is the column at unit variance. The curves are Legendre polynomials of degree 1 to 4 of the
    column's mid-ranks, made orthogonal to each other and of unit variance, so that ties change nothing; of
    a column of two values one curve is left. With r residuals of unit variance,

    .. math:: s_j = \frac1n (x_j^T r)^2, \quad c_j = \frac1n \sum_{k=1}^4 (L_k(u_j)^T r)^2

    are chi-squared with one and four degrees of freedom if column j has nothing to do with them.

    Parameters
    ----------
    design : Design
        The columns as the simplest network takes them.
    """

    def __init__(self, design: Design):
        self.columns, self.design = design.columns, design
        self.gate_of = design.gate_of_column()
        self.n_samples, self.n_columns = self.columns.n_samples, self.columns.n_columns

    @property
    def has_curves(self) -> bool:
        """Whether curves are asked for: of columns that are dense by themselves, and not too many."""
        few = self.n_samples * self.n_columns <= DEFAULTS.most_ranked
        return isinstance(self.columns, DenseColumns) and not self.columns.was_sparse and few

    @cached_property
    def n_numbers(self) -> int:
        """How many numbers the columns hold, those of sparse ones other than 0."""
        if isinstance(self.columns, DenseColumns):
            X = self.columns.X
            return int(X.count_nonzero()) if self.columns.was_sparse else X.numel()
        return int(self.columns.X.nnz)

    @cached_property
    def variance(self) -> Tensor:
        """The columns' variances, shape (n_columns,)."""
        ones = torch.ones(1, self.n_samples, dtype=self.columns.dtype, device=self.columns.device)
        return self.columns.moments(ones)[1][0]

    @cached_property
    def _ranks(self) -> Tensor:
        """The columns' mid-ranks between -1 and 1, shape (n_samples, n_columns)."""
        X = self.columns.dense()
        at_once = max(1, _NUMBERS_AT_ONCE // self.n_samples)
        return torch.cat([_mid_ranks(part) for part in X.split(at_once, 1)], dim=1)

    def curves(self, columns: slice | Tensor) -> Tensor:
        """Return the curves of some columns, shape (n_samples, n, 4); 0 where a column has fewer."""
        u = self._ranks[:, columns]
        legendre = torch.stack(
            [u, 1.5 * u**2, 2.5 * u**3 - 1.5 * u, (35 * u**4 - 30 * u**2) / 8], dim=2
        )  # constants are taken off below
        made: list[Tensor] = []
        for curve in legendre.unbind(2):
            curve = curve - curve.mean(0)
            size = curve.square().mean(0)
            for other in made:
                curve = curve - other * (other * curve).mean(0)
            left = curve.square().mean(0)
            varies = left > 1e-3 * size.clamp_min(1e-12)
            made.append(torch.where(varies, curve * left.clamp_min(1e-12).rsqrt(), 0))
        return torch.stack(made, dim=2)

    def lines(self, columns: slice | Tensor, rows: Tensor | None = None) -> Tensor:
        """Return some columns at mean 0 and variance 1, of all rows or some; 0 where they are constant."""
        asked = self.columns if rows is None else self.columns.rows(rows)
        if isinstance(asked, DenseColumns):
            X = asked.X[:, columns]
        else:
            X = (asked if isinstance(columns, slice) else asked.take(columns)).dense()
        X = X - X.mean(0)
        variance = X.square().mean(0)
        return X * torch.where(variance > 0, variance, torch.inf).rsqrt()

    def scores(self, directions: Tensor, groups: tuple[Tensor, Tensor] | None = None) -> Tensor:
        """Return what each gate's columns tell of each direction, shape (n_kinds, n_gates, k).

        The kinds are lines and, where they are asked for, curves. Scores of a gate's columns are averaged.

        Parameters
        ----------
        directions : Tensor, shape (n_samples, k), or (n_groups, k)
        groups : the group of every row, and the groups' sizes, optional
            Rows that belong together: the mean of each form over a group is asked.
        """

        def project(form: Tensor) -> Tensor:
            if groups is not None:
                of_row, size = groups
                summed = form.new_zeros(len(size), *form.shape[1:]).index_add(0, of_row, form)
                form = summed / size.view(-1, *[1] * (form.ndim - 1))
            return torch.tensordot(form, directions, dims=([0], [0])).square() / len(directions)

        if not self.has_curves:
            return self._of_gates(self._sparse_lines(directions, groups))[None]
        lines, curves = [], []
        for part in self.parts():
            lines.append(project(self.lines(part)))
            curves.append(project(self.curves(part)).sum(1))
        return torch.stack([self._of_gates(torch.cat(scores)) for scores in (lines, curves)])

    def pairs(self, residual: Tensor, n_strongest: int) -> Pairs | None:
        r"""Return the pairs of columns whose products tell most of residuals.

        Of two columns the products of their curves of degree 1 and 2 are asked, by
        :math:`z = \sum_i a_i / \sqrt{\sum_i a_i^2}` with :math:`a_i = L_a(u_{ij}) L_b(u_{ik}) r_i`, whose
        tails are no heavier than normal ones whatever r is. None where so few rows could not tell, or so
        many pairs would take too long.

        Parameters
        ----------
        residual : Tensor, shape (n_samples, n_outputs)
            0 in rows that are not asked.
        n_strongest : int
        """
        n_outputs, p = residual.shape[1], self.n_columns
        n_rows = int((residual != 0).any(1).sum())
        n_asked = 2.0 * p * (p - 1) * n_outputs
        level = float(norm.isf(DEFAULTS.pair_level / 2 / max(n_asked, 1)))
        work = 16.0 * n_rows * p * p * n_outputs
        most = DEFAULTS.most_work_gpu if residual.is_cuda else DEFAULTS.most_work
        if not self.has_curves or p < 2 or n_rows**0.5 < DEFAULTS.pair_reach * level or work > most:
            return None
        z, found = self._strongest(residual, n_strongest)
        alone = self.alone(found, residual)
        order = torch.argsort(alone, descending=True)
        bound = float(np.clip(2 * norm.sf(float(z.max())) * n_asked, 0, 1))
        return Pairs(found[order], z[order], alone[order], level, bound)

    def alone(self, pairs: Tensor, residual: Tensor) -> Tensor:
        """Return the largest z of each pair's products, free of both columns' curves, shape (n_pairs,).

        Parameters
        ----------
        pairs : Tensor of int, shape (n_pairs, 2)
        residual : Tensor, shape (n_samples, n_outputs)
        """
        asked = (residual != 0).any(1)
        r = residual[asked].to(self.columns.dtype)
        at_once = max(1, _NUMBERS_AT_ONCE // (self.n_samples * 16))
        return torch.cat([self._alone(some, asked, r) for some in pairs.split(at_once)])

    def _alone(self, pairs: Tensor, asked: Tensor, r: Tensor) -> Tensor:
        """Return what `alone` does for pairs whose forms fit into memory."""
        first, second = (self.curves(pairs[:, side])[asked].transpose(0, 1) for side in (0, 1))
        ones = torch.ones_like(first[:, :, :1])
        basis, _ = torch.linalg.qr(torch.cat([ones, first, second], dim=2))  # (n_pairs, n_rows, 9)
        freed = r - basis @ (basis.transpose(1, 2) @ r)
        products = (first[:, :, :2, None] * second[:, :, None, :2]).flatten(2)
        products = products - basis @ (basis.transpose(1, 2) @ products)
        terms = products.unsqueeze(3) * freed.unsqueeze(2)  # (n_pairs, n_rows, 4, n_outputs)
        return (terms.sum(1).abs() / terms.square().sum(1).sqrt().clamp_min(1e-12)).flatten(1).amax(1)

    def _strongest(self, residual: Tensor, n_strongest: int) -> tuple[Tensor, Tensor]:
        """Return the z of the strongest pairs, and their columns."""
        asked = (residual != 0).any(1)
        r = residual[asked].to(self.columns.dtype)
        starts = range(0, self.n_columns, _COLUMNS_AT_ONCE)
        forms = torch.cat([self.curves(part)[asked][:, :, :2] for part in self.parts()], dim=1)
        kinds = [forms[:, :, 0].contiguous(), forms[:, :, 1].contiguous()]
        squares = [kind.square() for kind in kinds]
        best = r.new_zeros(0)
        place = torch.zeros(0, 2, dtype=torch.int64, device=r.device)
        for output in r.unbind(1):
            for i in starts:
                rows = slice(i, i + _COLUMNS_AT_ONCE)
                left = [(k[:, rows] * output[:, None]).T for k in kinds]
                left_squares = [(k[:, rows] * output.square()[:, None]).T for k in squares]
                for j in range(i, self.n_columns, _COLUMNS_AT_ONCE):
                    columns = slice(j, j + _COLUMNS_AT_ONCE)
                    z = self._z(left, left_squares, kinds, squares, rows, columns)
                    top = z.flatten().topk(min(n_strongest, z.numel()))
                    at = torch.stack([top.indices // z.shape[1] + i, top.indices % z.shape[1] + j], dim=1)
                    best, place = torch.cat([best, top.values]), torch.cat([place, at])
        order = best.topk(min(n_strongest, len(best))).indices
        return best[order], place[order]

    def _z(
        self,
        left: list[Tensor],
        left_squares: list[Tensor],
        kinds: list[Tensor],
        squares: list[Tensor],
        rows: slice,
        columns: slice,
    ) -> Tensor:
        """Return the largest |z| of products of two blocks of columns; 0 within a gate, and below it."""
        z = torch.zeros(left[0].shape[0], kinds[0][:, columns].shape[1], device=left[0].device)
        for a in range(2):
            for b in range(2):
                total = left[a] @ kinds[b][:, columns]
                size = left_squares[a] @ squares[b][:, columns]
                z = torch.maximum(z, total.abs() * size.clamp_min(1e-12).rsqrt())
        own = torch.arange(self.n_columns, device=z.device)
        later = own[rows][:, None] < own[columns]
        apart = self.gate_of[rows][:, None] != self.gate_of[columns]
        return torch.where(later & apart, z, 0)

    def _sparse_lines(self, directions: Tensor, groups: tuple[Tensor, Tensor] | None) -> Tensor:
        n_directions = len(directions)
        if groups is not None:
            of_row, size = groups
            directions = (directions / size[:, None])[of_row]
        ones = torch.ones(1, self.n_samples, dtype=self.columns.dtype, device=directions.device)
        mean, variance = (moment[0] for moment in self.columns.moments(ones))
        told = self.columns.project(directions) - mean[:, None] * directions.sum(0)
        scale = torch.where(variance > 0, variance, torch.inf)
        return (told.square() / scale[:, None] / n_directions).to(directions.dtype)

    def _of_gates(self, scores: Tensor) -> Tensor:
        """Return the mean over each gate's columns: (n_columns, k) -> (n_gates, k)."""
        if self.design.gate_of is None:
            return scores
        n_gates = self.design.n_gates
        count = torch.bincount(self.gate_of, minlength=n_gates).clamp_min(1)
        return (
            scores.new_zeros(n_gates, scores.shape[1]).index_add(0, self.gate_of, scores) / count[:, None]
        )

    def parts(self) -> Iterator[slice]:
        """Yield the columns in parts whose forms fit into memory."""
        at_once = max(1, _NUMBERS_AT_ONCE // (self.n_samples * (1 + _N_CURVES)))
        return (slice(i, i + at_once) for i in range(0, self.n_columns, at_once))


def _mid_ranks(X: Tensor) -> Tensor:
    """Return each column's mid-ranks, equal values sharing one, between -1 and 1."""
    n = len(X)
    ordered, order = X.sort(0)
    new = torch.ones_like(ordered, dtype=torch.bool)
    new[1:] = ordered[1:] != ordered[:-1]
    place = torch.arange(n, device=X.device)[:, None].expand_as(order)
    first = torch.where(new, place, 0).cummax(0).values
    ends = torch.ones_like(new)
    ends[:-1] = new[1:]
    last = torch.where(ends, place, n).flip(0).cummin(0).values.flip(0)
    middle = (first + last + 1).to(X.dtype) / n - 1
    return torch.empty_like(X).scatter_(0, order, middle)


def as_z(scores: Tensor, freedom: float) -> np.ndarray:
    """Return the |z| of the same p-value as chi-squared scores have."""
    p = chi2.sf(scores.double().cpu().numpy(), freedom)
    return np.asarray(norm.isf(np.maximum(p, 1e-300) / 2))
