"""Squared error for one or several outputs."""

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.base import is_regressor
from sklearn.dummy import DummyRegressor
from sklearn.utils.validation import check_array
from torch import Tensor

from stochgate.objectives.base import Learned, Objective, Rows, Slope, Target
from stochgate.tables.frame import is_date


class Regression(Objective):
    r"""Squared error, averaged over the outputs.

    .. math:: L = \sum_n w_n \frac{1}{K} \sum_k (f_k(x_n) - y_{nk})^2

    Parameters
    ----------
    standardize : bool, default=True
        Train on y with mean 0 and variance 1 (per model, from its weights), so that the penalty means
        the same whatever the unit of y. Predictions are on the scale of y in any case.

    Examples
    --------
    >>> from stochgate.objectives import Regression
    >>> Regression().encode([1.0, 2.0]).rows["y"].shape
    torch.Size([2, 1])
    """

    score_name = metric_name = "R2"
    _parameter_constraints = {"standardize": ["boolean"]}

    def __init__(self, standardize: bool = True):
        self.standardize = standardize

    def encode(self, y: ArrayLike) -> Target:  # noqa: D102
        values, many = self._values(y)
        return Target({"y": torch.tensor(values)}, values.shape[1], {"many": many})

    def encode_more(self, y: Any, facts: dict[str, Any]) -> Rows:  # noqa: D102
        return {"y": torch.tensor(self._values(y)[0])}

    @staticmethod
    def _values(y: Any) -> tuple[np.ndarray, bool]:
        """Return y as numbers, shape (n_samples, n_outputs), and whether several outputs were given."""
        if is_date(getattr(y, "dtype", None)):
            raise ValueError("y holds dates; a regression needs numbers, for instance days since a date.")
        values = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", ensure_all_finite=False)
        many = values.ndim == 2
        values = values if many else values[:, None]
        wrong = np.argwhere(~np.isfinite(values))
        if wrong.size:
            row, output = wrong[0]
            raise ValueError(
                f"Input y contains {values[row, output]} in row {row}; y must be finite numbers, so "
                "drop the row."
            )
        return values, many

    @classmethod
    def suits(cls, estimator: Any, y: Any) -> bool:  # noqa: D102
        return is_regressor(estimator)

    @classmethod
    def model_without_features(cls) -> Any:  # noqa: D102
        return DummyRegressor()

    def answers(self, rows: Rows) -> list[tuple[np.ndarray, bool]]:  # noqa: D102
        return [(values.cpu().numpy(), False) for values in rows["y"].T]

    def learn(self, rows: Rows, weights: Tensor) -> Learned:  # noqa: D102
        y = rows["y"]  # (n_samples, n_outputs), float64: the mean of a large y must not cancel
        if not self.standardize:
            zero = weights.new_zeros(len(weights), y.shape[1], dtype=y.dtype)
            return {"center": zero, "scale": zero + 1}
        share = _share(weights)
        center = share @ y  # (n_models, n_outputs)
        variance = torch.stack([s @ (y - c) ** 2 for s, c in zip(share, center, strict=True)])
        tiny = len(y) * (4 * torch.finfo(y.dtype).eps * center.abs()) ** 2  # the mean's rounding
        return {"center": center, "scale": torch.where(variance > tiny, variance, 1).sqrt()}

    def base(self, rows: Rows, weights: Tensor, learned: Learned) -> Tensor:  # noqa: D102
        share = _share(weights)
        return ((share @ rows["y"] - learned["center"]) / learned["scale"]).to(weights.dtype)

    def loss(  # noqa: D102
        self, output: Tensor, rows: Rows, weights: Tensor, learned: Learned
    ) -> Tensor:
        return self._losses(output, rows, learned).mul(weights).sum(1)

    def slope(self, rows: Rows, weights: Tensor, learned: Learned) -> Slope:  # noqa: D102
        y = self._scaled(rows, learned).to(weights.dtype)
        factor = weights.unsqueeze(2) * (2 / y.shape[2])
        return lambda output: (output - y).mul_(factor)

    def held_out_losses(  # noqa: D102
        self, output: Tensor, rows: Rows, weights: Tensor, parts: Tensor, learned: Learned
    ) -> Tensor:
        return self._per(
            parts.sum(2), (parts @ self._losses(output, rows, learned).unsqueeze(2)).squeeze(2)
        )

    def curvature(self, n_outputs: int) -> float:  # noqa: D102
        return 2 / n_outputs

    @staticmethod
    def _losses(output: Tensor, rows: Rows, learned: Learned) -> Tensor:
        """Return the loss of each row, shape (n_models, n_samples)."""
        y = Regression._scaled(rows, learned).to(output.dtype)
        return ((output - y) ** 2).mean(2)

    @staticmethod
    def _scaled(rows: Rows, learned: Learned) -> Tensor:
        """Return y on each model's scale, shape (n_models, n_samples, n_outputs)."""
        return (rows["y"] - learned["center"].unsqueeze(1)) / learned["scale"].unsqueeze(1)

    def score(self, output: Tensor, rows: Rows, weights: Tensor, learned: Learned) -> Tensor:
        """Return R2, mean over the outputs."""
        share = _share(weights).unsqueeze(2)  # (n_models, n_samples, 1)
        spread = (share * (rows["y"] - (share * rows["y"]).sum(1, keepdim=True)) ** 2).sum(1)
        error = (share * (rows["y"] - self.read(output, learned)) ** 2).sum(1)
        return (1 - self._per(spread, error)).mean(1)

    def average(
        self, output: Tensor, learned: Learned, n_members: int, common: Learned | None = None
    ) -> tuple[Tensor, Learned]:
        """Return the mean outputs; each model's are on its own scale of y, so they are read first."""
        values, common = super().average(self.read(output, learned), learned, n_members, common)
        mean = (values - common["center"].unsqueeze(1)) / common["scale"].unsqueeze(1)
        return mean.to(output.dtype), common

    def linear_scale(self, output: Tensor, learned: Learned) -> Tensor:  # noqa: D102
        return self.read(output, learned)

    def read(self, output: Tensor, learned: Learned) -> Tensor:  # noqa: D102
        return output * learned["scale"].unsqueeze(1) + learned["center"].unsqueeze(1)


def _share(weights: Tensor) -> Tensor:
    """Return each row's share of its model's weight, in double precision: y may be far from 0."""
    weights = weights.double()
    return weights / weights.sum(1, keepdim=True)
