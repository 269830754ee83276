"""Supplement S4 and S5 of the paper: how noisy the gradients of discrete and of relaxed gates are.

The claims: a Monte Carlo estimate of the gradient of discrete (Bernoulli) gates has a high variance, and
even its sign is inaccurate; the reparameterisation trick is more effective than the score function
(REINFORCE); the logistic-based Hard-Concrete gate has gradients of higher variance than STG; and Gaussian
noise instead of logistic reduces the variance. The check: small problems with 10 columns and a network
stopped in the middle of its training, whose weights are fixed. Many estimates of the loss's gradient, each
from one draw of the gates (K = 1) and all rows, are compared with the exact one, from all 2^10 gates or as
the mean of all draws. The penalty's gradient is known exactly for all gates and is left out.

The gates' parameters have different scales (pi, log alpha, mu), so their variances cannot be compared as
they are. All gates have the same probability of being open: 0.84, where STG starts, or 0.5. Compared are
the sum of the gates' variances over the sum of their squared gradients, which no change of scale alters,
and the share of estimates whose sign is wrong, over the relevant gates; a gradient of 0 (a clipped gate) is
not wrong. Besides the gates of the paper: the score function with a baseline (the expected loss),
Hard-Concrete with Gaussian noise of the same variance, and gates drawn anew for each row ("-rows").

    python -m experiments run gradient-variance
"""

import math
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from experiments.claims import Claim, Finding, Paper, values_of, verdict_of
from experiments.experiment import Experiment
from experiments.paper.gate_shape import GaussianConcreteGate
from experiments.paper.parts.gate_gradients import (
    CHUNK,
    N_FEATURES,
    N_ROWS,
    all_losses,
    exact_gradient,
    gate_estimates,
    make_risk,
    parameter_of,
    score_estimates,
)
from experiments.paper.parts.show import colour_of, make_panels, mean_table
from stochgate.gates import Gate, GaussianGate, HardConcreteGate

START, EVEN = 0.5 * (1 + math.erf(math.sqrt(0.5))), 0.5  # Phi(1), and closed as often as open
TASKS = {"xor": START, "linear": START, "xor-even": EVEN, "linear-even": EVEN}  # P(open)
GATES: dict[str, Gate] = {
    "hc": HardConcreteGate(),
    "hc-gaussian": GaussianConcreteGate(),
    "stg": GaussianGate(),
}
METHODS = ["score", "score-baseline", *GATES, "score-rows", "hc-rows", "stg-rows"]


def run_cell(
    task: str, method: str, seed: int, *, device: str = "cpu", n_estimates: int = 4000
) -> dict[str, Any]:
    """Estimate the gradient many times on one problem and compare with the exact one."""
    risk, n_steps = make_risk(task.split("-")[0], seed)
    probability, name = TASKS[task], method.removesuffix("-rows")
    per_open = 1.0  # the derivative of P(open) with respect to the parameter
    if name in GATES:
        parameter = parameter_of(GATES[name], probability)
        per_open = GATES[name].probability_slope(parameter.clone()).item()
        estimate = partial(gate_estimates, risk, GATES[name], parameter)
    else:
        _, chance, loss = all_losses(risk, probability)
        baseline = (chance * loss).sum().item() if name == "score-baseline" else 0.0
        estimate = partial(score_estimates, risk, probability, baseline=baseline)
    generator = torch.Generator().manual_seed(seed)
    n_drawn = N_ROWS if method.endswith("-rows") else 1
    sizes = [len(part) for part in torch.arange(n_estimates).split(CHUNK)]
    draws = (torch.rand(n, n_drawn, N_FEATURES, dtype=torch.float64, generator=generator) for n in sizes)
    found = torch.cat([estimate(u=u.clamp_(min=1e-12)) for u in draws]) / per_open
    exact = found.mean(0) if name in GATES else exact_gradient(risk, probability)
    return {**compare(found, exact, risk.relevant), "n_models": 1, "n_steps": n_steps, "device": "cpu"}


def compare(found: Tensor, exact: Tensor, relevant: np.ndarray) -> dict[str, float]:
    """Return what is said of estimates, shape (n_estimates, n_features), given the exact gradient."""
    variance = (found - exact).square().mean(0)
    important = torch.as_tensor(relevant)
    sure = exact.abs() / (variance / len(found)).sqrt()
    return {
        "relative_variance": (variance.sum() / exact.square().sum()).item(),
        "wrong_sign": (found * exact < 0).double().mean(0)[important].mean().item(),
        "no_sign": (found == 0).double().mean(0)[important].mean().item(),
        "variance": variance.mean().item(),  # of the gradient with respect to P(open)
        "least_standard_errors": sure[important].min().item(),  # of the exact gradient from 0
    }


def medians(table: pd.DataFrame, value: str, method: str) -> pd.Series:
    """Return the median over problems, one number per task that was run."""
    found = {task: values_of(table, value, method, task).median() for task in TASKS}
    return pd.Series(found, dtype=float).dropna()


def add_range(numbers: dict[str, float], name: str, values: pd.Series) -> str:
    """Put the lowest and highest of some tasks' numbers among the numbers; return their names in a text."""
    numbers |= {f"{name}_low": values.min(), f"{name}_high": values.max()}
    return f"{{{name}_low:.2f}} to {{{name}_high:.2f}}"


def judge_discrete(table: pd.DataFrame, value: str, what: str) -> Finding:
    """Judge whether a number of the score function is larger than those of both relaxed gates, by task."""
    shown = {"score": "score function", "score-baseline": "with a baseline", "hc": "HC", "stg": "STG"}
    numbers: dict[str, float] = {}
    found = {method: medians(table, value, method) for method in shown}
    parts = [
        f"{label} {add_range(numbers, method.replace('score-', ''), found[method])}"
        for method, label in shown.items()
    ]
    larger = [(found["score"] - found[method]).dropna() > 0 for method in ("hc", "stg")]
    verdict = verdict_of(*pd.concat(larger))
    return Finding(verdict=verdict, paper_settings=f"{what}: {', '.join(parts)}", numbers=numbers)


def judge_ratio(table: pd.DataFrame, pairs: dict[str, tuple[str, str]], sentence: str) -> Finding:
    """Judge by task whether the first method of the first pair has the higher relative variance."""
    numbers: dict[str, float] = {}
    ratios = {
        name: (medians(table, "relative_variance", a) / medians(table, "relative_variance", b)).dropna()
        for name, (a, b) in pairs.items()
    }
    texts = {name: add_range(numbers, name, ratio) for name, ratio in ratios.items()}
    return Finding(
        verdict=verdict_of(*(next(iter(ratios.values())) > 1)),
        paper_settings=sentence.format(**texts),
        numbers=numbers,
    )


def make_tables(table: pd.DataFrame, methods: list[str]) -> str:
    """Return the variances and the shares of wrong signs."""
    shown = {
        "relative_variance": ("variance / gradient^2", 2),
        "wrong_sign": ("wrong sign", 3),
        "no_sign": ("0", 2),
        "variance": ("variance", 4),
    }
    return mean_table(table, methods, shown)


def draw(table: pd.DataFrame) -> Any:
    """Draw the variances and the shares of wrong signs, one group of bars per task."""
    figure, axes = make_panels(2, width=6)
    titles = {"relative_variance": "variance / squared gradient", "wrong_sign": "share of wrong signs"}
    colours = {"score": "#333333", "score-baseline": "#999999", "hc-gaussian": "#b3a2d9"}
    shown = [method for method in METHODS if (table["method"] == method).any()]
    tasks = [task for task in TASKS if (table["task"] == task).any()]
    width = 1 / (len(shown) + 1)
    for axis, (value, title) in zip(axes[0], titles.items(), strict=True):
        for i, method in enumerate(shown):
            name = method.removesuffix("-rows")
            style = {"color": colours.get(name, colour_of(name)), "hatch": "//" if name != method else None}
            places = np.arange(len(tasks)) + (i - len(shown) / 2) * width
            axis.bar(places, medians(table, value, method).reindex(tasks), width, label=method, **style)
        axis.set_xticks(np.arange(len(tasks)), tasks)
        axis.set(title=title)
    axes[0, 0].set_yscale("log")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    return figure


GRADIENT_VARIANCE = Experiment(
    name="gradient-variance",
    title="Supplement S4, S5: have discrete gates the noisiest gradients, and HC noisier ones than STG?",
    tasks=list(TASKS),
    methods=METHODS,
    seeds=range(1000, 1020),
    run_cell=run_cell,
    tables=make_tables,
    metrics={"relative_variance": "relative variance {:.2f}", "wrong_sign": "wrong sign {:.3f}"},
    quick={"tasks": ["xor", "linear"], "seeds": [1000, 1001], "settings": {"n_estimates": 1000}},
    draw=draw,
    paper=Paper(
        where="supplement S4 and S5, section 3",
        claims=[
            Claim(
                says="Gradients of discrete gates have a high variance; the reparameterisation trick is "
                "more effective than the score function",
                judge=lambda table: judge_discrete(
                    table, "relative_variance", "variance over squared gradient, range over the tasks"
                ),
            ),
            Claim(
                says="With few draws even the sign of a discrete gate's gradient is inaccurate",
                judge=lambda table: judge_discrete(
                    table, "wrong_sign", "share of wrong signs at relevant gates, range over the tasks"
                ),
            ),
            Claim(
                says="HC's gradients have a higher variance than STG's",
                judge=lambda table: judge_ratio(
                    table,
                    {"steps": ("hc", "stg"), "rows": ("hc-rows", "stg-rows")},
                    "variance over squared gradient: HC {steps} times STG; gates drawn for each row {rows} "
                    "times",
                ),
            ),
            Claim(
                says="Gaussian instead of logistic noise reduces the variance of the gradients",
                judge=lambda table: judge_ratio(
                    table,
                    {"noise": ("hc", "hc-gaussian")},
                    "variance over squared gradient: HC {noise} times HC with Gaussian noise",
                ),
            ),
        ],
        settings="One draw of the gates per gradient (K = 1), shared by all rows; sigma = 0.5; HC with "
        "beta = 2/3, tau = -0.1, zeta = 1.1.",
        ours="Binary XOR (2 of 10 columns) and linear regression (3 of 10), 100 rows, a tanh network of 16 "
        "units whose loss has halved; all gates open with probability 0.84 or 0.5; 4000 gradients on each "
        "of 20 problems; medians over problems. Variances are taken relative to squared gradients, since "
        "the parameters have different scales. HC with Gaussian noise has noise of the same variance.",
        differs="The paper prints no numbers.",
    ),
)
