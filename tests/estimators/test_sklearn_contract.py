"""The estimators keep scikit-learn's contract."""

import pickle
from typing import Self, get_args, get_type_hints

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks
from torch import nn

from problems import (
    ESTIMATORS,
    as_frame,
    make_problem,
    predictions,
    short_fit,
    short_training,
    two_classes,
)
from stochgate import (
    Evaluation,
    GatedClassifier,
    GatedCox,
    GatedRegressor,
    StabilitySelector,
    Summary,
    evaluate,
    load,
)
from stochgate.estimators.checks import expected_failed_checks
from stochgate.gates import GaussianGate
from stochgate.networks import MLP, ModuleNetwork


def as_survival(y):
    """Turn any y of the checks into (event, time): everyone dies, in the order of y."""
    if y is None:
        return None
    y = np.asarray(y)
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        return np.ones(len(y)), y  # for the checks that a missing y is refused
    _, rank = np.unique(y, return_inverse=True)
    return np.ones(len(y)), 1.0 + rank.ravel()


class CoxOfPlainTargets(GatedCox):
    """A Cox model that learns from the checks' plain y."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, as_survival(y), sample_weight)

    def score(self, X, y):
        return super().score(X, as_survival(y))


SMALL = {
    "lam": 0.05,
    "hidden": (16,),
    "activation": "tanh",
    "training": short_training(n_steps=40, lr=0.03),
    "random_state": 0,
}
TYPED = {"at": Self, "reduced": Self, "forget_data": Self, "summary": Summary}
CHECKED = [GatedClassifier, GatedRegressor, CoxOfPlainTargets]


AUTOMATIC = {**SMALL, "lam": "auto", "hidden": (), "activation": None, "cv": 3}


@pytest.mark.filterwarnings("ignore::stochgate.ConstantColumnWarning")
@pytest.mark.filterwarnings("ignore::stochgate.NoFeatureSelectedWarning")
@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@parametrize_with_checks(
    [make(**settings) for make in CHECKED for settings in (SMALL, AUTOMATIC)],
    expected_failed_checks=expected_failed_checks,
    xfail_strict=False,  # where nothing is selected, weights do equal repetition
)
def test_scikit_learn_checks_pass(estimator, check):
    check(estimator)


@pytest.mark.parametrize("lam", [1.0, "auto"])
def test_expected_failures_are_checks_that_scikit_learn_has(lam):
    model = GatedRegressor(lam=lam)
    known = {check.func.__name__ for _, check in estimator_checks_generator(model)}
    assert 0 < len(set(expected_failed_checks(model))) < 4
    assert set(expected_failed_checks(model)) <= known


def test_scikit_learn_has_no_y_for_survival():
    reasons = expected_failed_checks(GatedCox())
    assert len(reasons) > 40
    assert set(reasons.values()) == {"the check has no y of (event, time)"}


def make_model(estimator_class, **parameters):
    return estimator_class(**{**SMALL, "lam": 0.1, **parameters})


def test_classifier_ends_a_pipeline():
    X, y = two_classes()
    pipeline = make_pipeline(StandardScaler(), make_model(GatedClassifier)).fit(1e3 * X, y)
    assert pipeline.score(1e3 * X, y) > 0.8
    assert pipeline.predict_proba(1e3 * X).shape == (len(y), 2)


@pytest.mark.parametrize("estimator_class", [GatedClassifier, GatedRegressor])
def test_selector_is_a_step_of_a_pipeline(estimator_class):
    X, y = two_classes()
    selector = make_model(estimator_class, lam=0.5, training=short_training(n_steps=300))
    pipeline = make_pipeline(StandardScaler(), selector, LogisticRegression()).fit(as_frame(X), y)
    np.testing.assert_array_equal(pipeline[:-1].get_feature_names_out(), ["a", "b"])
    assert pipeline[-1].coef_.shape == (1, 2)
    assert pipeline.score(as_frame(X), y) > 0.9


@pytest.mark.parametrize(
    "grid",
    [
        {"lam": [0.0, 0.2]},
        {"gate__sigma": [0.3, 0.5]},
        {"training__n_steps": [2, 40]},
        {"network__hidden": [(), (4,)]},
    ],
    ids=lambda grid: next(iter(grid)),
)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_grid_search_reaches_every_part(estimator_class, grid):
    X, y = make_problem(estimator_class)
    model = make_model(
        estimator_class, hidden=None, activation=None, gate=GaussianGate(), network=MLP((4,))
    )
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    first, second = search.cv_results_["mean_test_score"]
    assert first != second
    name, values = next(iter(grid.items()))
    assert search.best_estimator_.get_params()[name] in values


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_cross_validation_scores_better_than_chance(estimator_class):
    X, y = make_problem(estimator_class)
    chance = 0.0 if estimator_class is GatedRegressor else 0.5
    assert cross_val_score(make_model(estimator_class), X, y, cv=3).min() > chance


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_clone_keeps_every_parameter(estimator_class):
    model = estimator_class(
        lam=0.3,
        gate=GaussianGate(sigma=0.7),
        network=MLP((5, 4), activation="tanh", skip=True, init_std=0.2),
        feature_groups={"pair": ["a", "b"]},
        costs={"c": 2.0},
        always_keep=["d"],
        threshold=0.2,
        training=short_training(batch_size=32, patience=3),
        random_state=7,
    )
    assert repr(clone(model)) == repr(model)
    assert clone(model).get_params()["network__init_std"] == 0.2
    assert clone(model).get_params()["training__batch_size"] == 32
    assert clone(model).get_params()["gate__sigma"] == 0.7


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_fit_leaves_constructor_parameters_alone(estimator_class):
    X, y = make_problem(estimator_class)
    parts = {"gate": GaussianGate(), "network": MLP((4,)), "training": short_training(n_steps=5)}
    model = make_model(estimator_class, hidden=None, activation=None, **parts)
    before, inside = model.get_params(), {name: dict(vars(part)) for name, part in parts.items()}
    model.fit(as_frame(X), y)
    assert model.get_params() == before
    for name, part in parts.items():
        assert getattr(model, name) is part
        assert vars(part) == inside[name]


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_pickle_keeps_predictions(estimator_class):
    X, y = make_problem(estimator_class)
    model = make_model(estimator_class).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(predictions(again, X), predictions(model, X))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_transform_keeps_the_selected_columns(estimator_class):
    X, y = make_problem(estimator_class)
    model = short_fit(estimator_class, X, y, lam=1.0, training={"n_steps": 300})
    assert 0 < model.get_support().sum() < X.shape[1]
    np.testing.assert_array_equal(model.transform(X), X[:, model.get_support()])
    np.testing.assert_array_equal(
        model.get_feature_names_out(), [f"x{j}" for j in model.get_support(indices=True)]
    )


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_transform_returns_the_named_container(container):
    X, y = two_classes()
    model = short_fit(GatedClassifier, as_frame(X), y, lam=0.5, training={"n_steps": 300})
    selected = model.set_output(transform=container).transform(as_frame(X))
    assert type(selected).__module__.startswith(container)
    assert list(selected.columns) == list(model.get_feature_names_out()) == ["a", "b"]


@pytest.mark.parametrize("changes", [{}, {"batch_size": 40}, {"patience": 1}, {"dtype": "float32"}])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_same_seed_gives_the_same_bits(estimator_class, changes):
    X, y = make_problem(estimator_class)
    models = [
        short_fit(estimator_class, X, y, training={"n_steps": 50, **changes}, random_state=seed)
        for seed in (3, 3, 4)
    ]
    first, second, other = ([m.gates_, predictions(m, X)] for m in models)
    for a, b, c in zip(first, second, other, strict=True):
        np.testing.assert_array_equal(a, b)
        assert not np.array_equal(a, c)


@pytest.mark.parametrize("network", ["mlp", ModuleNetwork(nn.Linear)], ids=["mlp", "module"])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_fit_leaves_global_state_alone(estimator_class, network):
    X, y = make_problem(estimator_class)
    n_threads, torch_state = torch.get_num_threads(), torch.get_rng_state()
    numpy_state = np.random.get_state()[1].copy()  # noqa: NPY002
    model = make_model(estimator_class, hidden=None, activation=None, network=network)
    predictions(model.set_params(training__batch_size=50, training__patience=2).fit(X, y), X)
    assert torch.get_num_threads() == n_threads
    assert torch.equal(torch.get_rng_state(), torch_state)
    np.testing.assert_array_equal(np.random.get_state()[1], numpy_state)  # noqa: NPY002
    assert torch.get_default_dtype() == torch.float32


@pytest.mark.parametrize("estimator_class", [*ESTIMATORS, StabilitySelector])
def test_type_checkers_know_what_methods_return(estimator_class):
    assert get_type_hints(estimator_class.fit)["return"] is Self
    if estimator_class in ESTIMATORS:
        returned = {name: get_type_hints(getattr(estimator_class, name))["return"] for name in TYPED}
        assert returned == TYPED
        assert estimator_class in get_args(get_type_hints(load)["return"])
    assert get_type_hints(evaluate)["return"] is Evaluation
