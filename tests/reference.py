"""The paper's Algorithm 1 as a plain loop over one model: what the engine must equal.

Nothing here is stacked or folded. Rows of weight 0 are taken out, columns are standardised, the gate
multiplies the input, and each formula stands as the paper has it. Only the random numbers and the
initial weights come from the package: they define which run is meant.
"""

import math

import numpy as np
import torch
from torch import nn

from stochgate import survival_target
from stochgate.streams import GATES, fold, uniform


def train_one(X, y, w, *, gate, network, objective, training, lam, seed, costs, keep, batches):
    """Train one model; return its gate parameter and its network as a function of X.

    Parameters
    ----------
    X : float64 Tensor, shape (n_samples, n_features)
    y : what the objective of `OBJECTIVES` reads, one entry a row
    w : float64 Tensor, shape (n_samples,)
    batches : list of index tensors, one a step; the whole data is `range(n_samples)`
    """
    used = w > 0
    mean = (w[used, None] * X[used]).sum(0) / w[used].sum()
    variance = (w[used, None] * (X[used] - mean) ** 2).sum(0) / w[used].sum()
    X = (X - mean) / variance.sqrt()
    draw, value, probability = GATE_FORMULAS[type(gate).__name__]
    loss, total, base = OBJECTIVES[type(objective).__name__](objective, y, w)

    n_gates = X.shape[1]
    mu = torch.full((n_gates,), gate.start, dtype=torch.float64, requires_grad=True)
    theta = network.initial(torch.tensor([seed]), n_gates, base[None], objective.intercept)
    theta = {name: p[0].clone().requires_grad_() for name, p in theta.items()}
    free = ~keep
    network_group = {"params": list(theta.values()), "lr": training.lr}
    gate_group = {"params": [mu], "lr": training.gate_lr * gate.unit}
    if training.optimizer == "sgd":
        optimizer = torch.optim.SGD([network_group, gate_group], momentum=training.momentum)
    else:
        optimizer = torch.optim.Adam([network_group, gate_group])

    for step, rows in enumerate(batches):
        progress = step / training.n_steps
        if training.lr_decay == "cosine":
            optimizer.param_groups[0]["lr"] = training.lr * (1 + math.cos(math.pi * progress)) / 2
        rows = rows[used[rows]]  # a row of weight 0 is not there
        risk = 0.0
        for k in range(training.n_draws):
            key = fold(fold(fold(torch.tensor([seed]), GATES), step), k)
            u = uniform(key, torch.arange(n_gates), torch.float64)[0]
            z = torch.where(keep, 1.0, draw(gate, mu, u))
            if len(rows):
                risk = risk + loss(forward(network, theta, X[rows] * z), rows) / training.n_draws
        risk = risk / (total * len(batches[step]) / len(X))
        penalty = (probability(gate, mu) * costs * free).sum() / n_gates
        objective_value = risk + lam * training.penalty_factor(progress) * penalty
        optimizer.zero_grad()
        objective_value.backward()
        optimizer.step()

    z = torch.where(keep, 1.0, value(gate, mu)).detach()
    with torch.no_grad():
        return z, forward(network, theta, X * z)


def forward(network, theta, x):
    """Run one network on gated input."""
    if type(network).__name__ == "ModuleNetwork":
        module = network.factory(x.shape[1], 1 if "bias" not in theta else len(theta["bias"]))
        own = {name: p for name, p in theta.items() if name != "base."}
        return torch.func.functional_call(module.double(), own, (x,)) + theta.get("base.", 0)
    activation = {
        "relu": nn.ReLU(), "tanh": nn.Tanh(), "sigmoid": nn.Sigmoid(), "selu": nn.SELU(),
        "silu": nn.SiLU(),
    }[network.activation]  # fmt: skip
    past = torch.isin(torch.arange(x.shape[1]), torch.tensor(network.linear, dtype=torch.int64))
    h = x * ~past if network.hidden else x
    for layer in range(len(network.hidden) + 1):
        h = h if layer == 0 else activation(h)
        h = nn.functional.linear(h, theta[f"weight_{layer}"], theta.get(f"bias_{layer}"))
    if "skip" not in theta:
        return h
    return h + (x if network.skip else x * past) @ theta["skip"].T


def _phi(x):
    return 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def _gaussian_draw(gate, mu, u):
    epsilon = math.sqrt(2) * torch.erfinv(2 * u - 1)
    return torch.clamp(mu + gate.sigma * epsilon, 0, 1)


def _stretch(gate, s):
    return torch.clamp(s * (gate.zeta - gate.tau) + gate.tau, 0, 1)


def _concrete_draw(gate, log_alpha, u):
    logistic = torch.log(u) - torch.log(1 - u)
    return _stretch(gate, 1 / (1 + torch.exp(-(log_alpha + logistic) / gate.beta)))


GATE_FORMULAS = {  # how z is drawn, its value after training, P(z > 0)
    "GaussianGate": (
        _gaussian_draw,
        lambda gate, mu: torch.clamp(mu, 0, 1),
        lambda gate, mu: _phi(mu / gate.sigma),
    ),
    "DeterministicGate": (
        lambda gate, mu, u: torch.clamp(mu, 0, 1),
        lambda gate, mu: torch.clamp(mu, 0, 1),
        lambda gate, mu: _phi(mu / gate.sigma),
    ),
    "HardConcreteGate": (
        _concrete_draw,
        lambda gate, a: _stretch(gate, torch.sigmoid(a)),
        lambda gate, a: torch.sigmoid(a - gate.beta * math.log(-gate.tau / gate.zeta)),
    ),
}


def _classification(objective, y, w):
    n_classes = int(y.max()) + 1
    counts = torch.stack([w[y == c].sum() for c in range(n_classes)])
    if objective.class_weight == "balanced":
        w = w * (counts.sum() / n_classes / counts)[y]
        counts = torch.stack([w[y == c].sum() for c in range(n_classes)])
    log_share = (counts / counts.sum()).log()
    if n_classes == 2:
        base = (log_share[1] - log_share[0])[None]
    else:
        base = log_share - log_share.mean()

    def loss(f, rows):
        logits = torch.cat([torch.zeros_like(f), f], dim=1) if n_classes == 2 else f
        log_p = logits - torch.logsumexp(logits, dim=1, keepdim=True)
        return -sum(w[i] * log_p[k, y[i]] for k, i in enumerate(rows))

    return loss, w.sum(), base


def _regression(objective, y, w):
    center = (w[:, None] * y).sum(0) / w.sum()
    scale = ((w[:, None] * (y - center) ** 2).sum(0) / w.sum()).sqrt()
    target = (y - center) / scale
    base = torch.zeros(y.shape[1], dtype=y.dtype)

    def loss(f, rows):
        return sum(w[i] * ((f[k] - target[i]) ** 2).mean() for k, i in enumerate(rows))

    return loss, w.sum(), base


def _cox(objective, y, w):
    event, time, entry, stratum = y

    def loss(f, rows):
        eta, at, since, group = f[:, 0], time[rows], entry[rows], stratum[rows]
        dies, weight = event[rows], w[rows]
        total = 0.0
        for t, s in {(float(at[i]), int(group[i])) for i in torch.nonzero(dies)[:, 0]}:
            tied = dies & (at == t) & (group == s)
            risk = (weight * torch.exp(eta))[(since < t) & (t <= at) & (group == s)].sum()
            tied_risk = (weight * torch.exp(eta))[tied].sum()
            total = total - (weight * eta)[tied].sum()
            d = int(tied.sum())
            for r in range(d):
                share = r / d if objective.ties == "efron" else 0
                total = total + weight[tied].mean() * torch.log(risk - share * tied_risk)
        return total + 0 * eta.sum()

    return loss, w[event].sum(), torch.zeros(1, dtype=torch.float64)


OBJECTIVES = {"Classification": _classification, "Regression": _regression, "Cox": _cox}


def row_batches(n_samples, size, n_steps, seed):
    """Return the rows of each step, as the engine orders them: a new permutation an epoch."""
    if size is None or size >= n_samples:
        return [torch.arange(n_samples)] * n_steps
    generator = torch.Generator().manual_seed(seed)
    batches = []
    while len(batches) < n_steps:
        batches += torch.randperm(n_samples, generator=generator).split(size)
    return batches[:n_steps]


def problem(kind, n_samples=24, n_features=5, seed=0):
    """Return X and a y of the kind an objective reads, both raw."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)) * [1, 2, 0.5, 1, 3] + [0, 1, 0, -2, 5]
    if kind == "binary":
        return X, (X[:, 0] + rng.normal(size=n_samples) > 0).astype(int)
    if kind == "multiclass":
        return X, np.resize([0, 1, 2], n_samples)
    if kind == "regression":
        return X, X[:, 0] + rng.normal(size=n_samples)
    if kind == "multioutput":
        return X, np.stack([X[:, 0], X[:, 1] + rng.normal(size=n_samples)], axis=1)
    time = np.ceil(3 * rng.exponential(np.exp(-0.5 * X[:, 0])))  # whole numbers: many ties
    event = rng.random(n_samples) < 0.7
    if kind == "survival":
        return X, survival_target(event, time)
    late = rng.random(n_samples) < 0.4  # and strata of unequal size: a batch must hold rows to compare
    entry = np.where(late, np.minimum(np.floor(time * rng.random(n_samples)), time - 1), -1)
    return X, survival_target(event, time, entry, rng.random(n_samples) < 0.25)
