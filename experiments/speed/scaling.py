"""What a step costs against rows, columns and models, and the picture of it."""

from typing import Any

import numpy as np

from experiments.speed.timing import draw, timed
from stochgate import Training
from stochgate.networks import MLP

SCALING = {
    "n_samples": [250, 500, 1000, 2000, 4000, 8000],
    "n_columns": [125, 250, 500, 1000, 2000, 4000],
    "n_models": [5, 10, 20, 40, 80, 160],
}


AXES = {"n_samples": "rows", "n_columns": "columns", "n_models": "models"}
DEVICES = {"scaling_cpu": ("2 CPU cores", "#1f77b4"), "scaling_cuda": ("H200", "#d95f02")}


def scaling(device: str) -> dict[str, Any]:
    """Cost of a step against rows, columns and models, each with the slope of its logarithms."""
    found: dict[str, Any] = {}
    for name, sizes in SCALING.items():
        seconds = []
        for size in sizes:
            shape = {"n_samples": 500, "n_columns": 500, "n_models": 20, name: size}
            X, y = draw(shape["n_samples"], shape["n_columns"])
            lams = np.full(shape["n_models"], 0.01 * shape["n_columns"])
            asked: dict[str, Any] = {"X": X, "y": y, "network": MLP(), "lams": lams, "device": device}
            # the first warms up: what it loads would count as cost of the few steps
            _, few, many = (
                timed(training=Training(n_steps=n, n_snapshots=1), **asked) for n in (2, 10, 110)
            )
            seconds.append((many - few) / 100)
        slope = np.polyfit(np.log(sizes[2:]), np.log(seconds[2:]), 1)[0]
        found[name] = {"sizes": sizes, "seconds": seconds, "slope": float(slope)}
    return found


def draw_scaling(table: Any) -> Any:
    """Draw the cost of a step, with the slopes, from the saved rows."""
    import matplotlib.pyplot as plt  # not needed to measure

    saved = table.set_index("task")
    figure, all_axes = plt.subplots(1, 3, figsize=(10, 3.4), sharey=True)
    for axes, (name, label) in zip(all_axes, AXES.items(), strict=True):
        for key, (device, colour) in DEVICES.items():
            curve = saved.loc[key, name]
            shown = [(size, s) for size, s in zip(curve["sizes"], curve["seconds"], strict=True) if s > 0]
            sizes, seconds = zip(*shown, strict=True)
            axes.loglog(sizes, seconds, "o-", color=colour, label=f"{device}, slope {curve['slope']:.2f}")
        axes.set_xlabel(label)
        axes.legend(frameon=False, fontsize=8)
    all_axes[0].set_ylabel("seconds a step")
    figure.tight_layout()
    return figure
