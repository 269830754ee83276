"""How a plan is cut into stacks that fit a fixed budget."""

from dataclasses import dataclass

import torch
from torch import Tensor

from stochgate.engine.backend.cpu_step import may_be_by_hand
from stochgate.engine.backend.process_settings import useful_threads
from stochgate.engine.data import Design
from stochgate.engine.plan import FREE, OPEN, Plan
from stochgate.objectives.base import Target

# Bytes a stack of models may take in training when `Training.max_memory` does not say.
MEMORY = {"cpu": 1 << 30, "cuda": 4 << 30}
# Multiplications that take as long as to draw a gate and to update it.
PER_GATE = 1000


@dataclass(frozen=True)
class Cut:
    """The stacks of a plan.

    Attributes
    ----------
    pieces : list of int64 Tensor
        The models of each stack.
    n_side_by_side : int
        How many stacks may be trained at a time by threads of one process.
    n_threads : int
        How many threads share the operations of a stack.
    keeps_memory : bool
        Whether the memory that one step frees is kept for the next (`freed_memory_kept`).
    """

    pieces: list[Tensor]
    n_side_by_side: int
    n_threads: int
    keeps_memory: bool


def cut_plan(plan: Plan, design: Design, target: Target, n_stacks: int | None = None) -> Cut:
    """Decide how a plan is cut: when it needs more memory than it may take, or several cores help.

    On a CPU each core trains a stack of its own, where the steps are written out (`backend/cpu_step.py`).
    Cores that share an operation wait for each other at its end, beside another busy process many times as
    long as it takes; but a single model, or a network that threads must not share, leaves no other way.
    How a plan is cut depends on its shape, the budget and the threads torch may use, never on the memory
    that is free.

    Parameters
    ----------
    plan, design, target : as in `train`
    n_stacks : int, optional
        Cut into so many stacks, if there are as many teams, each for one thread, whatever machine this is:
        what is trained is then the same wherever the stacks are trained. For a CPU; a GPU trains one stack
        as fast as several.
    """
    device, n_teams = plan.weights.device, plan.n_models // plan.n_members
    by_hand = device.type == "cpu" and may_be_by_hand(plan, design)
    floats = plan.network.floats(design.n_total, rows_per_step(plan, design), target.n_outputs)
    budget = plan.training.max_memory or MEMORY.get(device.type, MEMORY["cpu"])
    most_teams = max(1, int(budget // (plan.n_members * bytes_per_model(plan, design, target, *floats))))
    n_threads = useful_threads(work_per_step(plan, design, target, floats[0], by_hand))
    n_side_by_side = n_at_once = min(n_threads, n_teams, most_teams) if by_hand else 1
    if n_stacks is not None and device.type == "cpu":
        n_at_once = min(n_stacks, n_teams, most_teams)
        n_side_by_side = min(torch.get_num_threads(), n_at_once) if by_hand else 1
        n_threads = 1
    size = min(most_teams // n_at_once, -(-n_teams // n_at_once))
    n_pieces = max(-(-n_teams // size), 1 if n_stacks is None else n_at_once)
    pieces = [piece.to(device) for piece in cut_models(n_teams, plan.n_members, n_pieces)]
    n_threads = 1 if n_side_by_side > 1 else n_threads
    return Cut(pieces, n_side_by_side, n_threads, keeps_memory=not by_hand)


def rows_per_step(plan: Plan, design: Design) -> int:
    """Return how many rows a step sees."""
    n_samples = design.columns.n_samples
    return max(map(len, plan.turns), default=min(plan.training.batch_size or n_samples, n_samples))


def work_per_step(plan: Plan, design: Design, target: Target, n_weights: int, by_hand: bool) -> float:
    """Estimate the multiplications of a step, given the weights of a model on all columns."""
    n_rows, n_free = rows_per_step(plan, design), int((plan.fixed == FREE).sum())
    if by_hand:  # of the columns that are left, or the most that a refit has
        held_open = int(design.spread(plan.fixed == OPEN).sum(1).max())
        n_columns = design.columns.n_columns if n_free else held_open
        n_weights, _ = plan.network.floats(n_columns, n_rows, target.n_outputs)
    return 3.0 * plan.n_models * plan.training.n_draws * n_weights * n_rows + PER_GATE * n_free


def cut_models(n_teams: int, n_members: int, n_pieces: int) -> list[Tensor]:
    """Return the models of each stack: every so many-th team, since those that cost most are neighbours.

    Examples
    --------
    >>> from stochgate.engine.cut import cut_models
    >>> cut_models(n_teams=3, n_members=2, n_pieces=2)
    [tensor([0, 1, 4, 5]), tensor([2, 3])]
    """
    models = torch.arange(n_teams * n_members).view(n_teams, n_members)
    return [models[i::n_pieces].flatten() for i in range(n_pieces)]


def bytes_per_model(plan: Plan, design: Design, target: Target, weights: int, activations: int) -> int:
    """Estimate the bytes one model takes while it is trained, given the numbers in its network."""
    # weights, their gradient, two moments, the best so far, the gated copy and what its gradient needs
    floats = 7 * weights + (8 + plan.training.n_snapshots) * design.n_gates
    n_entries = max(len(value) for value in target.rows.values())  # n_samples, or more of a tree of times
    if plan.weights.is_cuda:  # each recorded step has its own gradients and gated copies
        floats += 3 * weights * max(0, len(plan.turns) - 1)
    floats += 6 * design.columns.n_columns + 3 * activations + 8 * n_entries
    return floats * plan.weights.element_size()
