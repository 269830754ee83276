"""How the planted problems are shown: curves against the noise columns, box plots, and lists of numbers."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from experiments.claims import values_of
from experiments.paper.parts.sentences import list_numbers
from experiments.paper.parts.show import colour_of, label_of, make_panels

Sentence = tuple[str, dict[str, float]]
METRICS = {
    "test_score": "score {:.3f}",
    "n_selected": "{} selected",
    "median_rank": "median rank {:g}",
    "cell_seconds": "{:.1f} s",
}

_NAMES = {"hc-scaled": "HC scaled", "dnn": "DNN"}  # a sentence has no digits but its numbers


def summarise(table: Any, value: str, methods: Sequence[str], how: str = "mean") -> dict[str, float]:
    """Return the "mean", "median" or "std" of a column over all results of each method."""
    found = {method: values_of(table, value, method) for method in methods}
    return {method: float(getattr(x, how)()) if len(x) else math.nan for method, x in found.items()}


def say(values: Mapping[str, float], form: str, of: str) -> Sentence:
    """Return the methods' numbers as a list that a finding can fill in, and these numbers by name.

    All are needed but HC scaled, which no verdict counts.
    """
    shown = {_NAMES.get(method, label_of(method)): x for method, x in values.items()}
    return list_numbers(shown, form, of, needed=set(shown) - {_NAMES["hc-scaled"]})


def best_of(values: Mapping[str, float], *, largest: bool = True) -> float:
    """Return the largest or smallest of the numbers that are there; NaN without any."""
    found = [value for value in values.values() if math.isfinite(value)]
    if not found:
        return math.nan
    return max(found) if largest else min(found)


def draw_curves(
    axes: Any, table: Any, value: str, title: str, methods: Sequence[str], tasks: Mapping[str, int]
) -> None:
    """Draw a column's mean against the number of noise columns, its standard deviation shaded."""
    for method in methods:
        points = [(n, values_of(table, value, method, task)) for task, n in tasks.items()]
        points = [(n, x.astype(float)) for n, x in points if len(x)]
        if not points:
            continue
        counts = [n for n, _ in points]
        means = [x.mean() for _, x in points]
        spreads = [x.std(ddof=0) for _, x in points]
        low, high = ([m + sign * s for m, s in zip(means, spreads, strict=True)] for sign in (-1, 1))
        line = {"marker": "o", "markersize": 3, "linewidth": 1.2}
        axes.plot(counts, means, color=colour_of(method), label=label_of(method), **line)
        axes.fill_between(counts, low, high, color=colour_of(method), alpha=0.12, linewidth=0)
    axes.set(xlabel="noise columns", ylabel=title)


def draw_boxes(axes: Any, table: Any, value: str, title: str, methods: Sequence[str]) -> None:
    """Draw box plots of a column, one for each method: medians black, means dashed red."""
    found = {method: values_of(table, value, method).astype(float) for method in methods}
    found = {method: numbers for method, numbers in found.items() if len(numbers)}
    if not found:
        return
    boxes = axes.boxplot(
        [numbers.to_numpy() for numbers in found.values()],
        showmeans=True,
        meanline=True,
        patch_artist=True,
        medianprops={"color": "black"},
        meanprops={"color": "red", "linestyle": "--"},
        flierprops={"markersize": 3},
    )
    for box, method in zip(boxes["boxes"], found, strict=True):
        box.set(facecolor=colour_of(method), alpha=0.5)
    turned = {"rotation": 60, "ha": "right", "rotation_mode": "anchor", "fontsize": 8}
    axes.set_xticks(range(1, len(found) + 1), [label_of(method) for method in found], **turned)
    axes.set_ylabel(title)


def draw_against_noise(
    table: Any, methods: Sequence[str], tasks: Mapping[str, int], curves: Mapping[str, str]
) -> Any:
    """Return a figure: some columns against the number of noise columns, and box plots of the ranks."""
    figure, axes = make_panels(len(curves) + 1)
    for panel, (value, title) in zip(axes[0], curves.items(), strict=False):
        draw_curves(panel, table, value, title, methods, tasks)
    axes[0, 0].legend(fontsize=6, ncols=2)
    known = table[table["task"].isin(list(tasks))]
    draw_boxes(axes[0, -1], known, "median_rank", "median rank", methods)
    axes[0, -1].set_yscale("log")
    axes[0, -1].axhline(1.5, color="green", linestyle="--", linewidth=1)
    return figure
