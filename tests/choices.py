"""What the tests of the automatic choice share: a problem and its folds, and candidates."""

from dataclasses import replace

import numpy as np

from stochgate import GatedRegressor, Training
from stochgate.choice.folds import make_folds
from stochgate.choice.rules import list_candidates
from stochgate.choice.sets.cells import Cells

FAST = {"training": Training(n_steps=200, n_snapshots=10), "random_state": 0}


def read_problem(estimator, X, y, sample_weight=None):
    """Return the problem that an estimator makes of parameters and data, as its first network sees it."""
    problem, _ = estimator._make_problem(X, y, sample_weight, None)
    return replace(problem, seed=problem.draw_seed())


def problem_and_folds(X, y, network="linear", training=None, **parameters):
    """Return a regression and five folds of its rows."""
    training = training or Training(n_steps=150, n_snapshots=5, dtype="float64")
    model = GatedRegressor(network=network, training=training, random_state=0, **parameters)
    return read_problem(model, X, y), make_folds(5, np.zeros(len(y)), seed=0)[:5]  # one round


def make_candidates(losses, opened, stage="refit", network=0):
    """Return candidates of one network: losses of each cell on every fold, and the gates all folds open."""
    losses, opened = np.asarray(losses, dtype=float), np.asarray(opened, dtype=bool)
    n_cells, n_folds = losses.shape
    opened = np.repeat(opened[:, None], n_folds, axis=1)
    cells = Cells(
        stage=stage,
        lams=np.arange(n_cells, dtype=float),
        losses=losses,
        train=losses,
        by_block=np.repeat(losses[:, :, None], 2, axis=2),
        step=np.ones(n_cells, dtype=int),
        shrink=np.ones(n_cells),
        opened=opened,
        settled=opened,
        support=opened[:, 0],
        probability=opened.mean(axis=1),
    )
    return [replace(c, network=network) for c in list_candidates([[cells]])]


EMPTY = np.array([1.0, 1.1, 0.9, 1.0, 1.05])
GOOD = np.array([0.10, 0.12, 0.09, 0.11, 0.10])
MANY, FEW = [1, 1, 1], [1, 0, 0]
