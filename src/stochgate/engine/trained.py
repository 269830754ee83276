"""What training leaves behind."""

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from stochgate.engine.data import Columns, Design, Scaling
from stochgate.engine.plan import FREE, OPEN, Plan
from stochgate.objectives.base import Target, mean_of_teams

_CHUNK = 1 << 25  # numbers in all layers when many rows are evaluated


@dataclass(frozen=True)
class Models:
    """A stack of models as they stand: all that a prediction needs.

    Attributes
    ----------
    plan : Plan
    fixed : int8 Tensor, shape (n_models, n_gates)
        The plan's fixed gates, and those closed because their columns are constant.
    parameters : dict of Tensor, each of shape (n_models, ...)
    gate_parameter : Tensor, shape (n_models, n_gates)
    scaling : Scaling
    learned : dict of Tensor
        What the objective learnt from y.
    total : Tensor, shape (n_models,)
        The weight that the summed loss is divided by.
    base : Tensor, shape (n_models, n_outputs)
        The output of a model that sees no feature.
    """

    plan: Plan
    fixed: Tensor
    parameters: dict[str, Tensor]
    gate_parameter: Tensor
    scaling: Scaling
    learned: dict[str, Tensor]
    total: Tensor
    base: Tensor

    def gates(self) -> Tensor:
        """Return the deterministic gates, shape (n_models, n_gates)."""
        return self.hold(self.plan.gate.value(self.gate_parameter))

    def open_probability(self) -> Tensor:
        """Return P(z > 0) of every gate, shape (n_models, n_gates)."""
        return self.hold(self.plan.gate.open_probability(self.gate_parameter))

    def penalty(self) -> Tensor:
        """Return the mean open probability of free gates weighed by the costs, shape (n_models,)."""
        return (self.plan.gate.open_probability(self.gate_parameter) * self.shares).sum(1)

    def hold(self, values: Tensor) -> Tensor:
        """Return gates with the values of those that are fixed."""
        return values if self.all_free else torch.where(self.fixed == FREE, values, self._open)

    def draw(self, noise: Tensor) -> Tensor:
        """Draw the gates, shape (n_models, n_gates); where none is free there is nothing to draw."""
        if self.none_free:
            return self._open
        return self.hold(self.plan.gate.sample(self.gate_parameter, noise))

    @cached_property
    def none_free(self) -> bool:
        """Whether all gates are fixed."""
        return not bool((self.fixed == FREE).any())

    @cached_property
    def all_free(self) -> bool:
        """Whether no gate is fixed."""
        return bool((self.fixed == FREE).all())

    @cached_property
    def _open(self) -> Tensor:
        return (self.fixed == OPEN).to(self.gate_parameter.dtype)

    @cached_property
    def shares(self) -> Tensor:
        """What each gate adds to the penalty when it is open, shape (n_models, n_gates)."""
        return (self.fixed == FREE) * self.plan.costs / self.fixed.shape[1]

    def outputs(self, z: Tensor, design: Design, columns: Columns | None = None) -> Tensor:
        """Return the network's outputs with gates z, shape (n_models, n_samples, n_outputs)."""
        scale = design.spread(z) * self.scaling.scale
        columns = design.columns if columns is None else columns
        return self.plan.network.forward(self.parameters, columns, scale, self.scaling.shift)

    @torch.no_grad()
    def predict(self, design: Design) -> Tensor:
        """Return the outputs with deterministic gates, in blocks of rows that fit into memory."""
        _, per_row = self.plan.network.floats(design.n_total, 1, self.base.shape[1])
        n_rows = max(1, _CHUNK // (per_row * self.plan.n_models))
        z = self.gates()
        if n_rows >= design.columns.n_samples:
            return self.outputs(z, design)
        starts = range(0, design.columns.n_samples, n_rows)
        blocks = (design.columns.rows(slice(i, i + n_rows)) for i in starts)
        return torch.cat([self.outputs(z, design, block) for block in blocks], dim=1)

    def teams(self, design: Design, target: Target, rows: Tensor | None = None) -> "Teams":
        """Return what is judged: every model's outputs with deterministic gates, or each team's mean.

        A team's outputs are on the scale that one model would learn from the team's mean weights.

        Parameters
        ----------
        design : Design
        target : Target
            Of all rows.
        rows : Tensor of int, optional
            The rows that `design` has of all.
        """
        plan, output, n = self.plan, self.predict(design), self.plan.n_members
        weights, test, common = plan.weights, plan.test_weights, self.learned
        if n > 1:
            weights = mean_of_teams(weights, n)
            test = None if test is None else mean_of_teams(test, n)
            common = plan.objective.learn(target.rows, weights)
        if rows is not None:
            weights, test = weights[:, rows], None if test is None else test[:, rows]
        if n == 1:
            return Teams(output, self.base, common, weights, test)
        base, _ = plan.objective.average(self.base.unsqueeze(1), self.learned, n, common)
        output, _ = plan.objective.average(output, self.learned, n, common)
        return Teams(output, base.squeeze(1), common, weights, test)

    def take(self, index: Tensor) -> "Models":
        """Return some of the models."""
        shift = self.scaling.shift
        return Models(
            self.plan.take(index),
            self.fixed[index],
            {name: p[index] for name, p in self.parameters.items()},
            self.gate_parameter[index],
            Scaling(self.scaling.scale[index], None if shift is None else shift[index]),
            {name: value[index] for name, value in self.learned.items()},
            self.total[index],
            self.base[index],
        )

    def copy(self) -> "Models":
        """Return a detached copy that later steps do not change."""
        return replace(
            self,
            parameters={name: p.detach().clone() for name, p in self.parameters.items()},
            gate_parameter=self.gate_parameter.detach().clone(),
        )

    def put(self, index: Tensor, others: "Models") -> None:
        """Overwrite some of the models' parameters by those of `others`."""
        for name, p in self.parameters.items():
            p[index] = others.parameters[name].detach()
        self.gate_parameter[index] = others.gate_parameter.detach()


@dataclass(frozen=True)
class Teams:
    """What teams of models say, each team the mean of its members; a model alone is a team.

    Attributes
    ----------
    output : Tensor, shape (n_teams, n_samples, n_outputs)
    base : Tensor, shape (n_teams, n_outputs)
        What a team says that sees no feature.
    learned : dict of Tensor
        What the objective reads the mean output with.
    weights, test_weights : Tensor, shape (n_teams, n_samples), or None
        Mean weights of the members, which learn from the same rows, each with weights of its own.
    """

    output: Tensor
    base: Tensor
    learned: dict[str, Tensor]
    weights: Tensor
    test_weights: Tensor | None

    def shrunk(self, factor: float) -> Tensor:
        """Return the outputs, their distance from the base rate multiplied by a factor."""
        return self.output if factor == 1 else torch.lerp(self.base.unsqueeze(1), self.output, factor)


def join(plan: Plan, parts: list[Models]) -> Models:
    """Join stacks, given the plan of all their models in a row."""
    network = parts[0].plan.network  # another than the plan's where columns were left out
    plan = plan if network is plan.network else replace(plan, network=network)
    return Models(
        plan,
        torch.cat([part.fixed for part in parts]),
        {name: torch.cat([part.parameters[name] for part in parts]) for name in parts[0].parameters},
        torch.cat([part.gate_parameter for part in parts]),
        _join_scaling([part.scaling for part in parts]),
        {name: torch.cat([part.learned[name] for part in parts]) for name in parts[0].learned},
        torch.cat([part.total for part in parts]),
        torch.cat([part.base for part in parts]),
    )


def _join_scaling(parts: list[Scaling]) -> Scaling:
    """Join scalings; sparse columns may lie far from 0 for some of the models only."""
    scale = torch.cat([part.scale for part in parts])
    if all(part.shift is None for part in parts):
        return Scaling(scale, None)
    shifts = [torch.zeros_like(part.scale) if part.shift is None else part.shift for part in parts]
    return Scaling(scale, torch.cat(shifts))


def fix(values: Tensor, fixed: Tensor) -> Tensor:
    """Replace the values of fixed gates: 1 where open, 0 where closed."""
    return torch.where(fixed == FREE, values, (fixed == OPEN).to(values.dtype))


@dataclass(frozen=True)
class Trained:
    """The result of a plan.

    Attributes
    ----------
    models : Models
        Of each model's last step, or of its best snapshot when it could stop early.
    step : Tensor, shape (n_models,)
        The step `models` are from.
    steps : Tensor, shape (n_snapshots,)
    train_loss, held_out_loss : Tensor, shape (n_snapshots, n_teams)
        With deterministic gates; NaN after a model stopped, or where it has no held-out rows.
    block_loss : Tensor, shape (n_snapshots, n_teams, n_blocks)
        The same on every block of the held-out rows.
    shrunk_loss : Tensor, shape (n_snapshots, n_teams, 1 + n_blocks, n_shrinks)
        Held-out losses, of all rows and of every block, after each of the plan's shrinks.
    gate_path : Tensor, shape (n_snapshots, n_models, n_gates)
        The gate parameters at each snapshot.
    """

    models: Models
    step: Tensor
    steps: Tensor
    train_loss: Tensor
    held_out_loss: Tensor
    block_loss: Tensor
    shrunk_loss: Tensor
    gate_path: Tensor
