"""The global test: whether all columns together have anything to do with y."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import sparse
from scipy.stats import norm

from choices import read_problem
from problems import ESTIMATORS, make_problem, normal_columns, three_classes
from stochgate import GatedClassifier, GatedCox, GatedRegressor, Training, survival_target
from stochgate.choice import global_test
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.global_test import global_p
from stochgate.choice.residuals import correlation_z
from stochgate.objectives import Cox


def problem_of(estimator_class, X, y, sample_weight=None, dtype="float64", **parameters):
    """Return what the automatic choice trains the linear network with."""
    model = estimator_class(network="linear", training=Training(dtype=dtype), random_state=0, **parameters)
    return read_problem(model, X, y, sample_weight)


def weak_effects(n_samples=150, n_features=60, effect=0.08, seed=0):
    """Return X and a y that every column adds a little to."""
    X = normal_columns(n_samples, n_features, seed)
    return X, effect * X.sum(axis=1) + normal_columns(n_samples, 1, seed + 100)[:, 0]


def columns_tell(*args, **kwargs):
    """Return whether noise tells so much at most once in 100 times, or once in 20 where few are dealt."""
    return global_p(*args, **kwargs) <= (0.01 if global_test.DEFAULTS.n_permutations > 99 else 0.05)


@pytest.fixture
def quick(monkeypatch):
    """Deal residuals 99 times only."""
    monkeypatch.setattr(global_test, "DEFAULTS", replace(DEFAULTS, n_permutations=99))


# ---- what it finds


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_many_weak_effects_are_found_that_no_column_shows(dtype):
    found, shown = [], []
    for seed in range(12):
        X, y = weak_effects(seed=seed)
        problem = problem_of(GatedRegressor, X, y, dtype=dtype)
        found.append(columns_tell(problem, seed=0))
        residual, in_one_fold = torch.tensor(y - y.mean())[:, None], np.zeros((1, 150), dtype=np.int8)
        z = correlation_z(problem, residual, np.zeros(60, dtype=bool), in_one_fold)
        shown.append(z.max() > norm.isf(0.01 / 2 / 60))  # as a second look asks of one of 60 columns
    assert sum(shown) <= 6
    assert all(found)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_strong_effect_is_found(estimator_class):
    X, y = make_problem(estimator_class)
    assert columns_tell(problem_of(estimator_class, X, y), seed=0)
    assert not columns_tell(problem_of(estimator_class, X[:, 2:], y), seed=0)


def test_an_effect_on_one_of_three_classes_is_found():
    X, y = three_classes()
    assert columns_tell(problem_of(GatedClassifier, X, y), seed=0)
    assert not columns_tell(problem_of(GatedClassifier, X[:, 1:], y), seed=0)


def test_the_unit_of_a_column_does_not_matter(quick):
    X, y = make_problem(GatedRegressor, n_samples=60)
    units = np.array([1e-4, 1, 1e5, 1e5, 1, 1])  # columns 2 and 3, which say nothing, have large numbers
    assert columns_tell(problem_of(GatedRegressor, X * units + 7 * units, y), seed=0)


def test_a_constant_column_says_nothing(quick):
    X, y = make_problem(GatedRegressor, n_samples=60)
    X[:, 2] = 3
    assert columns_tell(problem_of(GatedRegressor, X, y), seed=0)
    alone = problem_of(GatedRegressor, np.full((60, 1), 3.0), y)
    assert not columns_tell(alone, seed=0)


# ---- how often it errs


def noise_for(estimator_class, seed):
    """Return 50 rows of noise in 10 columns and a y of the kind that the estimator folds from."""
    rng = np.random.default_rng(seed)
    y = {
        GatedRegressor: rng.exponential(size=50),
        GatedClassifier: (rng.random(50) < 0.3).astype(int),
        GatedCox: np.column_stack([rng.random(50) < 0.6, rng.exponential(size=50)]),
    }
    return rng.normal(size=(50, 10)), y[estimator_class]


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_noise_passes_as_often_as_the_level_says(estimator_class, quick):
    found = [
        columns_tell(problem_of(estimator_class, *noise_for(estimator_class, seed)), seed)
        for seed in range(200)
    ]
    assert 0.01 <= np.mean(found) <= 0.1  # 0.05, with a standard error of 0.015


def test_columns_that_depend_on_each_other_do_not_raise_the_error(quick):
    found = []
    for seed in range(200):
        X, y = noise_for(GatedRegressor, seed)
        found.append(columns_tell(problem_of(GatedRegressor, X[:, :2].repeat(5, axis=1), y), seed))
    assert 0.01 <= np.mean(found) <= 0.1


def test_the_level_is_kept_exactly_on_ties():
    """Of 8 rows in two halves, 2 of 70 ways to deal them tell as much: no level below 2/70 is reached."""
    halves = np.repeat([0.0, 1.0], 4)
    problem = problem_of(GatedRegressor, halves[:, None], halves, dtype="float32")
    assert not any(columns_tell(problem, seed) for seed in range(5))


def test_the_answer_is_that_of_the_seed(monkeypatch):
    monkeypatch.setattr(global_test, "DEFAULTS", replace(DEFAULTS, n_permutations=9))
    problem = problem_of(GatedRegressor, *noise_for(GatedRegressor, 1))
    answers = [global_p(problem, seed) for seed in range(30)]
    assert answers == [global_p(problem, seed) for seed in range(30)]
    assert len(set(answers)) > 1


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
    assert columns_tell(problem_of(GatedCox, X, survival_target(event, time)), seed=0)
    stratified = problem_of(GatedCox, X, survival_target(event, time, strata=stratum))
    assert not columns_tell(stratified, seed=0)


def test_an_effect_within_strata_is_found_since_residuals_stay_within(monkeypatch):
    X, event, time, stratum = two_strata(effect=0.7)
    problem = problem_of(GatedCox, X[:, :1], survival_target(event, time, strata=stratum))
    assert columns_tell(problem, seed=0)
    # dealt among all rows, residuals would meet the strata's difference in X, which is far larger
    monkeypatch.setattr(Cox, "peers", lambda self, rows: torch.zeros_like(rows["stratum"]))
    assert not columns_tell(problem, seed=0)


def test_rows_are_exchanged_within_their_set_and_evenly():
    peers = np.array([2, 0, 1, 0, 2, 2, 0])
    rng = np.random.RandomState(0)
    orders = np.array([global_test._deal(peers, rng) for _ in range(600)])
    assert (peers[orders] == peers).all()
    assert (np.sort(orders, axis=1) == np.arange(7)).all()
    for row in (0, 1, 2):
        _, counts = np.unique(orders[:, row], return_counts=True)
        n = (peers == peers[row]).sum()
        assert len(counts) == n
        assert np.abs(counts / 600 - 1 / n).max() < 0.08  # 4 standard errors


# ---- what it reads


def test_many_rows_are_not_tested(monkeypatch):
    X, y = make_problem(GatedRegressor, n_samples=60)
    problem = problem_of(GatedRegressor, X, y)
    monkeypatch.setattr(global_test, "DEFAULTS", replace(DEFAULTS, most_tested_rows=60))
    assert columns_tell(problem, seed=0)
    monkeypatch.setattr(global_test, "DEFAULTS", replace(DEFAULTS, most_tested_rows=59))
    assert global_p(problem, seed=0) is None


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sparse_columns_tell_what_dense_ones_do(dtype, quick):
    answers = []
    for seed in range(30):
        X, y = noise_for(GatedRegressor, seed)
        X = np.where(np.abs(X) < 0.7, 0, X + 1)  # not centred: the residuals are
        dense, thin = (
            global_p(problem_of(GatedRegressor, kind(X), y, dtype=dtype), seed=seed)
            for kind in (np.asarray, sparse.csr_array)
        )
        assert dense == thin
        answers.append(dense)
    assert 5 <= np.sum(np.array(answers) < 0.5) <= 25


def test_a_row_of_weight_0_is_not_there(quick):
    X, y = make_problem(GatedRegressor, n_samples=60)
    X, y = X[:, 2:], y.copy()
    outlier = X.copy()
    outlier[0], y[0] = 1e3, 1e3  # alone it would make an effect
    weights = np.where(np.arange(60) == 0, 0.0, 1.0)
    assert columns_tell(problem_of(GatedRegressor, outlier, y), seed=0)
    assert not columns_tell(problem_of(GatedRegressor, outlier, y, weights), seed=0)


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
        apart.append(columns_tell(problem, seed=0))
        together.append(columns_tell(problem, seed=0, groups=groups))
    assert sum(apart) > 10  # repeated rows look like evidence
    assert sum(together) <= 3


def test_an_effect_between_groups_is_found():
    X, y, groups = rows_of_groups(3.0)
    assert columns_tell(problem_of(GatedRegressor, X, y), seed=0, groups=groups)


def test_groups_of_one_row_change_nothing(quick):
    for seed in range(6):
        X, y = weak_effects(effect=0.03, seed=seed)
        problem = problem_of(GatedRegressor, X, y)
        assert global_p(problem, 0) == global_p(problem, 0, groups=np.arange(len(y)))


def test_groups_across_strata_are_not_tested():
    X, y = make_problem(GatedCox)
    target = survival_target(y[:, 0], y[:, 1], strata=np.arange(len(y)) % 2)
    problem = problem_of(GatedCox, X, target)
    assert columns_tell(problem, seed=0)
    assert global_p(problem, seed=0, groups=np.arange(len(y)) // 2) is None
