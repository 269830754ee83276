"""What a worker gets, what it does and what it gives back."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from stochgate.backends.packing import Packed, pack, unpack
from stochgate.engine.backend.process_settings import process_set_for
from stochgate.engine.data import Columns, Design, alike
from stochgate.engine.loop import train
from stochgate.engine.plan import Plan
from stochgate.engine.record import Callback, Snapshot
from stochgate.engine.trained import Trained


@dataclass(frozen=True)
class Order:
    """A plan on its way, without X and y: rows of weights that models share are there once.

    Attributes
    ----------
    plan : Plan
        Its weights stand for positions in `weights`, shape (n_models, 1); test weights alike.
    weights, test_weights : Tensor, shape (n_kinds, n_samples), or None
    gate_of, n_gates, kept : of the design
    keeps_memory : as in `Cut`
    """

    plan: Plan
    weights: Tensor
    test_weights: Tensor | None
    gate_of: Tensor | None
    n_gates: int
    kept: Tensor | None
    keeps_memory: bool

    def plan_of(self, piece: Tensor) -> Plan:
        """Return the plan of some of the models."""
        plan = self.plan.take(piece)
        weights = self.weights[plan.weights[:, 0]]
        if plan.test_weights is None:
            return replace(plan, weights=weights)
        assert self.test_weights is not None
        return replace(plan, weights=weights, test_weights=self.test_weights[plan.test_weights[:, 0]])

    def design_of(self, columns: Columns) -> Design:
        """Return the design, made of all columns."""
        whole = Design(columns, self.gate_of, self.n_gates)
        return whole if self.kept is None else whole.keep(self.kept)


def make_order(plan: Plan, design: Design, keeps_memory: bool) -> Order:
    """Return a plan and what is left of its design without the columns."""
    first, place = alike(plan.weights)
    light, test = replace(plan, weights=place[:, None]), None
    if plan.test_weights is not None:
        of_test, place = alike(plan.test_weights)
        light, test = replace(light, test_weights=place[:, None]), plan.test_weights[of_test]
    gate_of = whole_of(design).gate_of
    return Order(light, plan.weights[first], test, gate_of, design.n_gates, design.kept, keeps_memory)


def whole_of(design: Design) -> Design:
    """Return the design with all columns."""
    return design if design.whole is None else design.whole


def train_piece(order: Packed, columns: Packed, target: Packed, piece: Any, pickler: Any) -> Packed:
    """Train some models of a plan in one thread; return them without their plan, which the sender has."""
    sent: Order = unpack(order)
    plan = sent.plan_of(torch.tensor(piece))
    with process_set_for(1, plan.training.tf32, plan.lam.device, keep_memory=sent.keeps_memory):
        trained = train(plan, sent.design_of(unpack(columns)), unpack(target))
    models = replace(trained.models, plan=without_rows(trained.models.plan))
    return pack(replace(trained, models=models), pickler)


def without_rows(plan: Plan) -> Plan:
    """Return a plan without what it says of rows and gates."""
    bare = replace(plan, weights=plan.weights[:, :0], fixed=plan.fixed[:, :0], costs=plan.costs[:0])
    return replace(bare, test_weights=None, blocks=None, judged=None, turns=())


def receive(packed: Packed, plan: Plan) -> Trained:
    """Return trained models with their plan; their network may be another where columns were left out."""
    trained: Trained = unpack(packed, copy=True)
    models = replace(trained.models, plan=replace(plan, network=trained.models.plan.network))
    return replace(trained, models=models)


def replay(trained: Trained, numbers: Tensor, callbacks: tuple[Callback, ...]) -> None:
    """Call callbacks with the snapshots of a stack, in their order.

    Parameters
    ----------
    trained : Trained
    numbers : int64 Tensor, shape (n_models,)
        What the models of the stack are called.
    callbacks : tuple of callables
    """
    plan, n = trained.models.plan, trained.models.plan.n_members
    for i, step in enumerate(trained.steps.tolist() if callbacks else ()):
        path = trained.gate_path[i]
        on = torch.arange(len(path))
        if plan.training.patience is not None:  # the others have stopped before
            on = torch.nonzero(~path.isnan().all(1))[:, 0]
        snapshot = Snapshot(
            step,
            plan.training.n_steps,
            models=numbers[on],
            train_loss=trained.train_loss[i].repeat_interleave(n)[on],
            held_out_loss=trained.held_out_loss[i].repeat_interleave(n)[on],
            gates=replace(trained.models, gate_parameter=path).gates()[on],
            stage=plan.stage,
        )
        for callback in callbacks:
            callback(snapshot)
