"""The table of seconds: default fits on two cores against their goals, with their scores.

Ours and its rival take turns in one process, and the fastest of each counts; all turns are recorded.

    python -m experiments run seconds --rows 1000x20 450x500
    python -m experiments run seconds --table
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from experiments.experiment import Experiment
from experiments.speed.seconds_data import draw_planted, load_allaml, load_demo, load_some_digits
from experiments.speed.seconds_rows import (
    Found,
    plain,
    time_busy,
    time_evaluate,
    time_fdr,
    time_fit,
    time_summary,
)
from experiments.speed.two_cores import in_own_process, two_cores
from experiments.study import to_markdown


class Goal(NamedTuple):
    """What a field of the record should be at most, or at least."""

    field: str
    limit: float
    text: str = "{:.3g} s"
    at_least: bool = False

    def describe(self) -> str:
        """Return the goal in words."""
        return f"{'at least' if self.at_least else 'at most'} {self.text.format(self.limit)}"

    def is_reached(self, value: float) -> bool:
        """Return whether a measured value reaches the goal."""
        return value >= self.limit if self.at_least else value <= self.limit


@dataclass(frozen=True)
class Row:
    """What is measured, its goals, and whether it needs a process of its own."""

    measure: Any
    goals: tuple[Goal, ...] = ()
    own_process: bool = False


def _seconds(limit: float) -> Goal:
    return Goal("seconds", limit)


def _fits(limit: float, text: str = "{:.2f} fits") -> Goal:
    return Goal("fits", limit, text)


_FOREST = Goal("over_rival", 2, "{:.2f} x the forest")
_LASSONET = Goal("rival_over_ours", 3, "{:.2f} x as fast as lassonet", at_least=True)
_MEMORY = Goal("peak_gigabytes", 3, "{:.2f} GB")

ROWS: dict[str, Row] = {
    "1000x20": Row(partial(time_fit, plain(1000, 20), rival="forest", n_turns=3), (_seconds(8),)),
    "5000x20": Row(partial(time_fit, plain(5000, 20), rival="forest")),
    "20000x20": Row(partial(time_fit, plain(20_000, 20), rival="forest"), (_seconds(20), _FOREST)),
    "100000x50": Row(partial(time_fit, plain(100_000, 50), n_turns=1), (_seconds(60),)),
    "450x500-friedman": Row(
        partial(time_fit, partial(draw_planted, "friedman"), rival="lassonet"), (_LASSONET,)
    ),
    "450x500-madelon": Row(
        partial(time_fit, partial(draw_planted, "madelon"), rival="lassonet"), (_LASSONET,)
    ),
    "500x2000": Row(partial(time_fit, plain(500, 2000)), (_seconds(30),)),
    "72x7129": Row(partial(time_fit, load_allaml), (_seconds(20),)),
    "500x20000": Row(
        partial(time_fit, plain(500, 20_000), n_turns=1), (_seconds(120), _MEMORY), own_process=True
    ),
    "demo": Row(partial(time_fit, load_demo, rival="forest", n_turns=3), (_seconds(10),)),
    "evaluate": Row(partial(time_evaluate, plain(1000, 20)), (_fits(4),)),
    "fdr": Row(partial(time_fdr, plain(300, 30)), (_seconds(15),)),
    "summary-digits": Row(partial(time_summary, load_some_digits), (_fits(0.5),)),
    "summary-300x15": Row(partial(time_summary, plain(300, 15)), (_fits(0.5),)),
    "busy": Row(partial(time_busy, plain(300, 15)), (_fits(3, "{:.2f} x alone"),)),
}
TASK_GROUPS = {
    "450x500": ["450x500-friedman", "450x500-madelon"],
    "summary": ["summary-digits", "summary-300x15"],
}


def run_cell(task: str, method: str, seed: int, *, device: str = "cpu") -> Found:
    """Measure a row."""
    if ROWS[task].own_process:
        return in_own_process(measure, task, seed, device)
    found = measure(task, seed, device)
    found.pop("peak_gigabytes", None)  # that of all rows before it
    return found


def measure(task: str, seed: int, device: str) -> Found:
    """Measure a row in this process, on two cores."""
    with two_cores():
        return {**ROWS[task].measure(seed, device), "cores": 2}


def make_tables(table: pd.DataFrame, methods: list[str]) -> str:
    """Return a line per row: what was measured beside its goals, the score and the rival."""
    last = {record["task"]: record for record in table.to_dict("records") if not pd.isna(record["seconds"])}
    rows = {name: _describe(row, last[name]) for name, row in ROWS.items() if name in last}
    return to_markdown(pd.DataFrame.from_dict(rows, orient="index").rename_axis("row")) if rows else ""


def _describe(row: Row, record: dict[str, Any]) -> dict[str, str]:
    known = {
        name: value for name, value in record.items() if not (isinstance(value, float) and value != value)
    }
    measured = [goal.text.format(known[goal.field]) for goal in row.goals if goal.field != "seconds"]
    reached = ["yes" if goal.is_reached(known[goal.field]) else "no" for goal in row.goals]
    rival = "{rival}: {rival_seconds:.1f} s, {rival_score:.3f}".format(**known) if "rival" in known else ""
    return {
        "goal": " and ".join(goal.describe() for goal in row.goals),
        "measured": ", ".join([f"{known['seconds']:.1f} s", *measured]),
        "reached": ", ".join(reached),
        "score": f"{known['score']:.3f}" if "score" in known else "",
        "selected": f"{known['n_selected']:.0f} of {known['n_features']:.0f}",
        "rival: seconds, score": rival,
        "longest stages": _longest(known.get("stages")),
        "data": known["data"],
    }


def _longest(shares: dict[str, float] | None) -> str:
    """Return the stages of a fit that take most of its time."""
    longest = sorted((shares or {}).items(), key=lambda stage: -stage[1])[:4]
    return ", ".join(f"{stage} {share:.0%}" for stage, share in longest)


SECONDS = Experiment(
    name="seconds",
    title="How many seconds does a default fit take on two cores, and how good is it?",
    tasks=list(ROWS),
    methods=["ours"],
    seeds=[0],
    run_cell=run_cell,
    tables=make_tables,
    metrics={
        "seconds": "{:.1f} s",
        "score": "score {:.3f}",
        "n_selected": "{} selected",
        "fits": "{:.2f} fits",
        "rival_seconds": "rival {:.1f} s",
        "rival_score": "with score {:.3f}",
        "peak_gigabytes": "{:.2f} GB",
    },
    task_groups=TASK_GROUPS,
    quick={"tasks": ["1000x20"]},
    packages=("lassonet",),
    again=True,
)
