"""Draw docs/pictures/scaling.svg: a step's cost against rows, columns and models, from saved results.

python docs/pictures/scaling.py
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "speed.json"
AXES = {"n_samples": "rows", "n_columns": "columns", "n_models": "models"}
DEVICES = {"scaling_cpu": ("2 CPU cores", "#1f77b4"), "scaling_cuda": ("H200", "#d95f02")}


def main() -> None:
    """Draw what `benchmarks/speed.py --scaling` saved, with the slopes it fitted."""
    saved = json.loads(RESULTS.read_text())
    figure, all_axes = plt.subplots(1, 3, figsize=(10, 3.4), sharey=True)
    for axes, (name, label) in zip(all_axes, AXES.items(), strict=True):
        for key, (device, colour) in DEVICES.items():
            curve = saved[key][name]
            shown = [(size, s) for size, s in zip(curve["sizes"], curve["seconds"], strict=True) if s > 0]
            sizes, seconds = zip(*shown, strict=True)
            axes.loglog(sizes, seconds, "o-", color=colour, label=f"{device}, slope {curve['slope']:.2f}")
        axes.set_xlabel(label)
        axes.legend(frameon=False, fontsize=8)
    all_axes[0].set_ylabel("seconds a step")
    figure.tight_layout()
    figure.savefig(Path(__file__).with_suffix(".svg"))


if __name__ == "__main__":
    main()
