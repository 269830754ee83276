"""Models in training as they stand, and their state: all that is needed to go on with the same bits."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from stochgate.engine.backend.cpu_packing import OwnColumns, own_columns_of
from stochgate.engine.data import Design
from stochgate.engine.descent import make_descent
from stochgate.engine.optimizers import AnyOptimizer
from stochgate.engine.record import Record
from stochgate.engine.steps import make_optimizer
from stochgate.engine.trained import Models
from stochgate.objectives.base import Target

State = dict[str, Any]  # tensors, numbers, and lists and dicts of them


class SavedState(Protocol):
    """Where the state of one stack in training is kept."""

    def load(self) -> State | None:
        """Return the state that was kept last, None where there is none."""

    def keep(self, state: Callable[[], State]) -> None:
        """Keep a state, unless one was kept a moment ago."""


@dataclass
class InTraining:
    """A stack of models in training: it shrinks when models stop.

    Attributes
    ----------
    models : Models
    design : Design
    optimizer : Optimizer
    record : Record
    step : int
        How many steps were taken.
    """

    models: Models
    design: Design
    optimizer: AnyOptimizer
    record: Record
    step: int = 0

    def go_on_with(self, some: Tensor) -> None:
        """Go on with some of the models, each with its own state of the optimiser."""
        fewer = self._only(some)
        after = make_optimizer(fewer, fewer.plan.training)
        pairs = zip(_all_parameters(self.optimizer), _all_parameters(after), strict=True)
        for old, new in pairs:
            after.state[new] = {
                name: value[some] if value.shape == old.shape else value
                for name, value in self.optimizer.state[old].items()
            }
        self.models, self.optimizer = fewer, after

    def _only(self, some: Tensor) -> Models:
        """Return some of the models, and let go of the columns that the others have for themselves."""
        if isinstance(self.design.columns, OwnColumns):
            self.design = own_columns_of(self.design, some)
        return self.models.take(some).copy()

    def state(self) -> State:
        """Return all that changes while models are trained."""
        optimizer = self.optimizer
        return {
            "step": self.step,
            "parameters": _plain(self.models.parameters),
            "gate_parameter": self.models.gate_parameter.detach(),
            "optimizer": [_plain(optimizer.state[p]) for p in _all_parameters(optimizer)],
            "record": self.record.state(),
        }

    def restore(self, state: State) -> None:
        """Go on from a state; so far nothing was trained."""
        self.record.restore(state["record"])
        self.step = state["step"]
        if len(self.record.stack) < self.models.plan.n_models:
            self.models = self._only(self.record.stack)
            self.optimizer = make_optimizer(self.models, self.models.plan.training)
        with torch.no_grad():  # in place: the memory of a tensor may have an order that is not its own
            for name, p in self.models.parameters.items():
                p.copy_(state["parameters"][name])
            self.models.gate_parameter.copy_(state["gate_parameter"])
        for p, values in zip(_all_parameters(self.optimizer), state["optimizer"], strict=True):
            if values:
                self.optimizer.state[p] = dict(values)


def begin(models: Models, design: Design, target: Target, numbers: Tensor | None) -> InTraining:
    """Return models of which none has taken a step."""
    record = Record(models, target, numbers)
    optimizer: AnyOptimizer
    if models.plan.accelerated:
        optimizer = make_descent(models, design, target.rows)
    else:
        optimizer = make_optimizer(models, models.plan.training)
    return InTraining(models, design, optimizer, record)


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {name: v.detach() if isinstance(v, Tensor) else v for name, v in values.items()}


def _all_parameters(optimizer: AnyOptimizer) -> list[Tensor]:
    return [p for group in optimizer.param_groups for p in group["params"]]
