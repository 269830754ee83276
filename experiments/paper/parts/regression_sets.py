"""The regression sets of the supplement: their rows, and the settings that it prints for each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from stochgate import datasets

Rows = tuple[np.ndarray, np.ndarray]


class Parts(NamedTuple):
    """Rows (X, y) to train on, to validate on and to test on."""

    train: Rows
    valid: Rows
    test: Rows


@dataclass(frozen=True)
class Setting:
    """What the supplement prints for a set.

    Attributes
    ----------
    hidden : tuple of int
        Widths of the hidden layers, with ReLU.
    n_epochs : int
    lam, lr : float
        The penalty and the step size.
    n_train : int
        Rows to train on; 1,000 validate and 1,000 test.
    larger_lr : float
        Not from the supplement: the step size where lambda is chosen.
    """

    hidden: tuple[int, ...]
    n_epochs: int
    lam: float
    lr: float
    n_train: int
    larger_lr: float = 0.1


SETTINGS = {
    "SE1": Setting((600, 200, 100, 50), 5, 5.0, 0.0001, 1000),
    "SE2": Setting((600, 300, 150, 60, 20), 2000, 5.0, 0.001, 1000),
    "SE3": Setting((600, 300, 150, 60, 20), 1000, 1.0, 0.005, 1000, larger_lr=0.03),  # 0.1 diverges
    "RCP": Setting((1000, 300, 150, 60, 20), 2000, 5.0, 0.001, 6000),
    "REL": Setting((26, 91, 63), 1600, 0.031, 0.007, 6000),
    "RAI": Setting((10, 177), 1800, 0.019, 0.002, 5000),
}
_DRAWS: dict[str, Callable[..., Any]] = {
    "SE1": datasets.make_se1,
    "SE2": datasets.make_se2,
    "SE3": datasets.make_se3,
}
_TABLES = {"RCP": "rcp_cpu_act", "REL": "elevators", "RAI": "ailerons"}


def draw_parts(name: str, seed: int, n_rows: int | None = None) -> tuple[Parts, np.ndarray | None]:
    """Return the rows of one draw or split of a set, and its relevant features where they are known.

    Parameters
    ----------
    name : str
        A key of `SETTINGS`.
    seed : int
    n_rows : int, optional
        Most rows of a part.

    Examples
    --------
    >>> from experiments.paper.parts.regression_sets import draw_parts
    >>> parts, relevant = draw_parts("SE1", seed=0)
    >>> [len(y) for _, y in parts], relevant.sum()
    ([1000, 1000, 1000], np.int64(5))
    """
    sizes = [min(size, n_rows or size) for size in (SETTINGS[name].n_train, 1000, 1000)]
    n_all = sum(sizes)
    if name in _DRAWS:
        problem = _DRAWS[name](n_all, random_state=seed)
        X, y, relevant = problem.X, problem.y, problem.relevant
        rows = np.arange(n_all)
    else:
        table = datasets.load_real(_TABLES[name])
        X, y, relevant = table.X, table.y, None
        rows = np.random.RandomState(seed).permutation(len(y))[:n_all]
    parts = np.split(rows, np.cumsum(sizes)[:-1])
    return Parts(*((X[part], y[part]) for part in parts)), relevant
