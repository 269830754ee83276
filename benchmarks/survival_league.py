"""The survival league: which method finds the features of a Cox model, and orders the risks of new rows.

500 rows and 200 columns; exponential times. Linear: 10 coefficients +-0.7, 30 % or 70 % censored.
Nonlinear: the log hazard 2 x1 x2 + x3^2 - 1 + |x4|, 50 % censored. The test score is Harrell's C on 2,000
further rows of the same problem.

    python benchmarks/survival_league.py --seeds 1000:1020 --jobs 2
    python benchmarks/survival_league.py --methods ours --device cuda
    python benchmarks/survival_league.py --table
"""

from functools import partial

from league import RESULTS, Task, run_league

from stochgate import datasets

METHODS = ["ours", "lasso", "lassonet", "forest"]
TASKS = {
    "linear30": Task("survival", 500, partial(datasets.make_cox, censored=0.3)),
    "linear70": Task("survival", 500, partial(datasets.make_cox, censored=0.7)),
    "nonlinear50": Task("survival", 500, partial(datasets.make_cox_nonlinear, censored=0.5)),
}


if __name__ == "__main__":
    run_league(__doc__.splitlines()[0], TASKS, METHODS, RESULTS / "survival_league.jsonl")
