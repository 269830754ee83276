"""What users hand in: containers, targets, weights, words about features, and every parameter."""

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from torch import nn

from problems import (
    ESTIMATORS,
    as_frame,
    linear_response,
    make_problem,
    normal_columns,
    predictions,
    short_fit,
    short_training,
    survival_times,
    three_classes,
    two_classes,
)
from stochgate import GatedClassifier, GatedCox, GatedRegressor, NoFeatureSelectedWarning, Snapshot
from stochgate.gates import DeterministicGate, GaussianGate, HardConcreteGate
from stochgate.networks import MLP, ModuleNetwork

LONG = {"n_steps": 300}  # long enough to close the gates of noise columns


def assert_same_model(model, other, X, tolerance=0.0, other_X=None):
    """Assert that two models have the same gates and predictions."""
    np.testing.assert_array_equal(model.support_, other.support_)
    np.testing.assert_allclose(model.gates_, other.gates_, rtol=0, atol=tolerance)
    other_X = X if other_X is None else other_X
    np.testing.assert_allclose(
        predictions(model, X), predictions(other, other_X), rtol=tolerance, atol=tolerance
    )


# Containers of X


def as_polars(X):
    return pl.from_pandas(as_frame(X))


@pytest.mark.parametrize("container", [as_frame, as_polars, np.asfortranarray, np.ndarray.tolist])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_containers_of_X_give_the_same_model(estimator_class, container):
    X, y = make_problem(estimator_class)
    array = short_fit(estimator_class, X, y)
    other = short_fit(estimator_class, container(X), y)
    assert_same_model(array, other, X, tolerance=1e-8, other_X=container(X))


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_single_precision_gives_the_same_support(estimator_class):
    X, y = make_problem(estimator_class)
    model = short_fit(estimator_class, X, y, lam=0.5, training=LONG)
    for dtype in ("float32", "float64"):
        single = short_fit(
            estimator_class, X.astype(np.float32), y, lam=0.5, training={**LONG, "dtype": dtype}
        )
        assert_same_model(model, single, X, tolerance=2e-3)


@pytest.mark.parametrize(
    "container", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix]
)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_sparse_X_equals_dense_X(estimator_class, container):
    X, y = make_problem(estimator_class)
    X[np.abs(X) < 0.3] = 0
    dense = short_fit(estimator_class, X, y, training={"standardize": False})
    other = short_fit(estimator_class, container(X), y, training={"standardize": False})
    assert_same_model(dense, other, X, tolerance=1e-8, other_X=container(X))


def test_sparse_columns_far_from_0_are_centred_as_dense_ones():
    X, y = linear_response(200, 5)
    X = np.where(np.arange(5) < 3, X, (X > 1) * 1.0)  # a temperature, a year, and two that are sparse
    X[:, 0], X[:, 1] = 37 + 0.5 * X[:, 0], 2000 + 5 * X[:, 1]
    models = [
        GatedRegressor(0.1, network="linear", random_state=0).fit(Z, y) for Z in (X, sparse.csr_array(X))
    ]
    dense, of_sparse = (model.predict(X) for model in models)
    assert models[1].score(X, y) > 0.9
    np.testing.assert_allclose(of_sparse, dense, atol=0.05)
    np.testing.assert_array_equal(*(model.get_support() for model in models))


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_model_of_sparse_X_predicts_dense_rows_alike(estimator_class):
    X, y = make_problem(estimator_class)
    model = short_fit(estimator_class, sparse.csr_array(X), y)
    np.testing.assert_allclose(predictions(model, sparse.csc_array(X)), predictions(model, X), rtol=1e-10)
    np.testing.assert_array_equal(model.transform(sparse.csr_array(X)).toarray(), X[:, model.support_])


@pytest.mark.parametrize("network", ["linear", "mlp", "encoded"])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_model_of_dense_X_predicts_sparse_rows_alike(estimator_class, network):
    X, y = make_problem(estimator_class)
    X = X + 3
    model = short_fit(estimator_class, X, y, hidden=None, network=network)
    np.testing.assert_allclose(predictions(model, sparse.csr_array(X)), predictions(model, X), rtol=1e-10)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_unit_of_a_column_does_not_matter(estimator_class, dtype):
    X, y = make_problem(estimator_class)
    other_X = X * [1e-6, 1e6, 1e30, 1, 1e-30, 1] + [0, 1e9, 0, 1e4, 0, -5]
    training = {"dtype": dtype, "n_steps": 50}
    model = short_fit(estimator_class, X, y, training=training)
    other = short_fit(estimator_class, other_X, y, training=training)
    assert_same_model(model, other, X, tolerance=1e-3, other_X=other_X)


@pytest.mark.parametrize("frame", [as_frame, as_polars])
def test_feature_names_are_kept(frame):
    X, y = two_classes()
    model = short_fit(GatedClassifier, frame(X), y, lam=0.5, training=LONG)
    np.testing.assert_array_equal(model.feature_names_in_, list("abcdef"))
    np.testing.assert_array_equal(model.get_feature_names_out(), ["a", "b"])


def small_module(n_columns, n_outputs):
    return nn.Sequential(nn.Linear(n_columns, 4), nn.Tanh(), nn.Linear(4, n_outputs))


NETWORKS = [MLP(()), MLP((8,)), MLP((8,), skip=True), ModuleNetwork(small_module)]


@pytest.mark.parametrize("network", NETWORKS, ids=["linear", "mlp", "skip", "module"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_unselected_columns_change_no_prediction(estimator_class, container, network):
    X, y = make_problem(estimator_class)
    model = short_fit(
        estimator_class,
        container(X),
        y,
        lam=0.8,
        hidden=None,
        network=network,
        training={**LONG, "dtype": "float32"},
    )
    assert 0 < model.support_.sum() < X.shape[1]
    for huge in (1e6, -1e300):
        overwritten = np.where(model.support_, X, huge)
        np.testing.assert_array_equal(
            predictions(model, container(overwritten)), predictions(model, container(X))
        )


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_threshold_closes_weak_gates(estimator_class):
    X, y = make_problem(estimator_class)
    model, strict = (short_fit(estimator_class, X, y, threshold=t) for t in (0.0, 0.45))
    np.testing.assert_array_equal(model.gates_, strict.gates_)
    np.testing.assert_array_equal(strict.support_, strict.gates_ > 0.45)
    assert 0 < strict.support_.sum() < model.support_.sum()
    overwritten = np.where(strict.support_, X, 1e6)
    np.testing.assert_array_equal(predictions(strict, overwritten), predictions(strict, X))


# Words about features


@pytest.mark.parametrize(
    "always_keep",
    [["c", "f"], [2, 5], ["c", 5], np.array([False, False, True, False, False, True])],
)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_kept_features_stay_open(estimator_class, always_keep):
    X, y = make_problem(estimator_class)
    model = short_fit(estimator_class, as_frame(X), y, lam=50, always_keep=always_keep, training=LONG)
    np.testing.assert_array_equal(model.get_feature_names_out(), ["c", "f"])
    np.testing.assert_array_equal(model.gates_[[2, 5]], 1)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_group_opens_or_closes_as_one(estimator_class):
    X, y = make_problem(estimator_class)
    labels = ["signal", "signal", "noise", "noise", "signal", "noise"]
    by_label = short_fit(estimator_class, X, y, lam=1.0, feature_groups=labels, training=LONG)
    for group, is_open in (([0, 1, 4], True), ([2, 3, 5], False)):
        assert len(set(by_label.gates_[group])) == 1
        np.testing.assert_array_equal(by_label.support_[group], is_open)
    for groups in ({"s": ["a", "b", "e"], "n": ["c", "d", "f"]}, {"s": [0, 1, 4], "n": [2, 3, 5]}):
        by_name = short_fit(estimator_class, as_frame(X), y, lam=1.0, feature_groups=groups, training=LONG)
        assert_same_model(by_label, by_name, X, other_X=as_frame(X))


def test_features_outside_a_mapping_of_groups_have_their_own_gates():
    X, y = two_classes()
    model = short_fit(GatedClassifier, X, y, feature_groups={"pair": [2, 3]})
    assert len(set(model.gates_)) == 5
    assert model.gates_[2] == model.gates_[3]


def test_a_group_with_a_kept_feature_is_kept_whole():
    X, y = two_classes()
    model = short_fit(
        GatedClassifier, X, y, lam=50, feature_groups={"g": [3, 4]}, always_keep=[4], training=LONG
    )
    np.testing.assert_array_equal(model.get_support(indices=True), [3, 4])


@pytest.mark.parametrize("costs", [[6, 1, 1, 1, 1, 0], {"a": 6, "f": 0}, {0: 6, 5: 0}])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_costly_feature_gives_way_to_its_free_twin(estimator_class, costs):
    X, y = make_problem(estimator_class)
    X[:, 5] = X[:, 0]
    model = short_fit(estimator_class, as_frame(X), y, lam=0.5, costs=costs, training={"n_steps": 500})
    assert not model.support_[0]
    assert model.support_[5]


# Sample weights


SETTINGS = [
    (GatedClassifier, two_classes, {}),
    (GatedClassifier, three_classes, {"class_weight": "balanced"}),
    (GatedRegressor, linear_response, {}),
    (GatedCox, survival_times, {}),
    (GatedCox, survival_times, {"ties": "efron"}),
]


# The intercept of a linear regression starts where its gradient is rounding alone, which Adam
# enlarges before it returns: there the equality needs more steps.
@pytest.mark.parametrize(("network", "n_steps"), [("linear", 300), ("mlp", 60)])
@pytest.mark.parametrize(("estimator_class", "problem", "parameters"), SETTINGS)
def test_weight_0_equals_the_row_removed(estimator_class, problem, parameters, network, n_steps):
    X, y = problem(n_samples=150)
    parameters = {
        **parameters,
        "hidden": None,
        "network": network,
        "training": {"n_steps": n_steps},
    }
    rows = np.arange(len(X)) % 5 > 0
    removed = short_fit(estimator_class, X[rows], y[rows], **parameters)
    X_junk = np.where(rows[:, None], X, 1e9)
    weighted = short_fit(estimator_class, X_junk, y, sample_weight=rows, **parameters)
    assert_same_model(removed, weighted, X, tolerance=1e-6)


@pytest.mark.parametrize(
    ("estimator_class", "problem", "parameters"), SETTINGS[:-1]
)  # Efron's likelihood treats repeated rows as ties, so there weights are no repetitions
def test_integer_weights_equal_repeated_rows(estimator_class, problem, parameters):
    X, y = problem()
    weights = np.arange(len(X)) % 3
    rows = np.repeat(np.arange(len(X)), weights)
    parameters = {**parameters, "training": {"n_steps": 60}}
    repeated = short_fit(estimator_class, X[rows], y[rows], **parameters)
    weighted = short_fit(estimator_class, X, y, sample_weight=weights, **parameters)
    assert_same_model(repeated, weighted, X, tolerance=1e-6)


@pytest.mark.parametrize("problem", [two_classes, three_classes])
def test_balanced_equals_the_explicit_class_weights(problem):
    X, y = problem()
    rows = np.flatnonzero((y > 0) | (np.arange(len(y)) % 3 == 0))  # make class 0 rare
    X, y = X[rows], y[rows]
    counts = np.bincount(y)
    explicit = {c: len(y) / len(counts) / n for c, n in enumerate(counts)}
    balanced = short_fit(GatedClassifier, X, y, class_weight="balanced")
    assert_same_model(balanced, short_fit(GatedClassifier, X, y, class_weight=explicit), X, 1e-6)
    assert np.abs(predictions(balanced, X) - predictions(short_fit(GatedClassifier, X, y), X)).max() > 0.01


# Targets


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["ill", "well"]),
        np.array(["ill", "well"], dtype=object),
        np.array([False, True]),
        np.array([1, 2]),
        np.array([-1, 1]),
        np.array([1.0, 2.0]),
        np.array(["no", "unknown", "yes"]),
        np.array([1, 2, 3]),
        np.array([10, 20, 700]),
    ],
    ids=str,
)
def test_labels_are_predicted_as_given(labels):
    X, y = two_classes() if len(labels) == 2 else three_classes()
    plain = short_fit(GatedClassifier, X, y)
    model = short_fit(GatedClassifier, X, labels[y])
    np.testing.assert_array_equal(model.classes_, labels)
    assert_same_model(plain, model, X)
    np.testing.assert_array_equal(model.predict(X), labels[plain.predict(X)])
    assert model.score(X, labels[y]) > 0.8


@pytest.mark.parametrize(
    "container", [list, pd.Series, pl.Series, lambda y: pd.Series(y).astype("category")]
)
def test_containers_of_y_give_the_same_model(container):
    X, y = two_classes()
    y = np.where(y, "yes", "no")
    model = short_fit(GatedClassifier, X, y, training={"n_steps": 20})
    other = short_fit(GatedClassifier, X, container(y), training={"n_steps": 20})
    assert_same_model(model, other, X)
    np.testing.assert_array_equal(model.predict(X), other.predict(X))


def test_probabilities_sum_to_one():
    X, y = three_classes()
    model = short_fit(GatedClassifier, X, y)
    assert model.predict_proba(X).shape == (len(y), 3)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X))


def test_regression_of_several_outputs_selects_what_any_of_them_needs():
    X = normal_columns()
    noise = 0.01 * np.sin(np.arange(len(X)))
    Y = np.column_stack([3 * X[:, 0] + noise, 100 - 50 * X[:, 4] - 10 * noise])
    model = short_fit(GatedRegressor, X, Y, lam=0.3, training={"n_steps": 400})
    np.testing.assert_array_equal(model.get_support(indices=True), [0, 4])
    assert model.predict(X).shape == Y.shape
    assert model.score(X, Y) > 0.9
    framed = short_fit(GatedRegressor, X, pd.DataFrame(Y), lam=0.3, training={"n_steps": 400})
    assert_same_model(model, framed, X)


def test_predictions_are_shaped_as_y():
    X, y = linear_response()
    flat, column = short_fit(GatedRegressor, X, y), short_fit(GatedRegressor, X, y[:, None])
    assert flat.predict(X).shape == (len(y),)
    assert column.predict(X).shape == (len(y), 1)
    np.testing.assert_array_equal(flat.predict(X), column.predict(X)[:, 0])


def as_records(y):
    return np.rec.fromarrays([y[:, 0] > 0, y[:, 1]], names="event,time")


def as_swapped_records(y):
    return np.rec.fromarrays([y[:, 1], y[:, 0] > 0], names="time,event")


@pytest.mark.parametrize(
    "form",
    [
        as_records,
        as_swapped_records,
        lambda y: (y[:, 0], y[:, 1]),
        lambda y: (pd.Series(y[:, 0] > 0), pd.Series(y[:, 1])),
        lambda y: pd.DataFrame({"event": y[:, 0] > 0, "time": y[:, 1]}),
        lambda y: pl.DataFrame({"event": y[:, 0], "time": y[:, 1]}),
        np.ndarray.tolist,
    ],
)
def test_forms_of_survival_targets_give_the_same_model(form):
    X, y = survival_times()
    model = short_fit(GatedCox, X, y, training={"n_steps": 20})
    other = short_fit(GatedCox, X, form(y), training={"n_steps": 20})
    assert_same_model(model, other, X)
    assert model.score(X, y) == other.score(X, form(y))


def read_only(values):
    values = np.array(values)
    values.setflags(write=False)
    return values


@pytest.fixture
def _warn_each_time():
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(False)


@pytest.mark.usefixtures("_warn_each_time")
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_read_only_input_is_left_alone(estimator_class, container):
    X, y = make_problem(estimator_class)
    X = container(X)
    is_cox = estimator_class is GatedCox
    y = (read_only(y[:, 0] > 0), read_only(y[:, 1])) if is_cox else read_only(y)
    for part in (X,) if container is np.asarray else (X.data, X.indices, X.indptr):
        part.setflags(write=False)
    model = short_fit(estimator_class, X, y, training={"n_steps": 2})
    assert np.isfinite(predictions(model, X)).all()


# Parameters


STARTS = {
    "lam": 0.1,
    "hidden": None,
    "gate": GaussianGate(),
    "network": MLP((8,)),
    "training": short_training(n_steps=40),
    "random_state": 0,
}
EARLY = {"training__patience": 1, "training__n_snapshots": 20}
# parameter, another value, and the settings under which it has something to say
CHANGES = [
    ("lam", 2.0, {}),
    ("gate", HardConcreteGate(), {}),
    ("gate", "deterministic", {}),
    ("network", "linear", {}),
    ("hidden", (4, 4), {"network": "mlp"}),
    ("activation", "tanh", {"network": "mlp"}),
    ("activation", "silu", {"network": "mlp", "hidden": (8,)}),
    ("feature_groups", [0, 0, 1, 1, 2, 2], {}),
    ("costs", [1, 2, 3, 4, 5, 6], {}),
    ("always_keep", [5], {}),
    ("threshold", 0.45, {}),
    ("training", None, {}),
    ("random_state", 1, {}),
    ("gate__sigma", 1.0, {}),
    ("gate__beta", 0.4, {"gate": HardConcreteGate()}),
    ("gate__tau", -0.3, {"gate": HardConcreteGate()}),
    ("gate__zeta", 1.3, {"gate": HardConcreteGate()}),
    ("gate__sigma", 1.0, {"gate": DeterministicGate()}),
    ("network__hidden", (4, 4), {}),
    ("network__activation", "selu", {}),
    ("network__activation", "sigmoid", {}),
    ("network__skip", True, {}),
    ("network__init_std", 0.1, {}),
    ("network__linear", (0,), {}),
    ("network__factory", small_module, {"network": ModuleNetwork(nn.Linear)}),
    ("training__n_steps", 20, {}),
    ("training__batch_size", 30, {}),
    ("training__optimizer", "sgd", {}),
    ("training__lr", 0.02, {}),
    ("training__gate_lr", 0.01, {}),
    ("training__momentum", 0.5, {"training__optimizer": "sgd"}),
    ("training__lr_decay", "constant", {}),
    ("training__n_draws", 3, {}),
    ("training__schedule", "warm-up", {}),
    ("training__schedule", "ramp", {}),
    ("training__schedule", lambda progress: progress**2, {}),
    ("training__n_snapshots", 3, {**EARLY, "training__lr": 0.2}),
    ("training__patience", None, {**EARLY, "training__lr": 0.2}),
    ("training__validation_fraction", 0.3, EARLY),
    ("training__standardize", False, {}),
    ("training__dtype", "float32", {}),
]
OWN = [(GatedClassifier, "class_weight", "balanced", {}), (GatedCox, "ties", "efron", {})]
# they change no number where lam is given, and have tests of their own
SILENT = {"backend", "device", "callbacks", "verbose", "cv", "rule", "n_features_to_select", "missing"}
SILENT |= {"alpha", "training__tf32", "training__max_memory"}


@cache
def fit_with(estimator_class, settings):
    X, y = make_problem(estimator_class)
    X = X + 0.5  # so that centring says something
    if estimator_class is GatedCox:
        y[:, 1] = np.ceil(4 * y[:, 1])  # so that there are ties
    model = clone(estimator_class(**STARTS))
    for name, value in settings:
        model.set_params(**{name: clone(value, safe=False)})
    return model.fit(X, y), X


@pytest.mark.parametrize(
    ("estimator_class", "name", "value", "settings"),
    [(c, *change) for c in ESTIMATORS for change in CHANGES] + OWN,
)
def test_every_parameter_changes_the_result(estimator_class, name, value, settings):
    settings = tuple(settings.items())
    value = tuple(value) if isinstance(value, list) else value
    model, X = fit_with(estimator_class, settings)
    changed, _ = fit_with(estimator_class, (*settings, (name, value)))
    assert not np.array_equal(predictions(model, X), predictions(changed, X))


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_no_parameter_is_forgotten(estimator_class):
    model = estimator_class(**STARTS)
    shown = {name for name, *_ in CHANGES} | {name for c, name, *_ in OWN if c is estimator_class}
    assert set(model.get_params()) <= shown | SILENT


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_callbacks_see_every_snapshot(estimator_class):
    X, y = make_problem(estimator_class)
    seen = []
    model = short_fit(
        estimator_class, X, y, callbacks=[seen.append], training={"n_steps": 30, "n_snapshots": 3}
    )
    assert all(isinstance(snapshot, Snapshot) for snapshot in seen)
    assert [snapshot.step for snapshot in seen] == [10, 20, 30] == model.history_["step"].tolist()
    assert {snapshot.n_steps for snapshot in seen} == {30}
    np.testing.assert_array_equal(seen[-1].gates[0], model.gates_)
    np.testing.assert_array_equal(
        [snapshot.train_loss.item() for snapshot in seen], model.history_["train_loss"]
    )


def test_verbose_shows_a_bar_to_who_watches(capsys, monkeypatch):
    X, y = two_classes()
    short_fit(GatedClassifier, X, y, verbose=1, training={"n_steps": 30})
    assert capsys.readouterr() == ("", "")  # stderr is no terminal, as in a log file
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    model = short_fit(GatedClassifier, X, y, verbose=1, training={"n_steps": 30})
    shown = capsys.readouterr()
    assert shown.out == ""
    for part in ("stochgate, training", "100%", "loss=", "open="):
        assert part in shown.err
    silent = short_fit(GatedClassifier, X, y, training={"n_steps": 30})
    assert capsys.readouterr() == ("", "")
    assert_same_model(model, silent, X)


def test_names_of_one_device_give_the_same_bits():
    X, y = two_classes()
    named = [short_fit(GatedClassifier, X, y, device=d, training={"n_steps": 20}) for d in ("cpu", "cpu:0")]
    assert_same_model(*named, X)


# Weights, outliers and early stopping


@pytest.mark.parametrize("change", [{}, {"patience": 3}, {"batch_size": 32}], ids=str)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_weight_0_equals_the_row_removed_however_it_is_trained(estimator_class, change):
    X, y = make_problem(estimator_class)
    weights = np.ones(len(X))
    weights[::5] = 0
    training = {"n_steps": 60, "n_snapshots": 10, **change}
    weighted = short_fit(estimator_class, X, y, sample_weight=weights, training=training)
    removed = short_fit(estimator_class, X[weights > 0], y[weights > 0], training=training)
    assert np.array_equal(weighted.gates_, removed.gates_)
    assert np.array_equal(predictions(weighted, X), predictions(removed, X))


def test_an_outlier_that_is_held_out_closes_no_gate():
    X, y = linear_response()
    for row in range(0, len(X), 10):
        outlier = X.copy()
        outlier[row, 0] = 1e12
        model = short_fit(
            GatedRegressor,
            outlier,
            y,
            sample_weight=np.arange(len(X)) != row,
            training={"dtype": "float32"},
        )
        assert model.gates_[0] > 0


def test_early_stopping_keeps_the_selection_sparse():
    X, y = two_classes()
    X = np.hstack([X, np.random.default_rng(0).normal(size=(len(X), 30))])
    settings = {"n_steps": 300, "n_snapshots": 25, "gate_lr": 0.01}
    to_the_end = short_fit(GatedClassifier, X, y, lam=1.0, training=settings)
    stopped = short_fit(GatedClassifier, X, y, lam=1.0, training={**settings, "patience": 5})
    assert stopped.support_.sum() <= to_the_end.support_.sum() + 5


def test_the_mean_of_a_large_y_is_kept_in_single_precision():
    X, y = linear_response()
    model = short_fit(GatedRegressor, X, 1.7e9 + 100 * y, training={"dtype": "float32", "n_steps": 300})
    assert model.score(X, 1.7e9 + 100 * y) > 0.8


def test_huge_weights_are_weights():
    X, y = linear_response()
    model = short_fit(
        GatedRegressor, X, y, sample_weight=np.full(len(X), 1e37), training={"dtype": "float32"}
    )
    plain = short_fit(GatedRegressor, X, y, training={"dtype": "float32"})
    assert np.array_equal(model.gates_, plain.gates_)


def test_log_probabilities_are_finite_where_the_model_is_sure():
    X, y = two_classes()
    model = short_fit(GatedClassifier, X, y, lam=0.0, training={"dtype": "float32", "lr": 0.05})
    assert np.isfinite(model.predict_log_proba(1e3 * X)).all()


@pytest.mark.parametrize("value", [1.0, 3.0, 7.1, 1e9])
def test_a_constant_y_holds_no_signal(value):
    X = normal_columns(200, 8)
    with pytest.warns(NoFeatureSelectedWarning):
        model = GatedRegressor(network="linear", training=short_training(), random_state=0).fit(
            X, np.full(200, value)
        )
    assert model.summary().verdict == "no signal"
    np.testing.assert_allclose(model.predict(X), value, rtol=1e-6)


def test_what_is_said_of_features_in_a_series_goes_by_its_names():
    X, y = linear_response(100, 5)
    X = as_frame(X)
    names = list(X.columns)
    backwards = names[::-1]

    def fit(**said):
        model = GatedRegressor(
            0.3, network="linear", training=short_training(n_steps=60), random_state=0, **said
        )
        return model.fit(X, y)

    keep = pd.Series([name == names[4] for name in backwards], index=backwards)
    assert fit(always_keep=keep).get_support()[4]
    costs = {name: 50.0 if name == names[0] else 1.0 for name in names}
    np.testing.assert_array_equal(fit(costs=pd.Series(costs)[backwards]).gates_, fit(costs=costs).gates_)
    groups = pd.Series(dict(zip(names, "aabbc", strict=True)))
    np.testing.assert_array_equal(
        fit(feature_groups=groups[backwards]).gates_, fit(feature_groups=list("aabbc")).gates_
    )
    with pytest.raises(ValueError, match="names the feature 'other'"):
        fit(costs=pd.Series({"other": 2.0}))
