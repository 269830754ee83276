"""What every objective answers."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from torch import Tensor

Rows = dict[str, Tensor]
Learned = dict[str, Tensor]
Slope = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Target:
    """An encoded y.

    Attributes
    ----------
    rows : dict of Tensor
        What the loss reads, one entry a sample, each of shape (n_samples, ...).
    n_outputs : int
        How many outputs the network needs.
    facts : dict
        What reading a prediction needs, e.g. the class labels.
    """

    rows: Rows
    n_outputs: int
    facts: dict[str, Any]


def mean_of_teams(values: Tensor, n_members: int) -> Tensor:
    """Return the means of every n_members rows in a row, shape (n_models / n_members, ...)."""
    return values.unflatten(0, (-1, n_members)).mean(1)


class Objective(BaseEstimator, ABC):
    """An objective: the loss of each model given its sample weights, and the meaning of y.

    A fold is a weight: a row of weight 0 must change nothing, as if it were not there. Whatever is
    learnt from y (its scale, class weights, the base rate) is learnt per model, from its weights.
    """

    #: whether the loss depends on a constant added to the output
    intercept: bool = True
    #: whether each row has a loss of its own, whatever other rows are seen beside it
    by_row: bool = True
    #: the words that tell of its outputs: "classification", "regression" or "survival"
    task: str = "regression"
    #: what `score` is called, in short and in full
    score_name: str
    metric_name: str
    #: the score of one prediction for all rows, where that is the same for all y
    constant_score: float | None = None
    #: what the exponential of a coefficient is called, where outputs are logarithms
    ratio_name: str | None = None
    #: whether folds should have the same share of each kind of row (`strata_of`)
    stratifies: bool = False

    @classmethod
    def suits(cls, estimator: Any, y: Any) -> bool:
        """Return whether any scikit-learn estimator, given y, does what this objective is for."""
        return False

    @classmethod
    def as_rows(cls, y: Any) -> Any:
        """Return y as a container whose rows can be taken."""
        return y

    @classmethod
    def strata_of(cls, y: Any) -> np.ndarray:
        """Return the kind of each row of a y as it was given, int of shape (n_samples,)."""
        return np.zeros(len(y), dtype=int)

    @classmethod
    def model_without_features(cls) -> Any:
        """Return a scikit-learn estimator that uses no feature, or None where there is none."""
        return None

    def answers(self, rows: Rows) -> list[tuple[np.ndarray, bool]]:
        """Return what no column of X may be a copy of: a value of each row, and whether it is a label."""
        return []

    def question(self, target: Target) -> list[str]:
        """Return in sentences why y may be of another kind than this objective takes it for."""
        return []

    def output_names(self, facts: dict[str, Any], n_outputs: int) -> list[Any]:
        """Return what the outputs are of (classes, columns of y); None for the only one."""
        return [None] if n_outputs == 1 else list(range(n_outputs))

    def compares_outputs(self, n_outputs: int) -> bool:
        """Return whether only the differences between outputs matter, as for classes."""
        return False

    @abstractmethod
    def encode(self, y: ArrayLike) -> Target:
        """Check y and encode it."""

    @abstractmethod
    def encode_more(self, y: Any, facts: dict[str, Any]) -> Rows:
        """Encode further rows of a y of which others were encoded, whose facts are given."""

    @classmethod
    def kinds_of(cls, y: Any) -> np.ndarray:
        """Return a label of each row of a y as it was given; of rare kinds a sample has more rows."""
        return np.zeros(len(y), dtype=int)

    def take(self, rows: Rows, index: Tensor) -> Rows:
        """Return the rows of a mini-batch."""
        return {name: value[index] for name, value in rows.items()}

    def learn(self, rows: Rows, weights: Tensor) -> Learned:
        """Learn what depends on y from each model's weights, shapes (n_models, ...)."""
        return {}

    @abstractmethod
    def base(self, rows: Rows, weights: Tensor, learned: Learned) -> Tensor:
        """Return the best constant output, shape (n_models, n_outputs)."""

    def base_of_score(self, rows: Rows, weights: Tensor, learned: Learned) -> Tensor:
        """Return the best constant output as `score` counts rows, which knows no weights of classes."""
        return self.base(rows, weights, learned)

    @abstractmethod
    def loss(self, output: Tensor, rows: Rows, weights: Tensor, learned: Learned) -> Tensor:
        """Return the summed loss of each model, shape (n_models,).

        Parameters
        ----------
        output : Tensor, shape (n_models, n_samples, n_outputs)
        rows : as in `Target`, or a mini-batch of them
        weights : Tensor, shape (n_models, n_samples)
        learned : as returned by `learn`
        """

    def slope(self, rows: Rows, weights: Tensor, learned: Learned) -> Slope:
        """Return a function of the outputs that returns the gradient of the summed loss, shaped like them.

        What does not depend on the outputs is computed once, here.

        Parameters
        ----------
        rows, weights, learned : as in `loss`
        """

        @torch.enable_grad()
        def slope(output: Tensor) -> Tensor:
            output = output.detach().requires_grad_()
            (gradient,) = torch.autograd.grad(self.loss(output, rows, weights, learned).sum(), output)
            return gradient

        return slope

    @abstractmethod
    def curvature(self, n_outputs: int) -> float:
        """Return how fast the slope of the mean loss changes with the outputs, at most."""

    def weigh(self, rows: Rows, weights: Tensor, learned: Learned) -> Tensor:
        """Return what each row weighs in the loss, shape (n_models, n_samples)."""
        return weights

    def total(self, rows: Rows, weights: Tensor, learned: Learned) -> Tensor:
        """Return what the summed loss is divided by to make it a mean, shape (n_models,)."""
        return weights.sum(1)

    def mean_loss(self, output: Tensor, rows: Rows, weights: Tensor, learned: Learned) -> Tensor:
        """Return the mean loss of each model; NaN for a model without weight."""
        return self._per(self.total(rows, weights, learned), self.loss(output, rows, weights, learned))

    def held_out_loss(
        self, output: Tensor, rows: Rows, weights: Tensor, test_weights: Tensor, learned: Learned
    ) -> Tensor:
        """Return the mean loss on held-out rows, shape (n_models,); NaN for a model without any."""
        return self.mean_loss(output, rows, test_weights, learned)

    def held_out_losses(
        self, output: Tensor, rows: Rows, weights: Tensor, parts: Tensor, learned: Learned
    ) -> Tensor:
        """Return the mean loss on several parts of the held-out rows, shape (n_models, n_parts).

        Parameters
        ----------
        output, rows, weights, learned : as in `held_out_loss`
        parts : Tensor, shape (n_models, n_parts, n_samples)
            The weights of the rows in each part.
        """
        losses = [self.held_out_loss(output, rows, weights, part, learned) for part in parts.unbind(1)]
        return torch.stack(losses, dim=1)

    @abstractmethod
    def score(self, output: Tensor, rows: Rows, weights: Tensor, learned: Learned) -> Tensor:
        """Return how well each model predicts the rows of weight, as people judge it, shape (n_models,)."""

    def other_scores(
        self, output: Tensor, rows: Rows, weights: Tensor, learned: Learned, facts: dict[str, Any]
    ) -> dict[str, Tensor]:
        """Return by name what is told beside `score`, each of shape (n_models,)."""
        return {}

    @classmethod
    def other_scores_of(cls, model: Any, X: Any, y: Any, classes: np.ndarray) -> dict[str, float]:
        """Return the same of any scikit-learn estimator; `classes` are those of all rows, sorted."""
        return {}

    @staticmethod
    def _per(total: Tensor, loss: Tensor) -> Tensor:
        return torch.where(total > 0, loss / total.clamp_min(torch.finfo(total.dtype).tiny), torch.nan)

    def strata(self, rows: Rows) -> Tensor:
        """Return the kind of each row, so that held-out rows can be drawn from every kind."""
        return torch.zeros(len(next(iter(rows.values()))), dtype=torch.int64)

    def peers(self, rows: Rows) -> Tensor:
        """Return for each row the number of the set of rows within which the loss compares."""
        return torch.zeros_like(self.strata(rows))

    def average(
        self, output: Tensor, learned: Learned, n_members: int, common: Learned | None = None
    ) -> tuple[Tensor, Learned]:
        """Return the mean outputs of teams of n_members models in a row, and what they are read with.

        Parameters
        ----------
        output : Tensor, shape (n_models, n_samples, n_outputs)
        learned : as returned by `learn`, of each model
        n_members : int
        common : as returned by `learn`, of each team, optional
            The means over its members by default.
        """
        if common is None:
            common = {name: mean_of_teams(value, n_members) for name, value in learned.items()}
        return mean_of_teams(output, n_members), common

    def linear_scale(self, output: Tensor, learned: Learned) -> Tensor:
        """Return network outputs on the scale on which people read coefficients."""
        return output

    def read(self, output: Tensor, learned: Learned) -> Tensor:
        """Turn network outputs into predictions on the scale of y."""
        return output
