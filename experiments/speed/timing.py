"""What the rows of the speed table share: data, one stack of models, and clocks."""

import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import sparse

from experiments.speed.peers import wait
from stochgate import Training
from stochgate.engine import DenseColumns, Design, SparseColumns, execute, make_plan
from stochgate.gates import GaussianGate
from stochgate.networks import Network
from stochgate.objectives import Classification

Measure = Callable[[], dict[str, Any]]


def draw(n_samples: int, n_columns: int, n_relevant: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Return normal columns and a label from the sum of the first."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, n_columns)).astype(np.float32)
    return X, (X[:, :n_relevant].sum(1) + 0.5 * rng.normal(size=n_samples) > 0).astype(np.int64)


def train_stack(
    X: Any, y: np.ndarray, network: Network, lams: Any, training: Training, device: str = "cpu"
) -> Any:
    """Train one model a penalty on all rows; return what `execute` returns."""
    where = torch.device(device)
    dense = not sparse.issparse(X)
    columns = (
        DenseColumns(torch.from_numpy(X).to(where)) if dense else SparseColumns(X, torch.float32, where)
    )
    objective = Classification()
    target = objective.encode(y)
    target.rows.update({name: value.to(where) for name, value in target.rows.items()})
    plan = make_plan(
        GaussianGate(),
        network,
        objective,
        training,
        lam=torch.as_tensor(np.asarray(lams), device=where),
        seed=torch.arange(len(lams)),
        weights=torch.ones(1, len(y), device=where).expand(len(lams), -1),
        n_gates=X.shape[1],
    )
    return execute(plan, Design(columns, None, X.shape[1]), target)


def timed(device: str = "cpu", **asked: Any) -> float:
    """Return the seconds of `train_stack`."""
    wait(device)
    start = time.perf_counter()
    train_stack(device=device, **asked)
    wait(device)
    return time.perf_counter() - start


def fastest(*actions: Callable[[], float], n_turns: int) -> list[float]:
    """Return the fewest seconds of each action; they take turns, so that all meet the same machine."""
    return np.min([[action() for action in actions] for _ in range(n_turns)], axis=0).tolist()


def fit_seconds(model: Any, X: Any, y: Any) -> float:
    """Return the seconds of a fit."""
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def peak_gigabytes() -> float:
    """Return the most memory this process ever held."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    for line in lines:
        if line.startswith("VmHWM:"):  # its own, where getrusage counts the process that started it too
            return int(line.split()[1]) * 1024 / 1e9
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
