"""Is the p-value of all columns exact? It is uniform where the columns have nothing to do with y.

A cell is 100 draws of noise of one kind.

    python -m experiments run signal-level --jobs 2
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from experiments.experiment import Experiment
from experiments.study import to_markdown
from stochgate import GatedClassifier, GatedCox, GatedRegressor, survival_target
from stochgate.choice.bank import Bank
from stochgate.choice.signal import columns_p

N_DRAWS, N, P = 100, 60, 100
Noise = tuple[Any, np.ndarray, Any, dict[str, Any]]  # estimator, X, y, what `fit` is given besides


def _classes(rng: np.random.Generator, n: int = N) -> np.ndarray:
    return (np.arange(n) % 2)[rng.permutation(n)]


def gaussian(rng: np.random.Generator) -> Noise:
    """Draw independent columns."""
    return GatedRegressor, rng.normal(size=(N, P)), rng.normal(size=N), {}


def blocks(rng: np.random.Generator) -> Noise:
    """Draw ten blocks of ten columns with correlations of 0.9."""
    shared = rng.normal(size=(N, 10)).repeat(10, axis=1)
    X = 0.9**0.5 * shared + 0.1**0.5 * rng.normal(size=(N, P))
    return GatedClassifier, X, _classes(rng), {}


def heavy_tails(rng: np.random.Generator) -> Noise:
    """Draw X and y of Student's t with 1.5 degrees of freedom."""
    return GatedRegressor, rng.standard_t(1.5, size=(N, P)), rng.standard_t(1.5, size=N), {}


def groups(rng: np.random.Generator) -> Noise:
    """Draw patients with one to five rows each, alike in X and in y."""
    of_row = np.repeat(np.arange(40), rng.integers(1, 6, size=40))
    X = rng.normal(size=(40, P))[of_row] + 0.3 * rng.normal(size=(len(of_row), P))
    return GatedClassifier, X, _classes(rng, 40)[of_row], {"groups": of_row}


def weights(rng: np.random.Generator) -> Noise:
    """Draw rows of very different weight."""
    return (
        GatedRegressor,
        rng.normal(size=(N, P)),
        rng.normal(size=N),
        {"sample_weight": rng.exponential(size=N)},
    )


def censored(rng: np.random.Generator) -> Noise:
    """Draw times with ties, four of five of them censored."""
    event = np.arange(N) % 5 == 0
    return GatedCox, rng.normal(size=(N, P)), survival_target(event, rng.integers(1, 20, N)), {}


def rare_class(rng: np.random.Generator) -> Noise:
    """Draw three classes, one of them with six rows."""
    return GatedClassifier, rng.normal(size=(N, P)), rng.permutation(np.repeat([0, 1, 2], [30, 24, 6])), {}


KINDS: dict[str, Callable[[np.random.Generator], Noise]] = {
    "gaussian": gaussian,
    "blocks": blocks,
    "heavy-tails": heavy_tails,
    "groups": groups,
    "weights": weights,
    "censored": censored,
    "rare-class": rare_class,
}


def run_cell(task: str, method: str, seed: int, *, device: str = "cpu") -> dict[str, Any]:
    """Return the p-values of 100 draws."""
    found = []
    for i in range(N_DRAWS):
        rng = np.random.default_rng([seed, i])
        estimator, X, y, given = KINDS[task](rng)
        model = estimator(network="linear", device=device, random_state=i)
        problem, row_groups = model._make_problem(X, y, given.get("sample_weight"), given.get("groups"))
        problem = problem.seen_by(problem.network)
        found.append(columns_p(problem, Bank(problem.design), i, row_groups))
    return {"p": found, "below_5_percent": float(np.mean(np.array(found) <= 0.05))}


def make_tables(table: pd.DataFrame, methods: list[str]) -> str:
    """Return how uniform the p-values of each kind are."""
    rows = {}
    for kind, cells in table.groupby("task", sort=False):
        p = np.concatenate([np.array(values) for values in cells["p"]])
        low, high = stats.binomtest(int((p <= 0.05).sum()), len(p)).proportion_ci()
        rows[kind] = {
            "draws": len(p),
            "p <= 0.05": f"{(p <= 0.05).mean():.3f} ({low:.3f} to {high:.3f})",
            "p <= 0.005": f"{(p <= 0.005).mean():.4f}",
            "Kolmogorov-Smirnov, p": f"{stats.kstest(p, 'uniform').pvalue:.3f}",
        }
    return to_markdown(pd.DataFrame.from_dict(rows, orient="index").rename_axis("noise"))


SIGNAL_LEVEL = Experiment(
    name="signal-level",
    title="Is the p-value of all columns uniform on noise of every kind?",
    tasks=list(KINDS),
    methods=["ours"],
    seeds=range(1000, 1010),
    run_cell=run_cell,
    tables=make_tables,
    metrics={"below_5_percent": "{:.2f} below 5 %"},
)
