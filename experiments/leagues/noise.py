"""The league's tasks without any signal, on many more seeds: a selection there is a false one."""

from typing import Any

import pandas as pd
from scipy import stats

from experiments.leagues.planted import planted_league
from experiments.leagues.selection import TASKS
from experiments.study import to_markdown


def make_tables(table: pd.DataFrame, methods: list[str]) -> str:
    """Return how often anything was selected, and Clopper and Pearson's upper limit of that rate."""
    runs = table.dropna(subset=["n_selected"]).groupby("task")
    return to_markdown(pd.DataFrame({task: _count(own) for task, own in runs}).T.rename_axis("task"))


def _count(runs: pd.DataFrame) -> dict[str, Any]:
    n, k = len(runs), int((runs["n_selected"] > 0).sum())
    limit = stats.beta.ppf(0.95, k + 1, n - k) if k < n else 1.0
    return {
        "runs": n,
        "runs that select anything": k,
        "95 % upper limit of the rate": f"{limit:.3f}",
        "of these a clear signal": int((runs["p"] <= 0.005).sum()) if "p" in runs else "",
    }


NOISE = planted_league(
    name="noise",
    title="Pure noise: how often is anything selected?",
    tasks={name: TASKS[name] for name in ("noise_c", "noise_r", "noise_s")},
    methods=["ours"],
    seeds=range(1000, 1100),
    quick={"seeds": range(1000, 1003)},
    tables=make_tables,
)
