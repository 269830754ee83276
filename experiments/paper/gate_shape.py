"""Figure 1 and supplement S5 of the paper: how stochastic gates are distributed.

The claims: z is a clipped, mean-shifted Gaussian, open with probability Phi(mu / sigma); the Hard-Concrete
gate has the distribution of the supplement; its logistic noise has the heavier tail, which causes a high
variance of z. The check: many draws of each gate against the formulas, written down here once more, at four
values of mu, and of log alpha so that the gate without noise moves from closed to open alike. To tell
whether the tail is the cause, a third gate is the Hard-Concrete one with Gaussian noise of the same
variance.

    python -m experiments run gate-shape
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy import special, stats
from torch import Tensor

from experiments.claims import FAILS, HOLDS, Claim, Finding, Paper, mean_of, values_of, verdict_of
from experiments.experiment import Experiment
from experiments.paper.parts.show import colour_of, label_of, make_panels, mean_table
from stochgate.gates import Gate, GaussianGate, HardConcreteGate
from stochgate.streams import to_normal

TASKS = {"closed": -0.5, "edge": 0.0, "start": 0.5, "open": 1.0}  # mu; log alpha is made from it
N_DRAWS = 200_000
EDGES = np.linspace(0, 1, 21)
# of the 880 shares of a gate, one lies this far from a true formula with a chance of 1 in 2000
MOST_STANDARD_ERRORS = 5.0
LOGISTIC_STD = math.pi / math.sqrt(3)


class GaussianConcreteGate(HardConcreteGate):
    """The Hard-Concrete gate with Gaussian noise of the same variance instead of the logistic one."""

    def noise(self, u: Tensor) -> Tensor:  # noqa: D102
        return to_normal(u) * LOGISTIC_STD

    def open_probability(self, parameter: Tensor) -> Tensor:  # noqa: D102
        edge = self.beta * math.log(-self.tau / self.zeta)
        return torch.special.ndtr((parameter - edge) / LOGISTIC_STD)


METHODS: dict[str, Gate] = {
    "stg": GaussianGate(),
    "hc": HardConcreteGate(),
    "hc-gaussian": GaussianConcreteGate(),
}


def gaussian_noise_limit(z: np.ndarray, mu: float) -> np.ndarray:
    """Return the noise below which the Gaussian gate is at most z, in standard deviations (section 3.1)."""
    return (z - mu) / 0.5


def concrete_noise_limit(z: np.ndarray, log_alpha: float) -> np.ndarray:
    """Return the noise below which the Hard-Concrete gate is at most z (supplement S5)."""
    tau, zeta, beta = -0.1, 1.1, 2 / 3
    return special.logit((z - tau) / (zeta - tau)) * beta - log_alpha


# P(z' <= z) for 0 <= z < 1, of z and the parameter
DISTRIBUTIONS: dict[str, Callable[[np.ndarray, float], np.ndarray]] = {
    "stg": lambda z, mu: stats.norm.cdf(gaussian_noise_limit(z, mu)),
    "hc": lambda z, log_alpha: special.expit(concrete_noise_limit(z, log_alpha)),
    "hc-gaussian": lambda z, log_alpha: stats.norm.cdf(concrete_noise_limit(z, log_alpha) / LOGISTIC_STD),
}


def parameter_at(gate: Gate, mu: float) -> float:
    """Return the parameter that is as far on its way from closed to open as mu of the Gaussian gate."""
    return gate.start + gate.unit * (mu - GaussianGate.start)


def expected_shares(method: str, parameter: float) -> np.ndarray:
    """Return P(z = 0), that of each bin between 0 and 1, and P(z = 1), by the paper's formulas."""
    return np.diff(np.concatenate([[0.0], DISTRIBUTIONS[method](EDGES, parameter), [1.0]]))


def measured_shares(z: np.ndarray) -> np.ndarray:
    """Return the shares of z = 0, of each bin between 0 and 1, and of z = 1."""
    counts = np.histogram(z[(z > 0) & (z < 1)], EDGES)[0]
    return np.concatenate([[(z == 0).sum()], counts, [(z == 1).sum()]]) / len(z)


def run_cell(
    task: str, method: str, seed: int, *, device: str = "cpu", n_draws: int = N_DRAWS
) -> dict[str, Any]:
    """Draw a gate many times and compare shares with the formulas."""
    gate = METHODS[method]
    parameter = torch.tensor(parameter_at(gate, TASKS[task]), dtype=torch.float64)
    generator = torch.Generator().manual_seed(seed)
    noise = gate.noise(torch.rand(n_draws, dtype=torch.float64, generator=generator).clamp_(min=1e-12))
    z = gate.sample(parameter, noise).numpy()
    expected, measured = expected_shares(method, parameter.item()), measured_shares(z)
    standard_errors = np.sqrt(expected * (1 - expected) / n_draws)
    return {
        "parameter": parameter.item(),
        "open_share": 1 - measured[0],
        "open_formula": 1 - expected[0],
        "open_difference": abs(measured[0] - expected[0]),
        "library_difference": abs(gate.open_probability(parameter).item() - (1 - expected[0])),
        "share_errors": (np.abs(measured - expected) / standard_errors).max(),
        "shares": measured.round(5),
        "z_variance": z.var(),
        "noise_kurtosis": stats.kurtosis(noise.numpy()),
        "noise_far": (noise.abs() > 3 * noise.std()).double().mean().item(),
        "device": "cpu",
    }


def judge_formulas(table: pd.DataFrame, method: str) -> Finding:
    """Judge a gate's formulas: no share may be farther from them than chance allows."""
    numbers = {
        name: float(values_of(table, name, method).max())
        for name in ("open_difference", "share_errors", "library_difference")
    }
    exact = numbers["share_errors"] <= MOST_STANDARD_ERRORS and numbers["library_difference"] < 1e-12
    sentence = (
        "the share of open gates differs from the formula by at most {open_difference:.4f}; of all bins "
    )
    sentence += "of the histogram the farthest is {share_errors:.1f} standard errors away"
    return Finding(verdict=HOLDS if exact else FAILS, paper_settings=sentence, numbers=numbers)


def judge_tails(table: pd.DataFrame) -> Finding:
    """Judge whether the logistic noise has the heavier tail, by kurtosis and by far values."""
    numbers = {
        f"{method}_{name}": mean_of(table, f"noise_{name}", method)
        for method in ("stg", "hc")
        for name in ("kurtosis", "far")
    }
    heavier = numbers["hc_kurtosis"] > numbers["stg_kurtosis"], numbers["hc_far"] > numbers["stg_far"]
    sentence = "excess kurtosis of the noise: HC {hc_kurtosis:.2f}, STG {stg_kurtosis:.2f}; share beyond "
    sentence += "three standard deviations: HC {hc_far:.4f}, STG {stg_far:.4f}"
    return Finding(verdict=verdict_of(*heavier), paper_settings=sentence, numbers=numbers)


def judge_variance(table: pd.DataFrame) -> Finding:
    """Judge whether z varies more with HC than with STG, and more than with Gaussian noise in HC."""
    names = {"hc": "var_hc", "stg": "var_stg", "hc-gaussian": "var_gaussian"}
    numbers = {name: mean_of(table, "z_variance", method, "start") for method, name in names.items()}
    more = numbers["var_hc"] > numbers["var_stg"], numbers["var_hc"] > numbers["var_gaussian"]
    sentence = "variance of z at the start: HC {var_hc:.3f}, STG {var_stg:.3f}, HC with Gaussian noise "
    sentence += "{var_gaussian:.3f}"
    return Finding(verdict=verdict_of(*more), paper_settings=sentence, numbers=numbers)


def make_tables(table: pd.DataFrame, methods: list[str]) -> str:
    """Return measured and computed open probabilities, and what the noise is like."""
    gate = {"open_share": ("P(z > 0)", 4), "open_formula": ("formula", 4), "z_variance": ("variance", 3)}
    noise = {"noise_kurtosis": ("excess kurtosis", 2), "noise_far": ("beyond 3 sd", 4)}
    return f"{mean_table(table, methods, gate)}\n\n{mean_table(table, methods, noise, ['start'])}"


def draw(table: pd.DataFrame) -> Any:
    """Draw the histogram of z under the formula's density, one row per gate and one column per mu."""
    methods = [method for method in METHODS if (table["method"] == method).any()]
    tasks = [task for task in TASKS if (table["task"] == task).any()]
    figure, axes = make_panels(len(tasks), len(methods), width=2.6, height=2.2)
    for row, method in zip(axes, methods, strict=True):
        for axis, task in zip(row, tasks, strict=True):
            rows = table[(table["method"] == method) & (table["task"] == task)]
            if len(rows):
                _draw_gate(axis, method, TASKS[task], np.mean(rows["shares"].tolist(), axis=0))
            axis.set_title(f"{label_of(method)}: {task}", fontsize=9)
    figure.supxlabel("z (its point masses at 0 and 1 are written)", fontsize=9)
    figure.supylabel("density", fontsize=9)
    return figure


def _draw_gate(axis: Any, method: str, mu: float, shares: np.ndarray) -> None:
    z = np.linspace(0, 1, 51)
    axis.stairs(shares[1:-1] / EDGES[1], EDGES, fill=True, color=colour_of(method), alpha=0.5)
    density = np.gradient(DISTRIBUTIONS[method](z, parameter_at(METHODS[method], mu)), z, edge_order=2)
    axis.plot(z, density, color="black", linewidth=1)
    for place, share in ((0.0, shares[0]), (1.0, shares[-1])):
        axis.text(place, 1.1 * density.max(), f"{share:.3f}", ha="center", fontsize=8)
    axis.set(xlim=(-0.2, 1.2), ylim=(0, 1.3 * density.max()))


GATE_SHAPE = Experiment(
    name="gate-shape",
    title="Figure 1: are the gates distributed as the paper's formulas say?",
    tasks=list(TASKS),
    methods=list(METHODS),
    seeds=range(1000, 1010),
    run_cell=run_cell,
    tables=make_tables,
    metrics={"open_share": "P(z > 0) {:.4f}", "open_formula": "formula {:.4f}"},
    quick={"tasks": ["edge", "start"], "seeds": [1000, 1001], "settings": {"n_draws": 50_000}},
    draw=draw,
    paper=Paper(
        where="Figure 1, section 3.1 and supplement S5",
        claims=[
            Claim(
                says="z is a clipped, mean-shifted Gaussian, open with probability Phi(mu / sigma)",
                judge=lambda table: judge_formulas(table, "stg"),
            ),
            Claim(
                says="HC has the distribution of the supplement and is open with probability "
                "sigmoid(log alpha - beta log(-tau / zeta))",
                judge=lambda table: judge_formulas(table, "hc"),
            ),
            Claim(says="HC's noise has the heavier tail", judge=judge_tails),
            Claim(
                says="The heavy tail of its noise causes a high variance of HC's z", judge=judge_variance
            ),
        ],
        settings="sigma = 0.5, mu = 0.5 at the start; HC with beta = 2/3, tau = -0.1, zeta = 1.1 and "
        "log alpha = 0 at the start.",
        ours="200,000 draws; HC's log alpha is 4.8 (mu - 0.5), so that both gates without noise close and "
        "open together. HC with Gaussian noise has noise of the same variance, to tell the tail's part.",
        differs="The paper draws one histogram and prints no numbers.",
    ),
)
