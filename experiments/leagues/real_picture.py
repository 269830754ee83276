"""The picture docs/pictures/real_league.svg: score against number of features."""

from typing import Any

import pandas as pd

from stochgate.datasets import REAL

SCORES = {"classification": "accuracy", "regression": "R2", "survival": "Harrell's C"}
STYLES = {  # in the order of drawing: what comes last lies on top
    "all-forest": ("all columns: forest", "#bbbbbb", "s"),
    "all-boosting": ("all columns: boosting", "#bbbbbb", "^"),
    "all-linear": ("all columns: linear", "#bbbbbb", "v"),
    "forest": ("forest", "#1b9e77", "o"),
    "boruta": ("Boruta", "#66a61e", "o"),
    "lassonet": ("LassoNet", "#7570b3", "o"),
    "stg": ("stg", "#e7298a", "o"),
    "lasso": ("L1", "#1f77b4", "o"),
    "ours-k20": ("stochgate, k = 20", "#fdae6b", "D"),
    "ours": ("stochgate", "#d95f02", "D"),
}


def find_points(table: Any) -> pd.DataFrame:
    """Return the mean score and the median number of features (0 as 1) of each set and method."""
    groups = table.dropna(subset=["score"]).groupby(["task", "method"])
    found = groups.agg(score=("score", "mean"), n_features=("n_selected", "median")).reset_index()
    kinds = found["task"].map(lambda name: REAL[name].kind)
    return found.assign(kind=kinds, n_features=found["n_features"].clip(lower=1))


def draw_points(points: pd.DataFrame) -> Any:
    """Draw a panel per kind of problem; a thin line joins the points of a set, so that sets can be told."""
    import matplotlib.pyplot as plt  # not needed by the league itself

    figure, all_axes = plt.subplots(1, len(SCORES), figsize=(13, 4.6), layout="constrained")
    for axes, (kind, score) in zip(all_axes, SCORES.items(), strict=True):
        there = points[points["kind"] == kind]
        for task, group in there.groupby("task"):
            line = group.sort_values("n_features")
            axes.plot(line["n_features"], line["score"], color="#e5e5e5", lw=0.8, zorder=0)
            axes.annotate(str(task), line[["n_features", "score"]].iloc[-1], fontsize=6, color="#888888")
        for method, (label, colour, marker) in STYLES.items():
            dots = there[there["method"] == method]
            axes.plot(dots["n_features"], dots["score"], marker, color=colour, label=label, ms=5)
        axes.set(xscale="log", xlabel="features (median over splits)", ylabel=score, title=kind)
    all_axes[-1].legend(frameon=False, fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    return figure
