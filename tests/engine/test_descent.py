"""Accelerated descent: where linear refits end, and what an early stop is."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from choices import read_problem
from problems import ESTIMATORS, make_problem, normal_columns, three_classes
from stochgate import GatedClassifier, GatedRegressor, Training
from stochgate.choice.sets.refits import plan_refits
from stochgate.engine import OPEN
from stochgate.engine.descent import _largest_eigenvalue
from stochgate.engine.loop import start
from stochgate.engine.record import snapshot_steps


def problem_of(estimator_class, X, y, **training):
    """Return what linear networks are refitted with."""
    training = Training(**{"dtype": "float64", "n_steps": 900, **training})
    model = estimator_class(network="linear", training=training, random_state=0)
    return read_problem(model, X, y)


def refit(problem, weights=None, **changes):
    """Return a refit of all columns, for every row of weights."""
    weights = problem.weights[None] if weights is None else weights
    fixed = torch.full((1, problem.design.n_gates), OPEN, dtype=torch.int8)
    trained, _ = problem.execute(replace(plan_refits(problem, 0, weights, fixed), **changes))
    return trained


def test_a_regression_ends_at_least_squares():
    X, y = make_problem(GatedRegressor)
    X[:, 3] += 0.9 * X[:, 2]
    trained = refit(problem_of(GatedRegressor, X, y))
    fitted = trained.models.predict(problem_of(GatedRegressor, X, y).design)[0, :, 0].numpy()
    A = np.column_stack([X, np.ones(len(X))])
    best = A @ np.linalg.lstsq(A, y, rcond=None)[0]
    np.testing.assert_allclose(fitted * y.std() + y.mean(), best, atol=1e-6)


@pytest.mark.parametrize("problem", [make_problem, three_classes])
def test_a_classification_ends_at_maximum_likelihood(problem):
    X, y = problem() if problem is three_classes else problem(GatedClassifier)
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.25, 1 - y % 2, y)  # not separable
    problem = problem_of(GatedClassifier, X, y)
    theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, y)
    probability = problem.objective.read(refit(problem).models.predict(problem.design), {})[0]
    np.testing.assert_allclose(probability, theirs.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_the_loss_falls_to_where_it_is_flat(estimator_class):
    trained = refit(problem_of(estimator_class, *make_problem(estimator_class)))
    loss = trained.train_loss[:, 0].numpy()
    assert loss[0] > loss[-1]
    assert loss[-1] == pytest.approx(loss.min(), rel=1e-6)


def test_of_many_columns_the_gradient_tells_more_than_adam():
    """50 rows, 2,000 columns, of which 20 share what decides y."""
    rng = np.random.default_rng(0)
    hidden, X = rng.normal(size=80), normal_columns(80, 2000)
    X[:, :20] += hidden[:, None]
    y = (hidden > 0).astype(int)
    problem = problem_of(GatedClassifier, X, y, dtype="float32")
    learns = torch.arange(80) < 50
    judged = {"test_weights": (~learns).float()[None]}
    ours, adam = (
        refit(problem, learns.float()[None], accelerated=accelerated, **judged)
        .shrunk_loss[:, 0, 0]
        .min()
        .item()
        for accelerated in (True, False)
    )
    assert ours < 0.9 * adam


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_models_of_a_stack_stay_apart(estimator_class):
    problem = problem_of(estimator_class, *make_problem(estimator_class))
    weights = torch.stack([problem.weights, problem.weights * (torch.arange(120) < 70)])
    both = refit(problem, weights).models.parameters
    for i in range(2):
        alone = refit(problem, weights[i : i + 1]).models.parameters
        for name, value in alone.items():
            torch.testing.assert_close(both[name][i], value[0], rtol=1e-7, atol=1e-9)


def test_the_largest_eigenvalue_is_found():
    X, y = make_problem(GatedRegressor)
    X[:, 3] += 2 * X[:, 2]
    problem = problem_of(GatedRegressor, X, y)
    fixed = torch.full((1, 6), OPEN, dtype=torch.int8)
    models = start(plan_refits(problem, 0, problem.weights[None], fixed), problem.design, problem.target)
    found = _largest_eigenvalue(models, problem.design, problem.target.rows).item()
    largest = np.linalg.eigvalsh(np.corrcoef(X, rowvar=False))[-1]
    assert 0.97 * largest < found <= largest * (1 + 1e-9)


def test_snapshots_lie_closer_where_steps_count_for_more():
    problem = problem_of(GatedRegressor, *make_problem(GatedRegressor))
    plan = plan_refits(problem, 0, problem.weights[None], torch.full((1, 6), OPEN, dtype=torch.int8))
    steps = sorted(snapshot_steps(plan))
    assert steps[:4] == [1, 2, 3, 4]
    assert steps[-1] == plan.training.n_steps
    assert steps[-1] - steps[-2] > 100


@pytest.mark.parametrize("change", [{"optimizer": "sgd"}, {"batch_size": 50}])
def test_whoever_asks_for_another_way_gets_it(change):
    problem = problem_of(GatedRegressor, *make_problem(GatedRegressor), **change)
    plan = plan_refits(problem, 0, problem.weights[None], torch.full((1, 6), OPEN, dtype=torch.int8))
    assert not plan.accelerated


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@pytest.mark.parametrize("case", ["half", "rare", "raw"])
def test_columns_that_are_not_centred_do_not_diverge(estimator_class, case):
    n_columns, share = {"half": (50, 0.45), "rare": (600, 0.03), "raw": (5, 1.0)}[case]
    X, y = make_problem(estimator_class, n_samples=300)
    drawn = np.random.default_rng(0).random((300, n_columns)) < share
    wide = drawn * 1.0 if case != "raw" else normal_columns(300, 5) + 30
    wide = np.hstack([(X[:, :1] > 0) * 1.0, wide])
    given = wide if case == "raw" else sparse.csr_array(wide)
    loss = refit(problem_of(estimator_class, given, y, standardize=case != "raw")).train_loss[:, 0]
    assert loss.isfinite().all()
    assert loss[-1] <= 1.0001 * loss.min()


def test_a_model_without_an_open_column_stands_still():
    X, y = make_problem(GatedRegressor)
    problem = problem_of(GatedRegressor, X, np.column_stack([y] * 9), dtype="float32")
    plan = plan_refits(problem, 0, problem.weights[None], torch.zeros(1, 6, dtype=torch.int8))
    trained, _ = problem.execute(plan)
    assert trained.train_loss.isfinite().all()
    assert all(p.isfinite().all() for p in trained.models.parameters.values())
