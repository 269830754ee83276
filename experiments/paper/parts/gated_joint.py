"""Joint distributions of gated columns and a target, small enough to be enumerated."""

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import optimize, special


def information(p: np.ndarray) -> np.ndarray:
    """Return the mutual information of joint distributions, shape (..., n_x, n_y)."""
    apart = p.sum(-1, keepdims=True) * p.sum(-2, keepdims=True)
    return special.rel_entr(p, apart).sum((-2, -1))


@dataclass(frozen=True)
class Gated:
    """The joint distribution of the gated columns and Y for every vector of gates.

    Attributes
    ----------
    gates : ndarray of 0 and 1, shape (2^D, D)
    p : ndarray, shape (2^D, n_products, n_y)
        P(X s = w, Y = y) for each vector s and each product w.
    relevant : ndarray of bool, shape (D,)
        S*.
    """

    gates: np.ndarray
    p: np.ndarray
    relevant: np.ndarray

    def chances(self, pi: np.ndarray) -> np.ndarray:
        """Return the probability of each vector of gates, shape (n, 2^D), for pi of shape (n, D)."""
        return np.where(self.gates, pi[:, None], 1 - pi[:, None]).prod(-1)

    def mixtures(self, pi: np.ndarray) -> np.ndarray:
        """Return the joint distributions of X S and Y, shape (n, n_products, n_y)."""
        return np.tensordot(self.chances(pi), self.p, 1)

    def given(self, s: np.ndarray) -> float:
        """Return I(X s; Y) for one vector of gates."""
        return float(information(self.p[(self.gates == s).all(1)][0]))

    def least_unique(self) -> float:
        """Return the least I(X_i; Y | all other columns) over S* (assumption 1)."""
        every = np.ones(len(self.relevant))
        kept = [np.where(np.arange(len(every)) == i, 0, 1) for i in np.flatnonzero(self.relevant)]
        return self.given(every) - max(self.given(s) for s in kept)


def draw_joint(n_features: int, first_value: int, least_size: int, rng: np.random.Generator) -> Gated:
    """Draw a joint distribution that satisfies both assumptions; Y has two values."""
    X = np.array(list(product(*(first_value + np.arange(rng.integers(2, 4)) for _ in range(n_features)))))
    size = rng.integers(least_size, n_features)
    relevant = np.isin(np.arange(n_features), rng.choice(n_features, size, replace=False))
    seen, which = np.unique(X[:, relevant], axis=0, return_inverse=True)
    p_y = rng.dirichlet(np.ones(2), size=len(seen))[which.ravel()]  # Y depends on S* alone
    p_xy = rng.dirichlet(np.ones(len(X)))[:, None] * p_y
    gates = np.array(list(product([0, 1], repeat=n_features)))
    products = (gates[:, None] * X).reshape(-1, n_features)
    seen, which = np.unique(products, axis=0, return_inverse=True)
    p = np.zeros((len(gates), len(seen), 2))
    rows = np.repeat(np.arange(len(gates)), len(X))
    np.add.at(p, (rows, which.ravel()), np.tile(p_xy, (len(gates), 1)))
    found = Gated(gates, p, relevant)
    # so small a difference would make the check of the optimum one of rounding
    return found if found.least_unique() > 1e-3 else draw_joint(n_features, first_value, least_size, rng)


def best_probabilities(
    joint: Gated, k: int, n_starts: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities pi with sum at most k that maximise I(X S; Y), and that information.

    The first is the best of a grid with steps of 1/8, the others are found from random starts.
    """
    n_features = len(joint.relevant)
    grid = np.array(list(product(np.linspace(0, 1, 9), repeat=n_features)))
    grid = grid[grid.sum(1) <= k]
    values = np.concatenate([information(joint.mixtures(part)) for part in np.array_split(grid, 20)])
    candidates = [grid[values.argmax()]]
    for _ in range(n_starts):
        found = optimize.minimize(
            lambda pi: -information(joint.mixtures(np.clip(pi, 0, 1)[None]))[0],
            np.clip(k * rng.dirichlet(np.ones(n_features)), 0.02, 0.98),
            bounds=[(0, 1)] * n_features,
            constraints={"type": "ineq", "fun": lambda pi: k - pi.sum()},
            method="SLSQP",
        )
        pi = np.clip(found.x, 0, 1)
        candidates.append(pi * k / max(k, pi.sum()))  # the constraint holds up to rounding only
    return np.array(candidates), information(joint.mixtures(np.array(candidates)))


def excess_of_models(p: np.ndarray, n_models: int, rng: np.random.Generator) -> np.ndarray:
    """Return how much lower the true P(Y | X S) has its expected -log than random models, near and far."""
    total = p.sum(-1, keepdims=True)
    true = np.divide(p, total, out=np.full_like(p, 0.5), where=total > 0)
    share = 10.0 ** rng.uniform(-2, 0, size=(n_models, 1, 1, 1))
    models = (1 - share) * true + share * rng.dirichlet(np.ones(2), size=(n_models, *p.shape[:-1]))
    return special.xlogy(p, true).sum((-2, -1)) - special.xlogy(p, models).sum((-2, -1))
