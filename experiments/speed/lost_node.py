"""A plan of 60 fits on a Ray cluster of three nodes, one of which is lost in the middle.

All nodes are processes of this machine, so that the seconds tell what tasks cost, not what more machines
bring.

    python -m experiments run ray
"""

import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from experiments.experiment import Experiment
from experiments.study import to_markdown
from stochgate import GatedRegressor, Training
from stochgate.backends.packing import Packed
from stochgate.backends.ray_runner import RayRunner
from stochgate.backends.ray_start import import_ray, on_loopback
from stochgate.backends.sending import train_piece
from stochgate.choice.folds import make_folds
from stochgate.datasets import make_linear
from stochgate.engine import Plan, Trained
from stochgate.engine.runner import Runner
from stochgate.problem.problem import Problem

N_LAMS, N_FOLDS = 12, 5
STORE = 100 << 20  # bytes of the object store of a node; Ray wants 75 MB at least


@contextmanager
def three_nodes() -> Iterator[tuple[Any, Any, Any]]:
    """Start a cluster of three nodes with one CPU each; yield Ray, the cluster and one of its nodes."""
    ray = import_ray()
    from ray.cluster_utils import Cluster

    node: dict[str, Any] = {"num_cpus": 1, "object_store_memory": STORE}
    with on_loopback():
        cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
        try:
            _, other = cluster.add_node(**node), cluster.add_node(**node)
            cluster.wait_for_nodes()
            ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
            yield ray, cluster, other
        finally:
            ray.shutdown()
            cluster.shutdown()


class NotedRunner(RayRunner):
    """Notes in a file which stack is begun on which node.

    Parameters
    ----------
    ray, n_stacks : as in `RayRunner`
    notes : path
        Of a file that all nodes can write to.
    slow : str
        The id of a node whose stacks wait for a second, so that it is lost in the middle of one; all others
        wait a little, so that it gets some.
    """

    def __init__(self, ray: Any, n_stacks: int, notes: Path, slow: str):
        super().__init__(ray, n_stacks)
        self.notes, self.work = notes, noted(notes, slow)

    def begun(self) -> list[dict[str, Any]]:
        """Return the notes so far."""
        lines = self.notes.read_text().splitlines() if self.notes.exists() else []
        return [json.loads(line) for line in lines]

    def n_again(self) -> int:
        """Return how often a stack was begun again."""
        return len(self.begun()) - len({note["models"] for note in self.begun()})


def noted(notes: Path, slow: str) -> Callable[..., Packed]:
    """Return `train_piece` with a note before it, and a pause."""

    def work(order: Packed, columns: Packed, target: Packed, piece: Any, pickler: Any) -> Packed:
        node = import_ray().get_runtime_context().get_node_id()
        with notes.open("a") as file:
            file.write(json.dumps({"node": node, "models": str(piece)}) + "\n")
        time.sleep(1.0 if node == slow else 0.05)
        return train_piece(order, columns, target, piece, pickler)

    return work


def lose_node(runner: NotedRunner, cluster: Any, node: Any) -> threading.Thread:
    """Kill a node as soon as it has begun a stack, in a thread that is returned."""

    def watch() -> None:
        while not any(note["node"] == node.node_id for note in runner.begun()):
            time.sleep(0.01)
        cluster.remove_node(node, allow_graceful=False)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def sixty_fits(seed: int, n_samples: int, n_steps: int) -> tuple[Problem, Plan]:
    """Return a path of 12 penalties on 5 folds, and its problem."""
    data = make_linear(n_samples, n_features=30, n_relevant=5, random_state=seed)
    model = GatedRegressor(lam=1.0, training=Training(n_steps=n_steps), random_state=seed, device="cpu")
    problem, _ = model._make_problem(data.X, data.y, None, None)
    roles = make_folds(N_FOLDS, problem.strata, seed)
    weights, test = problem.fold_weights(roles[:N_FOLDS], N_LAMS)
    lams = torch.logspace(-1, 1, N_LAMS).repeat_interleave(N_FOLDS)
    fixed = problem.fixed.expand(len(weights), -1)
    return problem, problem.plan(lams, problem.seed, weights, fixed, test_weights=test)


def same_to_the_bit(one: Trained, other: Trained) -> bool:
    """Return whether two results are equal in every number."""
    pairs = [(getattr(one, f.name), getattr(other, f.name)) for f in fields(Trained) if f.name != "models"]
    pairs += [(one.models.parameters[k], other.models.parameters[k]) for k in one.models.parameters]
    pairs.append((one.models.gate_parameter, other.models.gate_parameter))
    return all(torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in pairs)


def train_and_lose(
    problem: Problem, plan: Plan, ray: Any, cluster: Any, node: Any
) -> tuple[Trained, dict[str, Any]]:
    """Train a plan, a task per model, and lose a node meanwhile; return the result and what happened."""
    with tempfile.TemporaryDirectory() as folder:
        runner = NotedRunner(ray, plan.n_models, Path(folder) / "notes", node.node_id)
        losing = lose_node(runner, cluster, node)
        start = time.perf_counter()
        trained = runner.run(plan, problem.design, problem.target)
        seconds = time.perf_counter() - start
        losing.join(timeout=60)
        return trained, {
            "cluster_seconds": seconds,
            "n_tasks": runner.n_tasks,
            "n_begun_there": sum(note["node"] == node.node_id for note in runner.begun()),
            "n_retried": runner.n_again(),
            "node_is_gone": not node.any_processes_alive(),
            "bytes_put": runner.bytes_put,
            "bytes_of_X": problem.design.columns.X.nbytes,
        }


def run_cell(
    task: str, method: str, seed: int, *, device: str = "cpu", n_samples: int = 1000, n_steps: int = 300
) -> dict[str, Any]:
    """Train 60 fits here and on three nodes, of which one is lost."""
    problem, plan = sixty_fits(seed, n_samples, n_steps)
    start = time.perf_counter()
    local = Runner(n_stacks=plan.n_models).run(plan, problem.design, problem.target)
    seconds = time.perf_counter() - start
    with three_nodes() as nodes:
        trained, found = train_and_lose(problem, plan, *nodes)
    equal = same_to_the_bit(local, trained)
    return {"n_fits": plan.n_models, "local_seconds": seconds, "equal": equal, **found}


def make_tables(table: pd.DataFrame, methods: list[str]) -> str:
    """Return a line per run."""
    names = ["local_seconds", "cluster_seconds", "n_retried", "equal", "bytes_put", "bytes_of_X"]
    return to_markdown(table.set_index("seed")[names].round(1).astype(str))


RAY = Experiment(
    name="ray",
    title="Does a plan survive the loss of a Ray node, and equal the local one?",
    tasks=["60 fits"],
    methods=["three nodes, one lost"],
    seeds=[0, 1, 2],
    run_cell=run_cell,
    tables=make_tables,
    metrics={
        "local_seconds": "local {:.1f} s",
        "cluster_seconds": "cluster {:.1f} s",
        "n_retried": "{} retried",
        "equal": "equal: {}",
        "bytes_put": "{} bytes put",
    },
    quick={"seeds": [0], "settings": {"n_samples": 200, "n_steps": 200}},
    packages=("ray",),
    again=True,
)
