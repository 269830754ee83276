"""Survival data with ties, entry times and strata, and the Cox likelihood by its definition."""

import numpy as np
import torch

from stochgate import datasets, survival_target
from stochgate.objectives import Cox
from stochgate.survival import read_survival_target

KINDS = ["plain", "entry", "strata", "entry and strata"]


def make_target(kind, n_samples=40, n_times=6, seed=0):
    """Return a target with many ties; about 0.6 of the rows are events."""
    rng = np.random.default_rng(seed)
    time = rng.integers(n_times, size=n_samples).astype(float)
    event = rng.random(n_samples) < 0.6
    entry = np.floor(time * rng.random(n_samples)) - (rng.random(n_samples) < 0.5)
    entry = np.where(entry < time, entry, time - 0.5)
    strata = rng.choice(["a", "b", "c"], size=n_samples, p=[0.5, 0.3, 0.2])
    return survival_target(
        event, time, entry if "entry" in kind else None, strata if "strata" in kind else None
    )


def stack(kind, seed, n_samples=40, n_times=6):
    """Return eta, a target and weights of five models, with many ties."""
    y = make_target(kind, n_samples, n_times, seed)
    rng = np.random.default_rng(seed + 100)
    weights = np.stack(
        [
            np.ones(n_samples),
            rng.uniform(0.1, 3, n_samples),
            rng.random(n_samples) < 0.7,  # a fold
            rng.poisson(1, n_samples),  # a bootstrap
            rng.uniform(0.1, 3, n_samples) * (rng.random(n_samples) < 0.5),
        ]
    )
    eta = torch.from_numpy(rng.normal(scale=2, size=weights.shape))
    return eta, y, torch.from_numpy(weights.astype(float))


def read(y):
    """Return event, time, entry and stratum as tensors, the last two also where y has none."""
    target = read_survival_target(y)
    n_samples = len(target.event)
    entry = np.full(n_samples, -np.inf) if target.entry is None else target.entry
    stratum = np.zeros(n_samples, dtype=int)
    if target.stratum is not None:
        stratum = np.unique(target.stratum, return_inverse=True)[1]
    return tuple(torch.from_numpy(part) for part in (target.event, target.time, entry, stratum))


def assert_equals_double_loops(ties, eta, y, weights):
    """Compare the objective's loss and gradient with those of the definition."""
    found = evaluate(Cox(ties=ties), eta, Cox().encode(y).rows, weights)
    for value, expected in zip(found, double_loops(ties, eta, y, weights), strict=True):
        torch.testing.assert_close(value, expected, rtol=1e-10, atol=1e-10)


def double_loop(ties, eta, y, weights):
    """Return the negative log partial likelihood of one model, by its definition."""
    event, time, entry, stratum = read(y)
    w, total = weights, 0 * eta.sum()
    dead = event & (w > 0)
    for i in torch.nonzero(dead)[:, 0].tolist():
        risk = (stratum == stratum[i]) & (entry < time[i]) & (time[i] <= time) & (w > 0)
        tied = dead & (time == time[i]) & (stratum == stratum[i])
        top = eta[risk].max().detach()
        hazard = torch.where(w > 0, w * torch.exp((eta - top).clamp_max(0)), 0)
        if ties == "breslow":
            log_risk = top + torch.log(hazard[risk].sum())
            total = total + w[i] * (log_risk - eta[i])
        else:
            rank = tied[:i].sum().item() / tied.sum().item()
            log_risk = top + torch.log(hazard[risk].sum() - rank * hazard[tied].sum())
            total = total + w[tied].mean() * log_risk - w[i] * eta[i]
    return total


def double_loops(ties, eta, y, weights):
    """Return the losses of a stack of models and the gradient, both in float64."""
    eta = eta.detach().double().requires_grad_()
    models = zip(eta, weights.double(), strict=True)
    losses = torch.stack([double_loop(ties, e, y, w) for e, w in models])
    (gradient,) = torch.autograd.grad(losses.sum(), eta)
    return losses.detach(), gradient


def evaluate(objective, eta, rows, weights):
    """Return the losses of a stack of models and the gradient."""
    output = eta.detach().clone()[..., None].requires_grad_()
    losses = objective.loss(output, rows, weights, {})
    (gradient,) = torch.autograd.grad(losses.sum(), output)
    return losses.detach(), gradient[..., 0]


def tied_problem():
    """Return events, times of which many are equal, and a risk that tells something."""
    problem = datasets.make_cox(200, 5, 2, censored=0.4, random_state=0)
    return problem.y["event"], np.ceil(5 * problem.y["time"]), problem.X[:, problem.relevant].sum(axis=1)
