"""Snapshots during training, and each model's best one."""

from collections.abc import Callable
from dataclasses import dataclass

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
        Which rows of the plan they are.
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
    """Snapshots taken so far, and each model's best one."""

    def __init__(self, models: Models, training: Training):
        n_models = models.plan.n_models
        self.training = training
        self.final = models.copy()
        self.alive = torch.arange(n_models, device=models.gate_parameter.device)
        self.step = torch.zeros_like(self.alive)
        self.best = torch.full_like(models.plan.lam, torch.inf)
        self.stale = torch.zeros_like(self.alive)
        self.snapshots: list[tuple[int, Tensor, Tensor, Tensor]] = []

    @torch.no_grad()
    def take(
        self,
        step: int,
        models: Models,
        design: Design,
        target: Target,
        callbacks: tuple[Callback, ...],
    ) -> Tensor:
        """Record a snapshot; return which of the models in training go on."""
        plan, n_models = models.plan, len(self.step)
        output = models.predict(design)
        train_loss = plan.objective.mean_loss(output, target.rows, plan.weights, models.learned)
        held_out = torch.full_like(train_loss, torch.nan)
        if plan.test_weights is not None:
            held_out = plan.objective.held_out_loss(
                output, target.rows, plan.weights, plan.test_weights, models.learned
            )
        gates = models.gate_parameter.detach().clone()
        train, test, path = (_scatter(x, self.alive, n_models) for x in (train_loss, held_out, gates))
        self.snapshots.append((step, train, test, path))
        for callback in callbacks:
            callback(
                Snapshot(step, self.training.n_steps, self.alive, train_loss, held_out, models.gates())
            )
        return self._judge(step, models, held_out)

    def _judge(self, step: int, models: Models, held_out: Tensor) -> Tensor:
        """Keep the models that are the best so far; return the positions of those that go on."""
        patience = self.training.patience
        if patience is None:
            better = torch.ones_like(self.alive, dtype=torch.bool)
        else:
            better = held_out < self.best[self.alive]
        rows = self.alive[better]
        self.final.put(rows, models.take(torch.nonzero(better)[:, 0]))
        self.best[rows] = held_out[better]
        self.step[rows] = step
        self.stale[self.alive] += 1
        self.stale[rows] = 0
        goes_on = torch.ones_like(better) if patience is None else self.stale[self.alive] < patience
        self.alive = self.alive[goes_on]
        return torch.nonzero(goes_on)[:, 0]

    def result(self) -> Trained:
        """Return what was recorded."""
        steps, train_loss, held_out, gates = zip(*self.snapshots, strict=True)
        return Trained(
            self.final,
            self.step,
            torch.tensor(steps),
            torch.stack(train_loss),
            torch.stack(held_out),
            torch.stack(gates),
        )


def _scatter(values: Tensor, index: Tensor, n_models: int) -> Tensor:
    """Put the values of the models in training into a row of all models, NaN elsewhere."""
    full = values.new_full((n_models, *values.shape[1:]), torch.nan)
    full[index] = values
    return full
