"""The bundled example: tumours of the breast, 30 measurements, and 100 columns of noise to keep out."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

N_NOISE, TARGET = 100, "diagnosis"
TRAIN, TEST = "tumours.csv", "tumours-test.csv"


@dataclass(frozen=True)
class DemoResult:
    """How the chosen columns do on rows that took no part.

    Attributes
    ----------
    n_chosen, n_columns, n_noise : int
        How many columns were chosen, of how many, and how many of them are noise.
    n_test : int
    model, forest : float
        Accuracy on the test rows, of the model and of a random forest on all columns.
    """

    n_chosen: int
    n_columns: int
    n_noise: int
    n_test: int
    model: float
    forest: float


def split_tumours() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return 70 % of the tumours to learn from, and the others.

    Examples
    --------
    >>> from stochgate.cli.work.demo import split_tumours
    >>> [frame.shape for frame in split_tumours()]
    [(398, 131), (171, 131)]
    """
    data = load_breast_cancer()
    noise = np.random.default_rng(0).normal(size=(len(data.data), N_NOISE))
    columns = [*data.feature_names.tolist(), *(f"noise {j}" for j in range(N_NOISE))]
    frame = pd.DataFrame(np.hstack([data.data, noise]), columns=columns)
    kinds = data.target_names[data.target]
    frame[TARGET] = kinds
    train, test = train_test_split(frame, test_size=0.3, random_state=0, stratify=kinds)
    return train.reset_index(drop=True), test.reset_index(drop=True)


def write_tumours(folder: Path) -> Path:
    """Write the rows to learn from and the others; return the path of the former."""
    for frame, name in zip(split_tumours(), (TRAIN, TEST), strict=True):
        frame.to_csv(folder / name, index=False)
    return folder / TRAIN


def judge_demo(model: Any, folder: Path) -> DemoResult:
    """Compare a model with a random forest on all columns, both on the rows left out."""
    (X, y), (X_test, y_test) = (_split_target(pd.read_csv(folder / name)) for name in (TRAIN, TEST))
    forest = RandomForestClassifier(500, random_state=0).fit(X, y)
    chosen = X.columns[model.get_support()]
    return DemoResult(
        n_chosen=len(chosen),
        n_columns=X.shape[1],
        n_noise=sum(name.startswith("noise ") for name in chosen),
        n_test=len(y_test),
        model=float(model.score(X_test, y_test)),
        forest=float(forest.score(X_test, y_test)),
    )


def _split_target(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series]:
    return frame.drop(columns=TARGET), frame[TARGET]
