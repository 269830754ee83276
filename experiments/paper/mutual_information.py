"""Proposition 1 of the paper and its supplement S1, S2: gates as a search for the most informative columns.

The claims: under two assumptions (there is a set S* of k columns, each of which tells something of Y that
all the others do not, and the rest tell nothing more), the k columns of highest mutual information are
found as well by a search over the probabilities of Bernoulli gates S, whose sum is at most k; the mutual
information of the gated columns is the mean over the gates, I(X S; Y) = sum_s p(s) I(X s; Y) (S1); and no
model has a lower expected -log P(Y | X S) than the true distribution (S2). The check: random joint
distributions of 3 or 4 columns, of 2 or 3 values each, and Y; all quantities by enumeration, in nats; the
probabilities on a grid and by constrained optimisation from several starts.

A closed gate makes a column 0. Where 0 is not a value of the columns ("without-0"), the product tells which
gates are open; where it is ("with-0"), it does not, and I(X S; Y) can only be smaller than the mean. The
method "small-k" asks for one column less than S* has, which breaks the assumptions.

    python -m experiments run mutual-information
"""

from typing import Any

import numpy as np
import pandas as pd

from experiments.claims import Claim, Finding, Paper, values_of, verdict_of
from experiments.experiment import Experiment
from experiments.paper.parts.gated_joint import (
    best_probabilities,
    draw_joint,
    excess_of_models,
    information,
)
from experiments.paper.parts.show import make_panels, mean_table

# the number of columns, and the first of their values
TASKS = {"3-without-0": (3, 1), "3-with-0": (3, 0), "4-without-0": (4, 1), "4-with-0": (4, 0)}
METHODS = ["right-k", "small-k"]
COLOURS = {"without-0": "#1b9e77", "with-0": "#d95f02"}
EXACT = 1e-9  # nats: what rounding may do
N_STARTS, N_PROBABILITIES, N_MODELS = 6, 50, 20


def run_cell(task: str, method: str, seed: int, *, device: str = "cpu") -> dict[str, Any]:
    """Draw one joint distribution and compute both sides of each claim."""
    rng = np.random.default_rng(seed)
    is_small = int(method == "small-k")
    joint = draw_joint(*TASKS[task], 1 + is_small, rng)
    k = int(joint.relevant.sum()) - is_small
    subsets = joint.gates[joint.gates.sum(1) == k]
    best = max(joint.given(s) for s in subsets)
    candidates, values = best_probabilities(joint, k, N_STARTS, rng)
    pi = rng.uniform(size=(N_PROBABILITIES, len(joint.relevant)))
    mean, mixed = joint.chances(pi) @ information(joint.p), information(joint.mixtures(pi))
    excess = excess_of_models(joint.mixtures(pi), N_MODELS, rng)
    return {
        "k": k,
        "information": best,
        "gap": values.max() - best,
        "is_star": float(np.abs(candidates[values.argmax()] - joint.relevant).max() < 1e-3),
        "reached": (values[1:] > values.max() - 1e-6).mean(),
        "assumption_1": joint.least_unique(),
        "assumption_2": joint.given(np.ones(len(joint.relevant))) - joint.given(joint.relevant),
        "expansion_low": (mean - mixed).min(),
        "expansion_high": (mean - mixed).max(),
        "expansion_share": ((mean - mixed) / mean).mean(),
        "pairs": np.column_stack([mean, mixed])[:4].round(5),
        "bound_share": (excess >= -1e-12).mean(),
        "bound_least": excess.min(),
        "device": "cpu",
    }


def judge_optimum(table: pd.DataFrame) -> Finding:
    """Judge Proposition 1 where 0 is no value and where it is: no gap, and the optimum is S*."""
    right = table[table["method"] == "right-k"]
    numbers = {
        "joints": float(len(right)) if "gap" in right else np.nan,
        "gap": values_of(table, "gap", "right-k").max(),
        "star": values_of(table, "is_star", "right-k").mean(),
        "higher": (values_of(table, "gap", "small-k") > EXACT).mean(),
    }
    parts = []
    for tasks in task_kinds().values():
        rows = right[right["task"].isin(tasks)]
        if len(rows) and "gap" in rows:
            parts.append(bool((rows["gap"] <= EXACT).all() and (rows["is_star"] == 1).all()))
    sentence = (
        "in {joints:.0f} joints the optimum exceeds the best subset by at most {gap:.6f} nats and is "
    )
    sentence += (
        "S* in a share of {star:.2f}, whether or not zero is a value; with k one too small it exceeds "
    )
    sentence += "the best subset in a share of {higher:.2f}"
    return Finding(verdict=verdict_of(*parts), paper_settings=sentence, numbers=numbers)


def judge_expansion(table: pd.DataFrame) -> Finding:
    """Judge the equation of S1 where 0 is no value of the columns and where it is."""
    numbers: dict[str, float] = {}
    for kind, tasks in task_kinds().items():
        rows = table[table["task"].isin(tasks)]
        name = kind.removesuffix("-0")
        for value, summary in (("low", "min"), ("high", "max"), ("share", "mean")):
            column = f"expansion_{value}"
            numbers[f"{name}_{value}"] = rows[column].agg(summary) if column in rows else np.nan
    exact = [
        max(abs(numbers[f"{kind}_low"]), numbers[f"{kind}_high"]) <= EXACT for kind in ("without", "with")
    ]
    sentence = (
        "the mean minus I(X S; Y): at most {without_high:.6f} nats where zero is no value of X; where "
    )
    sentence += "it is, {with_low:.4f} to {with_high:.4f} nats, {with_share:.2f} of the mean on average"
    return Finding(verdict=verdict_of(*exact), paper_settings=sentence, numbers=numbers)


def judge_bound(table: pd.DataFrame) -> Finding:
    """Judge the bound of S2: it must hold for every model."""
    found = {
        name: table[name].dropna() if name in table else pd.Series(dtype=float)
        for name in ("bound_share", "bound_least")
    }
    numbers = {"share": found["bound_share"].mean(), "least": found["bound_least"].min()}
    sentence = "holds for a share of {share:.3f} of the models; the least difference is {least:.6f} nats"
    return Finding(verdict=verdict_of(numbers["share"] == 1), paper_settings=sentence, numbers=numbers)


def task_kinds() -> dict[str, list[str]]:
    """Return the tasks without and with 0 among the values."""
    return {kind: [task for task in TASKS if task.endswith(f"-{kind}")] for kind in COLOURS}


def make_tables(table: pd.DataFrame, methods: list[str]) -> str:
    """Return gaps, where the optimum lies, and both sides of the expansion."""
    shown = {
        "information": ("I of the best subset", 3),
        "gap": ("gap", 4),
        "is_star": ("optimum is S*", 2),
        "reached": ("starts that reach it", 2),
        "expansion_share": ("mean - I, share", 3),
    }
    return mean_table(table, methods, shown)


def draw(table: pd.DataFrame) -> Any:
    """Draw I(X S; Y) against the mean over the gates, and how far the optimum exceeds the best subset."""
    figure, axes = make_panels(2)
    for kind, tasks in task_kinds().items():
        rows = table[table["task"].isin(tasks)]
        pairs = [pair for found in rows["pairs"].dropna() for pair in found]
        if pairs:
            axes[0, 0].plot(*np.transpose(pairs), ".", markersize=3, color=COLOURS[kind], label=kind)
        for j, method in enumerate(METHODS):
            gaps = np.sort(rows.loc[rows["method"] == method, "gap"].dropna())
            style = {"color": COLOURS[kind], "linestyle": "-:"[j]}
            axes[0, 1].plot(np.linspace(0, 1, len(gaps)), gaps, label=f"{method}, {kind}", **style)
    for lines in axes[0, 0].lines:
        lines.set_rasterized(True)
    top = axes[0, 0].get_xlim()[1]
    axes[0, 0].plot([0, top], [0, top], color="black", linewidth=0.5)
    axes[0, 0].set(xlabel="mean over the gates (nats)", ylabel="I(X S; Y)", title="expansion (S1)")
    axes[0, 1].set(xlabel="share of the joints", ylabel="optimum minus best subset", title="Proposition 1")
    for axis in axes[0]:
        axis.legend(fontsize=7)
    return figure


MUTUAL_INFORMATION = Experiment(
    name="mutual-information",
    title="Proposition 1: is the best set of Bernoulli gates the set with the highest mutual information?",
    tasks=list(TASKS),
    methods=METHODS,
    seeds=range(1000, 1050),
    run_cell=run_cell,
    tables=make_tables,
    metrics={"gap": "gap {:.6f}", "expansion_high": "mean - I up to {:.4f}"},
    quick={"seeds": list(range(1000, 1005))},
    draw=draw,
    paper=Paper(
        where="Proposition 1, supplement S1 and S2",
        claims=[
            Claim(
                says="The best k columns by mutual information are those of the best Bernoulli gates whose "
                "probabilities sum to at most k",
                judge=judge_optimum,
            ),
            Claim(
                says="I(X S; Y) is the mean of I(X s; Y) over the gates s",
                published="an equation",
                judge=judge_expansion,
            ),
            Claim(
                says="No model has a lower expected -log P(Y given X S) than the true distribution",
                published="an inequality",
                judge=judge_bound,
            ),
        ],
        settings="Both assumptions hold for every joint distribution, the first by at least 0.001 nats; "
        "with k one too small they do not.",
        ours="50 joint distributions for each of 3 and 4 columns, with and without 0 among their values; Y "
        "has two values; probabilities on a grid with steps of 1/8 and from 6 random starts (SLSQP); 50 "
        "random vectors of probabilities and 20 random models each for the equation and the bound.",
        differs="The paper proves this and measures nothing. S1's equation needs gates that can be read "
        "off the product; where 0 is a value of X the mean is an upper bound, which suffices for the "
        "proposition.",
    ),
)
