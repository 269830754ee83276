"""Rows per second of one gated MLP on a GPU, from memory and read from a file: the unit of docs/scaling.md.

python -m experiments run rows-per-gpu --device cuda
"""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from experiments.experiment import Experiment
from experiments.speed.large_table import scratch, write_npy
from experiments.speed.peers import wait
from experiments.study import to_markdown
from stochgate import GatedClassifier, Stream, Training
from stochgate.choice.rows import for_stream
from stochgate.engine import DenseColumns, Plan
from stochgate.engine.batches import Batch
from stochgate.engine.loop import draw_noise, start
from stochgate.engine.steps import make_optimizer, make_step
from stochgate.problem.problem import Problem

Found = dict[str, Any]
SIZES = {  # rows a step, rows of the table, steps
    "200": (8192, 500_000, 60),
    "5000": (8192, 40_000, 60),
    "100000": (2048, 3_000, 20),
}


def run_cell(task: str, method: str, seed: int, *, device: str = "cuda", small: bool = False) -> Found:
    """Time steps on rows that lie on the GPU, and on rows that are read from a file."""
    n_columns = int(task)
    batch, n_rows, n_steps = (1000, 10_000, 5) if small else SIZES[task]
    with scratch() as folder:
        path = write_npy(folder, n_rows, n_columns, seed)
        model = GatedClassifier(
            lam=1.0, hidden=(64, 32), training=Training(tf32=True), device=device, random_state=seed
        )
        problem, _ = model._make_problem(Stream(path, sample_rows=2000), path.parent / "y.npy", None, None)
        return {
            "n_columns": n_columns,
            "batch_size": batch,
            "n_weights": n_columns * 64 + 64 * 32 + 32,
            "seconds_per_step": seconds_per_step(problem, batch, n_steps),
            "streamed_rows_per_second": streamed_rate(problem, batch, n_steps),
            "read_bytes_per_second": read_rate(path),
        }


def seconds_per_step(problem: Problem, batch: int, n_steps: int) -> float:
    """Return the seconds of a step on rows that lie on the device, each step on other memory."""
    plan = _plan(problem, batch)
    design, device = problem.design, problem.device
    models = start(plan, design, problem.target)
    step = make_step(models, design, make_optimizer(models, plan.training))
    noise = draw_noise(plan, design.n_gates, 0)
    columns = [torch.randn(batch, design.n_gates, device=device) for _ in range(2)]
    rows = {"label": torch.randint(0, 2, (batch,), device=device)}
    weights = torch.ones(1, batch, device=device)
    for number in range(n_steps + 10):
        if number == 10:
            wait(str(device))
            begun = time.perf_counter()
        X = DenseColumns(columns[number % 2], once=True)
        step(Batch(X, rows, lambda plan: weights), next(noise), plan.lam)
    wait(str(device))
    return (time.perf_counter() - begun) / n_steps


def streamed_rate(problem: Problem, batch: int, n_steps: int) -> float:
    """Return the rows per second of steps whose rows are read, beyond those of a short training."""
    seconds = []
    for n_taken in (10, 10 + n_steps):
        plan = _plan(problem, batch)
        begun = time.perf_counter()
        problem.execute(replace(plan, training=plan.training.set_params(n_steps=n_taken)), problem.stream)
        wait(str(problem.device))
        seconds.append(time.perf_counter() - begun)
    return n_steps * batch / (seconds[1] - seconds[0])


def read_rate(path: Path) -> float:
    """Return the bytes per second at which the file is read."""
    begun, n_bytes = time.perf_counter(), 0
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(16 << 20):
            n_bytes += len(chunk)
    return n_bytes / (time.perf_counter() - begun)


def _plan(problem: Problem, batch: int) -> Plan:
    assert problem.stream is not None
    training = {"batch_size": batch, "n_snapshots": 1}
    plan = problem.plan(1.0, 0, problem.weights[None], problem.fixed[None], training=training)
    return for_stream(plan, problem.stream.n_rows)


def make_tables(table: pd.DataFrame, methods: list[str]) -> str:
    """Return a line per number of columns."""
    last = {record["task"]: record for record in table.to_dict("records")}
    rows = {name: _describe(last[name]) for name in SIZES if name in last}
    return to_markdown(pd.DataFrame.from_dict(rows, orient="index").rename_axis("columns")) if rows else ""


def _describe(record: Found) -> dict[str, str]:
    per_second = record["batch_size"] / record["seconds_per_step"]
    flops = 6 * record["n_weights"] * per_second
    return {
        "rows per step": f"{record['batch_size']:.0f}",
        "ms per step": f"{1e3 * record['seconds_per_step']:.2f}",
        "rows per second, in memory": f"{per_second:.3g}",
        "TFLOP/s": f"{flops / 1e12:.1f}",
        "rows per second, read from a file": f"{record['streamed_rows_per_second']:.3g}",
        "file, GB/s": f"{record['read_bytes_per_second'] / 1e9:.1f}",
    }


ROWS_PER_GPU = Experiment(
    name="rows-per-gpu",
    title="How many rows per second does one gated MLP see on a GPU?",
    tasks=list(SIZES),
    methods=["ours"],
    seeds=[0],
    run_cell=run_cell,
    tables=make_tables,
    metrics={"seconds_per_step": "{:.4f} s a step", "streamed_rows_per_second": "{:.0f} rows per second"},
    default_tasks=list(SIZES),
    quick={"tasks": ["200"], "settings": {"small": True}},
    again=True,
)
