"""What is found only by looking first: columns that tell nothing alone, and copies of a column.

python -m experiments run look-first --jobs 2
python -m experiments run look-first --tasks xor20000 --device cuda
"""

from functools import partial

import numpy as np

from experiments.leagues.planted import Task, planted_league
from stochgate.datasets import Problem, make_xor


def make_product(n_samples: int, n_features: int = 2000, *, random_state: int) -> Problem:
    """Return y = x1 x2 + noise of variance 0.25, among standard normal columns."""
    rng = np.random.RandomState(random_state)
    X = rng.normal(size=(n_samples, n_features))
    y = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=n_samples)
    return Problem(X, y, np.arange(n_features) < 2)


def make_copies(n_samples: int, n_features: int = 200, *, random_state: int) -> Problem:
    """Return y of six columns, each of which is there twice; the first of each pair counts as relevant."""
    rng = np.random.RandomState(random_state)
    X = rng.normal(size=(n_samples, n_features))
    X[:, -20:] = X[:, :20]
    y = X[:, :6] @ [1, -1, 1, -1, 1, -1] + rng.normal(size=n_samples) > 0
    return Problem(X, y.astype(int), np.arange(n_features) < 6)


TASKS = {
    "xor2000": Task("classification", 1500, partial(make_xor, n_noise=1998)),
    "product2000": Task("regression", 1500, make_product),
    "copies": Task("classification", 300, make_copies),
    "xor20000": Task("classification", 1500, partial(make_xor, n_noise=19_998)),
}

LOOK_FIRST = planted_league(
    name="look-first",
    title="Are columns found that tell only together, and copies of a column only once?",
    tasks=TASKS,
    methods=["ours"],
    seeds=range(1000, 1010),
    default_tasks=["xor2000", "product2000", "copies"],  # the other needs a GPU
)
