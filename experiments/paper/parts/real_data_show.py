"""How the results on real data are shown: Table 1, accuracies at some sizes, and ten panels of curves."""

from typing import Any

import pandas as pd

from experiments.claims import values_of
from experiments.paper.parts.curves import draw_curves, mean_curve
from experiments.paper.parts.real_data_settings import SETTINGS
from experiments.paper.parts.show import label_of, make_panels
from experiments.study import to_markdown

SHOWN_SIZES = (10, 50)
N_COLUMNS = 5
PRINTED = ("columns", "train", "test", "classes")
MEASURED = ("n_columns", "n_train", "n_test", "n_classes")


def make_tables(table: Any, methods: list[str]) -> str:
    """Return Table 1 with our files beside it, the mean accuracy at some sizes, and what ours chose."""
    tasks = [task for task in SETTINGS if (table["task"] == task).any()]
    parts = ["Table 1: the paper / here (columns that vary in the training rows)", _shapes(table, tasks)]
    for size in SHOWN_SIZES:
        rows = {
            task: {label_of(name): _show(mean_curve(table, task, name, [size])[0]) for name in methods}
            for task in tasks
        }
        parts += [f"Mean accuracy with {size} features", _markdown(rows)]
    chosen = {
        task: {
            "accuracy": _show(values_of(table, "test_score", "ours", task).mean()),
            "features": _show(values_of(table, "n_selected", "ours", task).mean(), 1),
        }
        for task in tasks
    }
    return "\n\n".join([*parts, "Ours at its defaults", _markdown(chosen)])


def _shapes(table: Any, tasks: list[str]) -> str:
    rows = {}
    for task in tasks:
        first = table[table["task"] == task].iloc[0]
        pairs = zip(PRINTED, SETTINGS[task].table, MEASURED, strict=True)
        rows[task] = {name: f"{printed} / {first.get(ours, '-')}" for name, printed, ours in pairs}
    return _markdown(rows)


def _markdown(rows: dict[str, dict[str, str]]) -> str:
    return to_markdown(pd.DataFrame.from_dict(rows, orient="index"))


def _show(value: float, digits: int = 3) -> str:
    return "-" if pd.isna(value) else f"{value:.{digits}f}"


def draw(table: Any) -> Any:
    """Draw accuracy against the number of features, one panel per data set; a star is our defaults."""
    figure, axes = make_panels(N_COLUMNS, -(-len(SETTINGS) // N_COLUMNS), width=3.0, height=2.8)
    methods = list(dict.fromkeys(table["method"]))
    for axis, task in zip(axes.flat, SETTINGS, strict=True):
        draw_curves(axis, table, task, methods, most=500)
    for axis in axes[:, 0]:
        axis.set_ylabel("accuracy")
    # of the panel that has most methods
    handles, labels = max(
        (axis.get_legend_handles_labels() for axis in axes.flat), key=lambda found: len(found[1])
    )
    figure.legend(handles, labels, loc="outside lower center", ncols=5)
    return figure
