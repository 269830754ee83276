"""The Cox loss and its gradient on 100,000 rows, beside the network they train.

Each is the best of ten runs over all rows, in single precision, on the CPU: the loss and its gradient in
the log hazards, and the same with a network of 50 columns before it. Encoding y, the sorting, is done once.
"""

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch

from experiments.experiment import Experiment
from experiments.study import to_markdown
from stochgate import survival_target
from stochgate.engine import DenseColumns
from stochgate.metrics import concordance_index
from stochgate.networks import MLP
from stochgate.objectives import Cox

N_SAMPLES, N_COLUMNS = 100_000, 50
NETWORKS = {"linear": MLP(hidden=()), "default": MLP()}
TARGETS = {
    "plain": (),
    "entry": ("entry",),
    "strata": ("strata",),
    "entry and strata": ("entry", "strata"),
}


@cache
def draw_data() -> dict[str, np.ndarray]:
    """Return events, times, entry times, strata and columns."""
    rng = np.random.default_rng(0)
    event, duration = rng.random(N_SAMPLES) < 0.5, rng.exponential(size=N_SAMPLES)
    entry, strata = 0.8 * duration * rng.random(N_SAMPLES), rng.integers(5, size=N_SAMPLES)
    X = rng.normal(size=(N_SAMPLES, N_COLUMNS)).astype(np.float32)
    return {"event": event, "time": duration, "entry": entry, "strata": strata, "X": X}


def run_cell(task: str, method: str, seed: int, *, device: str = "cpu") -> dict[str, Any]:
    """Return the seconds of each part for one kind of target."""
    data = draw_data()
    more = {name: data[name] for name in TARGETS[task]}
    X = DenseColumns(torch.from_numpy(data["X"]))
    y = survival_target(data["event"], data["time"], **more)
    measured = {"encode": best(lambda: Cox().encode(y), 3)}
    for ties in ("breslow", "efron"):
        measured |= {f"{name}, {ties}": s for name, s in time_steps(Cox(ties), y, X).items()}
    risk = data["X"][:, 0]
    measured["concordance"] = best(lambda: concordance_index(data["event"], data["time"], risk, **more), 3)
    return {**measured, "n_samples": N_SAMPLES, "n_columns": N_COLUMNS}


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


def make_tables(table: Any, methods: list[str]) -> str:
    """Return the seconds, a column per kind of target."""
    parts = [name for name in table if name in ("encode", "concordance") or ", " in name]
    return "Seconds\n\n" + to_markdown(table.set_index("task")[parts].T.map("{:.3f}".format))


COX_SPEED = Experiment(
    name="cox-speed",
    title="How long do the Cox loss and its gradient take on 100,000 rows?",
    tasks=list(TARGETS),
    methods=["ours"],
    seeds=[0],
    run_cell=run_cell,
    tables=make_tables,
    metrics={"encode": "encode {:.3f} s", "default, efron": "a step of the default network {:.3f} s"},
    quick={"tasks": ["plain"]},
    again=True,
)
