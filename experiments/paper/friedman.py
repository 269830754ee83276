"""A modified Friedman function, 5 columns of 500 on 450 rows (the paper's Fig. Madelon, bottom).

The claims are those of `madelon`, for a regression: the highest F1, a median rank comparable to trees, a
powerful model (the root of the mean squared error, RMSE, of y centred and divided by its maximum; R2 is
recorded beside it). The check: 20 draws of 600 rows, 450 to train on, 50 to choose how sparse each method
is, 100 to test.

    python -m experiments run friedman --device cuda --jobs 12
"""

from functools import partial
from typing import Any

import pandas as pd

from experiments.baselines.kinds import rmse
from experiments.claims import Paper
from experiments.experiment import Experiment
from experiments.paper.madelon import draw_three, make_claims
from experiments.paper.parts.planted_methods import (
    DFS_LAMS,
    FRIEDMAN_LAMS,
    METHODS,
    PACKAGES,
    PARTS,
    SGNN_LAMS,
    make_planted_model,
    measure,
)
from experiments.paper.parts.planted_show import METRICS
from experiments.paper.parts.show import mean_table
from stochgate import datasets

N_FEATURES = 500
REGRESSORS = (*(method for method in METHODS if method != "svc"), "dnn")


def run_cell(
    task: str, method: str, seed: int, *, device: str = "cpu", n_features: int = N_FEATURES, **small: Any
) -> dict[str, Any]:
    """Train one method on one draw and return what it found; `small` makes its networks small."""
    problem = datasets.make_friedman(600, n_features, random_state=seed)
    model = make_planted_model("friedman", method, kind="regression", seed=seed, device=device, **small)
    record = measure(model, problem, PARTS, choose=True)
    return {**record, "rmse": rmse(problem.y[PARTS.test], model.predict(problem.X[PARTS.test]))}


def make_tables(table: pd.DataFrame, methods: list[str]) -> str:
    """Return errors, ranks, F1 and selected features of each method."""
    columns = {"rmse": ("RMSE", 3), "test_score": ("R2", 3), "median_rank": ("rank", 1)}
    return mean_table(table, methods, {**columns, "f1": ("F1", 2), "n_selected": ("features", 1)})


FRIEDMAN = Experiment(
    name="friedman",
    title="A Friedman function, 5 columns of 500 on 450 rows: does STG find them best?",
    tasks=["friedman"],
    methods=REGRESSORS,
    seeds=range(1000, 1020),
    run_cell=run_cell,
    tables=make_tables,
    metrics={"rmse": "RMSE {:.3f}", **METRICS},
    quick={"seeds": [1000], "settings": {"max_steps": 100, "n_lams": 2, "n_features": 50}},
    packages=PACKAGES,
    draw=partial(draw_three, methods=REGRESSORS, value="rmse", name="RMSE"),
    paper=Paper(
        where="Fig. Madelon, bottom",
        claims=make_claims(REGRESSORS, "rmse", "RMSE", largest=False),
        settings="networks [500, 200, 100, 20] tanh, learning rate 0.2, batches of 200, SGD; the 50 "
        "validation rows choose the penalty, or how many columns are kept. Penalties of STG and HC "
        "multiply the mean open probability.",
        ours=f"10,000 steps (SG-NN 800 epochs); penalties {FRIEDMAN_LAMS[0]:g} to {FRIEDMAN_LAMS[-1]:g} "
        f"(STG, HC), {DFS_LAMS[0]:g} to {DFS_LAMS[-1]:g} (DFS), {SGNN_LAMS[0]:g} to {SGNN_LAMS[-1]:g} "
        "(SG-NN); the step of HC.",
        differs="of the other methods only the forest was tuned. y is divided by its largest absolute "
        "value, and networks learn it standardised. Our defaults choose their penalty themselves, and "
        "learn from the validation rows too.",
    ),
)
