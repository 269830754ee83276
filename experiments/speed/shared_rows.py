"""One training on rows that several processes share: rows per second, and what a lost worker costs.

    python -m experiments run shared-rows
    python -m experiments run shared-rows --table

All workers are processes of this machine, which has two cores: one worker has one of them, two have both.
"""

import os
import signal
import time
from collections.abc import Iterator
from itertools import islice, repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from experiments.experiment import Experiment
from experiments.speed.large_table import N_COLUMNS, scratch, write_parquet
from experiments.speed.lost_node import three_nodes
from experiments.study import to_markdown
from stochgate import GatedClassifier, Stream, Training
from stochgate.backends.ray_train import averaging, train_in_shares
from stochgate.choice.rows import for_stream
from stochgate.engine import Design, Plan, Trained, execute
from stochgate.engine.batches import Batch
from stochgate.problem.problem import Problem
from stochgate.problem.streamed import NetworkStream

Found = dict[str, Any]
N_ROWS, BATCH, SHORT, LONG = 1_000_000, 8_000, 50, 450
TASKS = ("one-process", "workers-1", "workers-2", "lost-worker", "reading", "computing", "all-reduce")


def run_cell(task: str, method: str, seed: int, *, device: str = "cpu", small: bool = False) -> Found:
    """Train an MLP of 64 and 32 units and its 200 gates on a Parquet folder."""
    n_rows, long = (40_000, 60) if small else (N_ROWS, LONG)
    if task == "all-reduce":
        return time_all_reduce()
    with scratch() as folder:
        write_parquet(folder / "table", n_rows, seed=seed)
        # in single precision the order of sums tells after some hundred steps
        problem, stream = _stream(folder / "table", seed, "float64" if task == "lost-worker" else "float32")
        if task == "reading":
            return time_reading(problem, stream, long)
        if task == "computing":
            stream = RepeatedBatch(stream)  # type: ignore[assignment]
        if task in ("one-process", "computing"):
            return _rates({n: _seconds_alone(problem, stream, n) for n in (SHORT, long)}, 1)
        with three_nodes() as (ray, _, _):
            if task == "lost-worker":
                return lose_worker(ray, problem, stream, folder, long)
            n_workers = int(task.split("-")[1])
            seconds = {n: _seconds_shared(ray, problem, stream, n, n_workers) for n in (SHORT, long)}
            return _rates(seconds, n_workers)


def time_reading(problem: Problem, stream: NetworkStream, n_steps: int) -> Found:
    """Return the rows per second of the stream alone, and the seconds of one core that a row takes."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    batches = stream.batches(problem.design, _plan(problem, n_steps))
    next(batches)
    start, worked = time.perf_counter(), time.process_time()
    n_rows = sum(batch.columns.n_samples for batch in islice(batches, n_steps))
    seconds, worked = time.perf_counter() - start, time.process_time() - worked
    torch.set_num_threads(threads)
    return {
        "rows_per_second": n_rows / seconds,
        "core_seconds_per_row": worked / n_rows,
        "start_seconds": 0.0,
    }


def time_all_reduce(
    n_numbers: int = 64 * N_COLUMNS + 64 * 32 + 32 + N_COLUMNS, n_turns: int = 300
) -> Found:
    """Return the seconds in which two processes of this machine average the gradients of one model."""
    with scratch() as folder, get_context("spawn").Pool(2) as pool:
        seconds = pool.starmap(
            reduce_often, [(rank, folder / "store", n_numbers, n_turns) for rank in (0, 1)]
        )
    return {"n_numbers": n_numbers, "seconds_per_step": max(seconds)}


def reduce_often(rank: int, store: Path, n_numbers: int, n_turns: int) -> float:
    """Average numbers with another process; return the seconds of one turn."""
    torch.distributed.init_process_group("gloo", f"file://{store}", rank=rank, world_size=2)
    average, numbers = averaging(2), [torch.ones(n_numbers)]
    average(numbers)
    start = time.perf_counter()
    for _ in range(n_turns):
        average(numbers)
    seconds = (time.perf_counter() - start) / n_turns
    torch.distributed.destroy_process_group()
    return seconds


def lose_worker(ray: Any, problem: Problem, stream: NetworkStream, folder: Path, n_steps: int) -> Found:
    """Return how far two workers, one of which is killed, end from one process on the same batches."""
    plan = _plan(problem, n_steps)
    expected = execute(plan, problem.design, problem.target, stream=stream.share(2))
    marker = folder / "was killed"
    deadly = make_deadly(stream, marker, n_steps // 2)
    data = plan, problem.design, problem.target
    start = time.perf_counter()
    found = train_in_shares(ray, *data, deadly, 2, str(folder), every=0.0)
    return {
        "seconds": time.perf_counter() - start,
        "was_killed": marker.exists(),
        "n_steps": n_steps,
        "largest_difference": largest_difference(found, expected),
    }


def largest_difference(found: Trained, expected: Trained) -> float:
    """Return the largest difference of any weight or gate."""
    pairs = [(found.models.parameters[k], value) for k, value in expected.models.parameters.items()]
    pairs.append((found.models.gate_parameter, expected.models.gate_parameter))
    return max(float((one - other).abs().max()) for one, other in pairs)


class RepeatedBatch:
    """A stream that reads one batch, and yields it for ever."""

    average = None

    def __init__(self, stream: NetworkStream):
        self.stream = stream

    def batches(self, design: Design, plan: Plan, start: int = 0) -> Iterator[Batch]:
        """Yield the first batch again and again."""
        return repeat(next(self.stream.batches(design, plan)))


def make_deadly(stream: NetworkStream, marker: Path, n_alive: int) -> NetworkStream:
    """Return a stream that kills who reads its first shard after so many batches, once."""

    class DeadlyStream(NetworkStream):
        def batches(self, design: Design, plan: Plan, start: int = 0) -> Iterator[Batch]:
            for number, batch in enumerate(super().batches(design, plan, start), start=start):
                if self.shard == 0 and number == n_alive and not marker.exists():
                    marker.touch()
                    os.kill(os.getpid(), signal.SIGKILL)
                yield batch

    return DeadlyStream(stream.of, stream.inputs)


def _stream(table: Path, seed: int, dtype: str = "float32") -> tuple[Problem, NetworkStream]:
    training = Training(dtype=dtype)
    model = GatedClassifier(lam=1.0, hidden=(64, 32), training=training, random_state=seed)
    problem, _ = model._make_problem(Stream(table, sample_rows=5000), "y", None, None)
    assert problem.stream is not None
    return problem, problem.stream.through(problem.inputs)


def _plan(problem: Problem, n_steps: int) -> Plan:
    training = {"n_steps": n_steps, "batch_size": BATCH, "n_snapshots": 5}
    plan = problem.plan(1.0, 0, problem.weights[None], problem.fixed[None], training=training)
    return for_stream(plan, N_ROWS)


def _seconds_alone(problem: Problem, stream: NetworkStream, n_steps: int) -> float:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    start = time.perf_counter()
    execute(_plan(problem, n_steps), problem.design, problem.target, stream=stream)
    torch.set_num_threads(threads)
    return time.perf_counter() - start


def _seconds_shared(ray: Any, problem: Problem, stream: NetworkStream, n_steps: int, n: int) -> float:
    start = time.perf_counter()
    train_in_shares(ray, _plan(problem, n_steps), problem.design, problem.target, stream, n)
    return time.perf_counter() - start


def _rates(seconds: dict[int, float], n_workers: int) -> Found:
    """Return the rows per second of the steps that the long training has beyond the short one."""
    (few, short), (many, long) = sorted(seconds.items())
    return {
        "n_workers": n_workers,
        "n_columns": N_COLUMNS,
        "batch_size": BATCH,
        "rows_per_second": (many - few) * BATCH / (long - short),
        "seconds_of_steps": {str(n): value for n, value in seconds.items()},
        "start_seconds": short - few * (long - short) / (many - few),
    }


def make_tables(table: pd.DataFrame, methods: list[str]) -> str:
    """Return a line per row."""
    last = {record["task"]: record for record in table.to_dict("records")}
    rows = {name: {"measured": _describe(last[name])} for name in TASKS if name in last}
    return to_markdown(pd.DataFrame.from_dict(rows, orient="index").rename_axis("row")) if rows else ""


def _describe(record: Found) -> str:
    if record["task"] == "all-reduce":
        return f"{1e3 * record['seconds_per_step']:.2f} ms for {record['n_numbers']:.0f} numbers"
    if record["task"] == "reading":
        return (
            f"{record['rows_per_second'] / 1e3:.0f} thousand rows per second, "
            f"{1e6 * record['core_seconds_per_row']:.2f} microseconds of a core per row"
        )
    if record["task"] == "lost-worker":
        return (
            f"one of two workers killed at half of {record['n_steps']:.0f} steps: "
            f"{record['largest_difference']:.1e} (float64) from one process on the same batches, "
            f"{record['seconds']:.0f} s"
        )
    return (
        f"{record['rows_per_second'] / 1e3:.0f} thousand rows per second, "
        f"{record['start_seconds']:.0f} s to start"
    )


SHARED_ROWS = Experiment(
    name="shared-rows",
    title="How many rows per second do processes train on that share them, and what does a lost one cost?",
    tasks=list(TASKS),
    methods=["ours"],
    seeds=[0],
    run_cell=run_cell,
    tables=make_tables,
    metrics={"rows_per_second": "{:.0f} rows per second", "largest_difference": "difference {:.1e}"},
    quick={"tasks": ["lost-worker"], "settings": {"small": True}},
    packages=("ray", "pyarrow"),
    again=True,
)
