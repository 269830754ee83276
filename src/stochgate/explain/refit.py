"""A linear model without penalty, and how its coefficients change with the weight of each row."""

from collections.abc import Iterator

import numpy as np
import torch
from scipy.stats import t
from torch import Tensor

from stochgate.objectives import Objective
from stochgate.objectives.base import Learned, Rows

_STEPS, _HALVINGS = 30, 30  # of Newton's method; where columns separate classes it never ends
_EPSILON = 1e-5  # of a parameter, to either side: derivatives are differences, in double precision
_OF_AN_ERROR = 1e-3  # such a share of a standard error serves second derivatives
_SETTLED, _LOOSE = 1e-8, 1e-3  # the last step of a parameter that has settled, and of one that has not
_ALIKE = 1e-10  # of the largest curvature: below, columns are sums of others
_NUMBERS_AT_ONCE = 1 << 24


class LinearRefit:
    """The unpenalised loss of a linear model of some rows, as a function of its coefficients.

    It asks of an objective what training asks of it: loss and slope of a stack of models. So derivatives
    are differences between models of one stack, and any objective will do.

    Parameters
    ----------
    objective : Objective
    rows : the encoded y
    X : ndarray, shape (n_samples, n_columns)
    weights : ndarray, shape (n_samples,), all above 0
    n_outputs : int
    groups : ndarray, shape (n_samples,), or None
        Rows that belong together move the coefficients together.
    """

    def __init__(
        self,
        objective: Objective,
        rows: Rows,
        X: np.ndarray,
        weights: np.ndarray,
        n_outputs: int,
        groups: np.ndarray | None,
    ):
        self.objective, self.rows = objective, {name: value.cpu() for name, value in rows.items()}
        self.weights, self.groups = torch.from_numpy(weights / weights.mean()), groups
        mean = weights @ X / weights.sum()
        self.spread = np.sqrt(weights @ (X - mean) ** 2 / weights.sum())
        self.spread[self.spread == 0] = np.nan  # a constant column tells nothing
        self.X = torch.from_numpy(np.nan_to_num((X - mean) / self.spread))
        if objective.intercept:
            self.X = torch.cat([self.X, torch.ones_like(self.X[:, :1])], dim=1)
        self.learned = objective.learn(self.rows, self.weights[None])
        self.basis = torch.eye(n_outputs, dtype=torch.float64)
        if objective.compares_outputs(n_outputs):  # their mean is 0
            self.basis = torch.linalg.svd(self.basis - 1 / n_outputs)[0][:, :-1]

    def intervals(self, level: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return lower ends, coefficients and upper ends, shape (n_outputs, n_columns) each.

        The errors are those of the sandwich, from how far each row moves the coefficients (HC3; of Cox
        models that of Lin and Wei), with Student's distribution. NaN stands for what the rows cannot tell:
        of a column that separates the classes, or is a sum of others.
        """
        at, inverse, told = self._minimum()
        n_told = float(self.objective.total(self.rows, self.weights[None], self.learned)[0])
        n_left, factor = n_told - len(at), 1.0
        tilts = self._by_row(at) * self.weights
        if self.groups is None:
            tilts /= 1 - self._leverage(at, inverse)
        else:
            group = torch.from_numpy(np.unique(self.groups, return_inverse=True)[1].ravel())
            n_groups = int(group.max()) + 1
            tilts = tilts.new_zeros(len(at), n_groups).index_add(1, group, tilts)
            factor = n_groups / (n_groups - 1) * n_told / max(n_left, 1)
            n_left = min(n_left, n_groups - 1)
        if n_left < 1:
            told = torch.zeros_like(told)
        moves = inverse @ tilts
        errors = self._errors(factor * moves @ moves.T)
        errors[self._errors(torch.diag((~told).double())) > 1e-6] = np.nan
        values = (self.basis @ at.view(self.basis.shape[1], -1)).numpy()
        reach = errors * t.isf((1 - level) / 2, max(n_left, 1))
        values[~np.isfinite(errors)] = np.nan
        columns, unit = slice(len(self.spread)), self._unit_of_y() / self.spread
        low, middle, high = (part[:, columns] * unit for part in (values - reach, values, values + reach))
        return low, middle, high

    def _minimum(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the parameters of the lowest loss, the inverse curvature there, and which are told."""
        at = torch.zeros(self.basis.shape[1] * self.X.shape[1], dtype=torch.float64)
        lowest = self._losses(at[None])[0]
        for _ in range(_STEPS):
            inverse, told = _pseudo_inverse(self._curvature(at))
            whole = step = -inverse @ self._gradients(at[None])[0]
            for _ in range(_HALVINGS):
                loss = self._losses((at + step)[None])[0]
                if loss <= lowest:
                    break
                step = step / 2
            else:  # as low as rounding lets it be
                break
            at, lowest = at + step, loss
            if whole.abs().max() <= _SETTLED:
                break
        return at, inverse, told & (whole.abs() <= _LOOSE)

    def _unit_of_y(self) -> np.ndarray:
        """Return how much one unit of each output is on the scale of y, shape (n_outputs, 1)."""
        ends = torch.stack([torch.zeros(len(self.basis)), torch.ones(len(self.basis))]).double()[None]
        ends = self.objective.linear_scale(ends, self.learned)[0]
        return (ends[1] - ends[0]).numpy()[:, None]

    def _errors(self, covariance: Tensor) -> np.ndarray:
        """Return the standard errors of the outputs' coefficients, shape (n_outputs, n_columns)."""
        shape = (self.basis.shape[1], self.X.shape[1])
        of_column = covariance.view(*shape, *shape).diagonal(dim1=1, dim2=3)  # (basis, basis, n_columns)
        variance = torch.einsum("oa,abc,ob->oc", self.basis, of_column, self.basis)
        return variance.clamp_min(0).sqrt().numpy()

    def _outputs(self, models: Tensor) -> Tensor:
        """Return the outputs of models, (n_models, n_parameters) -> (n_models, n_samples, n_outputs)."""
        shaped = models.view(len(models), self.basis.shape[1], self.X.shape[1])
        return torch.einsum("nc,mbc,ob->mno", self.X, shaped, self.basis)

    def _given(self, n_models: int) -> tuple[Tensor, Learned]:
        """Return weights and what was learned from them for so many models."""
        learned = {name: value.expand(n_models, *value.shape[1:]) for name, value in self.learned.items()}
        return self.weights.expand(n_models, -1).contiguous(), learned

    def _losses(self, models: Tensor) -> Tensor:
        weights, learned = self._given(len(models))
        return self.objective.loss(self._outputs(models), self.rows, weights, learned)

    def _gradients(self, models: Tensor) -> Tensor:
        """Return the gradient of each model's loss, shape (n_models, n_parameters)."""
        weights, learned = self._given(len(models))
        slope = self.objective.slope(self.rows, weights, learned)(self._outputs(models))
        return torch.einsum("nc,mno,ob->mbc", self.X, slope, self.basis).flatten(1)

    def _beside(self, at: Tensor, steps: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield models some steps to one side, and to the other, a few steps at once."""
        at_once = max(1, _NUMBERS_AT_ONCE // (2 * len(self.X) * len(self.basis)))
        for some in steps.split(at_once):
            yield at + some, at - some

    def _curvature(self, at: Tensor) -> Tensor:
        """Return the second derivatives of the loss, shape (n_parameters, n_parameters)."""
        small = _EPSILON * torch.eye(len(at), dtype=torch.float64)
        rows = [self._gradients(up) - self._gradients(down) for up, down in self._beside(at, small)]
        curvature = torch.cat(rows) / (2 * _EPSILON)
        return (curvature + curvature.T) / 2

    def _by_row(self, at: Tensor) -> Tensor:
        """Return the gradient's derivative by the weight of each row, shape (n_parameters, n_samples)."""
        small = _EPSILON * torch.eye(len(at), dtype=torch.float64)
        tilts = [self._by_weight(up) - self._by_weight(down) for up, down in self._beside(at, small)]
        return torch.cat(tilts) / (2 * _EPSILON)

    def _leverage(self, at: Tensor, inverse: Tensor) -> Tensor:
        """Return which share of its own prediction each row makes: its part of the curvature."""
        values, vectors = torch.linalg.eigh(inverse)
        errors = _OF_AN_ERROR * (vectors * values.clamp_min(0).sqrt()).T
        middle = self._by_weight(at[None])
        bends = [
            (self._by_weight(up) + self._by_weight(down) - 2 * middle).sum(0)
            for up, down in self._beside(at, errors)
        ]
        return (torch.stack(bends).sum(0) * self.weights / _OF_AN_ERROR**2).clamp(0, 0.99)

    def _by_weight(self, models: Tensor) -> Tensor:
        """Return the derivative of each model's loss by the weight of each row, (n_models, n_samples)."""
        weights, learned = self._given(len(models))
        with torch.enable_grad():
            weights.requires_grad_()
            loss = self.objective.loss(self._outputs(models), self.rows, weights, learned)
            return torch.autograd.grad(loss.sum(), weights)[0]


def _pseudo_inverse(curvature: Tensor) -> tuple[Tensor, Tensor]:
    """Return the inverse, 0 along flat directions, and which parameters have no part in these."""
    values, vectors = torch.linalg.eigh(curvature)
    flat = values <= _ALIKE * values.amax().clamp_min(torch.finfo(values.dtype).tiny)
    inverse = (vectors * torch.where(flat, 0, 1 / torch.where(flat, 1, values))) @ vectors.T
    return inverse, vectors[:, flat].abs().amax(1) < 1e-6 if flat.any() else torch.ones_like(flat)
