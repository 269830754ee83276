"""What the runs of `second-chance` say: verdicts, a table, a picture."""

import math
from typing import Any

import numpy as np
import pandas as pd

from experiments.claims import FAILS, HOLDS, PARTLY, Finding, values_of
from experiments.paper.parts.recovery_shared import CONSTANT_GRID
from experiments.paper.parts.show import colour_of, label_of, make_panels
from experiments.study import to_markdown

FIRST_RUNS = 5  # among which the gate of the picture is found
LATE = 2_000  # steps, half of those in the paper's example


def totals_of(table: Any, value: str, method: str) -> np.ndarray:
    """Return a count, summed over the runs, for each C, shape (n_constants,); empty without runs."""
    return np.array(values_of(table, value, method).tolist()).sum(axis=0)


def total_of(table: Any, value: str, method: str) -> float:
    """Return a count over all runs and C; NaN without runs."""
    counts = values_of(table, value, method)
    return float(counts.sum()) if len(counts) else math.nan


def judge_return(table: Any) -> Finding:
    """Judge whether gates come back with STG, and none does with DNC."""
    numbers = {
        f"{method}_{value}": total_of(table, f"all_{value}", method)
        for method in ("stg", "hc", "dnc")
        for value in ("closed", "back")
    }
    verdict = FAILS
    if numbers["stg_back"] > 0:
        verdict = PARTLY if numbers["dnc_back"] > 0 else HOLDS
    return Finding(
        verdict=verdict,
        paper_settings="Informative gates that came back, of those closed at some step: STG {stg_back:.0f} "
        "of {stg_closed:.0f}, DNC {dnc_back:.0f} of {dnc_closed:.0f}, HC {hc_back:.0f} of {hc_closed:.0f}",
        numbers=numbers,
    )


def judge_lateness(table: Any) -> Finding:
    """Judge whether STG's gates come back late: the median one, or at least one, after 2,000 steps."""
    found = values_of(table, "opened_at", "stg").tolist()
    steps = np.array([step for run in found for step in run], dtype=np.float64)
    if not found:
        return Finding(verdict=FAILS, paper_settings="{median:.0f}", numbers={"median": math.nan})
    if not len(steps):
        return Finding(verdict=FAILS, paper_settings="no gate came back")
    numbers = {"median": float(np.median(steps)), "last": float(steps.max())}
    late = [number for number in numbers.values() if number >= LATE]
    return Finding(
        verdict=HOLDS if len(late) == len(numbers) else PARTLY if late else FAILS,
        paper_settings="Steps until a gate came back: median {median:.0f}, at most {last:.0f}",
        numbers=numbers,
    )


def make_tables(table: pd.DataFrame, methods: list[str]) -> str:
    """Return, for each method and C, how many informative gates closed, and how many came back."""
    rows = {}
    for method in methods:
        closed, back = (totals_of(table, value, method) for value in ("n_closed", "n_back"))
        if closed.ndim:
            pairs = zip(CONSTANT_GRID, back, closed, strict=True)
            rows[label_of(method)] = {f"C = {C:g}": f"{b} of {c}" for C, b, c in pairs}
    title = "Informative gates that came back, of those that were closed at some step\n\n"
    return title + to_markdown(pd.DataFrame.from_dict(rows, orient="index"))


def draw(table: pd.DataFrame) -> Any:
    """Return the gate of the example during training, and how many gates closed and came back."""
    figure, ((example, counts),) = make_panels(2)
    _draw_example(example, table)
    for method in dict.fromkeys(table["method"]):
        closed, back = (totals_of(table, value, method) for value in ("n_closed", "n_back"))
        counts.plot(CONSTANT_GRID, closed, color=colour_of(method), label=label_of(method))
        counts.plot(CONSTANT_GRID, back, color=colour_of(method), linestyle=":", marker="o", markersize=3)
    counts.set(xscale="log", xlabel="C", ylabel="informative gates")
    counts.set_title("closed at some step; dotted: came back", fontsize=9)
    counts.legend(fontsize=7)
    return figure


def _draw_example(axis: Any, table: pd.DataFrame) -> None:
    if "example_opened_at" not in table or table["example_opened_at"].isna().all():
        axis.set_title("no gate came back")
        return
    known = table.dropna(subset=["example_opened_at"])
    first = known[known["seed"].isin(np.sort(known["seed"].unique())[:FIRST_RUNS])]
    seed = first.loc[first["example_opened_at"].idxmax(), "seed"]
    for row in first[first["seed"] == seed].itertuples():
        axis.plot(
            row.example_steps, row.example_values, color=colour_of(row.method), label=label_of(row.method)
        )
        axis.set_title(f"an informative gate, C = {row.example_C:g}", fontsize=9)
    axis.set(xscale="log", xlabel="step", ylabel="value of the gate, without noise")
    axis.legend(fontsize=7)
