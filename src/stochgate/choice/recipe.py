"""How a model of chosen features is trained, on all rows or on folds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.rows import for_stream, with_fewer_rows
from stochgate.choice.rules import Candidate
from stochgate.choice.sets.cells import REFITS
from stochgate.choice.sets.refits import plan_refits
from stochgate.engine import CLOSED, FREE, OPEN, Design, Trained
from stochgate.problem.problem import Problem


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a model of given features is trained.

    Attributes
    ----------
    support : ndarray of bool, shape (n_gates,)
    linear : ndarray of bool, shape (n_gates,)
        Those of the support that enter the output linearly, past the hidden layers; their gates are held
        open.
    lam : float or None
        The penalty on the other gates; None when they are held open.
    last_step : int or None for all steps
    shrink : float
        What the distance of its outputs from the base rate is multiplied by.
    """

    support: np.ndarray
    linear: np.ndarray
    lam: float | None = None
    last_step: int | None = None
    shrink: float = 1.0

    def train(
        self, problem: Problem, weights: Tensor, test: Tensor | None = None, n_members: int = 1
    ) -> tuple[Trained, Design]:
        """Train it once for every row of weights, shape (n_models, n_samples).

        Where gates are held open it may be a team of several models instead of one.
        """
        support = torch.from_numpy(self.support).to(weights.device)
        linear = torch.from_numpy(self.linear).to(weights.device)
        problem = problem.with_linear(self.linear)
        is_open = support if self.lam is None else linear | (problem.fixed == OPEN)
        fixed = torch.where(is_open, OPEN, torch.where(support, FREE, CLOSED)).to(torch.int8)[None]
        seed = problem.seed + np.arange(len(weights))
        stage = "final" if test is None else "second look"
        others: dict[str, Any] = {"test_weights": test, "last_step": self.last_step, "stage": stage}
        if self.lam is None:
            plan = plan_refits(problem, seed, weights, fixed, n_members=n_members, **others)
        else:
            plan = problem.plan(self.lam, seed, weights, fixed, **others)
        if test is None and problem.stream is not None:  # the final model sees all rows
            return problem.execute(for_stream(plan, problem.stream.n_rows), problem.stream)
        return problem.execute(with_fewer_rows(plan, DEFAULTS.rows_per_final_step))


def make_recipe(candidate: Candidate | None, keep: np.ndarray) -> Recipe:
    """Return how a candidate's final model is trained: as its folds were, on all rows.

    Without a candidate it is the model on the kept features or, without any, the base rate.
    """
    none = np.zeros_like(keep)
    if candidate is None:
        return Recipe(support=keep, linear=none, last_step=None if keep.any() else 1)
    cells, cell = candidate.cells, candidate.cell
    return Recipe(
        support=candidate.support | keep,
        linear=none,
        lam=None if cells.stage in REFITS else float(cells.lams[cell]),
        last_step=int(cells.step[cell]),
        shrink=float(cells.shrink[cell]),
    )
