"""How long does a default fit take, against one path of `lassonet` of the same widths, in one run.

    python benchmarks/default_fit.py

Both get 450 rows and 500 columns (the Friedman and the MADELON task) and all cores.
"""

import json
import time
from pathlib import Path

from stochgate import GatedClassifier, GatedRegressor, datasets
from stochgate.baselines import BASELINES
from stochgate.metrics import selection_scores
from stochgate.study import provenance

RESULTS = Path(__file__).parent / "results" / "default_fit.json"
TASKS = {
    "friedman": ("regression", GatedRegressor, datasets.make_friedman),
    "madelon": ("classification", GatedClassifier, datasets.make_madelon),
}


def main() -> None:
    rows = []
    for task, (kind, estimator, make) in TASKS.items():
        problem = make(450, random_state=1000)
        models = {
            "ours": estimator(device="cpu", random_state=1000),
            "lassonet": BASELINES["lassonet"](kind, hidden_dims=(64, 32), random_state=1000),
        }
        for method, model in models.items():
            start = time.perf_counter()
            model.fit(problem.X, problem.y)
            seconds = time.perf_counter() - start
            scores = selection_scores(model.get_support(), problem.relevant)
            rows.append({"task": task, "method": method, "seconds": seconds, "f1": scores["f1"]})
            print(f"{task:10} {method:10} {seconds:6.1f} s, F1 {scores['f1']:.2f}", flush=True)
    ratio = {task: rows[2 * i]["seconds"] / rows[2 * i + 1]["seconds"] for i, task in enumerate(TASKS)}
    print("ours / lassonet:", {task: round(value, 2) for task, value in ratio.items()})
    RESULTS.write_text(json.dumps({"rows": rows, "ratio": ratio, **provenance(("lassonet",))}, indent=1))


if __name__ == "__main__":
    main()
