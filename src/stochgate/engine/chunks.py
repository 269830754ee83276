"""Run a plan of any size: its stacks are trained side by side, and joined again."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from stochgate.engine.backend.process_settings import process_set_for
from stochgate.engine.batches import RowStream
from stochgate.engine.cut import cut_plan
from stochgate.engine.data import Design
from stochgate.engine.in_training import SavedState
from stochgate.engine.loop import train
from stochgate.engine.plan import Plan
from stochgate.engine.record import Callback, Snapshot
from stochgate.engine.shared_stream import SharedStream
from stochgate.engine.trained import Trained, join
from stochgate.objectives.base import Target

SavedStacks = Callable[[int, int], SavedState]

# What is recorded of teams; all else is of models.
OF_TEAMS = ("train_loss", "held_out_loss", "block_loss", "shrunk_loss")


def execute(
    plan: Plan,
    design: Design,
    target: Target,
    callbacks: tuple[Callback, ...] = (),
    stream: RowStream | None = None,
    saved: SavedStacks | None = None,
    n_stacks: int | None = None,
) -> Trained:
    """Train a plan, in the stacks that `cut_plan` cuts it into.

    Parameters
    ----------
    plan, design, target, callbacks, stream : as in `train`
    saved : callable, optional
        Returns where the state of a stack is kept, given its number and how many there are.
    n_stacks : as in `cut_plan`
    """
    if are_trained_apart(plan):
        members = replace(plan, n_members=1)
        return as_teams(plan, execute(members, design, target, callbacks, stream, saved, n_stacks))
    cut, device = cut_plan(plan, design, target, n_stacks), plan.weights.device
    n_pieces = len(cut.pieces)
    states = [None if saved is None else saved(i, n_pieces) for i in range(n_pieces)]
    with process_set_for(cut.n_threads, plan.training.tf32, device, keep_memory=cut.keeps_memory):
        if n_pieces == 1:
            return train(plan, design, target, callbacks, stream=stream, saved=states[0])
        callbacks = (one_at_a_time(callbacks),) if callbacks else ()
        if stream is not None and n_pieces == cut.n_side_by_side:
            stream = SharedStream(stream, n_pieces)
        parts = side_by_side(
            [
                partial(train, plan.take(piece), design, target, callbacks, piece, stream, state)
                for piece, state in zip(cut.pieces, states, strict=True)
            ],
            cut.n_side_by_side,
        )
    return join_results(plan, parts, torch.cat(cut.pieces))


def are_trained_apart(plan: Plan) -> bool:
    """Return whether the members of teams may be trained apart, since nothing is judged."""
    return plan.n_members > 1 and plan.test_weights is None


def as_teams(plan: Plan, trained: Trained) -> Trained:
    """Return models that were trained apart as the teams of a plan."""
    models = replace(trained.models, plan=replace(trained.models.plan, n_members=plan.n_members))
    losses = {name: mean_of_members(trained, name, plan.n_members) for name in OF_TEAMS}
    return replace(trained, models=models, **losses)


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
