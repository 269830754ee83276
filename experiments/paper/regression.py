"""The regression sets of the supplement, which prints settings without results: SE1-3, RCP, REL and RAI.

The claim: none with a number. The check: what the printed settings do. By gradient descent a useless gate
closes after about 0.75 / (step size x penalty of a gate) steps; rows are not cut into batches, since the
paper names no size and the authors' code for SE1 takes all rows, so that epochs are steps. "stg" takes
lambda as the penalty of each gate (sum, as the equations), "stg-mean" divides it by the number of gates (as
the supplement says). "stg-chosen" shows what the same networks can do with larger and more steps and
with lambda chosen on the validation rows.

    STOCHGATE_DATA=... python -m experiments run regression --device cuda --jobs 12
"""

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import r2_score

from experiments.baselines import ForestSelector, GatedNetwork, LassoSelector, XGBoostSelector
from experiments.baselines.kinds import rmse
from experiments.claims import UNPUBLISHED, Claim, Finding, Paper, mean_of
from experiments.experiment import Experiment
from experiments.methods import PACKAGES, make_model, on_device
from experiments.paper.parts.regression_sets import SETTINGS, Parts, Setting, draw_parts
from experiments.paper.parts.sentences import list_numbers
from experiments.paper.parts.show import colour_of, label_of, make_panels, mean_text
from experiments.study import to_markdown
from stochgate import ConstantColumnWarning, NoFeatureSelectedWarning
from stochgate.metrics import selection_scores


def printed_settings(setting: Setting) -> dict[str, Any]:
    """Return what the supplement prints for a set, lambda taken for each gate."""
    return {
        "lams": (setting.lam,),
        "penalty": "sum",
        "hidden": setting.hidden,
        "activation": "relu",
        "lr": setting.lr,
        "n_epochs": setting.n_epochs,
    }


def chosen_settings(setting: Setting) -> dict[str, Any]:
    """Return the same network with larger and more steps, and penalties to choose from."""
    lams = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
    return {**printed_settings(setting), "lams": lams, "lr": setting.larger_lr, "n_epochs": 4000}


# the settings of each gated network, and what it changes of them
NETWORKS: dict[str, tuple[Callable[[Setting], dict[str, Any]], dict[str, Any]]] = {
    "stg": (printed_settings, {"gate": "gaussian"}),
    "stg-mean": (printed_settings, {"gate": "gaussian", "penalty": "mean"}),
    "stg-chosen": (chosen_settings, {"gate": "gaussian"}),
    "hc": (printed_settings, {"gate": "hard-concrete"}),
    "hc-scaled": (printed_settings, {"gate": "hard-concrete", "gate_step": "scaled"}),
    "dnn": (printed_settings, {"gate": None}),
}
PEERS: dict[str, Callable[..., Any]] = {
    "lasso": LassoSelector,
    "forest": partial(ForestSelector, n_estimators=50),
    "xgboost": XGBoostSelector,
}
VALUES = {
    "r2": "R2 on the test rows",
    "rmse": "RMSE on the test rows, in the unit of y",
    "n_selected": "features",
    "f1": "F1 of the features",
}


def make_network(task: str, method: str, seed: int, max_steps: int | None = None) -> GatedNetwork:
    """Return an unfitted network at the settings of a set, with what the method changes."""
    settings_of, changes = NETWORKS[method]
    settings = {**settings_of(SETTINGS[task]), **changes}
    return GatedNetwork("regression", max_steps=max_steps, random_state=seed, **settings)


def run_cell(
    task: str,
    method: str,
    seed: int,
    *,
    device: str = "cpu",
    n_rows: int | None = None,
    max_steps: int | None = None,
) -> dict[str, Any]:
    """Train one method on one draw or split and return its error on the test rows and its features.

    Methods with several models choose one on the validation rows; ours has its own way to choose.
    """
    parts, relevant = draw_parts(task, seed, n_rows)
    cost, ways = {}, {"validation": parts.valid}
    if method in NETWORKS:
        model: Any = make_network(task, method, seed, max_steps)
        cost = {"n_models": len(model.lams), "n_steps": model.count_steps(len(parts.train[1]))}
    elif method in PEERS:
        model = PEERS[method]("regression", random_state=seed)
    else:
        model, ways = make_model(method, "regression", seed=seed), {}
    found = fit_and_measure(on_device(model, device), parts, ways)
    if relevant is not None and not found["diverged"]:
        found.update(selection_scores(model.get_support(), relevant))
    return {**found, **cost, "n_features": parts.train[0].shape[1]}


def fit_and_measure(model: Any, parts: Parts, ways: dict[str, Any]) -> dict[str, Any]:
    """Fit a model; return its error on the test rows and its features, neither where it diverged."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        for silenced in (NoFeatureSelectedWarning, ConstantColumnWarning):
            warnings.simplefilter("ignore", silenced)
        model.fit(*parts.train, **ways)
    seconds = time.perf_counter() - start
    (X, y), device = parts.test, model.get_params().get("device", "cpu")
    prediction = model.predict(X)
    if not np.isfinite(prediction).all():
        return {"diverged": True, "seconds": seconds, "device": device}
    return {
        "r2": float(r2_score(y, prediction)),
        "rmse": rmse(y, prediction),
        "n_selected": int(model.get_support().sum()),
        "diverged": False,
        "seconds": seconds,
        "device": device,
    }


def judge_settings(table: pd.DataFrame) -> Finding:
    """Say how many features each reading of the penalty keeps, since there is no number to compare with."""
    parts: list[str] = []
    numbers: dict[str, float] = {}
    for method, what in (
        ("stg", "features kept, lambda for each gate: "),
        ("stg-mean", "lambda over all gates: "),
        ("stg-chosen", "lambda chosen: "),
    ):
        sizes = {task: mean_of(table, "n_selected", method, task) for task in SETTINGS}
        sentence, found = list_numbers(sizes, ".1f", method.replace("-", "_"))
        parts, numbers = [*parts, what + sentence], {**numbers, **found}
    for value, form in (("n_selected", ".1f"), ("r2", ".2f")):
        of_ours = {task: mean_of(table, value, "ours", task) for task in SETTINGS}
        sentence, found = list_numbers(of_ours, form, f"ours_{value}")
        parts, numbers = [*parts, sentence], {**numbers, **found}
    return Finding(
        verdict=UNPUBLISHED,
        paper_settings="; ".join(parts[:3]),
        defaults=f"features: {parts[3]}; R2: {parts[4]}",
        numbers=numbers,
    )


def make_tables(table: pd.DataFrame, methods: list[str]) -> str:
    """Return one table of means for each value, methods by sets."""
    parts = []
    for value, title in VALUES.items():
        rows = {
            label_of(method): {task: mean_text(table, value, method, task, ".3g") for task in SETTINGS}
            for method in methods
        }
        frame = to_markdown(pd.DataFrame.from_dict(rows, orient="index"))
        parts.append(f"{title}: mean (standard deviation)\n\n{frame}")
    diverged = int(table["diverged"].eq(True).sum()) if "diverged" in table else 0
    return "\n\n".join([*parts, f"{diverged} cells diverged."])


def draw(table: pd.DataFrame) -> Any:
    """Draw R2 and the share of columns that are kept, a group of points per set."""
    methods = [method for method in METHODS if (table["method"] == method).any()]
    figure, (axes,) = make_panels(2, width=6.0)
    for i, method in enumerate(methods):
        places = [at + 0.075 * (i - (len(methods) - 1) / 2) for at in range(len(SETTINGS))]
        r2 = [mean_of(table, "r2", method, task) for task in SETTINGS]
        shares = [
            mean_of(table, "n_selected", method, task) / mean_of(table, "n_features", method, task)
            for task in SETTINGS
        ]
        style = {"s": 18, "color": COLOURS.get(method, colour_of(method)), "label": label_of(method)}
        axes[0].scatter(places, np.maximum(r2, -0.1), **style)
        axes[1].scatter(places, shares, **style)
    for axis in axes:
        axis.set_xticks(range(len(SETTINGS)), list(SETTINGS))
    axes[0].set_ylabel("R2 on test rows (below -0.1: at -0.1)")
    axes[1].set_ylabel("share of the columns that are kept")
    axes[1].legend(fontsize="x-small", ncols=2)
    return figure


METHODS = ["ours", *NETWORKS, *PEERS]
COLOURS = {"stg-mean": "#f4a6cf", "stg-chosen": "#8e0b52"}

REGRESSION = Experiment(
    name="regression",
    title="Six regression sets: do the settings that the supplement prints select features?",
    tasks=list(SETTINGS),
    methods=METHODS,
    seeds=range(1000, 1003),
    run_cell=run_cell,
    tables=make_tables,
    metrics={
        "r2": "R2 {:.3f}",
        "rmse": "RMSE {:.3g}",
        "n_selected": "{} selected",
        "f1": "F1 {:.2f}",
        "seconds": "{:.1f} s",
    },
    quick={
        "tasks": ["SE1", "RAI"],
        "methods": ["ours", "stg", "stg-mean", "stg-chosen", "lasso", "xgboost"],
        "seeds": [1000],
        "settings": {"n_rows": 200, "max_steps": 100},
    },
    packages=PACKAGES,
    draw=draw,
    paper=Paper(
        where="supplement, implementation details",
        claims=[
            Claim(
                says="STG selects features on six regression sets; settings are printed, results are not.",
                judge=judge_settings,
            )
        ],
        settings="networks, epochs, lambda and step size as printed for each set (SE1: 600-200-100-50 with "
        "ReLU, 5 epochs, lambda 5, step size 0.0001); gradient descent, weights drawn with standard "
        "deviation 0.1; 1,000 rows to train, to validate and to test, of RCP and REL 6,000 and of RAI "
        "5,000 to train; lambda for each gate (sum), beside it over all gates (mean).",
        ours="all rows in each step; columns and y standardised; lambda chosen: of seven from 0.001 to 0.1 "
        "for each gate, step size 0.1 (SE3: 0.03), 4,000 steps; the forest has 50 trees, and validation "
        "rows choose how many features the peers keep; our defaults get the training rows alone.",
        differs="SE3 is our guess at its definition; REL and RAI are the elevators and ailerons tables, as "
        "their names suggest; three draws or splits.",
    ),
)
