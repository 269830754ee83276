"""Gradients of an expected loss with respect to gates: exact, by the score function, by relaxed gates."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import torch
from scipy.optimize import brentq
from torch import Tensor
from torch.nn import functional

from stochgate import datasets
from stochgate.gates import Gate

N_ROWS, N_FEATURES, N_HIDDEN = 100, 10, 16
CHUNK = 250  # draws of the gates at once


@dataclass(frozen=True)
class Risk:
    """A problem and a network with fixed weights: the loss of each row as a function of the gates."""

    X: Tensor  # (n_rows, n_features)
    y: Tensor  # (n_rows,)
    relevant: np.ndarray
    weights: tuple[Tensor, ...]
    loss: Callable[..., Tensor]

    def __call__(self, z: Tensor) -> Tensor:
        """Return the losses, shape (..., n_rows), of gates of shape (..., n_rows or 1, n_features)."""
        first, bias, second, offset = self.weights
        output = torch.tanh((self.X * z) @ first + bias) @ second + offset
        return self.loss(output, self.y.expand_as(output), reduction="none")


def make_risk(kind: str, seed: int) -> tuple[Risk, int]:
    """Draw a problem and train a network, its gates open, until the loss has halved.

    Parameters
    ----------
    kind : {"xor", "linear"}
    seed : int

    Returns
    -------
    Risk, and how many steps were taken
    """
    loss: Callable[..., Tensor]
    if kind == "xor":
        problem = datasets.make_xor(N_ROWS, N_FEATURES - 2, random_state=seed)
        loss, y = functional.binary_cross_entropy_with_logits, problem.y.astype(float)
    else:
        problem = datasets.make_linear(N_ROWS, N_FEATURES, 3, random_state=seed)
        loss, y = functional.mse_loss, (problem.y - problem.y.mean()) / problem.y.std()
    draw = partial(torch.randn, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))
    first, second = draw(N_FEATURES, N_HIDDEN) / N_FEATURES**0.5, draw(N_HIDDEN) / N_HIDDEN**0.5
    weights = first, torch.zeros(N_HIDDEN).double(), second, torch.zeros(()).double()
    risk = Risk(torch.tensor(problem.X), torch.tensor(y), problem.relevant, weights, loss)
    return risk, _train(risk)


def _train(risk: Risk) -> int:
    optimizer = torch.optim.Adam([weight.requires_grad_() for weight in risk.weights], lr=0.01)
    is_open = torch.ones(1, N_FEATURES).double()
    start = risk(is_open).mean().item()
    steps = 0
    while (loss := risk(is_open).mean()).item() > start / 2 and steps < 5000:
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        steps += 1
    for weight in risk.weights:
        weight.requires_grad_(False)
    return steps


def parameter_of(gate: Gate, probability: float) -> Tensor:
    """Return the parameter at which a gate is open with a given probability."""

    def excess(parameter: float) -> float:
        return gate.open_probability(torch.tensor(parameter).double()).item() - probability

    return torch.tensor(brentq(excess, -20, 20, xtol=1e-12)).double()


def all_losses(risk: Risk, probability: float) -> tuple[Tensor, Tensor, Tensor]:
    """Return all 2^D vectors of discrete gates, the probability of each, and its mean loss."""
    z = torch.tensor(list(product([0.0, 1.0], repeat=N_FEATURES))).double()
    chance = torch.where(z == 1, probability, 1 - probability).prod(1)
    return z, chance, torch.cat([risk(part[:, None]).mean(1) for part in z.split(CHUNK)])


def exact_gradient(risk: Risk, probability: float) -> Tensor:
    """Return the exact gradient of the expected loss with respect to pi (supplement S4)."""
    z, chance, loss = all_losses(risk, probability)
    weight = (chance * loss)[:, None]
    return (weight * z).sum(0) / probability - (weight * (1 - z)).sum(0) / (1 - probability)


def score_estimates(risk: Risk, probability: float, u: Tensor, baseline: float = 0.0) -> Tensor:
    """Return estimates of the gradient with respect to pi by the score function, one per draw."""
    z = (u < probability).double()
    score = z / probability - (1 - z) / (1 - probability)
    return ((risk(z) - baseline)[..., None] * score).mean(1)


def gate_estimates(risk: Risk, gate: Gate, parameter: Tensor, u: Tensor) -> Tensor:
    """Return estimates of the gradient with respect to a gate's parameter by reparameterisation."""
    noise = gate.noise(u)
    z = gate.sample(parameter, noise).requires_grad_()
    (slope,) = torch.autograd.grad(risk(z).mean(-1).sum(), z)
    return (slope * gate.sample_slope(parameter.expand_as(noise), noise)).sum(1)
