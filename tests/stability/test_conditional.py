"""P-values against conditional shadows."""

import numpy as np
import pytest
import torch
from scipy import sparse

from choices import read_problem
from problems import normal_columns
from stochgate import GatedClassifier, GatedCox, GatedRegressor, Training, survival_target
from stochgate.datasets import make_noise
from stochgate.objectives import Cox
from stochgate.stability.conditional import _shuffle_within, conditional_p_values
from stochgate.stability.halves import complementary_pairs


def p_values(model, X, y, candidates=None, seed=0, lam=0.3, **how):
    """Return the p-values of features, by models on four pairs of halves."""
    model.set_params(network="linear", random_state=0)
    if model.training is None:
        model.set_params(training=Training(n_steps=100, n_snapshots=2))
    problem = read_problem(model, X, y)
    halves = complementary_pairs(X.shape[0], 4, seed=0)
    candidates = np.ones(problem.design.n_gates, dtype=bool) if candidates is None else candidates
    return conditional_p_values(problem, lam, 100, halves, candidates, seed, **how)


def correlated(shift=0.0, seed=0):
    """Return X and y: columns 0 and 5 are real, column 1 correlates by 0.9 with column 0."""
    X = normal_columns(300, 12, seed)
    X[:, 1] = 0.9 * X[:, 0] + np.sqrt(1 - 0.9**2) * X[:, 1]
    y = X[:, 0] + X[:, 5] + normal_columns(300, 1, seed + 50)[:, 0]
    return X + shift, y


@pytest.mark.parametrize(
    ("estimator_class", "kind"),
    [(GatedClassifier, "classification"), (GatedRegressor, "regression"), (GatedCox, "survival")],
)
def test_noise_has_no_small_p_values(estimator_class, kind):
    problem = make_noise(200, 30, kind=kind, random_state=0)
    p = p_values(estimator_class(), problem.X, problem.y, lam=0.0)
    assert p.min() > 0.05 / 30
    assert (p < 0.1).mean() < 0.25
    assert 0.3 < p.mean() < 0.9


@pytest.mark.parametrize("seed", range(3))
def test_a_stand_in_tells_nothing_and_real_features_do(seed):
    X, y = correlated(seed=seed)
    p = p_values(GatedRegressor(), X, y)
    assert p[[0, 5]].max() < 1e-6
    assert p[1] > 0.05
    without = p_values(GatedRegressor(), np.delete(X, 0, axis=1), y)
    assert without[0] < 1e-6  # where the real one is not there, the stand-in tells of it


def test_permuted_columns_tell_only_that_the_models_use_a_copy():
    X, y = correlated()
    X[:, 1] = X[:, 0]
    conditional, permuted = (
        p_values(GatedRegressor(), X, y, given_others=given) for given in (True, False)
    )
    assert conditional[[0, 1]].min() > 0.05
    assert permuted[[0, 1, 5]].max() < 1e-6
    uncorrelated = slice(6, None)
    assert permuted[uncorrelated].min() > 1e-3


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["sparse", "raw"])
def test_columns_far_from_0_are_correlated_all_the_same(kind, seed):
    X, y = correlated(shift=5.0, seed=seed)
    X = sparse.csr_array(X) if kind == "sparse" else X
    training = Training(n_steps=100, n_snapshots=2, standardize=kind == "sparse")
    p = p_values(GatedRegressor(training=training), X, y, lam=0.0)
    assert p[[0, 5]].max() < 1e-3
    assert p[1] > 0.05


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(3))
def test_a_column_that_the_others_give_exactly_tells_nothing(seed, dtype):
    X, y = correlated(seed=seed)
    X[:, 8] = X[:, 9] = X[:, 5]  # the others depend on each other
    X[:, 10] = X[:, 0] + 0.5 * X[:, 5] - X[:, 3]
    training = Training(n_steps=100, n_snapshots=2, dtype=dtype)
    p = p_values(GatedRegressor(training=training), X, y)
    assert p[[5, 8, 9, 10]].min() > 0.3  # rounding stands out from nothing


def test_only_candidates_that_are_open_are_asked():
    X, y = correlated()
    candidates = np.arange(12) == 5
    p = p_values(GatedRegressor(), X, y, candidates)
    assert p[5] < 1e-6
    assert (p[~candidates] == 1).all()
    assert (p_values(GatedRegressor(), X, y, np.zeros(12, dtype=bool)) == 1).all()
    closing = GatedRegressor(training=Training(n_steps=100, gate_lr=0.02))
    assert (p_values(closing, X, y, lam=1e3) == 1).all()


def test_a_group_is_one_gate():
    X, y = correlated()
    p = p_values(GatedRegressor(feature_groups={"pair": [0, 1]}), X, y)
    assert p.shape == (11,)
    assert p[0] < 1e-6


def test_the_seed_draws_the_shadows():
    X, y = correlated()
    first, second, other = (p_values(GatedRegressor(), X, y, seed=seed, lam=0.0) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    assert not np.allclose(first, other)


def test_shadows_stay_within_the_stratum():
    y = survival_target(np.ones(60), np.arange(60), strata=np.arange(60) % 3)
    objective = Cox()
    peers = objective.peers(objective.encode(y).rows)
    assert peers.tolist() == [0, 1, 2] * 20
    order = _shuffle_within(peers, torch.Generator().manual_seed(0))
    assert torch.equal(order.sort().values, torch.arange(60))
    assert torch.equal(peers[order], peers)
    assert not torch.equal(order, torch.arange(60))
    order = _shuffle_within(torch.zeros(60), torch.Generator().manual_seed(0))
    assert torch.equal(order, torch.randperm(60, generator=torch.Generator().manual_seed(0)))


def test_a_column_that_only_tells_the_stratum_tells_nothing():
    p = []
    for seed in range(4, 10):
        problem = make_noise(200, 5, kind="survival", random_state=seed)
        stratum = np.random.default_rng(seed).integers(2, size=200)
        X = problem.X + 3 * stratum[:, None] * np.eye(5)[0]
        y = survival_target(problem.y["event"], problem.y["time"], strata=stratum)
        training = Training(n_steps=400, n_snapshots=2)
        p.append(p_values(GatedCox(training=training), X, y, np.arange(5) == 0, lam=0.0)[0])
    assert np.mean(p) > 0.4
