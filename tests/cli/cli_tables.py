"""Small tables for the command line, and short trainings on them."""

from typing import Any

import numpy as np
import pandas as pd

from stochgate import Training

SHORT: dict[str, Any] = {"training": Training(n_steps=30, n_snapshots=5), "network": "linear", "cv": 2}
TARGETS = ("kind", "amount", "months", "died", "patient")


def make_frame(n_rows=60, n_columns=4, seed=0):
    """Return numbers, and a class, a quantity, a time and an event that follow the first of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(n_columns)]).round(3)
    frame["kind"] = np.where(X[:, 0] + 0.3 * rng.normal(size=n_rows) > 0, "up", "down")
    frame["amount"] = (2 * X[:, 1] + 0.1 * rng.normal(size=n_rows)).round(3)
    frame["months"] = rng.exponential(np.exp(-2 * X[:, 0])).round(3) + 0.001
    frame["died"] = rng.integers(0, 4, n_rows).clip(max=1)
    frame["patient"] = [f"{i // 3}_{i % 3}" for i in range(n_rows)]
    return frame


def predict(*targets):
    """Return the options that predict the targets from the numbers of `make_frame` alone."""
    names = ("--time", "--event") if len(targets) == 2 else ("--target",)
    chosen = [part for pair in zip(names, targets, strict=True) for part in pair]
    return *chosen, "--exclude", ",".join(name for name in TARGETS if name not in targets)
