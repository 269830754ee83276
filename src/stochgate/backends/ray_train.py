"""One training on many rows: workers of Ray Train read shards of a stream and average their gradients.

Every worker holds all models of the plan and takes the same steps: gates are drawn by counters, not by a
generator, so their noise is the same everywhere, and so are the models after each step.
"""

import shutil
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, distributed

from stochgate.backends.packing import Packed, pack, unpack
from stochgate.engine.batches import RowStream
from stochgate.engine.checkpoint import store
from stochgate.engine.checkpoint.result import from_tensors, to_tensors
from stochgate.engine.checkpoint.state import SECONDS
from stochgate.engine.data import Design
from stochgate.engine.in_training import State
from stochgate.engine.loop import train
from stochgate.engine.plan import Plan
from stochgate.engine.trained import Trained
from stochgate.objectives.base import Target
from stochgate.optional import require

FAILURES = 3  # lost workers after which a training is given up
STATE, RESULT = "state", "result"


def train_in_shares(
    ray: Any,
    plan: Plan,
    design: Design,
    target: Target,
    stream: RowStream,
    n_workers: int,
    storage: str | None = None,
    every: float = SECONDS,
) -> Trained:
    """Train the models of a plan in several processes, each on a shard of the stream.

    Where a worker is lost all begin anew, from the state at the last snapshot.

    Parameters
    ----------
    ray : module
        Connected to a cluster.
    plan, design, target, stream : as in `train`; `plan.training.batch_size` rows are seen by all workers
        together
    n_workers : int
    storage : str, optional
        A folder that all machines can reach, for states and the result; by default a temporary one, which
        is enough on one machine.
    every : float
        Seconds between two states that are kept, at least; to keep one takes some seconds by itself.
    """
    ray_train = require("ray.train", package="ray[train]", needed_by="n_workers", extra="ray")
    torch_train = require("ray.train.torch", package="ray[train]", needed_by="n_workers", extra="ray")
    stream.share(n_workers)  # type: ignore[attr-defined]  # raises here if there are too few parts
    n_cpus = int(ray.cluster_resources().get("CPU", 0))
    if n_workers > n_cpus:
        raise ValueError(f"n_workers={n_workers}, but the cluster has {n_cpus} CPUs: use fewer workers.")
    folder = Path(tempfile.mkdtemp(prefix="stochgate-", dir=storage))
    task = pack((plan, design, target, stream), ray.cloudpickle.Pickler)
    try:
        trainer = torch_train.TorchTrainer(
            work,
            train_loop_config={
                "task": [ray.put(task)],
                "every": every,
            },  # in a list it is sent as a reference
            torch_config=torch_train.TorchConfig(backend="gloo"),
            scaling_config=ray_train.ScalingConfig(num_workers=n_workers),
            run_config=ray_train.RunConfig(
                name="stochgate",
                storage_path=str(folder),
                failure_config=ray_train.FailureConfig(max_failures=FAILURES),
                checkpoint_config=ray_train.CheckpointConfig(num_to_keep=2),
            ),
        )
        with warnings.catch_warnings():  # Ray warns of its own code
            warnings.filterwarnings("ignore", category=DeprecationWarning, module=r"ray\.")
            result = trainer.fit()
        with result.checkpoint.as_directory() as kept:
            return from_tensors(store.read(Path(kept) / RESULT), plan, design, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def work(config: dict[str, Any]) -> None:
    """Train in one of several processes; the first of them keeps state and result."""
    import ray
    from ray import train as ray_train

    task: Packed = ray.get(config["task"][0])
    plan, design, target, stream = unpack(task, copy=True)
    context = ray_train.get_context()
    size, rank = context.get_world_size(), context.get_world_rank()
    torch.set_num_threads(1)
    shard = stream.share(size, rank, averaging(size))
    trained = train(plan, design, target, stream=shard, saved=ReportedState(rank == 0, config["every"]))
    report(RESULT, lambda: to_tensors(trained), rank == 0)


class ReportedState:
    """Keeps the state of a training as a checkpoint of Ray Train; all workers must report.

    Parameters
    ----------
    is_first : bool
        Whether this worker is the one that keeps it.
    every : float
        Seconds between two states, at least.
    """

    def __init__(self, is_first: bool, every: float):
        self.is_first, self.every, self.kept_at = is_first, every, time.monotonic()

    def load(self) -> State | None:
        """Return the state that was kept last, None where there is none."""
        from ray import train as ray_train

        checkpoint = ray_train.get_checkpoint()
        if checkpoint is None:
            return None
        with checkpoint.as_directory() as kept:
            found: State | None = store.read(Path(kept) / STATE)
        return found

    def keep(self, state: Callable[[], State]) -> None:
        """Keep a state, if the first worker finds that it is time."""
        due = torch.tensor(time.monotonic() - self.kept_at >= self.every)
        distributed.broadcast(due, 0)
        if due:
            report(STATE, state, self.is_first)
            self.kept_at = time.monotonic()


def report(name: str, content: Callable[[], Any], is_first: bool) -> None:
    """Tell Ray Train how far a worker is; the first one hands over a file."""
    from ray import train as ray_train

    if not is_first:
        ray_train.report({})
        return
    with tempfile.TemporaryDirectory() as folder:
        store.write(Path(folder) / name, content())
        ray_train.report({}, checkpoint=ray_train.Checkpoint.from_directory(folder))


def averaging(size: int) -> Callable[[list[Tensor]], None]:
    """Return what averages gradients over the processes, in one message."""

    def average(gradients: list[Tensor]) -> None:
        flat = torch.cat([gradient.reshape(-1) for gradient in gradients])
        distributed.all_reduce(flat)
        flat /= size
        for gradient, part in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
            gradient.copy_(part.view_as(gradient))

    return average
