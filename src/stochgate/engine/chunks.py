"""Run a plan of any size: cut into stacks that fit a fixed budget, joined again."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from stochgate.engine.backend.cpu_step import may_be_by_hand
from stochgate.engine.backend.process_settings import process_set_for, useful_threads
from stochgate.engine.batches import RowStream
from stochgate.engine.data import Design
from stochgate.engine.in_training import SavedState
from stochgate.engine.loop import train
from stochgate.engine.plan import FREE, OPEN, Plan
from stochgate.engine.record import Callback, Snapshot
from stochgate.engine.shared_stream import SharedStream
from stochgate.engine.trained import Trained, join
from stochgate.objectives.base import Target

# Bytes a stack of models may take in training when `Training.max_memory` does not say.
MEMORY = {"cpu": 1 << 30, "cuda": 4 << 30}

SavedStacks = Callable[[int, int], SavedState]

# Multiplications that take as long as to draw a gate and to update it.
PER_GATE = 1000
# What is recorded of teams; all else is of models.
OF_TEAMS = ("train_loss", "held_out_loss", "block_loss", "shrunk_loss")


def execute(
    plan: Plan,
    design: Design,
    target: Target,
    callbacks: tuple[Callback, ...] = (),
    stream: RowStream | None = None,
    saved: SavedStacks | None = None,
) -> Trained:
    """Train a plan, in several stacks when it needs more memory than it may take or several cores help.

    On a CPU each core trains a stack of its own, where the steps are written out (`backend/cpu_step.py`).
    Cores that share an operation wait for each other at its end, beside another busy process many times as
    long as it takes; but a single model, or a network that threads must not share, leaves no other way.
    How a plan is cut depends on its shape, the budget and the threads torch may use, never on the memory
    that is free.

    Parameters
    ----------
    plan, design, target, callbacks, stream : as in `train`
    saved : callable, optional
        Returns where the state of a stack is kept, given its number and how many there are.
    """
    if plan.n_members > 1 and plan.test_weights is None:  # nothing is judged: members may be trained apart
        trained = execute(replace(plan, n_members=1), design, target, callbacks, stream, saved)
        models = replace(trained.models, plan=replace(trained.models.plan, n_members=plan.n_members))
        losses = {name: mean_of_members(trained, name, plan.n_members) for name in OF_TEAMS}
        return replace(trained, models=models, **losses)
    n_samples = design.columns.n_samples
    n_rows = max(map(len, plan.turns), default=min(plan.training.batch_size or n_samples, n_samples))
    device, n_teams = plan.weights.device, plan.n_models // plan.n_members
    by_hand = device.type == "cpu" and may_be_by_hand(plan, design)
    floats = plan.network.floats(design.n_total, n_rows, target.n_outputs)
    n_weights = floats[0]
    n_free = int((plan.fixed == FREE).sum())
    if by_hand:  # of the columns that are left, or the most that a refit has
        held_open = int(design.spread(plan.fixed == OPEN).sum(1).max())
        n_columns = design.columns.n_columns if n_free else held_open
        n_weights, _ = plan.network.floats(n_columns, n_rows, target.n_outputs)
    work = 3.0 * plan.n_models * plan.training.n_draws * n_weights * n_rows + PER_GATE * n_free
    n_threads = useful_threads(work)
    budget = plan.training.max_memory or MEMORY.get(device.type, MEMORY["cpu"])
    most_teams = max(1, int(budget // (plan.n_members * bytes_per_model(plan, design, target, *floats))))
    n_side_by_side = min(n_threads, n_teams, most_teams) if by_hand else 1
    size = min(most_teams // n_side_by_side, -(-n_teams // n_side_by_side))
    pieces = [piece.to(device) for piece in cut_models(n_teams, plan.n_members, -(-n_teams // size))]
    n_threads = 1 if n_side_by_side > 1 else n_threads
    states = [None if saved is None else saved(i, len(pieces)) for i in range(len(pieces))]
    with process_set_for(n_threads, plan.training.tf32, device, keep_memory=not by_hand):
        if len(pieces) == 1:
            return train(plan, design, target, callbacks, stream=stream, saved=states[0])
        callbacks = (one_at_a_time(callbacks),) if callbacks else ()
        if stream is not None and len(pieces) == n_side_by_side:
            stream = SharedStream(stream, len(pieces))
        parts = side_by_side(
            [
                partial(train, plan.take(piece), design, target, callbacks, piece, stream, state)
                for piece, state in zip(pieces, states, strict=True)
            ],
            n_side_by_side,
        )
    return join_results(plan, parts, torch.cat(pieces))


def cut_models(n_teams: int, n_members: int, n_pieces: int) -> list[Tensor]:
    """Return the models of each stack: every so many-th team, since those that cost most are neighbours.

    Examples
    --------
    >>> from stochgate.engine.chunks import cut_models
    >>> cut_models(n_teams=3, n_members=2, n_pieces=2)
    [tensor([0, 1, 4, 5]), tensor([2, 3])]
    """
    models = torch.arange(n_teams * n_members).view(n_teams, n_members)
    return [models[i::n_pieces].flatten() for i in range(n_pieces)]


def mean_of_members(trained: Trained, name: str, n_members: int) -> Tensor:
    """Return the means of what was recorded of every n_members models in a row."""
    return getattr(trained, name).unflatten(1, (-1, n_members)).mean(2)


class _EndedByAnother(RuntimeError):
    """A stack ends because a callback failed while another was training."""


def side_by_side(tasks: list[Callable[[], Trained]], n_threads: int) -> list[Trained]:
    """Return what tasks return, several of them run at a time."""
    if n_threads == 1:
        return [task() for task in tasks]
    with ThreadPoolExecutor(n_threads) as pool:
        running = [pool.submit(task) for task in tasks]
    errors = [error for future in running if (error := future.exception()) is not None]
    if errors:  # the first that is not about another stack's
        raise next((error for error in errors if not isinstance(error, _EndedByAnother)), errors[0])
    return [future.result() for future in running]


def one_at_a_time(callbacks: tuple[Callback, ...]) -> Callback:
    """Return a callback that calls others, for one stack at a time; once one failed, every stack ends."""
    lock, failed = threading.Lock(), threading.Event()

    def call(snapshot: Snapshot) -> None:
        with lock:
            if failed.is_set():
                raise _EndedByAnother("Training ended because a callback of another stack failed.")
            try:
                for callback in callbacks:
                    callback(snapshot)
            except BaseException:
                failed.set()
                raise

    return call


def bytes_per_model(plan: Plan, design: Design, target: Target, weights: int, activations: int) -> int:
    """Estimate the bytes one model takes while it is trained, given the numbers in its network."""
    # weights, their gradient, two moments, the best so far, the gated copy and what its gradient needs
    floats = 7 * weights + (8 + plan.training.n_snapshots) * design.n_gates
    n_entries = max(len(value) for value in target.rows.values())  # n_samples, or more of a tree of times
    if plan.weights.is_cuda:  # each recorded step has its own gradients and gated copies
        floats += 3 * weights * max(0, len(plan.turns) - 1)
    floats += 6 * design.columns.n_columns + 3 * activations + 8 * n_entries
    return floats * plan.weights.element_size()


def join_results(plan: Plan, parts: list[Trained], models: Tensor) -> Trained:
    """Join the results of stacks, in the order of the plan.

    Parameters
    ----------
    plan : Plan
    parts : list of Trained
    models : int64 Tensor, shape (n_models,)
        Which models of the plan the stacks have, one stack after another.
    """
    order = models.argsort()
    longest = max((part.steps for part in parts), key=len)

    def joined(name: str, place: Tensor) -> Tensor:
        return torch.cat([_lengthen(getattr(part, name), len(longest)) for part in parts], dim=1)[:, place]

    of_teams = order[:: plan.n_members] // plan.n_members
    recorded = {name: joined(name, of_teams) for name in OF_TEAMS}
    return Trained(
        models=join(plan.take(models), [part.models for part in parts]).take(order),
        step=torch.cat([part.step for part in parts])[order],
        steps=longest,
        gate_path=joined("gate_path", order),
        **recorded,
    )


def _lengthen(values: Tensor, n_snapshots: int) -> Tensor:
    """Fill up the snapshots a stack did not take because all its models stopped."""
    missing = values.new_full((n_snapshots - len(values), *values.shape[1:]), torch.nan)
    return torch.cat([values, missing])
