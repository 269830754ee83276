"""Exactly k gates: never more, never fewer, and an error where that can not be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from problems import (
    ESTIMATORS,
    linear_response,
    make_problem,
    normal_columns,
    predictions,
    short_training,
)
from stochgate import (
    ConstantColumnWarning,
    GatedClassifier,
    GatedCox,
    GatedRegressor,
    Training,
)
from stochgate.datasets import make_cox, make_linear, make_xor

QUICK = {"training": Training(n_steps=60, n_snapshots=5), "random_state": 0}
LINEAR = {"network": "linear", **QUICK}
KEPT_OUT = 1e6  # what unselected columns are replaced by

# every number up to 30, of which the fast run takes some: each is three fits
NUMBERS = [
    k if k in {1, 2, 3, 5, 8, 13, 21, 30} else pytest.param(k, marks=pytest.mark.slow) for k in range(1, 31)
]

# name, estimator, problem
DATA_SETS = [
    (
        "linear regression",
        GatedRegressor(**LINEAR),
        make_linear(100, n_features=40, n_relevant=8, random_state=0),
    ),
    ("interactions", GatedClassifier(hidden=(8,), **QUICK), make_xor(100, n_noise=33, random_state=0)),
    ("survival", GatedCox(**LINEAR), make_cox(100, n_features=32, random_state=0)),
]


def n_open(model, groups):
    """Return how many gates are open, a group once."""
    return len(np.unique(np.asarray(groups)[model.get_support()]))


def reads_only_selected(model, X):
    """Return whether predictions stay what they are, to the last bit, when the other columns change."""
    other = np.where(model.get_support(), X, KEPT_OUT)
    return np.array_equal(predictions(model, other), predictions(model, X))


@pytest.mark.parametrize("k", NUMBERS)
@pytest.mark.parametrize(("model", "problem"), [d[1:] for d in DATA_SETS], ids=[d[0] for d in DATA_SETS])
def test_exactly_k_features_are_selected(model, problem, k):
    model.set_params(n_features_to_select=k).fit(problem.X, problem.y)
    assert model.get_support().sum() == k
    assert model.transform(problem.X).shape == (100, k)
    assert reads_only_selected(model, problem.X)


@st.composite
def small_problems(draw):
    """Draw an estimator that asks for k gates, its data, and the gate of every feature."""
    estimator_class = draw(st.sampled_from(ESTIMATORS))
    n_features = draw(st.integers(2, 12))
    sizes = {"n_samples": draw(st.integers(20, 60)), "n_features": n_features}
    X, y = make_problem(estimator_class, seed=draw(st.integers(0, 1000)), **sizes)
    per_feature = {"min_size": n_features, "max_size": n_features}
    groups = draw(st.none() | st.lists(st.integers(0, n_features - 1), **per_feature))
    always_keep = draw(st.none() | st.lists(st.integers(0, n_features - 1), max_size=3))
    gate_of = np.arange(n_features) if groups is None else np.array(groups)
    n_kept, n_gates = len(np.unique(gate_of[always_keep or []])), len(np.unique(gate_of))
    model = estimator_class(
        feature_groups=groups,
        always_keep=always_keep,
        n_features_to_select=draw(st.integers(max(1, n_kept), n_gates)),
        cv=3,
        **draw(st.sampled_from([{"network": "linear"}, {"hidden": (4,)}])),
        **QUICK,
    )
    return model, X, y, gate_of


def check_exactly_k(problem):
    model, X, y, gate_of = problem
    support = model.fit(X, y).get_support()
    assert n_open(model, gate_of) == model.n_features_to_select
    assert np.array_equal(support, np.isin(gate_of, gate_of[support]))  # groups are whole
    assert support[model.always_keep or []].all()
    assert reads_only_selected(model, X)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(small_problems())
def test_exactly_k_gates_are_open_with_groups_and_kept_features(problem):
    check_exactly_k(problem)


@pytest.mark.slow  # 200 problems
@settings(max_examples=200, deadline=None, derandomize=True)
@given(small_problems())
def test_exactly_k_gates_are_open_on_many_problems(problem):
    check_exactly_k(problem)


def test_networks_are_compared_at_k_features():
    problem = make_xor(100, n_noise=4, random_state=0)
    model = GatedClassifier(n_features_to_select=3, **QUICK).fit(problem.X, problem.y)
    assert model.get_support().sum() == 3
    assert set(model.path_["network"]) == {"linear", "mlp", "encoded"}
    assert model.network_ == model.path_["network"][model.path_["held_out_loss"].idxmin()]


def test_a_strong_set_is_found():
    problem = make_linear(100, n_features=40, n_relevant=5, random_state=0)
    training = Training(n_steps=300, n_snapshots=5)
    model = GatedRegressor(network="linear", n_features_to_select=5, training=training, random_state=0)
    assert np.array_equal(model.fit(problem.X, problem.y).get_support(), problem.relevant)


# ---- what can not be


# parameters, message
IMPOSSIBLE = [
    ({"n_features_to_select": 7}, "n_features_to_select=7, but there are 6 features"),
    (
        {"n_features_to_select": 4, "feature_groups": [0, 0, 1, 1, 2, 2]},
        "n_features_to_select=4, but there are 3 features \\(or groups\\)",
    ),
    (
        {"n_features_to_select": 1, "always_keep": [0, 3]},
        "n_features_to_select=1, but always_keep names 2 features",
    ),
    ({"n_features_to_select": 2, "lam": 0.1}, "either lam or n_features_to_select"),
    ({"n_features_to_select": 0}, "'n_features_to_select' parameter .* Got 0"),
    ({"n_features_to_select": 2.0}, "'n_features_to_select' parameter .* Got 2.0"),
]


@pytest.mark.parametrize(("parameters", "message"), IMPOSSIBLE)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_an_impossible_number_is_refused(estimator_class, parameters, message):
    X, y = make_problem(estimator_class)
    model = estimator_class(**LINEAR, **parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_kept_groups_count_once(estimator_class):
    X, y = make_problem(estimator_class)
    groups = [0, 0, 1, 1, 2, 2]
    model = estimator_class(feature_groups=groups, always_keep=[2, 3], n_features_to_select=1, **LINEAR)
    np.testing.assert_array_equal(model.fit(X, y).get_support(), np.array(groups) == 1)


@pytest.mark.parametrize("groups", [None, [0, 1, 2, 3, 4, 5]])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_constant_columns_do_not_count(estimator_class, groups):
    X, y = make_problem(estimator_class)
    X[:, [2, 4]] = 3.0
    model = estimator_class(n_features_to_select=4, feature_groups=groups, **LINEAR)
    with pytest.warns(ConstantColumnWarning):
        model.fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(model.get_support()), [0, 1, 3, 5])
    model.set_params(n_features_to_select=5)
    with pytest.raises(ValueError, match="n_features_to_select=5, but only 4 features"):
        model.fit(X, y)


def test_a_column_constant_in_some_folds_counts():
    X, y = linear_response()
    X[:, 3] = np.arange(len(X)) == 7
    model = GatedRegressor(n_features_to_select=6, **LINEAR).fit(X, y)
    assert model.get_support().all()


def test_only_constant_columns_are_refused():
    _, y = linear_response()
    with pytest.raises(ValueError, match="only 0 features"):
        GatedRegressor(n_features_to_select=1, **LINEAR).fit(np.ones((len(y), 3)), y)


def test_more_features_than_varying_ones_are_refused_at_another_size():
    X, y = linear_response()
    X[:, [2, 4]] = 3.0
    with pytest.warns(ConstantColumnWarning):
        model = GatedRegressor(n_features_to_select=2, **LINEAR).fit(X, y)
    assert model.at(k=4).get_support().sum() == 4
    with pytest.raises(ValueError, match="only 4 features"):
        model.at(k=5)


@pytest.mark.parametrize("network", ["linear", "mlp", "encoded"])
def test_a_copy_waits_until_no_other_feature_is_left(network):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 8))
    X[:, 1] = -2 * X[:, 0]
    y = 3 * X[:, 0] + X[:, 2] + 0.3 * rng.normal(size=100)
    for k, copies in ((2, 1), (7, 1), (8, 2)):
        training = Training(n_steps=100, n_snapshots=5)
        model = GatedRegressor(n_features_to_select=k, network=network, training=training, random_state=0)
        support = model.fit(X, y).get_support()
        assert support.sum() == k
        assert support[:2].sum() == copies
        assert support[2]


def test_a_kept_copy_is_kept():
    X, y = linear_response()
    X[:, 5] = X[:, 0]
    model = GatedRegressor(
        n_features_to_select=2, always_keep=[0, 5], network="linear", training=short_training(n_steps=50)
    )
    assert np.flatnonzero(model.fit(X, y).get_support()).tolist() == [0, 5]


@pytest.mark.parametrize("seed", range(2))
def test_one_feature_is_the_strongest_though_it_has_a_near_copy(seed):
    X = normal_columns(200, 9, seed=1)
    X[:, 8] = X[:, 2] + 0.05 * X[:, 8]
    y = 2 * X[:, 2] + X[:, 5] + 0.3 * normal_columns(200, 1, seed=2)[:, 0]
    model = GatedRegressor(network="linear", n_features_to_select=1, random_state=seed).fit(X, y)
    assert model.get_support(indices=True)[0] in (2, 8)
    assert model.score(X, y) > 0.7


def test_a_kept_constant_column_counts_for_nothing():
    X, y = linear_response(60, 6)
    X[:, 3] = 7
    exact = GatedRegressor(always_keep=[3], n_features_to_select=2, **LINEAR)
    with pytest.warns(ConstantColumnWarning):
        exact.fit(X, y)
    fitted = GatedRegressor(always_keep=[3], **LINEAR)
    with pytest.warns(ConstantColumnWarning):
        fitted.fit(X, y)
    assert exact.get_support().sum() == 2
    assert [int(fitted.at(k=k).get_support().sum()) for k in (1, 2, 4)] == [1, 2, 4]


def test_scores_are_those_of_the_set_with_what_the_second_look_found():
    """Columns 1 and 2 tell only together; the network that takes them stands, and its score is told."""
    X = normal_columns(300, 40)
    y = 3 * X[:, 0] + 2 * X[:, 1] * X[:, 2]
    model = GatedRegressor(n_features_to_select=3, random_state=0).fit(X, y)
    assert np.flatnonzero(model.get_support()).tolist() == [0, 1, 2]
    scores = model.summary().scores
    assert scores["selected"] > 0.8
    assert model.at(k=1).get_support().sum() == 1
