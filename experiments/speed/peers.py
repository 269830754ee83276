"""The other side of the speed table: `stg`'s own loop, and a plain torch loop without gates."""

import time
from itertools import pairwise

import numpy as np
import torch
from torch import nn

from experiments.baselines.stg import old_collections


def wait(device: str) -> None:
    """Wait until the device has done what it was asked."""
    if device == "cuda":
        torch.cuda.synchronize()


def time_stg(
    X: np.ndarray, y: np.ndarray, hidden: list[int], activation: str, lam: float, n_steps: int, device: str
) -> float:
    """Return the seconds `stg` takes for so many full-batch steps of one model, its start left out."""
    import stg

    with old_collections():
        model = stg.STG(
            device=torch.device(device),
            task_type="classification",
            input_dim=X.shape[1],
            output_dim=2,
            hidden_dims=hidden,
            activation=activation,
            optimizer="Adam",
            learning_rate=1e-2,
            batch_size=len(X),
            sigma=0.5,
            lam=lam,
        )
        warm_up = max(2, n_steps // 50)
        model.fit(X, y, nr_epochs=warm_up, verbose=False)
        wait(device)
        start = time.perf_counter()
        model.fit(X, y, nr_epochs=n_steps, verbose=False)
        wait(device)
    return time.perf_counter() - start


def time_plain_loop(
    X: np.ndarray, y: np.ndarray, hidden: tuple[int, ...], size: int, n_steps: int
) -> float:
    """Return the seconds of mini-batch steps of the same network in plain torch: no gates, no stack."""
    inputs, labels = torch.from_numpy(X), torch.from_numpy(y).float()
    layers: list[nn.Module] = []
    for n_in, n_out in pairwise([X.shape[1], *hidden]):
        layers += [nn.Linear(n_in, n_out), nn.ReLU()]
    network = nn.Sequential(*layers, nn.Linear(hidden[-1], 1))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-2, fused=True)
    order: list[torch.Tensor] = []
    start = 0.0
    for step in range(n_steps + 20):
        if step == 20:
            start = time.perf_counter()
        if not order:
            order = list(torch.randperm(len(inputs)).split(size))
        rows = order.pop()
        loss = nn.functional.binary_cross_entropy_with_logits(network(inputs[rows])[:, 0], labels[rows])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
    return time.perf_counter() - start
