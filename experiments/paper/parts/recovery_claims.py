"""What the runs of `recovery` and `recovery-correlated` say: curves over N, verdicts, tables, a picture.

The rule, written before any run that counts: of two methods that one needs fewer samples which reaches nine
tenths of the runs at a smaller N (and stays there), or, where both do so at the same N or never, has the
higher share of runs, mean over N. It is asked of the exact support with the C of the lowest held-out loss,
of the exact support with the C that finds it most often, and of supports that contain all informative
features and maybe others. A claim holds if it holds in all three readings, and partly if in some.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from experiments.claims import Finding, values_of, verdict_of
from experiments.paper.parts.show import colour_of, label_of, make_panels
from experiments.study import to_markdown

LEVEL = 0.9  # the share of runs at which features count as recovered
# the task of the methods that have no C
TASK_WITHOUT_C = {"lasso": "alpha", "lasso-printed": "alpha", "ours": "defaults"}
# name: the task, what is counted, and what it is called
READINGS = {
    "loss": ("by-loss", "exact", "exact support"),
    "support": ("by-support", "exact", "exact support with the C that finds it most often"),
    "contains": ("by-loss", "contains", "all informative features, false ones allowed"),
}
MEASURES = {
    "exact": "Share of runs with the exact support",
    "contains": "Share of runs with all informative features, false ones allowed",
    "portion": "Mean share of the informative features",
    "n_selected": "Mean number of selected features",
}
SHORT = {"stg": "STG", "hc": "HC", "dnc": "DNC", "lasso": "LASSO", "lasso-printed": "LASSO as printed"}


@dataclass(frozen=True)
class Curve:
    """A share over N: its mean, and the N from which on it is nine tenths (infinite: never)."""

    mean: float
    n_needed: float

    def needs_fewer_than(self, other: "Curve") -> bool:
        """Return whether these features are recovered from fewer samples."""
        return (self.n_needed, -self.mean) < (other.n_needed, -other.mean)


def runs_of(table: Any, value: str, method: str, task: str) -> tuple[list[int], np.ndarray]:
    """Return the numbers of samples and what each run found there, shape (n_runs, n_sizes)."""
    task = TASK_WITHOUT_C.get(method, task)
    found = values_of(table, value, method, task)
    if not len(found):
        return [], np.zeros((0, 0))
    return values_of(table, "n_samples", method, task).iloc[0], np.array(found.tolist(), dtype=np.float64)


def curve_of(table: Any, value: str, method: str, task: str) -> Curve:
    """Return the mean over the runs as a curve; NaN where there are none."""
    sizes, found = runs_of(table, value, method, task)
    if not sizes:
        return Curve(math.nan, math.nan)
    means = found.mean(axis=0)
    n_last_below = int(np.flatnonzero(means < LEVEL).max(initial=-1)) + 1
    return Curve(float(means.mean()), sizes[n_last_below] if n_last_below < len(sizes) else math.inf)


def compare_methods(table: Any, pairs: Sequence[tuple[str, str]], more: Sequence[str] = ()) -> Finding:
    """Judge whether the first method of each pair needs fewer samples; `more` are shown beside them."""
    shown = list(dict.fromkeys([*(method for pair in pairs for method in pair), *more]))
    parts, texts, numbers = [], [], {}
    for name, (task, value, title) in READINGS.items():
        curves = {method: curve_of(table, value, method, task) for method in shown}
        parts += [curves[a].needs_fewer_than(curves[b]) for a, b in pairs]
        described = [_describe(curve, method, name) for method, curve in curves.items()]
        texts.append(f"{title}: " + ", ".join(text for text, _ in described))
        for _, of_curve in described:
            numbers.update(of_curve)
    defaults, of_defaults = _describe_defaults(table)
    return Finding(
        verdict=verdict_of(*parts),
        paper_settings="Share of runs, mean over N (N from which on nine of ten): " + "; ".join(texts),
        defaults=defaults,
        numbers={**numbers, **of_defaults},
    )


def _describe(curve: Curve, method: str, reading: str) -> tuple[str, dict[str, float]]:
    """Return "STG 0.70 (60)" with fields for the numbers, and these."""
    name = f"{method.replace('-', '_')}_{reading}"
    text, numbers = f"{SHORT[method]} {{{name}:.2f}}", {name: curve.mean}
    if math.isinf(curve.n_needed):
        return f"{text} (never)", numbers
    return f"{text} ({{n_{name}:.0f}})", {**numbers, f"n_{name}": curve.n_needed}


def _describe_defaults(table: Any) -> tuple[str, dict[str, float]]:
    """Return how often our defaults find the exact support, and these numbers."""
    sizes, found = runs_of(table, "exact", "ours", "defaults")
    if not sizes:
        return "{ours_exact:.2f}", {"ours_exact": math.nan}
    numbers = dict(zip([f"ours_exact_{n}" for n in sizes], found.mean(axis=0).tolist(), strict=True))
    texts = [f"{{ours_exact_{n}:.2f}} at N = {{ours_n_{n}:.0f}}" for n in sizes]
    return "Exact support: " + ", ".join(texts), {**numbers, **{f"ours_n_{n}": float(n) for n in sizes}}


def judge_spread(table: Any) -> Finding:
    """Judge whether the portion of informative features that is found varies less with STG than with HC."""
    tasks = {"loss": "by-loss", "support": "by-support"}
    spread = {
        f"{method}_{name}": _spread(table, method, task)
        for name, task in tasks.items()
        for method in ("stg", "hc")
    }
    return Finding(
        verdict=verdict_of(*(spread[f"stg_{name}"] < spread[f"hc_{name}"] for name in tasks)),
        paper_settings="Standard deviation over runs of the portion found, mean over N: "
        "STG {stg_loss:.3f}, HC {hc_loss:.3f}; with the C that finds the exact support most often: "
        "STG {stg_support:.3f}, HC {hc_support:.3f}",
        numbers=spread,
    )


def _spread(table: Any, method: str, task: str) -> float:
    _, found = runs_of(table, "portion", method, task)
    return float(found.std(axis=0, ddof=1).mean()) if len(found) > 1 else math.nan


def make_tables(table: pd.DataFrame, methods: list[str]) -> str:
    """Return one table per measure: methods and their C, by number of samples."""
    return "\n\n".join(
        f"{title}\n\n{to_markdown(_table_of(table, methods, value))}" for value, title in MEASURES.items()
    )


def _table_of(table: pd.DataFrame, methods: list[str], value: str) -> pd.DataFrame:
    rows = {}
    for method, task in table[["method", "task"]].drop_duplicates().itertuples(index=False):
        sizes, found = runs_of(table, value, method, task)
        if method in methods and sizes:
            means = [f"{mean:.2f}" for mean in found.mean(axis=0)]
            rows[f"{label_of(method)}, {task}"] = dict(zip(sizes, means, strict=True))
    return pd.DataFrame.from_dict(rows, orient="index").fillna("-").sort_index(axis=1)


def draw(table: pd.DataFrame) -> Any:
    """Return the shares over N; the band around a portion is one standard deviation over the runs."""
    figure, axes = make_panels(2, 2)
    panels = [("by-loss", "portion", "informative features found, C by held-out loss")]
    panels += [(task, value, f"{title}, share of runs") for task, value, title in READINGS.values()]
    for axis, (task, value, title) in zip(axes.flat, panels, strict=True):
        for method in dict.fromkeys(table["method"]):
            _draw_curve(axis, *runs_of(table, value, method, task), method, band=value == "portion")
        axis.set(ylim=(-0.03, 1.03), xlabel="N")
        axis.set_title(title, fontsize=8)
    axes[0, 0].legend(fontsize=7)
    return figure


def _draw_curve(axis: Any, sizes: list[int], found: np.ndarray, method: str, band: bool) -> None:
    if not sizes:
        return
    mean, spread = found.mean(axis=0), found.std(axis=0)
    marker = "o" if method == "ours" else ""  # it has few N
    axis.plot(sizes, mean, color=colour_of(method), marker=marker, markersize=4, label=label_of(method))
    if band:
        axis.fill_between(sizes, mean - spread, mean + spread, color=colour_of(method), alpha=0.12, lw=0)
