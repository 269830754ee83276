"""Markdown tables of a planted league's saved results."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from experiments.study import compare, summarise, text_grid, to_markdown
from experiments.study.tables import MISSING


def planted_tables(table: pd.DataFrame, methods: list[str], *, tasks: list[str], signal: list[str]) -> str:
    """Return all tables.

    Parameters
    ----------
    table : DataFrame
    tasks, methods : list of str
        The order of rows and columns; those without results are left out.
    signal : list of str
        The tasks that count in the mean F1.
    """
    tasks = [task for task in tasks if task in set(table["task"])]
    methods = [method for method in methods if method in set(table["method"])]
    beside = [task for task in tasks if task not in signal]

    def grid(value: str, rows: list[str], cell: Callable[[Any], str]) -> pd.DataFrame:
        return text_grid(summarise(table, value), rows, methods, cell)

    f1 = grid("f1", [task for task in tasks if task in signal], _with_interval)
    f1.loc[f"mean of {len(signal)}"] = [_mean_over(table, method, signal) for method in methods]
    parts = {
        "F1 of the selected features (mean, 95 % interval; number of seeds below 20 in brackets)": f1,
        "Test score (accuracy, R2, Harrell's C)": grid("test_score", tasks, _with_interval),
        "Ours minus the best peer, F1, seed by seed": _differences(table, "f1", signal),
        "Ours minus the best peer, test score, seed by seed": _differences(table, "test_score", tasks),
        "Beside the mean: precision": grid("precision", beside, _with_interval),
        "Features selected (mean)": grid("n_selected", tasks, lambda row: f"{row['mean']:.1f}"),
        "Median rank of the relevant features (mean)": grid(
            "median_rank", tasks, lambda row: f"{row['mean']:.1f}"
        ),
        "Seconds (mean)": grid("seconds", tasks, lambda row: f"{row['mean']:.1f}"),
    }
    texts = [f"### {title}\n\n{to_markdown(part)}" for title, part in parts.items() if len(part)]
    return "\n\n".join(texts)


def _with_interval(row: Any) -> str:
    seeds = "" if row["n"] >= 20 else f" ({int(row['n'])})"
    if row["n"] < 3:
        return f"{row['mean']:.2f}{seeds}"
    return f"{row['mean']:.2f} ± {row['high'] - row['mean']:.2f}{seeds}"


def _mean_over(table: pd.DataFrame, method: str, signal: list[str]) -> str:
    """Return the mean of the tasks' mean F1, with the number of tasks where it is not all of them."""
    means = summarise(table[table["method"] == method], "f1")
    means = means[means["task"].isin(signal)]
    if means.empty:
        return MISSING
    count = "" if len(means) == len(signal) else f" ({len(means)} tasks)"
    return f"{means['mean'].mean():.3f}{count}"


def _differences(table: pd.DataFrame, value: str, tasks: list[str]) -> pd.DataFrame:
    found = compare(table[table["task"].isin(tasks)], value, "ours").set_index("task")
    found = found.loc[[task for task in tasks if task in found.index]]
    return pd.DataFrame(
        {
            "best peer": found["peer"],
            "difference": found["mean"].map("{:+.3f}".format),
            "95 % interval": [
                f"{low:+.3f} to {high:+.3f}" if n > 1 else MISSING
                for low, high, n in zip(found["low"], found["high"], found["n"], strict=True)
            ],
            "seeds": found["n"],
        }
    )
