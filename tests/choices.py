"""What the tests of the automatic choice share: a problem and its folds, and candidates."""

from dataclasses import replace

import numpy as np

from stochgate import GatedRegressor, Training
from stochgate.choice.comparison import make_settings
from stochgate.choice.folds import make_folds
from stochgate.choice.path import Cells
from stochgate.choice.rules import list_candidates

FAST = {"training": Training(n_steps=200, n_snapshots=10), "random_state": 0}


def make_setting(X, y, network="linear", training=None, **parameters):
    """Return what the automatic choice trains models with, and its folds."""
    training = training or Training(n_steps=150, n_snapshots=5, dtype="float64")
    model = GatedRegressor(network=network, training=training, random_state=0, **parameters)
    task, _ = model._task(X, y, None, None, ())
    ((setting, _),) = make_settings(task, np.zeros(len(y), dtype=np.int64)).values()
    return setting, make_folds(5, np.zeros(len(y)), seed=0)[:5]  # one round


def make_candidates(losses, opened, stage="refit", network=0):
    """Return candidates of one network: losses of each cell on every fold, and the gates all folds open."""
    losses, opened = np.asarray(losses, dtype=float), np.asarray(opened, dtype=bool)
    n_cells, n_folds = losses.shape
    opened = np.repeat(opened[:, None], n_folds, axis=1)
    cells = Cells(
        stage,
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
