"""What `StabilitySelector` promises: few false selections, by share (`fdr`) or by number (`max_false`)."""

import time
from functools import partial
from typing import Any

from experiments.experiment import Experiment
from experiments.study import summarise
from stochgate import GatedClassifier, GatedRegressor, StabilitySelector, datasets

TASKS = {
    "linear": (GatedRegressor, partial(datasets.make_linear, 200)),
    "correlated": (GatedRegressor, partial(datasets.make_linear, 200, rho=0.7)),
    "friedman": (GatedRegressor, partial(datasets.make_friedman, 450, 500)),
    "xor": (GatedClassifier, partial(datasets.make_xor, 405, 50)),
}
PROMISES: dict[str, dict[str, Any]] = {"fdr=0.1": {"fdr": 0.1}, "max_false=1": {"max_false": 1.0}}
METRICS = {
    "false_share": "false share {:.2f}",
    "n_false": "{} false",
    "found_share": "{:.2f} of the true found",
    "seconds": "{:.1f} s",
}


def run_cell(task: str, method: str, seed: int, *, device: str = "cpu") -> dict[str, Any]:
    """Select once; return the share of false selections, their number and the share of true ones found."""
    estimator, make = TASKS[task]
    problem = make(random_state=seed)
    selector = StabilitySelector(estimator(device=device), random_state=seed, **PROMISES[method])
    start = time.perf_counter()
    selector.fit(problem.X, problem.y)
    seconds = time.perf_counter() - start
    selected, relevant = selector.get_support(), problem.relevant
    n_false = int((selected & ~relevant).sum())
    return {
        "false_share": n_false / max(1, int(selected.sum())),
        "n_false": n_false,
        "found_share": float(selected[relevant].mean()),
        "n_selected": int(selected.sum()),
        "network": selector.network_,
        "seconds": seconds,
    }


def make_tables(table: Any, methods: list[str]) -> str:
    """Return the means of the three measures."""
    return "\n\n".join(
        f"{measure}: mean over the seeds, with its 95 % interval\n\n"
        + summarise(table, measure).round(3).to_string(index=False)
        for measure in ("false_share", "n_false", "found_share")
    )


ERROR_CONTROL = Experiment(
    name="error-control",
    title="Does StabilitySelector keep its promises on false selections?",
    tasks=list(TASKS),
    methods=list(PROMISES),
    seeds=range(1000, 1050),
    run_cell=run_cell,
    tables=make_tables,
    metrics=METRICS,
    quick={"tasks": ["linear"], "seeds": [1000]},
)
