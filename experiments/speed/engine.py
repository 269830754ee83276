"""How fast is the engine: every row of docs/performance.md, each against its rival in one run.

    python -m experiments run speed --rows path50 path500       # rows by name; those of a CPU by default
    python -m experiments run speed --rows gpu                  # the rows of a GPU
    python -m experiments run speed --rows scaling_cuda         # cost against rows, columns and models
    python -m experiments run speed --picture docs/pictures/scaling.svg

A row is measured again each time; the table shows its last result.
"""

from functools import partial
from typing import Any

from experiments.experiment import Experiment
from experiments.speed.cpu_rows import ROWS
from experiments.speed.gpu_rows import GPU_ROWS
from experiments.speed.scaling import draw_scaling, scaling
from experiments.speed.timing import Measure

SCALING_ROWS = {f"scaling_{device}": partial(scaling, device) for device in ("cpu", "cuda")}
ALL_ROWS: dict[str, Measure] = {**ROWS, **GPU_ROWS, **SCALING_ROWS}


def run_cell(task: str, method: str, seed: int, *, device: str = "cpu") -> dict[str, Any]:
    """Measure a row; its device is part of the row."""
    return ALL_ROWS[task]()


def make_tables(table: Any, methods: list[str]) -> str:
    """Return the numbers of each row, a line each."""
    return "\n".join(
        f"{row['task']}: "
        + ", ".join(f"{name} {value:.4g}" for name, value in row.items() if _is_number(value))
        for row in table.drop(columns=["seed", "threads"]).to_dict("records")
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, float) and value == value


SPEED = Experiment(
    name="speed",
    title="How fast is the engine, against its rivals?",
    tasks=list(ALL_ROWS),
    methods=["ours"],
    seeds=[0],
    run_cell=run_cell,
    tables=make_tables,
    metrics={"ours": "{:.4g} s", "ratio": "ratio {:.3g}"},
    default_tasks=list(ROWS),
    task_groups={"gpu": list(GPU_ROWS)},
    quick={"tasks": ["path50"]},
    packages=("stg", "lassonet"),
    again=True,
    draw=draw_scaling,
)
