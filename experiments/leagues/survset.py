"""Survival tables of the package SurvSet: C on three splits, ours beside Coxnet and a forest.

Tables are converted once, to files in the data folder or the cache; of more than 2,000 rows 2,000 are
drawn. Ours takes text and missing values as they are; peers take indicators, and medians of the training
rows.

    STOCHGATE_DATA=... python -m experiments run survset --tasks tuning --jobs 2
"""

import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from experiments.experiment import Experiment
from experiments.leagues.real import SILENCED
from experiments.methods import make_model
from experiments.study import fit_and_score, to_markdown
from stochgate.datasets.files import data_folders
from stochgate.optional import require
from stochgate.survival import survival_target

TUNING = [
    "DBCD",
    "chop",
    "MCLcleaned",
    "NSBCD",
    "vdv",
    "burn",
    "cgd",
    "cancer",
    "e1684",
    "follic",
    "hepatoCellular",
    "pbc",
    "retinopathy",
    "zinc",
    "actg",
    "LeukSurv",
    "phpl04K8a",
]
FINAL = [
    "AML_Bull",
    "DLBCL",
    "gse3143",
    "gse1992",
    "gse4335",
    "nki70",
    "dataOvarian1",
    "wpbc",
    "pharmacoSmoking",
    "prostate",
    "stagec",
    "mgus",
    "ova",
    "cost",
    "Pbc3",
    "vlbw",
    "rott2",
    "smarto",
    "support2",
]
METHODS = ["ours", "lasso", "all-forest"]
MOST_ROWS = 2000


def load_table(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the columns, of numbers or text, and (event, time)."""
    files = [folder / "survset" / f"{name}.npz" for folder in data_folders()]
    path = next((file for file in files if file.exists()), None) or _convert(name, files[-1])
    with np.load(path) as data:
        numbers = pd.DataFrame(data["numbers"], columns=data["number_names"])
        texts = pd.DataFrame(data["texts"], columns=data["text_names"])
        X = pd.concat([numbers, texts.where(texts != "").astype("category")], axis=1)
        return X, survival_target(data["event"], data["time"])


def _convert(name: str, path: Path) -> Path:
    """Write a table of the package to a file."""
    df = (
        require("SurvSet.data", package="SurvSet", needed_by="survset")
        .SurvLoader()
        .load_dataset(name)["df"]
    )
    if len(df) > MOST_ROWS:
        df = df.sample(MOST_ROWS, random_state=0)
    numbers, texts = df.filter(regex="^num_").astype(np.float32), df.filter(regex="^fac_")
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path,
        numbers=numbers.to_numpy(),
        number_names=numbers.columns.to_numpy(str),
        texts=texts.astype(object).where(texts.notna(), "").to_numpy(str),
        text_names=texts.columns.to_numpy(str),
        event=df["event"].to_numpy(bool),
        time=df["time"].to_numpy(float),
    )
    return path


def run_cell(task: str, method: str, seed: int, *, device: str = "cpu") -> dict[str, Any]:
    """Return one method's C on one split, its number of columns and the p of its signal."""
    X, y = load_table(task)
    train, test = train_test_split(np.arange(len(y)), test_size=0.3, random_state=seed, stratify=y["event"])
    if method != "ours":
        X = pd.get_dummies(X, drop_first=True, dtype=float)
        X = X.fillna(X.iloc[train].median()).fillna(0.0)
    start = time.perf_counter()
    model = make_model(method, "survival", seed=seed, device=device)
    found = fit_and_score(model, (X.iloc[train], y[train]), (X.iloc[test], y[test]), *SILENCED)
    found["score"] = found.pop("test_score")
    if method == "ours":
        found |= {"p": model.p_value_, "network": model.network_}
    return {
        **found,
        "seconds": time.perf_counter() - start,
        "n_train": len(train),
        "n_features": X.shape[1],
    }


def make_tables(table: pd.DataFrame, methods: list[str], *, groups: dict[str, list[str]]) -> str:
    """Return mean C over the cells that all methods have, and every table."""
    parts = []
    for role, names in groups.items():
        there = table[table["task"].isin(names)]
        wide = there.pivot_table(index=["task", "seed"], columns="method", values="score", sort=False)
        wide = wide[[m for m in methods if m in wide]].dropna()
        if wide.empty or "ours" not in wide:
            continue
        ours = there[there["method"] == "ours"].set_index(["task", "seed"]).loc[wide.index]
        some = (ours["n_selected"] > 0).to_numpy()
        means = pd.DataFrame(
            {
                f"all {len(wide)} cells": wide.mean(),
                f"{some.sum()} where ours selects": wide[some].mean(),
                f"{(~some).sum()} where it does not": wide[~some].mean(),
            }
        )
        by_task = wide.groupby(level=0, sort=False).mean().map("{:.3f}".format)
        of_ours = ours.groupby(level=0, sort=False)
        by_task["columns"] = of_ours["n_selected"].apply(lambda n: " ".join(f"{v:g}" for v in n))
        by_task["p"] = of_ours["p"].apply(lambda p: " ".join(f"{v:.2g}" for v in p))
        text = to_markdown(means.map("{:.3f}".format).rename_axis("method"))
        parts.append(f"### {role.capitalize()} tables\n\n{text}\n\n{to_markdown(by_task)}")
    return "\n\n".join(parts)


SURVSET = Experiment(
    name="survset",
    title="Who orders the risks of new rows best, on survival tables of all sizes?",
    tasks=[*TUNING, *FINAL],
    methods=METHODS,
    seeds=range(3),
    run_cell=run_cell,
    tables=partial(make_tables, groups={"tuning": TUNING, "final": FINAL}),
    metrics={"score": "C {:.3f}", "n_selected": "{} selected", "p": "p {:.4f}", "seconds": "{:.1f} s"},
    default_tasks=["tuning"],
    task_groups={"tuning": TUNING, "final": FINAL},
)
