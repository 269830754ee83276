"""Cohorts of few rows and thousands of columns: defaults, exactly k, and peers, on five stratified folds.

The seed is the fold. `ours` and `svm-rfe` choose their own number of columns; `ours-k` and the orders of
peers give exactly 5, 10, 20 and 50, which a forest, a linear and an RBF SVM judge.

    STOCHGATE_DATA=... python -m experiments run cohorts --tasks tuning --jobs 2
"""

import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from experiments.baselines.orders import ORDERS, SIZES, choose_size, judge, learners
from experiments.experiment import Experiment
from experiments.leagues.real import SILENCED
from experiments.methods import make_model
from experiments.study import fit_and_score, to_markdown
from stochgate.datasets.files import data_folders

TUNING = ["alon", "gravier", "khan", "allaml", "tox171", "yale", "prostate_ge", "lymphoma", "warppie10p"]
FINAL = ["christensen", "sorlie", "su"]
ALL_COLUMNS = ["all-linear", "all-forest"]
EXACT = ["ours-k", *(f"{name}-k" for name in ORDERS)]
METHODS = ["ours", "svm-rfe", "lasso", *ALL_COLUMNS, *EXACT]


def find_data(name: str) -> Path:
    """Return the path of a file of data."""
    for folder in data_folders():
        if (folder / name).exists():
            return folder / name
    raise FileNotFoundError(f"There is no {name} in STOCHGATE_DATA.")


def read_published(name: str, columns: list[str]) -> pd.DataFrame:
    """Return what others published, no rows where the file is not there: tables are then ours alone."""
    try:
        return pd.read_csv(find_data(name))
    except FileNotFoundError:
        return pd.DataFrame(columns=columns)


def load_cohort(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return X, and y as numbers from 0 on."""
    with np.load(find_data(f"{name}.npz")) as data:
        return data["X"].astype(np.float64), np.unique(data["y"], return_inverse=True)[1]


def run_cell(task: str, method: str, seed: int, *, device: str = "cpu") -> dict[str, Any]:
    """Return one method's accuracy on one fold, its number of columns, or what its first k are worth."""
    X, y = load_cohort(task)
    y = np.where(np.bincount(y)[y] < 5, -1, y)  # classes too small for five folds are one
    y = np.unique(y, return_inverse=True)[1]
    train, test = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))[seed]
    base = float((y[test] == np.bincount(y[train]).argmax()).mean())
    sizes = {"n_train": len(train), "n_test": len(test), "n_features": X.shape[1], "base": base}
    start = time.perf_counter()
    rows = X[train], y[train], X[test], y[test]
    found = (_exact if method in EXACT else _free)(method, *rows, seed, device)
    return {"seconds": time.perf_counter() - start, **found, **sizes}


def _free(
    method: str,
    X: np.ndarray,
    y: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    seed: int,
    device: str,
) -> dict[str, Any]:
    if method == "svm-rfe":
        k, learner = choose_size(ORDERS[method], X, y, seed)
        columns = ORDERS[method](StandardScaler().fit_transform(X), y, seed)[:k]
        model = learners(seed)[learner].fit(X[:, columns], y)
        return {
            "score": float(model.score(X_test[:, columns], y_test)),
            "n_selected": k,
            "learner": learner,
        }
    settings = {"solver": "liblinear"} if method == "lasso" else {}
    model = make_model(method, "classification", seed=seed, device=device, **settings)
    found = fit_and_score(model, (X, y), (X_test, y_test), *SILENCED)
    found["score"] = found.pop("test_score")
    if method == "ours":
        found |= {"p": model.p_value_, "selected": model.get_support(indices=True).tolist()}
        if found["n_selected"]:  # a set is worth what others make of it, too
            columns = model.get_support(indices=True)
            found["judged"] = judge(X[:, columns], y, X_test[:, columns], y_test, seed)
    return found


def _exact(
    method: str,
    X: np.ndarray,
    y: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    seed: int,
    device: str,
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    order = None
    if method != "ours-k":
        order = ORDERS[method.removesuffix("-k")](StandardScaler().fit_transform(X), y, seed)
    for k in SIZES:
        if order is None:
            model = make_model("ours", "classification", seed=seed, device=device, n_features_to_select=k)
            own = fit_and_score(model, (X, y), (X_test, y_test), *SILENCED)
            columns = model.get_support(indices=True)
            found |= {f"own{k}": own["test_score"], f"network{k}": model.network_}
        else:
            columns = order[:k]
        judged = judge(X[:, columns], y, X_test[:, columns], y_test, seed)
        found |= {f"judged{k}": float(np.mean(list(judged.values())))}
    return found


def make_tables(table: pd.DataFrame, methods: list[str], *, groups: dict[str, list[str]]) -> str:
    """Return accuracy and sizes of what chooses its number, and what exactly k columns are worth."""
    parts = []
    for role, names in groups.items():
        there = table[table["task"].isin(names)]
        free = [m for m in methods if m not in EXACT and m in set(there["method"])]
        rows = {}
        for method in free:
            own = there[there["method"] == method].set_index(["task", "seed"])
            size = own["n_selected"].dropna()
            rows[method] = {
                "cells": len(own),
                "accuracy": f"{own['score'].mean():.3f}",
                "columns (median)": "all" if method in ALL_COLUMNS else f"{size.median():g}",
                "over 200": "" if method in ALL_COLUMNS else int((size > 200).sum()),
                "nothing": "" if method in ALL_COLUMNS else int((size == 0).sum()),
                "seconds": f"{own['seconds'].mean():.1f}",
            }
        if rows:
            text = to_markdown(pd.DataFrame.from_dict(rows, orient="index").rename_axis("method"))
            parts.append(f"### {role.capitalize()} cohorts\n\n{text}")
            scores = there[there["method"].isin(free)].pivot_table(
                index="task", columns="method", values="score", sort=False
            )
            parts.append(to_markdown(scores[free].map("{:.3f}".format)))
        rows = {}
        exact = there[there["method"].isin(EXACT)].set_index(["task", "seed"])
        of_each = {m: exact[exact["method"] == m] for m in methods if m in set(exact["method"])}
        shared = [
            cell for cell in exact.index.unique() if all(cell in own.index for own in of_each.values())
        ]
        for method, own in of_each.items():
            for what, name in (("judged", method), ("own", f"{method}, own prediction")):
                values = [own.loc[shared, f"{what}{k}"].mean() for k in SIZES]
                if np.isfinite(values).all():
                    rows[name] = {"cells": len(shared)}
                    rows[name] |= {f"{k}": f"{v:.3f}" for k, v in zip(SIZES, values, strict=True)}
                    rows[name]["mean"] = f"{np.mean(values):.3f}"
        if rows:
            text = to_markdown(pd.DataFrame.from_dict(rows, orient="index").rename_axis("exactly k"))
            parts.append(
                f"Mean accuracy of a forest, a linear and an RBF SVM on exactly k columns:\n\n{text}"
            )
    return "\n\n".join(parts)


COHORTS = Experiment(
    name="cohorts",
    title="Few rows, thousands of columns: who predicts best, from how many columns?",
    tasks=[*TUNING, *FINAL],
    methods=METHODS,
    seeds=range(5),
    run_cell=run_cell,
    tables=partial(make_tables, groups={"tuning": TUNING, "final": FINAL}),
    metrics={
        "score": "accuracy {:.3f}",
        "n_selected": "{} selected",
        "p": "p {:.4f}",
        "judged10": "k=10 {:.3f}",
        "judged20": "k=20 {:.3f}",
        "seconds": "{:.1f} s",
    },
    default_tasks=["tuning"],
    task_groups={"tuning": TUNING, "final": FINAL},
)
