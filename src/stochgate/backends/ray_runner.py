"""Plans trained by the workers of Ray."""

import traceback
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import torch

from stochgate.backends.packing import pack
from stochgate.backends.ray_train import train_in_shares
from stochgate.backends.sending import make_order, receive, replay, train_piece, whole_of
from stochgate.engine.batches import RowStream
from stochgate.engine.chunks import SavedStacks, are_trained_apart, as_teams, join_results
from stochgate.engine.cut import cut_plan
from stochgate.engine.data import Design
from stochgate.engine.plan import Plan
from stochgate.engine.record import Callback
from stochgate.engine.runner import Runner
from stochgate.engine.trained import Trained
from stochgate.objectives.base import Target

# How often a stack is trained again after its worker or node was lost.
RETRIES = 5


class RayRunner(Runner):
    """Makes each stack of a plan a task of Ray; the columns of X and y travel once for all plans of a fit.

    Plans for a GPU are trained in this process, and so are those of rows that are read while training,
    unless several workers are to share them (`train_in_shares`).

    Parameters
    ----------
    ray : module
        The package ray, connected to a cluster.
    n_stacks : int, optional
        As in `Runner`; by default as many as the cluster has CPUs now.
    n_workers : int, optional
        Processes that share the rows of a stream.
    storage : str, optional
        As in `train_in_shares`.

    Attributes
    ----------
    n_tasks, bytes_put : int
        How many tasks were sent so far, and the bytes of what was put into the object store for them.
    """

    in_this_process = False
    work = staticmethod(train_piece)  # what a worker does

    def __init__(
        self,
        ray: Any,
        n_stacks: int | None = None,
        n_workers: int | None = None,
        storage: str | None = None,
    ):
        super().__init__(
            max(1, int(ray.cluster_resources().get("CPU", 1))) if n_stacks is None else n_stacks
        )
        self.ray, self.sent = ray, _Sent()
        self.n_workers, self.storage = n_workers, storage
        self.n_tasks = self.bytes_put = 0

    def run(
        self,
        plan: Plan,
        design: Design,
        target: Target,
        callbacks: tuple[Callback, ...] = (),
        stream: RowStream | None = None,
        saved: SavedStacks | None = None,
    ) -> Trained:
        """Train a plan; callbacks are called here, for one stack after another once it is trained."""
        on_cpu = plan.weights.device.type == "cpu"
        if stream is not None and self.n_workers is not None and on_cpu and plan.objective.by_row:
            found = train_in_shares(self.ray, plan, design, target, stream, self.n_workers, self.storage)
            replay(found, torch.arange(plan.n_models), callbacks)
            return found
        if stream is not None or not on_cpu:
            return super().run(plan, design, target, callbacks, stream, saved)
        if are_trained_apart(plan):
            return as_teams(plan, self.run(replace(plan, n_members=1), design, target, callbacks))
        cut = cut_plan(plan, design, target, self.n_stacks)
        order = self._put(make_order(plan, design, cut.keeps_memory))
        data = self._put_once(whole_of(design).columns), self._put_once(target)
        pickler = self.ray.cloudpickle.Pickler
        tasks = [self._task.remote(order, *data, piece.tolist(), pickler) for piece in cut.pieces]
        self.n_tasks += len(tasks)
        parts = []
        try:
            for piece, task in zip(cut.pieces, tasks, strict=True):
                parts.append(receive(self._get(task), plan.take(piece)))
                replay(parts[-1], piece, callbacks)
        finally:
            for task in tasks[len(parts) :]:  # none, unless something failed
                self.ray.cancel(task, force=True)
        return join_results(plan, parts, torch.cat(cut.pieces))

    def fresh(self) -> "RayRunner":
        """Return a runner for one fit, which keeps what it sends for itself."""
        return type(self)(self.ray, self.n_stacks, self.n_workers, self.storage)

    def close(self) -> None:
        """Let go of the data in the object store."""
        self.sent = _Sent()

    @cached_property
    def _task(self) -> Any:
        return self.ray.remote(num_cpus=1, max_retries=RETRIES)(errors_returned(self.work))

    def _put(self, thing: Any) -> Any:
        packed = pack(thing, self.ray.cloudpickle.Pickler)
        self.bytes_put += packed.n_bytes
        return self.ray.put(packed)

    def _put_once(self, thing: Any) -> Any:
        found = self.sent.find(thing)
        return self.sent.keep(thing, self._put(thing)) if found is None else found

    def _get(self, task: Any) -> Any:
        """Return what a task returns, or raise what it raised."""
        found = self.ray.get(task)
        if isinstance(found, Exception):
            raise found
        return found


def errors_returned(work: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that returns what another raises, with the traceback as a note.

    So the sender raises the error itself. What Ray makes of errors in tasks is an error of its own.
    """

    def try_to(*given: Any) -> Any:
        try:
            return work(*given)
        except Exception as error:
            error.add_note(f"In a worker of Ray:\n{traceback.format_exc()}")
            return error

    return try_to


class _Sent:
    """References to what was sent, for as long as it lives here too."""

    def __init__(self) -> None:
        self.references: dict[int, tuple[weakref.ref[Any], Any]] = {}

    def find(self, thing: Any) -> Any:
        alive, reference = self.references.get(id(thing), (lambda: None, None))
        return reference if alive() is thing else None

    def keep(self, thing: Any, reference: Any) -> Any:
        number, references = id(thing), self.references
        self.references[number] = weakref.ref(thing, lambda _: references.pop(number, None)), reference
        return reference
