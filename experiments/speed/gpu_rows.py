"""Rows of the speed table that are measured on a GPU."""

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from experiments.methods import make_model
from experiments.speed.cpu_rows import wide_fits
from experiments.speed.peers import time_stg, wait
from experiments.speed.timing import Measure, draw, timed
from stochgate import Training
from stochgate.networks import MLP, Network


def wide_gpu() -> dict[str, Any]:
    """The same fit of ours on a GPU, and once more when all is loaded."""
    first, second = (make_model("ours", "regression", seed=1000, device="cuda") for _ in range(2))
    return wide_fits({"first": first, "ours": second})


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
    """Return the seconds of one call, the first ones left out."""
    for _ in range(3):
        action()
    wait("cuda")
    start = time.perf_counter()
    for _ in range(20):
        action()
    wait("cuda")
    return (time.perf_counter() - start) / 20


def many_models() -> dict[str, Any]:
    """640 models of the default network, 2,500 steps, D=500, N=500, against `stg` one after another."""
    X, y = draw(500, 500)
    lams = np.tile(np.geomspace(0.003, 0.06, 8) * 500, 80)
    training = Training(n_steps=2500, n_snapshots=25, max_memory=64 << 30)
    timed("cuda", X=X, y=y, network=MLP(), lams=lams, training=Training(n_steps=20, n_snapshots=1))
    ours = timed("cuda", X=X, y=y, network=MLP(), lams=lams, training=training)
    one = np.mean([time_stg(X, y, [64, 32], "relu", lam, 2500, "cuda") for lam in lams[:3]])
    return {"ours": ours, "stg_one": float(one), "stg": 640 * float(one), "ratio": 640 * float(one) / ours}


GPU_ROWS: dict[str, Measure] = {"wide_gpu": wide_gpu, "xor_stack": xor_stack, "many_models": many_models}
