"""XOR of two columns among many (the paper's Fig. xor1 to xor3).

The claims: of all methods only STG, HC and those based on trees rank the two columns first (median rank
1.5), and STG's rank varies least. The check: 1,500 rows of fair coins (-1 and 1), drawn once for each
number of noise columns D (with the seed 1000 + D), and 20 random splits of them: 70 % of the rows test, a
tenth of the others is set aside for validation, the rest trains. All methods have one setting for every D.
The weights of the IFWR are the gates without noise (STG, HC, ours), the sums of the first layer's weights
(DFS, SG-NN), and the importances of the others.

    python -m experiments run xor --device cuda --jobs 12
"""

import math
from typing import Any

import pandas as pd

from experiments.claims import (
    FAILS,
    HOLDS,
    PARTLY,
    UNPUBLISHED,
    Claim,
    Finding,
    Paper,
    mean_of,
    values_of,
    verdict_of,
)
from experiments.experiment import Experiment
from experiments.paper.parts.planted_methods import (
    METHODS,
    PACKAGES,
    TUNING,
    XOR_LR,
    draw_split,
    make_planted_model,
    measure,
)
from experiments.paper.parts.planted_show import METRICS, best_of, draw_against_noise, say, summarise
from experiments.paper.parts.show import mean_table
from stochgate import datasets

N_SAMPLES = 1500
TASKS = {f"D{n}": n for n in (10, 30, 50, 70, 90)}
OPTIMUM = 1.5
COSTLY, COSTLY_TASKS = ("hc", "hc-scaled", "ours"), ("D10", "D50", "D90")
RANKED_FIRST = ("stg", "hc", "forest", "extra-trees", "xgboost")  # the paper says so
NOT_RANKED_FIRST = ("lasso", "svc", "dfs", "sgnn")
CLOSE = 0.1  # ranks: less is next to nothing


def draw_xor(task: str) -> datasets.Problem:
    """Return the one draw of a number of noise columns."""
    return datasets.make_xor(N_SAMPLES, TASKS[task], random_state=1000 + TASKS[task])


def run_cell(
    task: str, method: str, seed: int, *, device: str = "cpu", max_steps: int | None = None
) -> dict[str, Any]:
    """Train one method on one split and return what it found."""
    model = make_planted_model("xor", method, seed=seed, device=device, max_steps=max_steps)
    return measure(model, draw_xor(task), draw_split(N_SAMPLES, seed))


def judge_ranks(table: Any) -> Finding:
    """All that should reach the optimum do, and none of the others: the median over the D that all have."""
    table = table[table["task"].isin(COSTLY_TASKS)]
    ranks = summarise(table, "median_rank", [*RANKED_FIRST, "hc-scaled", *NOT_RANKED_FIRST], "median")
    listed, numbers = say(ranks, ".1f", "rank")
    mine = values_of(table, "median_rank", "ours")
    numbers |= {
        "stg_share": _share(values_of(table, "median_rank", "stg")),
        "ours_rank": float(mine.median()) if len(mine) else math.nan,
        "ours_share": _share(mine),
    }
    return Finding(
        verdict=verdict_of(
            all(ranks[method] <= OPTIMUM for method in RANKED_FIRST),
            not any(ranks[method] <= OPTIMUM for method in NOT_RANKED_FIRST),
        ),
        paper_settings=f"medians: {listed}; STG at the optimum in {{stg_share:.0%}} of the runs",
        defaults="{ours_rank:.1f}; at the optimum in {ours_share:.0%} of the runs",
        numbers=numbers,
    )


def _share(ranks: Any) -> float:
    return float((ranks <= OPTIMUM).mean()) if len(ranks) else math.nan


def judge_spread(table: Any) -> Finding:
    """STG's standard deviation over splits and the D that all have is the smallest, or next to it."""
    table = table[table["task"].isin(COSTLY_TASKS)]
    others = [method for method in (*RANKED_FIRST, *NOT_RANKED_FIRST) if method != "stg"]
    spreads = summarise(table, "median_rank", ["stg", *others], "std")
    least = best_of({method: spreads[method] for method in others}, largest=False)
    excess = spreads["stg"] - least
    listed, numbers = say({method: spreads[method] for method in others}, ".2f", "sd")
    return Finding(
        verdict=HOLDS if excess <= 0 else PARTLY if excess <= CLOSE else FAILS,
        paper_settings=f"standard deviations: STG {{stg:.2f}}; {listed}",
        defaults="{ours:.2f}",
        numbers={
            **numbers,
            "stg": spreads["stg"],
            "ours": summarise(table, "median_rank", ["ours"], "std")["ours"],
        },
    )


def describe_curves(table: Any) -> Finding:
    """Give accuracy and IFWR at the fewest and at the most noise columns; the paper prints none."""
    run = [task for task in TASKS if (table["task"] == task).any()] or list(TASKS)
    numbers = {"fewest": float(TASKS[run[0]]), "most": float(TASKS[run[-1]])}
    for method in ("stg", "hc", "forest", "ours"):
        for place, task in (("few", run[0]), ("many", run[-1])):
            numbers[f"{method}_score_{place}"] = mean_of(table, "test_score", method, task)
            numbers[f"{method}_ifwr_{place}"] = mean_of(table, "ifwr", method, task)

    def of(method: str) -> str:
        return (
            f"accuracy {{{method}_score_few:.2f}} to {{{method}_score_many:.2f}}, "
            f"IFWR {{{method}_ifwr_few:.2f}} to {{{method}_ifwr_many:.2f}}"
        )

    return Finding(
        verdict=UNPUBLISHED,
        paper_settings=f"{{fewest:.0f}} to {{most:.0f}} noise columns: STG {of('stg')}; HC {of('hc')}; "
        f"random forest {of('forest')}",
        defaults=of("ours"),
        numbers=numbers,
    )


def make_tables(table: pd.DataFrame, methods: list[str]) -> str:
    """Return accuracy, IFWR, ranks and selected features of each method."""
    columns = {"test_score": ("accuracy", 3), "ifwr": ("IFWR", 2), "median_rank": ("rank", 1)}
    columns |= {"n_selected": ("features", 1)}
    return "\n\n".join(mean_table(table, methods, {name: shown}) for name, shown in columns.items())


def draw(table: pd.DataFrame) -> Any:
    """Draw accuracy and IFWR against the noise columns, and the ranks."""
    return draw_against_noise(table, METHODS, TASKS, {"test_score": "accuracy", "ifwr": "IFWR"})


XOR = Experiment(
    name="xor",
    title="XOR of 2 columns among up to 92: are the two ranked first?",
    tasks=list(TASKS),
    methods=METHODS,
    seeds=range(1000, 1020),
    run_cell=run_cell,
    tables=make_tables,
    metrics=METRICS,
    can_do=lambda task, method: method not in COSTLY or task in COSTLY_TASKS,
    quick={"tasks": ["D10"], "seeds": [1000, 1001], "settings": {"max_steps": 120}},
    packages=PACKAGES,
    draw=draw,
    paper=Paper(
        where="Fig. xor1 to xor3",
        claims=[
            Claim(
                says="Only STG, HC and the methods based on trees rank both columns first.",
                published="median rank 1.5",
                judge=judge_ranks,
            ),
            Claim(says="STG's rank varies least.", judge=judge_spread),
            Claim(says="Accuracy and IFWR as noise columns are added.", judge=describe_curves),
        ],
        settings="STG and HC [476, 490, 14] tanh, lambda 0.17 (mean), 20,000 epochs; DFS [100, 10] tanh, "
        "14,000 epochs, lambda 3.3e-5; SG-NN [100, 10, 5] tanh, 800 epochs, lambda 3e-5; SGD, all rows "
        "in each step. The others have one setting for all D, chosen on other draws; trees are trained "
        "again on the columns above their threshold.",
        ours=f"the numbers of noise columns; the learning rate {XOR_LR:g} of STG and HC (those of DFS and "
        "SG-NN are tuned on other draws); the step of HC. STG and HC are ranked by their open "
        "probabilities.",
        differs=f"{TUNING} HC and our defaults have three of the five D, on which methods are compared; "
        "coins are coded -1 and 1; one draw of rows for each D, 20 splits of it. Our defaults learn from "
        "the training rows alone and choose their penalty among them.",
    ),
)
