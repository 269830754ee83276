"""DFS and SG-NN equal plain loops of gradient descent on their formulas, and keep what they select."""

import numpy as np
import pytest
import torch
from sklearn.utils import check_random_state

from experiments.baselines import DFSSelector, SparseGroupSelector
from experiments.baselines.dfs import FreeWeight
from experiments.baselines.sgnn import SparseGroupMLP
from stochgate.gates import Gate
from stochgate.networks import MLP

SETTINGS = {"hidden": (4, 3), "lr": 0.2, "n_epochs": 20, "device": "cpu", "random_state": 0}


def problem(n_samples=40, n_features=6):
    rng = np.random.default_rng(0)
    X = 2 + 3 * rng.normal(size=(n_samples, n_features))
    return X, X[:, 1] * X[:, 2] + rng.normal(size=n_samples)


def descend(X, y, penalty, *, train_weights, n_steps=20, lr=0.2):
    """Return the features' weights and the first layer's after gradient descent, written out."""
    X = torch.tensor((X - X.mean(axis=0)) / X.std(axis=0))
    y = torch.tensor((y - y.mean()) / y.std())
    seed = torch.tensor([check_random_state(0).randint(2**31 - 1)])
    theta = MLP((4, 3), "tanh", init_std=0.1).initial(seed, X.shape[1], torch.zeros(1, 1), intercept=True)
    theta = {name: p[0].double().requires_grad_() for name, p in theta.items()}
    w = torch.ones(X.shape[1], dtype=torch.float64, requires_grad=train_weights)
    learned = [*theta.values(), *([w] if train_weights else [])]
    for _ in range(n_steps):
        h = X * w
        for layer in range(3):
            h = h @ theta[f"weight_{layer}"].T + theta[f"bias_{layer}"]
            h = h.tanh() if layer < 2 else h
        loss = ((h[:, 0] - y) ** 2).mean() + penalty(w, theta["weight_0"])
        with torch.no_grad():
            for p, grad in zip(learned, torch.autograd.grad(loss, learned), strict=True):
                p -= lr * grad
    return w.detach().numpy(), theta["weight_0"].detach().numpy()


def test_dfs_equals_descent_on_its_formula():
    X, y = problem()
    lams = (0.0, 0.01, 0.5)
    found = DFSSelector("regression", lams=lams, **SETTINGS).path(X, y)
    for lam, point in zip(lams, found, strict=True):
        expected, _ = descend(X, y, lambda w, first, lam=lam: lam * w.abs().sum(), train_weights=True)
        np.testing.assert_allclose(point.weight_sums_, expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(point.feature_importances_, np.abs(expected), rtol=1e-4, atol=1e-5)
    assert (found[2].weight_sums_ < 0).any()  # a weight passes through 0


def test_sgnn_equals_descent_on_its_formula():
    X, y = problem()
    for lam, alpha in ((0.0, 1.0), (0.003, 1.0), (0.003, 5.0)):

        def penalty(w, first, lam=lam, alpha=alpha):
            groups = sum(first[:, d].square().sum().sqrt() for d in range(6))
            return lam * (2 * groups + alpha * first.abs().sum())

        _, first = descend(X, y, penalty, train_weights=False)
        found = SparseGroupSelector("regression", lams=[lam], alpha=alpha, **SETTINGS).fit(X, y)
        np.testing.assert_allclose(found.weight_sums_, first.sum(axis=0), rtol=1e-4, atol=1e-5)
        norms = np.sqrt((first**2).sum(axis=0))
        np.testing.assert_allclose(found.feature_importances_, norms, rtol=1e-4, atol=1e-5)


def test_the_slopes_of_a_free_weight_are_those_of_autograd():
    w = torch.tensor([[-1.5, -0.1, 0.3, 2.0]])
    gate, noise = FreeWeight(), torch.zeros(1, 4)
    assert torch.equal(gate.noise(torch.rand(1, 4)), noise)
    assert torch.equal(gate.sample_slope(w, noise), Gate.sample_slope(gate, w, noise))
    assert torch.equal(gate.probability_slope(w), Gate.probability_slope(gate, w))
    assert torch.equal(gate.value(w), gate.sample(w, noise))


def test_the_penalty_of_each_network_is_its_own():
    weight = torch.tensor(
        [[[3.0, 0.0], [4.0, 0.0]], [[0.0, 0.0], [0.0, -1.0]]]
    )  # 2 models, units, features
    found = SparseGroupMLP((2,), lam=0.1, alpha=10.0).penalty({"weight_0": weight})
    np.testing.assert_allclose(found, [0.1 * (2**0.5 * 5 + 70), 0.1 * (2**0.5 + 10)], rtol=1e-6)


@pytest.mark.parametrize("baseline", [DFSSelector, SparseGroupSelector])
def test_features_are_selected_above_one_percent_of_the_largest(baseline):
    X, y = problem()
    X[:, 4] = 7.0  # constant
    model = baseline("regression", lams=[0.03], **{**SETTINGS, "n_epochs": 300}).fit(X, y)
    strength = model.feature_importances_
    np.testing.assert_array_equal(model.get_support(), strength > 0.01 * strength.max())
    assert strength[4] == model.weight_sums_[4] == 0
    assert 0 < model.get_support().sum() < 6
