"""The survival league: 500 rows and 200 columns with exponential times.

Linear: 10 coefficients +-0.7, 30 % or 70 % censored. Nonlinear: the log hazard 2 x1 x2 + x3^2 - 1 + |x4|,
50 % censored. The test score is Harrell's C.
"""

from functools import partial

from experiments.leagues.planted import Task, planted_league
from stochgate import datasets

TASKS = {
    "linear30": Task("survival", 500, partial(datasets.make_cox, censored=0.3)),
    "linear70": Task("survival", 500, partial(datasets.make_cox, censored=0.7)),
    "nonlinear50": Task("survival", 500, partial(datasets.make_cox_nonlinear, censored=0.5)),
}

SURVIVAL_LEAGUE = planted_league(
    name="survival-league",
    title="Which method finds the features of a Cox model, and orders the risks of new rows?",
    tasks=TASKS,
    methods=["ours", "lasso", "lassonet", "forest"],
    more_methods=("ours-tf32",),
    seeds=range(1000, 1020),
)
