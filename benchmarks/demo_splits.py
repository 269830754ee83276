"""The demo on ten splits: 30 measurements of tumours, and 100 columns of noise to keep out.

The forest has 500 trees on all columns.

    python benchmarks/demo_splits.py --jobs 2
    python benchmarks/demo_splits.py --device cuda
    python benchmarks/demo_splits.py --table
"""

import runpy
from pathlib import Path
from typing import Any

import numpy as np
from league import RESULTS
from sklearn.ensemble import RandomForestClassifier

from stochgate import GatedClassifier
from stochgate.study import grid, read_records, run_as_asked, study_parser

DEMO = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "demo.py"))
METHODS = ["ours", "forest"]


def run_cell(task: str, method: str, seed: int, *, device: str = "cpu") -> dict[str, Any]:
    """Train one method on one split; return how it predicts and what it selects."""
    X_train, X_test, y_train, y_test = DEMO["split_rows"](seed)
    if method == "forest":
        forest = RandomForestClassifier(500, random_state=seed).fit(X_train, y_train)
        return {"score": forest.score(X_test, y_test)}
    model = GatedClassifier(device=device, random_state=seed).fit(X_train, y_train)
    selected = np.flatnonzero(model.get_support())
    n_noise = int((selected >= X_train.shape[1] - DEMO["N_NOISE"]).sum())
    return {"score": model.score(X_test, y_test), "n_selected": len(selected), "n_noise": n_noise}


def show(record: dict[str, Any]) -> None:
    """Print one line about a record."""
    names = ("error", "score", "n_selected", "n_noise")
    found = ", ".join(f"{name} {record[name]}" for name in names if name in record)
    print(f"{record['method']:8} split {record['seed']}: {found}", flush=True)


def main() -> None:
    options = study_parser(__doc__.splitlines()[0], RESULTS / "demo_splits.jsonl").parse_args()
    run_as_asked(options, grid(["demo"], METHODS, range(10)), run_cell, (), show)
    records = [r for r in read_records(options.out) if "error" not in r]
    for method in METHODS:
        scores = [r["score"] for r in records if r["method"] == method]
        print(f"{method}: mean accuracy {np.mean(scores):.4f} over {len(scores)} splits")
    clean = [r["n_noise"] == 0 for r in records if r["method"] == "ours"]
    print(f"no noise column in {sum(clean)} of {len(clean)} splits")


if __name__ == "__main__":
    main()
