"""What is offered to a network that takes few of many features."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from stochgate import GatedRegressor, Training
from stochgate.choice.folds import make_folds
from stochgate.choice.sets.path import train_each_path
from stochgate.choice.sets.promising import promising, takes_few, told_alone
from stochgate.networks import MLP, EncodedMLP


def problem_of(X, y, seen_by=None, **fit):
    model = GatedRegressor(training=Training(n_steps=20, dtype="float64"), random_state=0, **fit)
    model._validate_params()
    problem, _ = model._make_problem(X, y, None, None)
    return problem if seen_by is None else problem.seen_by(seen_by)


def test_told_alone_is_what_the_columns_of_a_gate_explain():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 6)), rng.normal(size=60)
    problem = problem_of(X, y, feature_groups=[0, 0, 1, 2, 2, 2])
    folds = make_folds(3, np.zeros(60), seed=0)
    told = told_alone(problem, folds)
    for fold, found in zip(folds, told, strict=True):
        learns = fold == 1
        scores = []
        for columns in ([0, 1], [2], [3, 4, 5]):
            x = X[learns][:, columns]
            scores.append(LinearRegression().fit(x, y[learns]).score(x, y[learns]))
        np.testing.assert_allclose(found / found.max(), np.array(scores) / max(scores), rtol=0.02)


def test_the_rows_a_fold_holds_out_play_no_part():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 200)), rng.normal(size=60)
    folds = make_folds(3, np.zeros(60), seed=0)
    other = np.where(folds[0] == 0, 100.0, y)
    first, second = (promising(problem_of(X, v, EncodedMLP()), folds)[0] for v in (y, other))
    assert np.array_equal(first, second)
    assert first.sum() == EncodedMLP().most_features // 2


@pytest.mark.parametrize(("n_features", "few"), [(100, False), (200, True)])
def test_a_costly_network_takes_few_of_many_features(n_features, few):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, n_features)), rng.normal(size=30)
    assert takes_few(problem_of(X, y, EncodedMLP())) == few
    assert not takes_few(problem_of(X, y, MLP()))
    assert not takes_few(problem_of(X, y, network="encoded"))  # a single network was asked for


def test_a_ring_and_what_others_have_opened_are_offered():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 200))
    distance = np.hypot(X[:, 0] - 0.5, X[:, 1] - 0.5)
    y = ((distance > 0.25) & (distance < 0.45)).astype(float)
    problem, folds = problem_of(X, y, EncodedMLP()), make_folds(5, np.zeros(400), seed=0)
    alone = promising(problem, folds)
    assert alone[:, :2].all()
    missing = np.flatnonzero(~alone.any(axis=0))
    opened = np.zeros((2, *alone.shape), dtype=bool)
    opened[0, :, missing[:3]] = True  # by a penalty that leaves few
    opened[1, :, missing[3:]] = True  # and by one that leaves many
    opened[1, :, :100] = True
    offered = promising(problem, folds, [SimpleNamespace(settled=opened)])
    assert offered[:, missing[:3]].all()
    assert np.array_equal(offered & ~alone, opened[0])


def test_the_path_of_a_costly_network_opens_only_what_it_is_offered():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 150))
    problem, folds = problem_of(X, X[:, 0], EncodedMLP()), make_folds(3, np.zeros(80), seed=0)
    (path,) = train_each_path([problem], np.array([0.1]), folds)
    assert not (path.settled & ~promising(problem, folds)).any()
    assert path.settled.sum(axis=2).max() == 64
