"""How the paper's experiments are shown: tables of means, colours of methods, panels."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from experiments.claims import values_of
from experiments.study import to_markdown

# the methods' names in tables and pictures, and their colours
STYLES = {
    "ours": ("stochgate, defaults", "#d95f02"),
    "stg": ("STG", "#e7298a"),
    "hc": ("HC", "#7570b3"),
    "hc-scaled": ("HC scaled", "#b3a2d9"),
    "dnc": ("DNC", "#66a61e"),
    "dnn": ("DNN, all columns", "#666666"),
    "dfs": ("DFS", "#a6761d"),
    "sgnn": ("SG-NN", "#e6ab02"),
    "lasso": ("LASSO", "#1f77b4"),
    "lasso-printed": ("LASSO as printed", "#9ecae1"),
    "svc": ("SVC", "#17becf"),
    "forest": ("random forest", "#1b9e77"),
    "extra-trees": ("extra trees", "#33a02c"),
    "xgboost": ("XGBoost", "#b15928"),
}


def label_of(method: str) -> str:
    """Return a method's name in tables and pictures."""
    return STYLES.get(method, (method, ""))[0]


def colour_of(method: str) -> str:
    """Return a method's colour in pictures."""
    return STYLES.get(method, ("", "#999999"))[1]


def mean_table(
    table: Any, methods: Sequence[str], values: Mapping[str, tuple[str, int]], tasks: Sequence[str] = ()
) -> str:
    """Return "mean (standard deviation)" of some columns, one row per method, as Markdown.

    Parameters
    ----------
    table : DataFrame
        Results.
    methods : sequence of str
        The rows, in their order.
    values : dict
        Columns of the results, each with its title and how many digits are shown behind the point.
    tasks : sequence of str
        Each has columns of its own; all tasks that the results have by default.
    """
    shown = [task for task in (tasks or dict.fromkeys(table["task"])) if (table["task"] == task).any()]
    rows = {
        label_of(method): {
            f"{task}: {title}": mean_text(table, value, method, task, f".{digits}f")
            for task in shown
            for value, (title, digits) in values.items()
        }
        for method in methods
        if (table["method"] == method).any()
    }
    return "Mean (standard deviation)\n\n" + to_markdown(pd.DataFrame.from_dict(rows, orient="index"))


def mean_text(table: Any, value: str, method: str, task: str, form: str, scale: float = 1) -> str:
    """Return "mean (standard deviation)" of a column, each as `form` says; "-" where there is nothing."""
    numbers = scale * values_of(table, value, method, task).astype(float)
    spread = f" ({numbers.std():{form}})" if len(numbers) > 1 else ""
    return f"{numbers.mean():{form}}{spread}" if len(numbers) else "-"


def make_panels(
    n_columns: int, n_rows: int = 1, width: float = 4.2, height: float = 3.4
) -> tuple[Any, Any]:
    """Return a figure and its axes, an array of shape (n_rows, n_columns)."""
    import matplotlib.pyplot as plt  # not needed to run an experiment

    size = (width * n_columns, height * n_rows)
    return plt.subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)
