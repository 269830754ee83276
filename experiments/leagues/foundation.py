"""Ours on the published folds of a foundation model that sees every column (TabPFN-Wide), fold by fold.

A seed is a fold of 3 x 10 (3 x 3 of madelon), made again as published: rows shuffled once, stratified.
`ours` chooses its columns, `ours-k20` takes exactly 20.

    STOCHGATE_DATA=... python -m experiments run foundation --device cuda
"""

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import shuffle

from experiments.experiment import Experiment
from experiments.leagues.cohorts import find_data, read_published
from experiments.leagues.real import SILENCED, make_real_model
from experiments.study import fit_and_score, to_markdown

TASKS = ["allaml", "prostate_ge", "tox171", "basehock", "pcmac", "relathe", "madelon"]


def load_fold(name: str, fold: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return X and y to learn from, and X and y to predict."""
    path = find_data(f"{name}.npz")
    with np.load(path) as data:
        y = LabelEncoder().fit_transform(data["y"])
        X = data["X"] if "X" in data else sparse.load_npz(path).toarray()
    X, y = shuffle(X.astype(np.float64), y, random_state=42)
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=10 if len(y) < 2500 else 3, random_state=42)
    train, test = list(folds.split(X, y))[fold]
    return X[train], y[train], X[test], y[test]


def run_cell(task: str, method: str, seed: int, *, device: str = "cpu") -> dict[str, Any]:
    """Return accuracy, AUC and number of columns on one published fold."""
    X, y, X_test, y_test = load_fold(task, seed)
    model = make_real_model(method, "classification", X.shape[1], seed, device)
    found = fit_and_score(model, (X, y), (X_test, y_test), *SILENCED)
    chance = model.predict_proba(X_test)
    chance = chance[:, 1] if chance.shape[1] == 2 else chance
    auc = float(roc_auc_score(y_test, chance, multi_class="ovr"))
    return {
        **found,
        "score": found["test_score"],
        "auc": auc,
        "n_features": X.shape[1],
        "p": model.p_value_,
    }


def make_tables(table: pd.DataFrame, methods: list[str]) -> str:
    """Return mean accuracy on the folds that were run, beside the published ones of the same folds."""
    published = read_published("tabpfn_wide_published.csv", ["table", "model", "fold", "accuracy"])
    rows = {}
    for task, own in table.groupby("task", sort=False):
        row: dict[str, Any] = {"folds": own["seed"].nunique()}
        for method, cells in own.groupby("method", sort=False):
            row[method] = f"{cells['score'].mean():.3f}"
            row[f"{method}, columns"] = f"{cells['n_selected'].median():g} of {cells['n_features'].iloc[0]}"
        same = published[(published["table"] == task) & published["fold"].isin(own["seed"])]
        for name, cells in same.groupby("model"):
            row[str(name)] = f"{cells['accuracy'].mean():.3f}"
        rows[task] = row
    text = to_markdown(pd.DataFrame.from_dict(rows, orient="index").fillna("").rename_axis("table"))
    return f"Accuracy, mean over the same folds\n\n{text}"


FOUNDATION = Experiment(
    name="foundation",
    title="How far is a panel of few columns from a foundation model that sees them all?",
    tasks=TASKS,
    methods=["ours", "ours-k20"],
    seeds=range(3),
    run_cell=run_cell,
    tables=make_tables,
    metrics={
        "score": "accuracy {:.3f}",
        "auc": "AUC {:.3f}",
        "n_selected": "{} selected",
        "seconds": "{:.1f} s",
    },
)
