"""Draw docs/pictures/how_lambda.svg: one automatic choice, from the table `path_` of a fit.

python docs/pictures/how_lambda.py
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from stochgate import GatedClassifier
from stochgate.datasets import make_ring

COLOURS = {"linear": "#9a9a9a", "mlp": "#1f77b4", "encoded": "#d95f02"}
MARKERS = {
    "path": "o",
    "survivors": "s",
    "refit": "^",
    "growing": "x",
    "elimination": "+",
    "team": "*",
    "all": "D",
}
LABELS = {
    "path": "gated, all features",
    "survivors": "gated, survivors",
    "refit": "refits of a vote",
    "growing": "refits of a growing penalty's sets",
    "elimination": "refits of elimination's sets",
    "team": "teams",
    "all": "all columns",
}


def main() -> None:
    """Fit the ring or exclusive-or of 128 columns and draw every model that was compared."""
    problem = make_ring(1000, 128, xor=True, random_state=0)
    model = GatedClassifier(random_state=0).fit(problem.X, problem.y)
    share = problem.y.mean()
    base = -(share * np.log(share) + (1 - share) * np.log(1 - share))  # what the base rate loses
    figure, axes = plt.subplots(figsize=(8, 4.5))
    for (network, stage), rows in model.path_.groupby(["network", "stage"], sort=False):
        shown = rows[(rows["held_out_loss"] < 1.3 * base) & (rows["n_features"] > 0)]
        axes.scatter(
            shown["n_features"],
            shown["held_out_loss"],
            c=COLOURS[network],
            marker=MARKERS[stage],
            s=36,
            alpha=0.8,
            label=f"{network}: {LABELS[stage]}",
        )
    chosen = model.path_[(model.path_["network"] == model.network_) & (model.path_["lam"] == model.lam_)]
    best = chosen.loc[chosen["held_out_loss"].idxmin()]
    axes.annotate(
        f"chosen: {int(model.get_support().sum())} features",
        (best["n_features"], best["held_out_loss"]),
        xytext=(best["n_features"] * 1.8, best["held_out_loss"] * 0.93),
        arrowprops={"arrowstyle": "->"},
    )
    axes.axhline(base, color="black", linewidth=1, linestyle=":")
    axes.text(1.05, base * 1.01, "model without features")
    axes.set_xscale("log")
    axes.set_xticks([1, 2, 4, 8, 16, 32, 64, 128], [1, 2, 4, 8, 16, 32, 64, 128])
    axes.set_xlabel("features")
    axes.set_ylabel("mean held-out loss of 5 folds")
    axes.set_title("A ring, or the exclusive-or of two others, among 128 columns (1,000 rows)")
    axes.legend(fontsize=7, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.14))
    figure.savefig(Path(__file__).with_suffix(".svg"), bbox_inches="tight")
    print(f"{np.flatnonzero(model.get_support()).tolist()} chosen by the {model.network_} network")


if __name__ == "__main__":
    main()
