"""How many of the 95 % intervals of `effects()` hold, given the selection and on rows of their own.

The truth is what 50,000 further rows say of the same columns.

    python -m experiments run effect-coverage --jobs 2
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit

from experiments.experiment import Experiment
from experiments.methods import make_model
from experiments.study import to_markdown
from stochgate import survival_target

N_FRESH = 50_000
Rows = tuple[np.ndarray, Any]


def births(rng: np.random.Generator, n: int) -> Rows:
    """Draw low birth weight as Hosmer and Lemeshow's model of it says, and two columns of noise."""
    shares = [0.14, 0.35, 0.39, 0.16, 0.06, 0.15]  # race black and other, smoke, ptl, ht, ui
    X = np.column_stack(
        [rng.normal(23, 5, n), rng.gamma(18, 7.2, n), rng.random((n, 6)) < shares, rng.normal(size=(n, 2))]
    )
    eta = X[:, :8] @ [-0.03, -0.015, 1.27, 0.88, 0.94, 0.54, 1.86, 0.77]
    return X, rng.random(n) < expit(0.5 + eta)


def slopes(rng: np.random.Generator, n: int) -> Rows:
    """Draw a quantity whose error grows with a column; five of 20 columns have a part in it."""
    X = rng.standard_t(6, size=(n, 20))
    noise = (0.5 + np.abs(X[:, 0])) * rng.normal(size=n)
    return X, X[:, :5] @ [1, 0.7, 0.5, 0.3, 0.2] + noise


def hazards(rng: np.random.Generator, n: int) -> Rows:
    """Draw survival times of which two thirds are censored; four of 12 columns have a part in them."""
    X = np.column_stack([rng.normal(size=(n, 9)), rng.random((n, 3)) < 0.3])
    time = rng.exponential(np.exp(-X[:, [0, 1, 9, 10]] @ [0.6, -0.4, 0.8, 0.5]))
    end = rng.uniform(0.05, 0.7, n)
    return X, survival_target(time <= end, np.minimum(time, end))


TASKS: dict[str, tuple[str, int, Callable[[np.random.Generator, int], Rows]]] = {
    "births": ("classification", 189, births),
    "slopes": ("regression", 150, slopes),
    "hazards": ("survival", 300, hazards),
}


def run_cell(task: str, method: str, seed: int, *, device: str = "cpu") -> dict[str, Any]:
    """Return how many intervals hold the truth, how many there are, and how far estimates are from 0."""
    kind, n, draw = TASKS[task]
    rng = np.random.default_rng(seed)
    (X, y), fresh = draw(rng, n), draw(np.random.default_rng([seed, 1]), N_FRESH)
    learns = np.ones(n, dtype=bool) if method == "rows of the fit" else rng.permutation(n) < n // 2
    model = make_model("ours", kind, seed=seed, device=device, network="linear").fit(X[learns], y[learns])
    if not model.support_.any():
        return {"n_selected": 0, "n_intervals": 0, "n_hold": 0}
    found = model.effects() if learns.all() else model.effects(X[~learns], y[~learns])
    truth = model.effects(*fresh)["coefficient"]
    told = found["low"].notna()
    holds = (found["low"] <= truth) & (truth <= found["high"])
    return {
        "n_selected": int(model.support_.sum()),
        "n_intervals": int(told.sum()),
        "n_hold": int(holds[told].sum()),
        "size": float(np.median((found["coefficient"] * np.sign(truth))[told] / truth.abs()[told])),
    }


def make_tables(table: pd.DataFrame, methods: list[str]) -> str:
    """Return the share of intervals that hold, for each task and rows to estimate from."""
    rows = []
    for (task, method), cells in table.groupby(["task", "method"], sort=False):
        n, hold = int(cells["n_intervals"].sum()), int(cells["n_hold"].sum())
        low, high = stats.binomtest(hold, n).proportion_ci()
        rows.append(
            {
                "table": task,
                "estimated from": method,
                "draws": len(cells),
                "intervals": n,
                "hold": f"{hold / n:.1%} ({low:.1%} to {high:.1%})",
                "estimate / truth, median": f"{cells['size'].median():.2f}",
                "nothing selected": int((cells["n_selected"] == 0).sum()),
            }
        )
    return to_markdown(pd.DataFrame(rows).set_index("table"))


EFFECT_COVERAGE = Experiment(
    name="effect-coverage",
    title="How many 95 % intervals of effects hold?",
    tasks=list(TASKS),
    methods=["rows of the fit", "the other half"],
    seeds=range(1000, 1050),
    run_cell=run_cell,
    tables=make_tables,
    metrics={"n_intervals": "{} intervals", "n_hold": "{} hold"},
)
