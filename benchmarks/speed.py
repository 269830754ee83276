"""How fast is the engine: every row of the table in docs/performance.md, each against its rival in one run.

    python benchmarks/speed.py path50 path500 path5000     # rows by name
    python benchmarks/speed.py --gpu                       # the rows of a GPU
    python benchmarks/speed.py --scaling --device cuda     # cost against rows, columns and models
    python benchmarks/speed.py --table                     # what is saved

A row's result is saved with machine, versions and date; it replaces the row's older result.
"""

import argparse
import json
import resource
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from scipy import sparse
from speed_peers import time_plain_loop, time_stg, wait

from stochgate import GatedClassifier, GatedRegressor, Training, datasets
from stochgate.baselines import BASELINES
from stochgate.engine import DenseColumns, Design, SparseColumns, execute, make_plan, product
from stochgate.gates import GaussianGate
from stochgate.metrics import selection_scores
from stochgate.networks import MLP, Network
from stochgate.objectives import Classification
from stochgate.study import now, provenance

RESULTS = Path(__file__).parent / "results" / "speed.json"
Row = Callable[[], dict[str, Any]]
ROWS: dict[str, Row] = {}
GPU_ROWS: dict[str, Row] = {}


def row(registry: dict[str, Row]) -> Callable[[Row], Row]:
    """Register a row under its function's name."""

    def register(function: Row) -> Row:
        registry[function.__name__] = function
        return function

    return register


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


def path_against_stg(n_columns: int, n_samples: int, n_turns: int = 5) -> dict[str, Any]:
    """A path of 20 penalties against 20 fits of `stg` (two are timed and scaled)."""
    X, y = draw(n_samples, n_columns)
    lams = np.geomspace(0.001, 0.05, 20) * n_columns
    training = Training(n_steps=1000, n_snapshots=1)
    ours, *some = fastest(
        lambda: timed(X=X, y=y, network=MLP(), lams=lams, training=training),
        *(partial(time_stg, X, y, [64, 32], "relu", lams[i], 1000, "cpu") for i in (5, 15)),
        n_turns=n_turns,
    )
    return {"ours": ours, "stg": 10 * sum(some), "ratio": 10 * sum(some) / ours}


@row(ROWS)
def path50() -> dict[str, Any]:
    return path_against_stg(50, 1000)


@row(ROWS)
def path500() -> dict[str, Any]:
    return path_against_stg(500, 450)


@row(ROWS)
def path5000() -> dict[str, Any]:
    return path_against_stg(5000, 1000, n_turns=2)


@row(ROWS)
def skipping() -> dict[str, Any]:
    """20,000 dense columns, 20 true ones, one penalty on 8 resamples, with skipping and without."""
    X, y = draw(500, 20_000, n_relevant=20)
    asked = {
        "X": X,
        "y": y,
        "network": MLP(),
        "lams": np.full(8, 0.01 * X.shape[1]),
        "training": Training(n_snapshots=1),
    }

    def without() -> float:
        with patch.object(product, "skipping_pays", lambda shape, share, once: False):
            return timed(**asked)

    ours, whole = fastest(lambda: timed(**asked), without, n_turns=2)
    return {"ours": ours, "without": whole, "ratio": whole / ours}


def fit_seconds(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


@row(ROWS)
def default_fit() -> dict[str, Any]:
    """A default fit against one path of `lassonet` of the same widths, on two problems of 450 x 500."""
    kinds = {
        "friedman": ("regression", GatedRegressor, datasets.make_friedman),
        "madelon": ("classification", GatedClassifier, datasets.make_madelon),
    }
    found: dict[str, Any] = {}
    for name, (kind, estimator, make) in kinds.items():
        problem = make(450, random_state=1000)
        models = {
            "ours": estimator(device="cpu", random_state=1000),
            "lassonet": BASELINES["lassonet"](kind, hidden_dims=(64, 32), random_state=1000),
        }
        fits = (partial(fit_seconds, model, problem.X, problem.y) for model in models.values())
        for (method, model), seconds in zip(models.items(), fastest(*fits, n_turns=2), strict=True):
            found[f"{method}_{name}"] = seconds
            found[f"f1_{method}_{name}"] = selection_scores(model.get_support(), problem.relevant)["f1"]
        found[f"ratio_{name}"] = found[f"lassonet_{name}"] / found[f"ours_{name}"]
    return found


@row(ROWS)
def newsgroups() -> dict[str, Any]:
    """20 penalties on 18,774 x 55,911 sparse counts, in mini-batches; run it alone, for its memory."""
    X, y = datasets.load_newsgroups()
    training = Training(n_steps=600, batch_size=1024, n_snapshots=2, max_memory=3 << 28)
    before = peak_gigabytes()
    lams = np.geomspace(0.001, 0.05, 20) * X.shape[1]
    start = time.perf_counter()
    trained = train_stack(X, y, MLP(), lams, training)
    return {
        "ours": time.perf_counter() - start,
        "peak_gigabytes": peak_gigabytes(),
        "peak_before": before,
        "train_loss": trained.train_loss[-1].tolist(),
    }


def peak_gigabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


@row(ROWS)
def million() -> dict[str, Any]:
    """A step of 1,000,000 x 200 in mini-batches of 4,096 against a plain torch loop of the same network."""
    X, y = draw(1_000_000, 200)

    def ours_in(n_steps: int) -> float:
        training = Training(n_steps=n_steps, batch_size=4096, n_snapshots=1)
        return timed(X=X, y=y, network=MLP(), lams=[1.0], training=training)

    few, many, plain = fastest(
        lambda: ours_in(20),
        lambda: ours_in(520),
        lambda: time_plain_loop(X, y, (64, 32), 4096, 500),
        n_turns=10,
    )
    ours = many - few  # what starting and the last snapshot take falls out
    return {"ours": ours / 500, "plain": plain / 500, "ratio": ours / plain}


@row(ROWS)
def wide() -> dict[str, Any]:
    """Find the 5 columns of 20,000 that matter, from 500 rows: default fits of ours and of peers."""
    peers = {name: BASELINES[name]("regression", random_state=1000) for name in ("lasso", "forest")}
    return wide_fits({"ours": GatedRegressor(device="cpu", random_state=1000), **peers})


def wide_fits(models: dict[str, Any]) -> dict[str, Any]:
    """Fit models of the Friedman function; return their seconds, F1 and test scores."""
    problem = datasets.make_friedman(2500, n_features=20_000, random_state=1000)
    X = problem.X.astype(np.float32)
    found: dict[str, Any] = {}
    for name, model in models.items():
        found[name] = fit_seconds(model, X[:500], problem.y[:500])
        found[f"f1_{name}"] = selection_scores(model.get_support(), problem.relevant)["f1"]
        found[f"score_{name}"] = model.score(X[500:], problem.y[500:])
    return found


@row(GPU_ROWS)
def wide_gpu() -> dict[str, Any]:
    """The same fit of ours on a GPU, and once more when all is loaded."""
    first, second = (GatedRegressor(device="cuda", random_state=1000) for _ in range(2))
    return wide_fits({"first": first, "ours": second})


@row(GPU_ROWS)
def xor_stack() -> dict[str, Any]:
    """The paper's XOR network (476-490-14, D=500, N=450), a stack of 256, per model and step."""
    X, y = draw(450, 500)
    network = MLP((476, 490, 14), activation="tanh", init_std=0.1)
    stg = min(time_stg(X, y, [476, 490, 14], "tanh", 100.0, 300, "cuda") for _ in range(3)) / 300
    found: dict[str, Any] = {"stg": stg, **xor_floor()}
    for name in ("tf32", "float32"):
        per_step = step_seconds(X, y, network, 256, tf32=name == "tf32")
        found[name] = per_step / 256
        found[f"ratio_{name}"] = stg * 256 / per_step
        found[f"of_floor_{name}"] = found["floor"] / found[name]
    return found


def step_seconds(X: np.ndarray, y: np.ndarray, network: Network, n_models: int, tf32: bool) -> float:
    """Return the seconds of one step of a stack on the GPU, its start left out."""
    lams = np.full(n_models, 0.01 * X.shape[1])

    def seconds(n_steps: int) -> float:
        training = Training(n_steps=n_steps, n_snapshots=1, tf32=tf32, max_memory=64 << 30)
        return timed("cuda", X=X, y=y, network=network, lams=lams, training=training)

    seconds(20)  # whatever a first run loads
    few, many = seconds(20), seconds(320)
    return (many - few) / 300


def xor_floor() -> dict[str, float]:
    """Return the least seconds a model and step could take on this GPU, and the rates it follows from.

    Products at the rate of a large one in TF32, plus bytes at the rate of a large copy.
    """
    widths, n = [500, 476, 490, 14, 1], 450
    weights = [a * b for a, b in pairwise(widths)]
    products = 2 * n * (3 * sum(weights) - weights[0])  # X takes no gradient
    # Adam reads weight, gradient and two moments and writes three; the gated copy of the first layer is
    # written and read, its gradient read and written, its weights read twice; each activation is written,
    # read and read again, and so is its gradient
    numbers = 7 * sum(weights) + 6 * weights[0] + 6 * n * sum(widths[1:])
    rates = gpu_rates()
    return {"floor": products / rates["flops"] + 4 * numbers / rates["bytes"], **rates}


def gpu_rates(size: int = 8192) -> dict[str, float]:
    """Return the GPU's multiplications and additions a second (TF32), and its bytes read and written."""
    a, b = (torch.randn(size, size, device="cuda") for _ in range(2))
    allowed = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    multiply, copy = (per_call(action) for action in (lambda: a @ b, lambda: a.copy_(b)))
    torch.backends.cuda.matmul.allow_tf32 = allowed
    return {"flops": 2 * size**3 / multiply, "bytes": 2 * 4 * size**2 / copy}


def per_call(action: Callable[[], Any]) -> float:
    for _ in range(3):
        action()
    wait("cuda")
    start = time.perf_counter()
    for _ in range(20):
        action()
    wait("cuda")
    return (time.perf_counter() - start) / 20


@row(GPU_ROWS)
def many_models() -> dict[str, Any]:
    """640 models of the default network, 2,500 steps, D=500, N=500, against `stg` one after another."""
    X, y = draw(500, 500)
    lams = np.tile(np.geomspace(0.003, 0.06, 8) * 500, 80)
    training = Training(n_steps=2500, n_snapshots=25, max_memory=64 << 30)
    timed("cuda", X=X, y=y, network=MLP(), lams=lams, training=Training(n_steps=20, n_snapshots=1))
    ours = timed("cuda", X=X, y=y, network=MLP(), lams=lams, training=training)
    one = np.mean([time_stg(X, y, [64, 32], "relu", lam, 2500, "cuda") for lam in lams[:3]])
    return {"ours": ours, "stg_one": float(one), "stg": 640 * float(one), "ratio": 640 * float(one) / ours}


SCALING = {
    "n_samples": [250, 500, 1000, 2000, 4000, 8000],
    "n_columns": [125, 250, 500, 1000, 2000, 4000],
    "n_models": [5, 10, 20, 40, 80, 160],
}


def scaling(device: str) -> dict[str, Any]:
    """Cost of a step against rows, columns and models, each with the slope of its logarithms."""
    found: dict[str, Any] = {}
    for name, sizes in SCALING.items():
        seconds = []
        for size in sizes:
            shape = {"n_samples": 500, "n_columns": 500, "n_models": 20, name: size}
            X, y = draw(shape["n_samples"], shape["n_columns"])
            lams = np.full(shape["n_models"], 0.01 * shape["n_columns"])
            asked = {"X": X, "y": y, "network": MLP(), "lams": lams, "device": device}
            # the first warms up: what it loads would count as cost of the few steps
            _, few, many = (
                timed(training=Training(n_steps=n, n_snapshots=1), **asked) for n in (2, 10, 110)
            )
            seconds.append((many - few) / 100)
        slope = np.polyfit(np.log(sizes[2:]), np.log(seconds[2:]), 1)[0]
        found[name] = {"sizes": sizes, "seconds": seconds, "slope": float(slope)}
    return found


def save(name: str, result: dict[str, Any], path: Path) -> None:
    """Put a row's result beside the others."""
    saved = json.loads(path.read_text()) if path.exists() else {}
    facts = {"threads": torch.get_num_threads(), "date": now()}
    saved[name] = {**result, **provenance(("stg", "lassonet")), **facts}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(dict(sorted(saved.items())), indent=1) + "\n")
    print(name, {k: f"{v:.4g}" for k, v in result.items() if isinstance(v, float)}, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join([*ROWS, *GPU_ROWS]))
    parser.add_argument("--gpu", action="store_true", help="all rows of a GPU")
    parser.add_argument("--scaling", action="store_true")
    parser.add_argument("--device", default="cpu", help="of --scaling")
    parser.add_argument("--table", action="store_true", help="print what is saved")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    everything = {**ROWS, **GPU_ROWS}
    names = asked.rows or (list(GPU_ROWS) if asked.gpu else [])
    if asked.table:
        print(asked.out.read_text())
        return
    if asked.scaling:
        save(f"scaling_{asked.device}", scaling(asked.device), asked.out)
        return
    for name in names or ROWS:
        save(name, everything[name](), asked.out)


if __name__ == "__main__":
    main()
