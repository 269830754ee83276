"""The rows that each step sees: all of them, parts in turn, or new mini-batches."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, islice, repeat
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from stochgate.engine.data import Columns, Design
from stochgate.engine.plan import Plan
from stochgate.objectives.base import Rows, Target


class Batch(NamedTuple):
    """What one step sees, the same rows for all models.

    Attributes
    ----------
    columns : Columns
    rows : dict of Tensor
        Their y.
    weigh : callable
        Returns the weights of these rows in the models of a plan, shape (n_models, n_rows).
    """

    columns: Columns
    rows: Rows
    weigh: Callable[[Plan], Tensor]


Average = Callable[[list[Tensor]], None]


class RowStream(Protocol):
    """Rows that are read while models are trained, since there are too many to hold.

    Attributes
    ----------
    average : callable or None
        Takes the gradients of the models in training and averages them, in place, over the processes that
        train the same models on other rows.
    """

    @property
    def average(self) -> Average | None:
        """What averages gradients over processes."""

    def batches(self, design: Design, plan: Plan, start: int = 0) -> Iterator[Batch]:
        """Yield what each step sees from step `start` on; columns are those of the design."""


def batches(design: Design, target: Target, plan: Plan, start: int = 0) -> Iterator[Batch]:
    """Yield what each step sees of the rows in memory, from step `start` on."""
    columns = design.columns
    size = plan.training.batch_size

    def batch(index: Tensor, once: bool) -> Batch:
        there = index.to(plan.weights.device)
        rows = plan.objective.take(target.rows, there)
        return Batch(columns.rows(there, once), rows, partial(_weights_of, there))

    if plan.turns:
        yield from islice(cycle([batch(index, once=False) for index in plan.turns]), start, None)
    elif size is None or size >= columns.n_samples:
        yield from repeat(Batch(columns, target.rows, _all_weights))
    else:
        for index in islice(_mini_batches(columns.n_samples, size, plan.data_seed), start, None):
            yield batch(index, once=True)


def _mini_batches(n_samples: int, size: int, seed: int) -> Iterator[Tensor]:
    """Yield the rows of every mini-batch, in a new order each time all were seen."""
    generator = torch.Generator().manual_seed(seed)
    while True:
        yield from torch.randperm(n_samples, generator=generator).split(size)


def _all_weights(plan: Plan) -> Tensor:
    return plan.weights


def _weights_of(index: Tensor, plan: Plan) -> Tensor:
    return plan.weights[:, index]
