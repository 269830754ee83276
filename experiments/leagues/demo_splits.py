"""The demo on ten splits: 30 measurements of tumours, and 100 columns of noise to keep out.

The forest has 500 trees on all columns.
"""

from typing import Any

import numpy as np

from experiments.demo import N_NOISE, split_demo
from experiments.experiment import Experiment
from experiments.methods import make_model

METHODS = {"ours": "ours", "forest": "all-forest"}


def run_cell(task: str, method: str, seed: int, *, device: str = "cpu") -> dict[str, Any]:
    """Train one method on one split; return how it predicts and what it selects."""
    X_train, X_test, y_train, y_test = split_demo(seed)
    model = make_model(METHODS[method], "classification", seed=seed, device=device).fit(X_train, y_train)
    selected = np.flatnonzero(model.get_support())
    n_noise = int((selected >= X_train.shape[1] - N_NOISE).sum())
    return {"score": model.score(X_test, y_test), "n_selected": len(selected), "n_noise": n_noise}


def make_tables(table: Any, methods: list[str]) -> str:
    """Return mean accuracies, and how often no noise was selected."""
    done = table.dropna(subset=["score"])
    scores = {method: done.loc[done["method"] == method, "score"] for method in methods}
    lines = [f"{m}: mean accuracy {s.mean():.4f} over {len(s)} splits" for m, s in scores.items()]
    clean = done.loc[done["method"] == "ours", "n_noise"] == 0
    return "\n".join([*lines, f"no noise column in {clean.sum()} of {len(clean)} splits"])


DEMO_SPLITS = Experiment(
    name="demo-splits",
    title="The demo on ten splits: does the accuracy reach a forest's, and is the noise kept out?",
    tasks=["demo"],
    methods=list(METHODS),
    seeds=range(10),
    run_cell=run_cell,
    tables=make_tables,
    metrics={"score": "score {:.3f}", "n_selected": "{} selected", "n_noise": "{} of them noise"},
    quick={"seeds": [0]},
)
