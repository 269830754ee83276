"""Tables larger than memory: what a default fit takes, and how fast the final model reads its rows.

    python -m experiments run out-of-core --jobs 1
    python -m experiments run out-of-core --table

The tables are drawn anew, ten gigabytes of them, below `$STOCHGATE_SCRATCH` or where temporary files go.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
import torch

from experiments.experiment import Experiment
from experiments.speed.large_table import (
    N_COLUMNS,
    N_ROWS,
    PLANTED,
    draw_rows,
    scratch,
    write_npy,
    write_parquet,
)
from experiments.speed.seconds_rows import watch_stages
from experiments.speed.timing import peak_gigabytes
from experiments.speed.two_cores import in_own_process, in_turns, two_cores
from experiments.study import to_markdown
from stochgate import GatedClassifier
from stochgate.choice.rows import for_stream
from stochgate.choice.sets.refits import plan_refits
from stochgate.engine import CLOSED, OPEN, Plan
from stochgate.problem.problem import Problem

Found = dict[str, Any]
N_IN_MEMORY = 1_000_000  # rows that a fit in memory is timed on, which has several copies of them
N_STEPS, BATCH, N_TURNS = 120, 5000, 3
N_TESTED = 200_000
GOALS = {
    "default-fit": "peak memory at most 2 GB",
    "final-npy": "at least 0.8 of the rows per second in memory",
    "final-parquet": "at least 0.5",
    "gated-npy": "at least 0.8",
    "gated-parquet": "at least 0.5",
}


def run_cell(task: str, method: str, seed: int, *, device: str = "cpu", small: bool = False) -> Found:
    """Measure a row in a process of its own, on two cores."""
    return in_own_process(measure, task, seed, small)


def measure(task: str, seed: int, small: bool) -> Found:
    """Draw the table and measure a row."""
    n_rows = 60_000 if small else N_ROWS
    with scratch() as folder, two_cores():
        if task == "default-fit":
            write_parquet(folder / "table", n_rows, seed=seed)
            return time_default_fit(folder / "table", n_rows, seed)
        kind, form = task.split("-")
        if form == "npy":
            source: tuple[Any, Any] = (write_npy(folder, n_rows, seed=seed), folder / "y.npy")
        else:
            source = (write_parquet(folder / "table", n_rows, seed=seed), "y")
        return compare_throughput(PLANS[kind], source, n_rows, seed)


def time_default_fit(table: Path, n_rows: int, seed: int) -> Found:
    """Return seconds, peak memory, columns and test score of a default fit."""
    watch, start, shares = watch_stages()
    model = GatedClassifier(random_state=seed, callbacks=[watch])
    start()
    begun = perf_counter()
    model.fit(table, "y")
    seconds, peak = perf_counter() - begun, peak_gigabytes()
    selected = np.flatnonzero(model.get_support()).tolist()
    X, y = draw_rows(N_TESTED, N_COLUMNS, [seed, 10_000])
    return {
        "n_rows": n_rows,
        "seconds": seconds,
        "peak_gigabytes": peak,
        "n_selected": len(selected),
        "selected": selected,
        "is_planted": selected == list(PLANTED),
        "score": model.reduced().score(X[:, selected], y),
        "table_gigabytes": sum(file.stat().st_size for file in table.iterdir()) / 1e9,
        "stages": shares(),
    }


def gated_plan(problem: Problem) -> Plan:
    """Plan one MLP whose 200 gates are trained."""
    return problem.plan(1.0, 0, problem.weights[None], problem.fixed[None], training=_steps())


def final_plan(problem: Problem) -> Plan:
    """Plan the final model of an automatic choice: a team of 16 MLPs on six columns."""
    fixed = torch.full((1, N_COLUMNS), CLOSED, dtype=torch.int8)
    fixed[0, list(PLANTED)] = OPEN
    plan = plan_refits(problem, 0, problem.weights[None], fixed, n_members=16)
    training = plan.training.set_params(**_steps())
    return replace(plan, training=training)


PLANS: dict[str, Callable[[Problem], Plan]] = {"gated": gated_plan, "final": final_plan}


def _steps() -> dict[str, Any]:
    return {"n_steps": N_STEPS, "batch_size": BATCH, "n_snapshots": 1}


def compare_throughput(
    make_plan: Callable[[Problem], Plan], source: tuple[Any, Any], n_rows: int, seed: int
) -> Found:
    """Return the rows per second that steps see: in memory, and read while they are trained."""
    model = GatedClassifier(lam=1.0, random_state=seed)
    streamed, _ = model._make_problem(*source, None, None)
    X, y = draw_rows(min(n_rows, N_IN_MEMORY), N_COLUMNS, [seed])
    in_memory, _ = model._make_problem(X, y, None, None)
    actions = {
        "memory": partial(_train, in_memory, make_plan(in_memory)),
        "stream": partial(_train, streamed, make_plan(streamed)),
    }
    turns, _ = in_turns(actions, N_TURNS)
    per_second = {name: N_STEPS * BATCH / min(seconds) for name, seconds in turns.items()}
    return {
        "n_rows": n_rows,
        "rows_per_second": per_second["stream"],
        "rows_per_second_in_memory": per_second["memory"],
        "share": per_second["stream"] / per_second["memory"],
        "turns": turns,
    }


def _train(problem: Problem, plan: Plan) -> None:
    plan = for_stream(plan, N_ROWS)  # the same steps; snapshots see 5,000 rows
    problem.execute(plan, problem.stream)


def make_tables(table: pd.DataFrame, methods: list[str]) -> str:
    """Return a line per row."""
    last = {record["task"]: record for record in table.to_dict("records")}
    rows = {name: _describe(last[name]) | {"goal": goal} for name, goal in GOALS.items() if name in last}
    return to_markdown(pd.DataFrame.from_dict(rows, orient="index").rename_axis("row")) if rows else ""


def _describe(record: Found) -> dict[str, str]:
    if record["task"] == "default-fit":
        measured = (
            f"{record['seconds']:.0f} s, peak {record['peak_gigabytes']:.2f} GB, accuracy "
            f"{record['score']:.4f}, {record['n_selected']:.0f} columns"
            f"{', the planted ones' if record['is_planted'] else ''}"
        )
    else:
        measured = (
            f"{record['share']:.2f}: {record['rows_per_second'] / 1e3:.0f} thousand rows per second, "
            f"{record['rows_per_second_in_memory'] / 1e3:.0f} in memory"
        )
    return {"measured": measured}


OUT_OF_CORE = Experiment(
    name="out-of-core",
    title="What does a fit of 5,000,000 x 200 numbers on disk take, and how fast are its rows read?",
    tasks=list(GOALS),
    methods=["ours"],
    seeds=[0],
    run_cell=run_cell,
    tables=make_tables,
    metrics={
        "seconds": "{:.0f} s",
        "peak_gigabytes": "{:.2f} GB",
        "score": "score {:.4f}",
        "n_selected": "{} selected",
        "share": "{:.2f} of the rows per second in memory",
    },
    quick={"settings": {"small": True}, "tasks": ["final-parquet"]},
    packages=("pyarrow",),
    again=True,
)
