"""The methods of the paper's Table 2, beside our defaults and two further peers."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd

from experiments.baselines import ForestSelector, GatedNetwork, LassoNetSelector, LassoSelector
from experiments.methods import on_device
from experiments.paper.parts.show import make_panels
from experiments.study import compare, to_markdown
from stochgate import GatedCox, Training
from stochgate.networks import MLP

PACKAGES = ("lassonet", "scikit-survival")

# Two things are our reading of the paper. The optimiser is gradient descent, which the authors' public code
# runs under the name Adam; Adam itself ended, on METABRIC, in networks that predict nothing. And 0.023 is
# the penalty of each gate: divided by the number of gates it closed none there.
_deepsurv = partial(
    GatedNetwork,
    "survival",
    lams=(0.023,),
    penalty="sum",
    hidden=(60, 20, 3),
    activation="selu",
    lr=0.152,
    n_epochs=2000,
)
METHODS: dict[str, Callable[..., Any]] = {
    "ours": GatedCox,
    "cox-stg": partial(_deepsurv, gate="gaussian"),
    "cox-hc": partial(_deepsurv, gate="hard-concrete", gate_step="scaled"),
    "deepsurv": partial(_deepsurv, gate=None),
    "rsf": partial(ForestSelector, "survival", n_estimators=100, select=False),
    "cox-lasso": partial(LassoSelector, "survival"),
    # not in the paper
    "lassonet": partial(LassoNetSelector, "survival"),
    "rsf-selected": partial(ForestSelector, "survival", n_estimators=100),
    # to the letter of the paper: Adam, and 0.023 times the mean over the gates
    "cox-stg-printed": partial(
        GatedCox,
        0.023,
        network=MLP((60, 20, 3), "selu", init_std=0.1),
        training=Training(2000, lr=0.152, gate_lr=0.152, lr_decay="constant"),
    ),
}


METRICS = {"test_score": "C {:.3f}", "n_selected": "{} selected", "seconds": "{:.1f} s"}
SETTINGS = (
    "hidden layers of 60, 20 and 3 units, SELU, step size 0.152, 2,000 epochs of all rows, sigma 0.5, "
    "lambda 0.023 for each gate (sum), weights drawn with standard deviation 0.1"
)
READING = (
    "gradient descent without momentum, which the authors' public code runs under the name Adam; to the "
    "letter (Adam, 0.023 times the mean over the gates) the network predicts nothing; HC steps 4.8 times "
    "as far as STG; the forest has 100 trees; the lasso's penalty is chosen by cross-validation"
)


def make_cox_model(method: str, seed: int, device: str) -> Any:
    """Return an unfitted model; networks of ours run on the device, the peers on the CPU."""
    return on_device(METHODS[method](random_state=seed), device)


def training_cost(model: Any, n_samples: int) -> dict[str, int]:
    """Return how many networks were trained at given settings, and their steps; nothing of other models."""
    if not hasattr(model, "count_steps"):
        return {}
    return {"n_models": len(model.lams), "n_steps": model.count_steps(n_samples)}


def differences(table: Any, task: str, method: str, overlap: float) -> str:
    """Return how far a method's C lies above each peer's, split by split, as a markdown table.

    Splits of the same rows are not independent: the second interval has the variance of Nadeau and Bengio
    (2003), 1 / n + n_test / n_train instead of 1 / n.

    Parameters
    ----------
    table : DataFrame
    task, method : str
    overlap : float
        n_test / n_train of the splits; 0 where each has rows of its own.
    """
    rows = {}
    for peer in (peer for peer in METHODS if peer != method):
        for row in compare(table[table["task"] == task], "test_score", method, [peer]).itertuples():
            half = row.high - row.mean
            wide = half * (1 + row.n * overlap) ** 0.5
            rows[peer] = {
                "difference": f"{row.mean:+.3f}",
                "95 % interval": _interval(row.mean, half),
                "corrected": _interval(row.mean, wide),
                "splits": row.n,
            }
    return to_markdown(pd.DataFrame.from_dict(rows, orient="index")) if rows else "Nothing to compare yet."


def draw_methods(table: Any, tasks: dict[str, str]) -> Any:
    """Draw C and the number of features of each method, a point per repeat and a bar at the mean.

    Parameters
    ----------
    table : DataFrame
    tasks : dict
        The tasks that are drawn, each with its colour.
    """
    methods = [method for method in METHODS if (table["method"] == method).any()]
    figure, (axes,) = make_panels(2, width=4.6, height=0.6 + 0.34 * len(methods))
    for axis, value in zip(axes, ("test_score", "n_selected"), strict=True):
        for i, (task, colour) in enumerate(tasks.items()):
            rows = table[(table["task"] == task) & table["method"].isin(methods)].dropna(subset=[value])
            height = rows["method"].map(methods.index) + 0.22 * (i - (len(tasks) - 1) / 2)
            axis.scatter(rows[value], height, s=9, color=colour, alpha=0.5, label=task)
            means_of = rows[value].groupby(height).mean()
            axis.scatter(means_of, means_of.index, s=90, marker="|", color=colour)
        axis.set_yticks(range(len(methods)), methods)
        axis.invert_yaxis()
    axes[0].set_xlabel("Harrell's C on test rows")
    axes[1].set_xscale("symlog", linthresh=1)
    axes[1].set_xlim(left=0)
    axes[1].set_xlabel("features")
    axes[1].set_yticklabels([])
    axes[0].legend(fontsize="small")
    return figure


def _interval(mean: float, half: float) -> str:
    return f"{mean - half:+.3f} to {mean + half:+.3f}" if half == half else "-"  # one split has none
