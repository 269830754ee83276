"""The selection league: ours at its defaults against what users would reach for otherwise."""

from functools import partial

from experiments.leagues.planted import Task, planted_league
from stochgate import datasets

TASKS = {
    "xor10": Task("classification", 405, partial(datasets.make_xor, n_noise=10)),
    "xor50": Task("classification", 405, partial(datasets.make_xor, n_noise=50)),
    "xor200": Task("classification", 405, partial(datasets.make_xor, n_noise=200)),
    "moons50": Task("classification", 270, partial(datasets.make_two_moons, n_noise=50)),
    "ring": Task("classification", 1000, datasets.make_ring),
    "ringxor": Task("classification", 1000, partial(datasets.make_ring, xor=True)),
    "friedman": Task("regression", 450, datasets.make_friedman),
    "madelon": Task("classification", 450, datasets.make_madelon),
    "se2": Task("regression", 1000, datasets.make_se2),
    "lin60": Task("regression", 60, datasets.make_linear),
    "lin120": Task("regression", 120, datasets.make_linear),
    "cox": Task("survival", 500, datasets.make_cox),
    # not in the mean: redundant columns, a signal nobody finds at this size, and none at all
    "cmadelon": Task(
        "classification", 1500, partial(datasets.make_madelon, n_noise=480, n_redundant=15), signal=False
    ),
    "se1": Task("regression", 1000, datasets.make_se1, signal=False),
    "noise_c": Task(
        "classification", 300, partial(datasets.make_noise, kind="classification"), signal=False
    ),
    "noise_r": Task("regression", 300, partial(datasets.make_noise, kind="regression"), signal=False),
    "noise_s": Task("survival", 300, partial(datasets.make_noise, kind="survival"), signal=False),
}

LEAGUE = planted_league(
    name="league",
    title="Which method finds the features that matter, and predicts from them?",
    tasks=TASKS,
    methods=["ours", "stg", "lassonet", "lasso", "forest", "xgboost", "boruta"],
    more_methods=("ours-tf32",),
    seeds=range(1000, 1020),
    quick={
        "tasks": ["xor50", "moons50", "lin60", "lin120", "cox"],
        "methods": ["ours", "lasso", "forest"],
        "seeds": [1000],
    },
)
