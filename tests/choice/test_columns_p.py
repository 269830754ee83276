"""The test of all columns: its p-value is exact on noise, and small where columns tell something."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import sparse

from choices import read_problem
from problems import ESTIMATORS, make_problem, normal_columns, three_classes
from stochgate import GatedClassifier, GatedCox, GatedRegressor, Training, survival_target
from stochgate.choice import signal
from stochgate.choice.bank import Bank
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.signal import columns_p
from stochgate.objectives import Cox


@pytest.fixture
def quick(monkeypatch):
    """Deal residuals 99 times only."""
    monkeypatch.setattr(signal, "DEFAULTS", replace(DEFAULTS, n_permutations=(99, 99)))


def problem_of(estimator_class, X, y, sample_weight=None, dtype="float64", **parameters):
    """Return what the automatic choice trains the linear network with."""
    model = estimator_class(network="linear", training=Training(dtype=dtype), random_state=0, **parameters)
    return read_problem(model, X, y, sample_weight)


def p_of(problem, seed=0, groups=None):
    return columns_p(problem, Bank(problem.design), seed, groups)


# ---- what it finds


def ring(n_samples=200, n_features=20, seed=0):
    """Return X and whether columns 0 and 1 are far from the middle: no line tells that."""
    X = normal_columns(n_samples, n_features, seed)
    radius = np.hypot(X[:, 0], X[:, 1])
    return X, (radius > np.median(radius)).astype(int)


def weak_effects(n_samples=150, n_features=60, effect=0.08, seed=0):
    """Return X and a y that every column adds a little to."""
    X = normal_columns(n_samples, n_features, seed)
    return X, effect * X.sum(axis=1) + normal_columns(n_samples, 1, seed + 100)[:, 0]


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_line_is_found(estimator_class):
    X, y = make_problem(estimator_class)
    assert p_of(problem_of(estimator_class, X, y)) <= DEFAULTS.clear_level
    assert p_of(problem_of(estimator_class, X[:, 2:], y)) > 0.05


def test_a_ring_is_found_by_curves_alone():
    X, y = ring()
    assert p_of(problem_of(GatedClassifier, X, y)) <= DEFAULTS.clear_level
    as_lines = problem_of(GatedClassifier, sparse.csr_array(X), y)  # sparse columns have no curves
    assert p_of(as_lines) > 0.05


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_many_weak_effects_are_found(dtype):
    found = [p_of(problem_of(GatedRegressor, *weak_effects(seed=seed), dtype=dtype)) for seed in range(6)]
    assert max(found) <= 0.05


def test_one_strong_column_among_many_is_found():
    X = normal_columns(100, 500)
    y = X[:, 7] + normal_columns(100, 1, seed=1)[:, 0]
    assert p_of(problem_of(GatedRegressor, X, y)) <= DEFAULTS.clear_level


def test_an_effect_on_one_of_three_classes_is_found():
    X, y = three_classes()
    assert p_of(problem_of(GatedClassifier, X, y)) <= DEFAULTS.clear_level
    assert p_of(problem_of(GatedClassifier, X[:, 1:], y)) > 0.05


def test_the_unit_of_a_column_does_not_matter(quick):
    X, y = make_problem(GatedRegressor, n_samples=60)
    units = np.array([1e-4, 1, 1e5, 1e5, 1, 1])  # columns 2 and 3, which say nothing, have large numbers
    assert p_of(problem_of(GatedRegressor, X * units + 7 * units, y)) == 0.01


def test_constant_columns_say_nothing(quick):
    X, y = make_problem(GatedRegressor, n_samples=60)
    X[:, 2] = 3
    assert p_of(problem_of(GatedRegressor, X, y)) == 0.01
    assert p_of(problem_of(GatedRegressor, np.full((60, 2), 3.0), y)) == 1


# ---- on noise


def noise_of(kind, seed):
    """Return an estimator, X, y and groups that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    X, groups, estimator_class = rng.normal(size=(50, 10)), None, GatedRegressor
    y = rng.normal(size=50)
    if kind == "alike columns":
        X = X[:, :2].repeat(5, axis=1) + 0.1 * X
    elif kind == "heavy tails":
        X, y = rng.standard_t(2, size=(50, 10)), rng.standard_t(2, size=50)
    elif kind == "rare class":
        estimator_class, y = GatedClassifier, rng.permutation(np.repeat([0, 1, 2], [30, 14, 6]))
    elif kind == "censored":
        times = rng.exponential(size=50).round(1) + 0.1  # with ties
        estimator_class, y = GatedCox, survival_target(np.arange(50) < 10, times)
    elif kind == "strata":
        strata = np.arange(50) % 3  # which differ in X and in time
        X[:, 0] += 5 * strata
        times = rng.exponential(np.exp(strata))
        estimator_class, y = GatedCox, survival_target(rng.random(50) < 0.7, times, strata=strata)
    elif kind == "groups":
        groups = np.repeat(np.arange(50), rng.integers(1, 5, size=50))
        X, y = X[groups] + 0.3 * rng.normal(size=(len(groups), 10)), y[groups]
    return estimator_class, X, y, groups


KINDS = ("normal", "alike columns", "heavy tails", "rare class", "censored", "strata", "groups")


@pytest.mark.parametrize("kind", KINDS)
def test_p_of_noise_is_uniform(kind, quick):
    found = []
    for seed in range(150):
        estimator_class, X, y, groups = noise_of(kind, seed)
        found.append(p_of(problem_of(estimator_class, X, y), seed, groups))
    for level in (0.05, 0.2, 0.5):
        error = np.sqrt(level * (1 - level) / 150)
        assert abs(np.mean(np.array(found) <= level) - level) < 3.5 * error


def test_p_of_noise_with_weights_is_uniform(quick):
    found = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        X, y, weights = rng.normal(size=(50, 10)), rng.normal(size=50), rng.exponential(size=50)
        found.append(p_of(problem_of(GatedRegressor, X, y, weights), seed))
    assert abs(np.mean(np.array(found) <= 0.2) - 0.2) < 0.11


def test_ties_never_make_p_too_small():
    """Of 8 rows in two halves, 2 of 70 ways to deal them tell as much: p is not below 2/70."""
    halves = np.repeat([0.0, 1.0], 4)
    problem = problem_of(GatedRegressor, halves[:, None], halves, dtype="float32")
    assert min(p_of(problem, seed) for seed in range(5)) > 0.015


def test_the_answer_is_that_of_the_seed(quick):
    _, X, y, _ = noise_of("normal", 1)
    problem = problem_of(GatedRegressor, X, y)
    answers = [p_of(problem, seed) for seed in range(10)]
    assert answers == [p_of(problem, seed) for seed in range(10)]
    assert len(set(answers)) > 1


# ---- kept features


def test_what_a_kept_column_tells_is_no_signal_of_the_others(quick):
    small = []
    for seed in range(40):
        X = normal_columns(60, 8, seed)
        X[:, 1] += X[:, 0]
        y = 3 * X[:, 0] + normal_columns(60, 1, seed + 100)[:, 0]
        small.append(p_of(problem_of(GatedRegressor, X, y, always_keep=[0]), seed) <= 0.2)
        assert p_of(problem_of(GatedRegressor, X, y), seed) == 0.01
    assert np.mean(small) < 0.45  # 0.2, with a standard error of 0.06


def test_an_effect_beside_a_kept_column_is_found():
    X = normal_columns(200, 40)
    y = 3 * X[:, 0] + X[:, 5] + normal_columns(200, 1, 100)[:, 0]
    assert p_of(problem_of(GatedRegressor, X, y, always_keep=[0])) <= DEFAULTS.clear_level


# ---- strata


def two_strata(effect, n_samples=100):
    """Return X whose column 0 differs between two strata, of unlike hazards, and a y with strata.

    Within a stratum the hazard grows with column 0 by the effect.
    """
    rng = np.random.default_rng(0)
    stratum, z = np.arange(n_samples) % 2, rng.normal(size=n_samples)
    time = rng.exponential(np.exp(-effect * z - 2 * stratum))
    X = np.column_stack([10 * stratum + z, rng.normal(size=n_samples)])
    return X, np.ones(n_samples, dtype=bool), time, stratum


def test_a_difference_between_strata_is_no_effect():
    X, event, time, stratum = two_strata(effect=0)
    assert p_of(problem_of(GatedCox, X, survival_target(event, time))) <= DEFAULTS.clear_level
    assert p_of(problem_of(GatedCox, X, survival_target(event, time, strata=stratum))) > 0.05


def test_an_effect_within_strata_is_found_since_residuals_stay_within(monkeypatch):
    X, event, time, stratum = two_strata(effect=0.7)
    problem = problem_of(GatedCox, X[:, :1], survival_target(event, time, strata=stratum))
    assert p_of(problem) <= DEFAULTS.clear_level
    # dealt among all rows, residuals would meet the strata's difference in X, which is far larger as a line
    monkeypatch.setattr(Bank, "has_curves", False)
    assert p_of(problem) <= DEFAULTS.clear_level
    monkeypatch.setattr(Cox, "peers", lambda self, rows: torch.zeros_like(rows["stratum"]))
    assert p_of(problem) > 0.05


def test_rows_are_exchanged_within_their_set_and_evenly():
    peers = np.array([2, 0, 1, 0, 2, 2, 0])
    rng = np.random.RandomState(0)
    orders = np.array([signal._deal(peers, rng) for _ in range(600)])
    assert (peers[orders] == peers).all()
    assert (np.sort(orders, axis=1) == np.arange(7)).all()
    for row in (0, 1, 2):
        _, counts = np.unique(orders[:, row], return_counts=True)
        n = (peers == peers[row]).sum()
        assert len(counts) == n
        assert np.abs(counts / 600 - 1 / n).max() < 0.08  # 4 standard errors


# ---- weights


def test_a_row_of_weight_0_is_not_there(quick):
    X, y = make_problem(GatedRegressor, n_samples=60)
    X, y = X[:, 2:], y.copy()
    outlier = X.copy()
    outlier[0], y[0] = 1e3, 1e3  # alone it would make an effect
    weights = np.where(np.arange(60) == 0, 0.0, 1.0)
    assert p_of(problem_of(GatedRegressor, outlier, y)) <= 0.05
    assert p_of(problem_of(GatedRegressor, outlier, y, weights)) > 0.05


# ---- groups of rows


def rows_of_groups(effect, n_groups=40, size=8, seed=0):
    """Return X, y and groups: rows of a group are alike in X, and have one y."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(n_groups, 10))
    y = effect * means[:, 0] + rng.normal(size=n_groups)
    groups = rng.permutation(np.repeat(np.arange(n_groups), size))
    return means[groups] + 0.3 * rng.normal(size=(len(groups), 10)), y[groups], groups


def test_rows_of_a_group_do_not_count_as_many(quick):
    apart, together = [], []
    for seed in range(20):
        X, y, groups = rows_of_groups(0.0, seed=seed)
        problem = problem_of(GatedRegressor, X, y)
        apart.append(p_of(problem) <= 0.05)
        together.append(p_of(problem, groups=groups) <= 0.05)
    assert sum(apart) > 10  # repeated rows look like evidence
    assert sum(together) <= 3


def test_an_effect_between_groups_is_found():
    X, y, groups = rows_of_groups(3.0)
    assert p_of(problem_of(GatedRegressor, X, y), groups=groups) <= DEFAULTS.clear_level


def test_groups_of_one_row_change_nothing(quick):
    for seed in range(6):
        X, y = weak_effects(effect=0.03, seed=seed)
        problem = problem_of(GatedRegressor, X, y)
        assert p_of(problem) == p_of(problem, groups=np.arange(len(y)))


def test_groups_across_strata_are_not_asked():
    X, y = make_problem(GatedCox)
    target = survival_target(y[:, 0], y[:, 1], strata=np.arange(len(y)) % 2)
    problem = problem_of(GatedCox, X, target)
    assert p_of(problem) <= DEFAULTS.clear_level
    assert p_of(problem, groups=np.arange(len(y)) // 2) is None


# ---- sparse columns


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sparse_columns_tell_as_lines_what_dense_ones_do(dtype, quick, monkeypatch):
    monkeypatch.setattr(Bank, "has_curves", False)
    answers = []
    for seed in range(30):
        _, X, y, _ = noise_of("normal", seed)
        X = np.where(np.abs(X) < 0.7, 0, X + 1)  # not centred: the residuals are
        dense, thin = (
            p_of(problem_of(GatedRegressor, kind(X), y, dtype=dtype), seed)
            for kind in (np.asarray, sparse.csr_array)
        )
        assert dense == pytest.approx(thin, abs=0.011)
        answers.append(dense)
    assert 5 <= np.sum(np.array(answers) < 0.5) <= 25
