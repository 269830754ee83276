"""Snapshots during training, and each model's best one."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from stochgate.engine.data import Design
from stochgate.engine.plan import Plan
from stochgate.engine.trained import Models, Teams, Trained
from stochgate.objectives.base import Rows, Target


@dataclass(frozen=True)
class Snapshot:
    """What a callback sees, for the models still in training.

    Attributes
    ----------
    step, n_steps : int
    models : Tensor, shape (n_models,)
        Which models of the plan they are.
    train_loss, held_out_loss : Tensor, shape (n_models,)
        Members of a team that is judged have the team's.
    gates : Tensor, shape (n_models, n_gates)
    stage : str
        What the models are trained for: "training" where lam was given, else a stage of the automatic
        choice ("path", "survivors", "refit", "all", "growing penalty", "growing", "elimination", "team",
        "final", ...).
    """

    step: int
    n_steps: int
    models: Tensor
    train_loss: Tensor
    held_out_loss: Tensor
    gates: Tensor
    stage: str = "training"


Callback = Callable[[Snapshot], None]
_OF_STACK = ("stack", "running", "step", "best", "stale")  # what a record knows of each model


def snapshot_steps(plan: Plan) -> set[int]:
    """Return the steps after which a snapshot is taken; the last one always is."""
    n_steps = plan.training.n_steps
    n = min(plan.training.n_snapshots, n_steps)
    if plan.accelerated:  # each stands for a smaller ridge penalty by the same factor
        return {round(n_steps ** ((i + 1) / n)) for i in range(n)}
    return {round(n_steps * (i + 1) / n) for i in range(n)}


class Record:
    """Snapshots taken so far, and each model's best one.

    A model that may stop early is judged by what it minimises, on its held-out rows: their loss (after the
    shrink that suits it best) plus the penalty. (The loss alone is often lowest before the gates close.)
    One without held-out rows is not judged and trains to the end. Models of a team stop together.
    """

    def __init__(self, models: Models, target: Target, numbers: Tensor | None):
        plan = models.plan
        self.patience = plan.training.patience
        self.final = models if self.patience is None else models.copy()
        self.stack = torch.arange(plan.n_models, device=models.gate_parameter.device)
        self.running = torch.ones_like(self.stack, dtype=torch.bool)  # those of the stack
        self.numbers = self.stack if numbers is None else numbers
        self.step = torch.zeros_like(self.stack)
        self.best = torch.full_like(plan.lam, torch.inf)
        self.stale = torch.zeros_like(self.stack)
        self.target, self.rows = target, target.rows
        self.seen: tuple[Design, Design] | None = None  # all rows, and those on which snapshots are taken
        if plan.judged is not None:
            self.rows = plan.objective.take(target.rows, plan.judged)
        self.snapshots: list[tuple[Any, ...]] = []

    @torch.no_grad()
    def add(
        self,
        step: int,
        models: Models,
        design: Design,
        callbacks: tuple[Callback, ...],
    ) -> Tensor:
        """Record a snapshot of the stack; return the positions in it of the models it goes on with.

        On a GPU models that have stopped leave the stack when half of it has: its step is recorded anew.
        """
        plan = models.plan
        teams = models.teams(self._with_judged_rows(plan, design), self.target, plan.judged)
        train_loss = plan.objective.mean_loss(teams.output, self.rows, teams.weights, teams.learned)
        judged = _judge_held_out(plan, teams, self.rows)  # (n_teams, 1 + n_blocks, n_shrinks)
        held_out, by_block = judged[:, 0, -1], judged[:, 1:, -1]
        recorded = [train_loss, held_out, by_block, judged, models.gate_parameter.detach().clone()]
        if self.patience is not None:  # some models may have stopped
            on, n_teams = self.running[:: plan.n_members], len(self.step) // plan.n_members
            place = self.stack[:: plan.n_members] // plan.n_members
            recorded = [
                *(_scatter(values[on], place[on], n_teams) for values in recorded[:-1]),
                _scatter(recorded[-1][self.running], self.stack[self.running], len(self.step)),
            ]
        self.snapshots.append((step, *recorded))
        for callback in callbacks:
            numbers, n = self.numbers[self.stack], plan.n_members
            losses = train_loss.repeat_interleave(n), held_out.repeat_interleave(n)
            callback(Snapshot(step, plan.training.n_steps, numbers, *losses, models.gates(), plan.stage))
        if self.patience is None:  # the models in training are those returned
            self.step[:] = step
            return self.stack
        lowest = judged[:, 0].amin(1).repeat_interleave(plan.n_members)
        judged = torch.where(lowest.isinf(), lowest, lowest + plan.lam * models.penalty())
        return self._judge(step, models, judged)

    def _with_judged_rows(self, plan: Plan, design: Design) -> Design:
        """Return the design with the rows on which snapshots are taken; they are gathered once."""
        if plan.judged is None:
            return design
        if self.seen is None or self.seen[0] is not design:
            columns = design.columns.rows(plan.judged, once=False)
            self.seen = design, replace(design, columns=columns)
        return self.seen[1]

    def _judge(self, step: int, models: Models, judged: Tensor) -> Tensor:
        """Keep the models that are the best so far; return the positions of those that go on."""
        assert self.patience is not None
        better = self.running & (judged.isnan() | (judged < self.best[self.stack]))
        rows = self.stack[better]
        self.final.put(rows, models.take(torch.nonzero(better)[:, 0]))
        self.best[rows] = judged[better]
        self.step[rows] = step
        self.stale[self.stack] += 1
        self.stale[rows] = 0
        self.running &= self.stale[self.stack] < self.patience
        many = 2 * int(self.running.sum()) > len(self.running)
        if self.running.is_cuda and many:
            return torch.arange(len(self.running), device=self.running.device)
        going_on = torch.nonzero(self.running)[:, 0]
        self.stack, self.running = self.stack[going_on], self.running[going_on]
        return going_on

    def state(self) -> dict[str, Any]:
        """Return all that was recorded, and the best models where they may be other than the last."""
        final = {} if self.patience is None else {**self.final.parameters, "": self.final.gate_parameter}
        return {"snapshots": self.snapshots, "final": final, **{n: getattr(self, n) for n in _OF_STACK}}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.snapshots = [tuple(snapshot) for snapshot in state["snapshots"]]
        for name in _OF_STACK:
            setattr(self, name, state[name])
        for name, values in state["final"].items():
            (self.final.parameters[name] if name else self.final.gate_parameter).copy_(values)

    def result(self) -> Trained:
        """Return what was recorded."""
        steps, *recorded = zip(*self.snapshots, strict=True)
        stacked = (torch.stack(values) for values in recorded)
        final = self.final.copy() if self.patience is None else self.final
        return Trained(final, self.step, torch.tensor(steps), *stacked)


def _judge_held_out(plan: Plan, teams: Teams, rows: Rows) -> Tensor:
    """Return each team's losses on its held-out rows and on every block of them; NaN without any.

    The loss of a team that diverged is infinite.

    Returns
    -------
    Tensor, shape (n_teams, 1 + n_blocks, n_shrinks)
    """
    n_blocks = 0 if plan.blocks is None else int(plan.blocks.max()) + 1
    shape = len(teams.output), 1 + n_blocks, len(plan.shrinks)
    if teams.test_weights is None:
        return teams.output.new_full(shape, torch.nan)
    blocks = plan.blocks if plan.blocks is None or plan.judged is None else plan.blocks[plan.judged]
    parts = [teams.test_weights, *(teams.test_weights * (blocks == b) for b in range(n_blocks))]
    losses = [
        plan.objective.held_out_losses(
            output, rows, teams.weights, torch.stack(parts, dim=1), teams.learned
        )
        for output in (teams.shrunk(factor) for factor in plan.shrinks)
    ]
    judged = torch.stack(losses, dim=2)
    has_rows = plan.objective.total(rows, teams.test_weights, teams.learned) > 0
    diverged = judged[:, 0].isnan() & has_rows.unsqueeze(1)  # not: had no row to be judged by
    judged[:, 0] = judged[:, 0].masked_fill(diverged, torch.inf)
    return judged


def _scatter(values: Tensor, index: Tensor, n_models: int) -> Tensor:
    """Put the values of the models in training into a row of all models, NaN elsewhere."""
    full = values.new_full((n_models, *values.shape[1:]), torch.nan)
    full[index] = values
    return full
