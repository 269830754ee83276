"""What is offered to a network that takes few of many features."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.linear_model import LinearRegression

from stochgate import GatedRegressor, Training
from stochgate.choice.bank import Bank
from stochgate.choice.comparison import start_comparison
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.folds import make_folds
from stochgate.choice.sets.path import train_each_path
from stochgate.choice.sets.promising import marginal_strength, n_offered, promising, takes_few
from stochgate.networks import MLP, EncodedMLP


def problem_of(X, y, seen_by=None, **fit):
    model = GatedRegressor(training=Training(n_steps=20, dtype="float64"), random_state=0, **fit)
    model._validate_params()
    problem, _ = model._make_problem(X, y, None, None)
    return problem if seen_by is None else problem.seen_by(seen_by)


def plain_bank(problem):
    """Return the bank of the columns as a network takes them that does not encode features."""
    return Bank(problem.seen_by(MLP()).design)


def offered(problem, folds, paths=(), pairs=False):
    return promising(problem, plain_bank(problem), folds, paths, pairs)


def test_what_a_gate_tells_is_what_its_columns_curves_explain():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 6)), rng.normal(size=150)
    problem = problem_of(X, y, feature_groups=[0, 0, 1, 2, 2, 2])
    folds = make_folds(3, np.zeros(150), seed=0)[:3]
    bank = Bank(problem.design)
    told = marginal_strength(problem, bank, folds)
    for fold, found in zip(folds, told, strict=True):
        learns = fold == 1
        scores = []
        for columns in ([0, 1], [2], [3, 4, 5]):  # a gate is worth the mean of its columns
            of_column = []
            for column in columns:
                x = bank.curves(torch.tensor([column]))[:, 0].numpy()[learns]
                of_column.append(LinearRegression().fit(x, y[learns]).score(x, y[learns]))
            scores.append(np.mean(of_column))
        np.testing.assert_allclose(found / found.max(), np.array(scores) / max(scores), atol=0.12)
        assert found.argmax() == np.argmax(scores)


def test_a_sparse_column_is_asked_as_a_line():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((600, 5)) < 0.5, 0, rng.normal(size=(600, 5)))
    y = X[:, 0] ** 2 + X[:, 1]
    folds = make_folds(3, np.zeros(600), seed=0)
    dense, thin = (problem_of(kind(X), y) for kind in (np.asarray, sparse.csr_array))
    assert (marginal_strength(dense, Bank(dense.design), folds).argmax(axis=1) == 0).all()
    told = marginal_strength(thin, Bank(thin.design), folds)
    assert (told.argmax(axis=1) == 1).all()


def test_the_rows_a_fold_holds_out_play_no_part():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 200)), rng.normal(size=60)
    folds = make_folds(3, np.zeros(60), seed=0)
    other = np.where(folds[0] == 0, 100.0, y)
    first, second = (offered(problem_of(X, v, EncodedMLP()), folds)[0] for v in (y, other))
    assert np.array_equal(first, second)
    assert first.sum() == DEFAULTS.fewest_offered


@pytest.mark.parametrize(("n_samples", "most"), [(30, 12), (300, 30), (2000, 64)])
def test_a_costly_network_takes_few_of_many_features_and_fewer_of_few_rows(n_samples, most):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n_samples, 2 * most + 1)), rng.normal(size=n_samples)
    assert n_offered(problem_of(X, y, EncodedMLP())) == most
    assert takes_few(problem_of(X, y, EncodedMLP()))
    assert not takes_few(problem_of(X[:, 1:], y, EncodedMLP()))
    assert not takes_few(problem_of(X, y, MLP()))
    assert not takes_few(problem_of(X, y, network="encoded"))  # a single network was asked for


def test_a_ring_and_what_others_have_opened_are_offered():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 200))
    distance = np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5)
    y = ((distance > 0.25) & (distance < 0.45)).astype(float)
    problem, folds = problem_of(X, y, EncodedMLP()), make_folds(5, np.zeros(400), seed=0)
    alone = offered(problem, folds)
    assert alone[:, :2].all()
    missing = np.flatnonzero(~alone.any(axis=0))
    opened = np.zeros((2, *alone.shape), dtype=bool)
    opened[0, :, missing[:3]] = True  # by a penalty that leaves few
    opened[1, :, missing[3:]] = True  # and by one that leaves many
    opened[1, :, :100] = True
    together = offered(problem, folds, [SimpleNamespace(settled=opened)])
    assert together[:, missing[:3]].all()
    assert np.array_equal(together & ~alone, opened[0])


def test_pairs_that_tell_something_together_are_offered_where_asked_for():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 200))
    problem = problem_of(X, np.sign(X[:, 3] * X[:, 7]), EncodedMLP())
    folds = make_folds(5, np.zeros(400), seed=0)
    assert not offered(problem, folds)[:, [3, 7]].all()
    assert offered(problem, folds, pairs=True)[:, [3, 7]].all()


def test_the_path_of_a_costly_network_opens_only_what_it_is_offered():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 150))
    comparison = start_comparison(problem_of(X, X[:, 0]), 3, None)
    costly = comparison.problems["encoded"]
    assert takes_few(costly)
    comparison = replace(comparison, problems={"encoded": costly})
    bank = plain_bank(costly)
    comparison.__dict__["bank"] = bank  # that of the columns as they are
    (path,) = train_each_path(comparison, np.array([0.1]), comparison.first, comparison.networks)
    assert not (path.settled & ~promising(costly, bank, comparison.first)).any()
    assert path.settled.sum(axis=2).max() == DEFAULTS.fewest_offered
