"""Gates drawn anew for each row of every step, as the authors' code draws STG's: a plain loop."""

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from stochgate.gates import Gate


def train_per_row(model: Any, gate: Gate, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Train a gated network for two classes whose gates are drawn anew for each row of every step.

    Parameters
    ----------
    model : GatedNetwork
        The settings; all rows are in each step.
    gate : Gate
    X, y : arrays

    Returns
    -------
    steps, path : ndarrays, shape (n_snapshots,) and (n_snapshots, n_features)
        The gates without noise.
    """
    random = torch.Generator(model.device).manual_seed(model.random_state)
    columns = torch.tensor((X - X.mean(axis=0)) / X.std(axis=0), dtype=torch.float32, device=model.device)
    labels = torch.tensor(y, dtype=torch.float32, device=model.device)
    layers = _draw_layers([X.shape[1], *model.hidden, 1], model.init_std, random)
    parameter = torch.full_like(columns[0], gate.start).requires_grad_()
    descent = torch.optim.SGD([parameter, *(part for layer in layers for part in layer)], lr=model.lr)
    steps = np.linspace(0, model.count_steps(len(X)), model.n_snapshots + 1).round().astype(int)[1:]
    path = []
    for step in range(1, steps[-1] + 1):
        u = torch.rand(X.shape, generator=random, device=model.device)
        h = columns * gate.sample(parameter, gate.noise(u))
        for weight, bias in layers[:-1]:
            h = torch.tanh(F.linear(h, weight, bias))
        output = F.linear(h, *layers[-1])[:, 0]
        loss = F.binary_cross_entropy_with_logits(output, labels)
        descent.zero_grad()
        (loss + model.lams[0] * gate.open_probability(parameter).mean()).backward()
        descent.step()
        if step in steps:
            path.append(gate.value(parameter.detach()).cpu().numpy())  # sync point
    return steps, np.array(path)


def _draw_layers(
    widths: list[int], std: float, random: torch.Generator
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    layers = []
    for n_in, n_out in pairwise(widths):
        weight = std * torch.randn(n_out, n_in, generator=random, device=random.device)
        layers.append((weight.requires_grad_(), torch.zeros_like(weight[:, 0]).requires_grad_()))
    return layers
