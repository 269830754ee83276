"""Snapshots during training, and each model's best one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from stochgate.engine.data import Design
from stochgate.engine.trained import Models, Trained
from stochgate.engine.training import Training
from stochgate.objectives.base import Target


@dataclass(frozen=True)
class Snapshot:
    """What a callback sees, for the models still in training.

    Attributes
    ----------
    step, n_steps : int
    models : Tensor, shape (n_models,)
        Which models of the plan they are.
    train_loss, held_out_loss : Tensor, shape (n_models,)
    gates : Tensor, shape (n_models, n_gates)
    """

    step: int
    n_steps: int
    models: Tensor
    train_loss: Tensor
    held_out_loss: Tensor
    gates: Tensor


Callback = Callable[[Snapshot], None]


def snapshot_steps(training: Training) -> set[int]:
    """Return the steps after which a snapshot is taken; the last one always is."""
    n = min(training.n_snapshots, training.n_steps)
    return {round(training.n_steps * (i + 1) / n) for i in range(n)}


class Record:
    """Snapshots taken so far, and each model's best one.

    A model that may stop early is judged by what it minimises, on its held-out rows: their loss plus the
    penalty. (The loss alone is often lowest before the gates close.) One without held-out rows is not
    judged and trains to the end.
    """

    def __init__(self, models: Models, numbers: Tensor | None):
        self.patience = models.plan.training.patience
        self.final = models if self.patience is None else models.copy()
        self.running = torch.arange(models.plan.n_models, device=models.gate_parameter.device)
        self.numbers = self.running if numbers is None else numbers
        self.step = torch.zeros_like(self.running)
        self.best = torch.full_like(models.plan.lam, torch.inf)
        self.stale = torch.zeros_like(self.running)
        self.snapshots: list[tuple[Any, ...]] = []

    @torch.no_grad()
    def add(
        self,
        step: int,
        models: Models,
        design: Design,
        target: Target,
        callbacks: tuple[Callback, ...],
    ) -> Tensor:
        """Record a snapshot of the running models; return the positions of those that go on."""
        plan = models.plan
        output = models.predict(design)
        train_loss = plan.objective.mean_loss(output, target.rows, plan.weights, models.learned)
        held_out, by_block = _judge_held_out(models, output, target)
        recorded = [train_loss, held_out, by_block, models.gate_parameter.detach().clone()]
        scattered = (_scatter(values, self.running, len(self.step)) for values in recorded)
        self.snapshots.append((step, *scattered))
        for callback in callbacks:
            numbers = self.numbers[self.running]
            callback(Snapshot(step, plan.training.n_steps, numbers, train_loss, held_out, models.gates()))
        return self._judge(step, models, held_out + plan.lam * models.penalty())

    def _judge(self, step: int, models: Models, judged: Tensor) -> Tensor:
        """Keep the models that are the best so far; return the positions of those that go on."""
        if self.patience is None:  # the models in training are those returned
            self.step[:] = step
            return self.running
        better = judged.isnan() | (judged < self.best[self.running])
        rows = self.running[better]
        self.final.put(rows, models.take(torch.nonzero(better)[:, 0]))
        self.best[rows] = judged[better]
        self.step[rows] = step
        self.stale[self.running] += 1
        self.stale[rows] = 0
        goes_on = self.stale[self.running] < self.patience
        self.running = self.running[goes_on]
        return torch.nonzero(goes_on)[:, 0]

    def result(self) -> Trained:
        """Return what was recorded."""
        steps, *recorded = zip(*self.snapshots, strict=True)
        stacked = (torch.stack(values) for values in recorded)
        final = self.final.copy() if self.patience is None else self.final
        return Trained(final, self.step, torch.tensor(steps), *stacked)


def _judge_held_out(models: Models, output: Tensor, target: Target) -> tuple[Tensor, Tensor]:
    """Return each model's loss on its held-out rows and on every block of them; NaN without any."""
    plan = models.plan
    n_blocks = 0 if plan.blocks is None else int(plan.blocks.max()) + 1
    losses = torch.full((len(output), 1 + n_blocks), torch.nan, dtype=output.dtype, device=output.device)
    if plan.test_weights is not None:
        for block in range(-1, n_blocks):
            test = plan.test_weights if block < 0 else plan.test_weights * (plan.blocks == block)
            losses[:, 1 + block] = plan.objective.held_out_loss(
                output, target.rows, plan.weights, test, models.learned
            )
    return losses[:, 0], losses[:, 1:]


def _scatter(values: Tensor, index: Tensor, n_models: int) -> Tensor:
    """Put the values of the models in training into a row of all models, NaN elsewhere."""
    full = values.new_full((n_models, *values.shape[1:]), torch.nan)
    full[index] = values
    return full
