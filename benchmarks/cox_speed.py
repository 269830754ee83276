"""How long do the Cox loss and its gradient take on 100,000 rows, beside the network they train.

    python benchmarks/cox_speed.py

Each is the best of ten runs over all rows, in single precision, on the CPU: the loss and its gradient in
the log hazards, and the same with a network of 50 columns before it. Encoding y, the sorting, is done once.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from stochgate import survival_target
from stochgate.engine import DenseColumns
from stochgate.metrics import concordance_index
from stochgate.networks import MLP
from stochgate.objectives import Cox
from stochgate.study import now, provenance

RESULTS = Path(__file__).parent / "results" / "cox_speed.json"
N_SAMPLES, N_COLUMNS = 100_000, 50
NETWORKS = {"linear": MLP(hidden=()), "default": MLP()}


def main() -> None:
    rng = np.random.default_rng(0)
    event, time_ = rng.random(N_SAMPLES) < 0.5, rng.exponential(size=N_SAMPLES)
    entry, strata = 0.8 * time_ * rng.random(N_SAMPLES), rng.integers(5, size=N_SAMPLES)
    targets = {"plain": {}, "entry": {"entry": entry}, "strata": {"strata": strata}}
    targets["entry and strata"] = {"entry": entry, "strata": strata}
    X = DenseColumns(torch.from_numpy(rng.normal(size=(N_SAMPLES, N_COLUMNS))).float())
    rows = []
    for kind, more in targets.items():
        y = survival_target(event, time_, **more)
        measured = {"encode": best(lambda y=y: Cox().encode(y), 3)}
        for ties in ("breslow", "efron"):
            measured |= {f"{name}, {ties}": s for name, s in time_steps(Cox(ties), y, X).items()}
        measured["concordance"] = best(lambda m=more: concordance_index(event, time_, X.X[:, 0], **m), 3)
        rows += [{"target": kind, "what": what, "seconds": s} for what, s in measured.items()]
        print(kind, {what: round(s, 3) for what, s in measured.items()}, flush=True)
    facts = {"n_samples": N_SAMPLES, "n_columns": N_COLUMNS, "threads": torch.get_num_threads()}
    RESULTS.write_text(json.dumps({"rows": rows, **facts, "date": now(), **provenance()}, indent=1) + "\n")


def time_steps(objective: Cox, y: np.ndarray, X: DenseColumns) -> dict[str, float]:
    """Return the seconds of loss and gradient, alone and with each network."""
    rows, weights = objective.encode(y).rows, torch.ones(1, N_SAMPLES)
    eta = torch.zeros(1, N_SAMPLES, 1, requires_grad=True)
    seconds = {"loss": best(lambda: objective.loss(eta, rows, weights, {}).sum().backward())}
    scale, shift = torch.ones(1, N_COLUMNS), torch.zeros(1, N_COLUMNS)
    for name, network in NETWORKS.items():
        theta = network.initial(torch.tensor([0]), N_COLUMNS, torch.zeros(1, 1), objective.intercept)
        theta = {key: value.requires_grad_() for key, value in theta.items()}

        def step(network: MLP = network, theta: dict[str, torch.Tensor] = theta) -> None:
            output = network.forward(theta, X, scale, shift)
            objective.loss(output, rows, weights, {}).sum().backward()

        seconds[name] = best(step)
    return seconds


def best(action: Callable[[], object], n_runs: int = 10) -> float:
    """Return the seconds of the fastest run."""
    seconds = []
    for _ in range(n_runs):
        start = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


if __name__ == "__main__":
    main()
