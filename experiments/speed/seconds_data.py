"""The data of the table of seconds: what is fitted, and how the fitted model is judged."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits

from experiments.demo import split_demo
from experiments.leagues.selection import TASKS
from experiments.leagues.splits import split_table
from stochgate.datasets import load_real

N_TEST = 2000


@dataclass(frozen=True)
class Data:
    """Rows to fit, and a judge.

    Attributes
    ----------
    kind : {"classification", "regression"}
    X, y : what a model is fitted on
    judge : callable
        Returns the test score of a fitted model.
    source : str
        What the data are, for the record.
    """

    kind: str
    X: Any
    y: Any
    judge: Callable[[Any], float]
    source: str


def draw_rows(n_samples: int, n_features: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return normal columns and a label from x0 x1 + x2 + |x3| / 2 with noise; half of them are 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    signal = X[:, 0] * X[:, 1] + X[:, 2] + np.abs(X[:, 3]) / 2
    return X, (signal + 0.5 * rng.normal(size=n_samples) > 0.35).astype(np.int64)


def draw_plain(n_samples: int, n_features: int, seed: int, source: str = "synthetic") -> Data:
    """Return drawn rows, judged on 2,000 others, which are drawn only then."""
    X, y = draw_rows(n_samples, n_features, 2 * seed)
    return Data("classification", X, y, partial(_judge_drawn, n_features, 2 * seed + 1), source)


def _judge_drawn(n_features: int, seed: int, model: Any) -> float:
    return float(model.score(*draw_rows(N_TEST, n_features, seed)))


def draw_planted(task: str, seed: int) -> Data:
    """Return a problem of the selection league."""
    problem, n = TASKS[task].draw(1000 + seed), TASKS[task].n_train
    return _split(TASKS[task].kind, problem.X, problem.y, n, f"{task} of the league")


def load_demo(seed: int) -> Data:
    """Return the demo's split."""
    X, X_test, y, y_test = split_demo(seed)
    return Data(
        "classification", X, y, lambda model: float(model.score(X_test, y_test)), "examples/demo.py"
    )


def load_some_digits(seed: int) -> Data:
    """Return 1,000 of scikit-learn's digits, judged on the others."""
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    return _split("classification", X[order], y[order], 1000, "digits of scikit-learn")


def load_allaml(seed: int) -> Data:
    """Return all 72 patients; the judge fits once more, on a split of the real league, and tests there."""
    try:
        table = load_real("allaml")
    except FileNotFoundError:
        return draw_plain(72, 7129, seed, "synthetic stand-in: no allaml in STOCHGATE_DATA")
    train, test = split_table(table, seed)
    judge = lambda model: float(clone(model).fit(train.X, train.y).score(test.X, test.y))  # noqa: E731
    return Data(
        "classification", table.X, table.y, judge, f"allaml; score on split {seed} of the real league"
    )


def _split(kind: str, X: np.ndarray, y: np.ndarray, n_train: int, source: str) -> Data:
    """Return the first rows, judged on the others."""
    judge = lambda model: float(model.score(X[n_train:], y[n_train:]))  # noqa: E731
    return Data(kind, X[:n_train], y[:n_train], judge, source)
