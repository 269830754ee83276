"""Fig. dnc (top) and Fig. correlated of the paper: the samples that recover the informative features.

The claims: of 64 columns, 10 of them informative, the deterministic gates (DNC) recover the informative
ones from fewer samples than the LASSO, the stochastic ones (STG, HC) from fewer still, and STG varies less
than HC. With correlated columns STG needs the fewest. The check: in each run 250 rows are drawn, N samples
are the first N of them; all methods see the same rows. LASSO's penalty is the paper's alpha_N, that of the
gates C alpha_N. The tasks are the ways to find C:

- "by-loss": C has the lowest held-out loss in runs that do not count, as the paper says;
- "by-support": C finds the exact support most often there, which one can know in a simulation only;
- "alpha": LASSO, which has no C. "lasso" minimises half the mean squared error plus alpha_N times the
  absolute coefficients, for which alpha_N was derived (Wainwright 2009); "lasso-printed" the whole mean
  squared error, as equation 3 prints it;
- "defaults": our estimator at its defaults, at four N.

    python -m experiments run recovery --jobs 2
    python -m experiments run recovery-correlated --jobs 2
"""

import warnings
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from sklearn.linear_model import Lasso

from experiments.claims import Claim, Paper
from experiments.experiment import Experiment
from experiments.methods import make_model
from experiments.paper.parts.recovery_claims import compare_methods, draw, judge_spread, make_tables
from experiments.paper.parts.recovery_shared import (
    CONSTANTS,
    GATE_OF,
    N_STEPS,
    SIZES,
    alpha_N,
    draw_problem,
    train_gated,
)
from stochgate import NoFeatureSelectedWarning
from stochgate.datasets import Problem

METHODS = {
    "by-loss": list(GATE_OF),
    "by-support": list(GATE_OF),
    "alpha": ["lasso", "lasso-printed"],
    "defaults": ["ours"],
}
BATCH = 20  # runs in a stack
DEFAULTS_SIZES, DEFAULTS_RUNS = (30, 60, 100, 250), 10
LASSO_FACTOR = {"lasso": 1.0, "lasso-printed": 0.5}  # scikit-learn halves the mean squared error
METRICS = {"mean_exact": "exact {:.2f}", "mean_portion": "portion {:.2f}", "cell_seconds": "{:.1f} s"}


def run_cell(
    task: str,
    method: str,
    seed: int,
    *,
    rho: float,
    device: str = "cpu",
    sizes: Sequence[int] = SIZES,
    n_steps: int = N_STEPS,
) -> dict[str, Any]:
    """Select features from the first N rows of a draw, for each N, and return what was recovered."""
    problem = draw_problem(seed, rho)
    if method in GATE_OF:
        batch, place = divmod(seed, BATCH)
        found = train_batch(method, batch, rho, tuple(sizes), n_steps, device)
        supports = found[place, :, list(CONSTANTS).index(task)]
        facts = {"C": CONSTANTS[task][method], "n_steps": n_steps, "device": device}
    elif method in LASSO_FACTOR:
        supports, facts = fit_lasso(problem, sizes, LASSO_FACTOR[method]), {"device": "cpu"}
    else:
        sizes = [n for n in sizes if n in DEFAULTS_SIZES]
        supports, facts = fit_defaults(method, problem, sizes, seed, device), {"device": device}
    return {**describe(supports, problem.relevant, sizes), "n_models": len(sizes), **facts}


@lru_cache(maxsize=8)
def train_batch(
    method: str, batch: int, rho: float, sizes: tuple[int, ...], n_steps: int, device: str
) -> np.ndarray:
    """Return the supports of runs that train as one stack, whose cells share it, at both choices of C.

    Their shape is (BATCH, n_sizes, 2, n_features).
    """
    runs = range(batch * BATCH, (batch + 1) * BATCH)
    problems = [draw_problem(seed, rho) for seed in runs]
    constants = [of_method[method] for of_method in CONSTANTS.values()]
    stack = train_gated(method, problems, sizes, constants, seeds=runs, n_steps=n_steps, device=device)
    return stack.supports.reshape(BATCH, len(sizes), len(constants), -1)


def fit_lasso(problem: Problem, sizes: Sequence[int], factor: float) -> np.ndarray:
    """Return the LASSO's features for each number of samples, shape (n_sizes, n_features)."""
    models = [Lasso(factor * alpha_N(n), max_iter=10_000).fit(problem.X[:n], problem.y[:n]) for n in sizes]
    return np.array([model.coef_ != 0 for model in models])


def fit_defaults(method: str, problem: Problem, sizes: Sequence[int], seed: int, device: str) -> np.ndarray:
    """Return the features of an estimator at its defaults, shape (n_sizes, n_features)."""
    supports = []
    for n in sizes:
        model = make_model(method, "regression", seed=seed, device=device)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoFeatureSelectedWarning)  # the record says it
            model.fit(problem.X[:n], problem.y[:n])
        supports.append(model.get_support())
    return np.array(supports)


def describe(supports: np.ndarray, relevant: np.ndarray, sizes: Sequence[int]) -> dict[str, Any]:
    """Return what of the informative features was recovered, one number per size, and means over sizes."""
    found = supports[:, relevant]  # (n_sizes, n_relevant)
    n_selected = supports.sum(axis=1)
    contains = found.all(axis=1)
    exact = contains & (n_selected == relevant.sum())
    portion = found.mean(axis=1).round(3)
    return {
        "n_samples": list(sizes),
        "portion": portion.tolist(),
        "contains": contains.astype(int).tolist(),
        "exact": exact.astype(int).tolist(),
        "n_selected": n_selected.tolist(),
        "mean_portion": float(portion.mean()),
        "mean_exact": float(exact.mean()),
    }


def make_experiment(name: str, title: str, rho: float, n_runs: int, paper: Paper) -> Experiment:
    """Return the experiment of one correlation between neighbouring columns."""
    return Experiment(
        name=name,
        title=title,
        tasks=list(METHODS),
        methods=list(dict.fromkeys(method for methods in METHODS.values() for method in methods)),
        seeds=lambda task: range(1000, 1000 + (DEFAULTS_RUNS if task == "defaults" else n_runs)),
        run_cell=partial(run_cell, rho=rho),
        can_do=lambda task, method: method in METHODS[task],
        tables=make_tables,
        metrics=METRICS,
        draw=draw,
        quick={
            "tasks": ["by-loss", "by-support", "alpha"],
            "seeds": [1000, 1001],
            "settings": {"sizes": (40, 60, 100), "n_steps": 1000},
        },
        paper=paper,
    )


SETTINGS = (
    "D = 64, k = 10, coefficients of 1 and -1, noise of variance 0.5; a linear model, gradient descent on "
    "all N rows with step size 0.1 for weights and gates; lambda_N = C alpha_N times the sum of the gates' "
    "open probabilities (the equations' reading); LASSO with alpha_N"
)
CHOSEN = (
    f"{N_STEPS:,} steps; the N; C by the held-out loss of 20 other runs, mean of its logarithm over N: "
    + ", ".join(f"{method} {value:g}" for method, value in CONSTANTS["by-loss"].items())
    + "; for comparison the C that finds the exact support most often there: "
    + ", ".join(f"{method} {value:g}" for method, value in CONSTANTS["by-support"].items())
    + ". A gate is open if its value without noise is not 0. All models have an intercept."
)
DIFFERS = (
    "the samples of a run are nested, N being its first rows. Our defaults have few runs and four N, since "
    "they choose their penalty in each of them."
)

RECOVERY = make_experiment(
    "recovery",
    "Fig. dnc, top: do stochastic gates recover the informative features from fewer samples than "
    "deterministic ones and the LASSO?",
    rho=0.0,
    n_runs=200,
    paper=Paper(
        where="Fig. dnc, top",
        claims=[
            Claim(
                says="DNC needs fewer samples than LASSO for perfect recovery.",
                judge=lambda table: compare_methods(table, [("dnc", "lasso")], ["lasso-printed"]),
            ),
            Claim(
                says="The noise of STG and HC improves on DNC.",
                judge=lambda table: compare_methods(table, [("stg", "dnc"), ("hc", "dnc")]),
            ),
            Claim(says="STG is more stable than HC, its variance is lower.", judge=judge_spread),
        ],
        settings=SETTINGS + "; 200 runs.",
        ours=CHOSEN,
        differs=DIFFERS,
    ),
)
RECOVERY_CORRELATED = make_experiment(
    "recovery-correlated",
    "Fig. correlated: does STG need the fewest samples where columns are correlated?",
    rho=0.3,
    n_runs=100,
    paper=Paper(
        where="Fig. correlated",
        claims=[
            Claim(
                says="With correlated columns STG recovers the support with fewer samples than HC, DNC and "
                "LASSO.",
                judge=lambda table: compare_methods(
                    table, [("stg", "hc"), ("stg", "dnc"), ("stg", "lasso")]
                ),
            )
        ],
        settings=SETTINGS + "; covariance 0.3^|i - j|; 100 runs.",
        ours=CHOSEN + " The same C as without correlations.",
        differs=DIFFERS,
    ),
)
