"""A loaded model is the saved one, to the bit."""

import json
import os
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from safetensors import safe_open
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from torch import nn

import stochgate
from fitted_models import (
    NETWORKS,
    bend,
    fit_automatically,
    fit_numbers,
    fit_table,
    make_layers,
    mixed_table,
    says,
    target_of,
)
from problems import ESTIMATORS, normal_columns, short_training, survival_times, two_classes
from stochgate import (
    GatedClassifier,
    GatedCox,
    GatedRegressor,
    MissingValuesWarning,
    ModelFileError,
    Training,
)
from stochgate.gates import GaussianGate, HardConcreteGate
from stochgate.networks import MLP, ModuleNetwork

FAST = {"network": "linear", "training": short_training(n_steps=40, gate_lr=0.05), "random_state": 0}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def there_and_back(model, path, **options):
    stochgate.save(model, path)
    return stochgate.load(path, **options)


def assert_same(loaded, X_loaded, model, X):
    expected = says(model, X)
    for name, values in says(loaded, X_loaded).items():
        np.testing.assert_array_equal(values, expected[name], err_msg=name)
        assert values.dtype == expected[name].dtype


def factory_of(network):
    return {"network": make_layers} if network == "module" else {}


# ---- predictions


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_predictions_are_the_same_to_the_bit(estimator_class, network, dtype, path):
    model, X = fit_numbers(estimator_class, network, dtype)
    loaded = there_and_back(model, path, **factory_of(network))
    assert type(loaded) is estimator_class
    assert_same(loaded, X[:, model.support_], model, X)


@pytest.mark.parametrize("network", ["linear", "mlp", "encoded"])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_text_and_missing_values_are_read_as_in_the_fit(estimator_class, network, path):
    model, X = fit_table(estimator_class, network)
    loaded = there_and_back(model, path)
    X = pd.concat([X, X.iloc[:3].assign(age=np.nan, city=["Paris", None, "Oslo"], sex=[None, "x", "f"])])
    assert_same(loaded, X[["age", "city", "sex"]], model, X)


def test_the_share_of_missing_values_comes_back(path):
    model, X = fit_table(GatedRegressor)
    lacking = X.assign(age=np.nan)
    told = "'age' in 100% of the rows \\(10% in the fit\\)"
    with pytest.warns(MissingValuesWarning, match=told):
        expected = model.predict(lacking)
    loaded = there_and_back(model, path)
    with pytest.warns(MissingValuesWarning, match=told):
        np.testing.assert_array_equal(loaded.predict(lacking), expected)
    loaded._table = replace(loaded._table, missing_share=None)  # as in a file of an older version
    older = there_and_back(loaded, path)
    np.testing.assert_array_equal(older.predict(lacking), expected)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_teams_and_all_that_an_automatic_choice_told_come_back(estimator_class, path):
    model, X = fit_automatically(estimator_class)
    small, loaded = model.reduced(), there_and_back(model, path)
    assert_same(loaded, X, model, X)
    for name in ("support_", "gates_", "open_probability_", "feature_importances_", "selection_frequency_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(small, name))
    for name in ("lam_", "n_steps_", "network_", "remarks_", "n_features_in_"):
        assert getattr(loaded, name) == getattr(small, name)
    np.testing.assert_array_equal(loaded.feature_names_in_, small.feature_names_in_)
    for name in ("history_", "gate_history_"):
        assert getattr(loaded, name).keys() == getattr(small, name).keys()
        for key, values in getattr(small, name).items():
            np.testing.assert_array_equal(getattr(loaded, name)[key], values)
    pd.testing.assert_frame_equal(loaded.path_, model.path_)
    summary = loaded.summary()
    assert summary.text == model.summary().text
    assert summary.scores == model.summary().scores
    pd.testing.assert_frame_equal(summary.features, model.summary().features)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_values_far_out_and_shrunk_outputs_come_back(estimator_class, path):
    model, X = fit_automatically(estimator_class)
    assert_same(there_and_back(bend(model), path), X, bend(model), X)


def test_the_final_models_of_an_automatic_choice_are_a_team():
    assert len(fit_automatically(GatedCox)[0]._predictor.base) > 1


def test_coefficients_come_back(path):
    model, _ = fit_table(GatedRegressor, "linear")
    loaded = there_and_back(model, path)
    pd.testing.assert_frame_equal(loaded.coefficients(), model.coefficients())
    np.testing.assert_array_equal(loaded.intercept_, model.intercept_)


# ---- tables, with names and without


def test_a_full_table_is_taken_by_the_names_of_its_columns(path):
    model, X = fit_table(GatedClassifier)
    loaded = there_and_back(model, path)
    for table in (X, X[X.columns[::-1]], X.drop(columns="height"), pl.from_pandas(X)):
        assert_same(loaded, table, model, X)
    with pytest.raises(ValueError, match="lacks 1 of the 3 columns the model uses: 'sex'"):
        loaded.predict(X.drop(columns="sex"))


def test_names_and_levels_may_hold_any_text(path):
    X, score = mixed_table()
    names = ['"<script>"\n', "a,b", "\ud800 half", "日本"]
    X.columns = names
    X[names[2]] = X[names[2]].replace({"Oslo": '{"float": "nan"}', "Rome": "\udcff"})
    model = GatedRegressor(0.0, **FAST).fit(X, score)
    loaded = there_and_back(model, path)
    assert loaded.feature_names_in_.tolist() == names
    assert_same(loaded, X, model, X)


def test_without_names_the_selected_columns_are_given_in_order(path):
    model, X = fit_numbers(GatedRegressor, "linear")
    loaded = there_and_back(model, path)
    assert not hasattr(loaded, "feature_names_in_")
    assert 0 < loaded.n_features_in_ < X.shape[1]
    with pytest.raises(ValueError, match=f"X has {X.shape[1]} features"):
        loaded.predict(X)


# ---- targets


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes"]),
        np.array(["no", "yes"], dtype=object),
        np.array([False, True]),
        np.array([3, 7]),
        np.array([-1, 1], dtype=np.int8),
        np.array([1.0, 2.0]),
        np.array(["a", "b", "longer"]),
        np.array([10, 20, 30], dtype=np.uint16),
    ],
    ids=lambda labels: f"{labels.dtype}x{len(labels)}",
)
def test_class_labels_keep_their_type(labels, path):
    X = normal_columns()
    model = GatedClassifier(0.0, **FAST).fit(
        X, labels[np.digitize(X[:, 0], [-0.5, 0.5][: len(labels) - 1])]
    )
    loaded = there_and_back(model, path)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert list(map(type, loaded.classes_.tolist())) == list(map(type, model.classes_.tolist()))
    assert_same(loaded, X, model, X)


def test_class_weights_come_back_with_their_labels(path):
    X, y = two_classes()
    for class_weight in ({0: 1.0, 1: 3.0}, {np.int64(1): 2.0}, "balanced"):
        model = GatedClassifier(0.0, class_weight=class_weight, **FAST).fit(X, y)
        loaded = there_and_back(model, path)
        assert loaded.class_weight == class_weight
        assert_same(loaded, X, model, X)


def test_several_outputs_come_back(path):
    X = normal_columns()
    model = GatedRegressor(0.0, **FAST).fit(X, np.column_stack([X[:, 0] * X[:, 2], 1e6 + X[:, 1] ** 2]))
    loaded = there_and_back(model, path)
    assert loaded.predict(X).shape == (len(X), 2)
    assert_same(loaded, X, model, X)


@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_strata_of_a_cox_model_come_back(ties, path):
    X, y = survival_times()
    strata = np.where(X[:, 5] > 0, "site b", "site a")
    y = stochgate.survival_target(y[:, 0], y[:, 1], strata=strata)
    model = GatedCox(50.0, ties=ties, always_keep=[0], **FAST).fit(X, y)
    loaded, own = there_and_back(model, path), X[:, model.support_]
    times = [0.1, 1.0, 2.0]
    for method in ("predict_survival_function", "predict_cumulative_hazard_function"):
        np.testing.assert_array_equal(
            getattr(loaded, method)(own, times, strata), getattr(model, method)(X, times, strata)
        )
    curve, expected = (
        m.predict_survival_function(x, None, strata)[0] for m, x in ((loaded, own), (model, X))
    )
    np.testing.assert_array_equal(curve.x, expected.x)
    np.testing.assert_array_equal(curve.y, expected.y)
    assert loaded.score(own, y) == model.score(X, y)


# ---- what a loaded model can do


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_clone_of_a_loaded_model_can_be_fitted(estimator_class, path):
    model, X = fit_numbers(estimator_class, "mlp", named=True)
    loaded = there_and_back(model, path)
    y = target_of(estimator_class, (X["a"] * X["b"] + X["c"]).to_numpy())
    again = clone(loaded).set_params(lam=0.0)
    expected = clone(model).set_params(lam=0.0, always_keep=None).fit(X, y)
    assert_same(again.fit(X, y), X, expected, X)


def test_a_loaded_model_is_saved_as_it_is(path, tmp_path):
    model, X = fit_table(GatedCox)
    loaded = there_and_back(model, path)
    again = there_and_back(loaded, tmp_path / "again.safetensors")
    assert_same(again, X, model, X)
    assert_same(there_and_back(model.reduced(), path), X, model, X)


def test_a_summary_is_there_if_it_was_asked_for(path):
    X, y = two_classes()
    model = GatedClassifier(cv=3, **FAST).fit(X, y)
    with pytest.raises(ValueError, match="needs the data of the fit"):
        there_and_back(model, path).summary()
    model.summary()
    assert there_and_back(model, path).summary().verdict == model.summary().verdict
    given = GatedClassifier(0.1, **FAST).fit(X, y)
    assert (
        there_and_back(given, path).summary().features["gate"].tolist()
        == given.gates_[given.support_].tolist()
    )


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_model_without_features_predicts_the_base_rate_for_any_table(estimator_class, path):
    X, score = mixed_table()
    with pytest.warns(stochgate.NoFeatureSelectedWarning):
        model = estimator_class(1e4, **FAST).fit(X, target_of(estimator_class, score))
    loaded = there_and_back(model, path)
    expected = says(model, X)
    for table in (X, X[["sex"]], np.zeros((len(X), 3))):
        for name, values in says(loaded, table).items():
            np.testing.assert_array_equal(values, expected[name])


# ---- parameters


def metadata(path):
    with safe_open(path, framework="np") as file:
        return file.metadata()


def test_parameters_come_back(path):
    X, y = two_classes()
    training = Training(n_steps=30, lr=0.02, dtype="float64")
    gate, network = HardConcreteGate(), MLP((3,), activation="tanh")
    model = GatedClassifier(
        0.01,
        gate=gate,
        network=network,
        threshold=0.1,
        cv=4,
        missing="error",
        training=training,
        random_state=7,
    ).fit(X, y)
    loaded = there_and_back(model, path)
    assert repr(loaded) == repr(model)
    assert type(loaded.network.hidden) is tuple


class OwnGate(GaussianGate):
    """A gate that a file cannot know."""


def test_parameters_that_json_cannot_hold_have_their_defaults_and_are_named(path):
    X, y = two_classes()
    model = GatedClassifier(
        rule=lambda table: 0,
        cv=KFold(3),
        gate=OwnGate(),
        callbacks=[lambda snapshot: None],
        costs=np.ones(6),
        network="linear",
        training=Training(n_steps=30, schedule=lambda progress: 1.0),
        random_state=np.random.RandomState(0),
    ).fit(X, y)
    loaded = there_and_back(model, path)
    assert (loaded.rule, loaded.cv, loaded.gate, loaded.callbacks) == ("auto", 5, "gaussian", None)
    assert (loaded.costs, loaded.random_state) == (None, None)
    assert (loaded.training.schedule, loaded.training.n_steps) == ("constant", 30)
    left_out = json.loads(metadata(path)["parameters"])["left_out"]
    named = {"rule", "cv", "gate", "callbacks", "costs", "random_state", "training.schedule"}
    assert set(left_out) == named


def test_the_file_says_in_plain_text_what_it_is(path):
    model, _ = fit_table(GatedRegressor)
    stochgate.save(model, path)
    told = metadata(path)
    assert told["format"] == "stochgate model"
    assert told["stochgate"] == stochgate.__version__
    assert '"age"' in told["columns"]


@pytest.mark.filterwarnings("ignore::stochgate.NoFeatureSelectedWarning")
def test_a_summary_that_selected_nothing_comes_back(path):
    X = normal_columns()
    model = GatedRegressor(1e4, **{**FAST, "training": short_training(gate_lr=0.3)}).fit(
        X, X[:, 0] + X[:, 1]
    )
    told = model.summary()
    assert not model.support_.any()
    assert "No feature was selected" in told._repr_html_()
    assert "<table>" not in told._repr_html_()
    assert there_and_back(model, path).summary().text == told.text


# ---- custom modules


class Shifted(nn.Module):
    """A module with a constant that its factory draws."""

    def __init__(self, n_columns, n_outputs):
        super().__init__()
        self.layer = nn.Linear(n_columns, n_outputs)
        self.shift = nn.init.normal_(self.layer.weight.detach().clone()[0])

    def forward(self, x):
        return self.layer(x + self.shift.to(x))


def test_constants_of_a_module_are_those_of_the_fit(path):
    X, y = two_classes()
    model = GatedClassifier(50.0, **{**FAST, "network": ModuleNetwork(Shifted)}, always_keep=[1, 3]).fit(
        X, y
    )
    loaded = there_and_back(model, path, network=Shifted)
    assert_same(loaded, X[:, model.support_], model, X)
    assert loaded.network.factory is Shifted


def fails(n_columns, n_outputs):
    raise RuntimeError("no memory")


@pytest.mark.parametrize(
    ("factory", "match"),
    [
        (None, r"custom module, which files cannot hold; say load\(path, network=factory\)"),
        (lambda i, o: nn.Linear(i, o), "parameter '0.bias'"),
        (lambda i, o: nn.Sequential(nn.Linear(i, 4), nn.ReLU(), nn.Linear(4, o, bias=False)), "outputs"),
        (lambda i, o: nn.Sequential(nn.Linear(i, 4), nn.BatchNorm1d(4), nn.Linear(4, o)), "BatchNorm1d"),
        (fails, "no memory"),
    ],
)
def test_a_module_needs_the_factory_it_was_fitted_with(factory, match, path):
    model, _ = fit_numbers(GatedRegressor, "module")
    stochgate.save(model, path)
    with pytest.raises(ModelFileError, match=match):
        stochgate.load(path, network=factory)


def test_a_factory_that_is_not_needed_is_refused(path):
    model, _ = fit_numbers(GatedRegressor, "linear")
    with pytest.raises(ModelFileError, match="leave network out"):
        there_and_back(model, path, network=make_layers)
    with pytest.raises(TypeError, match="give the factory"):
        stochgate.load(path, network="mlp")


# ---- what cannot be saved, and how files are written


class OwnNetwork(MLP):
    """A network that a file cannot know."""


class OwnEstimator(GatedRegressor):
    """An estimator that a file cannot know."""


def test_what_a_file_cannot_hold_is_refused_when_it_is_saved(path):
    X, y = two_classes()
    with pytest.raises(ModelFileError, match="The network is a OwnNetwork"):
        stochgate.save(GatedRegressor(0.0, **{**FAST, "network": OwnNetwork(())}).fit(X, y), path)
    for model in (OwnEstimator(0.0, **FAST).fit(X, y), make_pipeline(GatedRegressor()), GatedRegressor, 3):
        with pytest.raises(TypeError, match="cannot be saved: give a fitted GatedClassifier"):
            stochgate.save(model, path)
    with pytest.raises(NotFittedError):
        stochgate.save(GatedRegressor(), path)
    model = GatedRegressor(0.0, **FAST).fit(X, y).set_params(threshold=3)
    with pytest.raises(ValueError, match="threshold"):
        stochgate.save(model, path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("m.pkl", "'m.pkl' says pickle.*: name it 'm.safetensors', or write pickle by pickle.dump"),
        ("m.JOBLIB", "'m.JOBLIB' says joblib.*, or write joblib by joblib.dump"),
        ("m.onnx", r"'m.onnx' says ONNX.*, or write ONNX by model.to_onnx\(path\)"),
        (
            "m.v2.pt",
            r"name it 'm.v2.safetensors', or write torch by torch.save\(model.to_module\(\), path\)",
        ),
    ],
)
def test_a_name_of_another_format_is_refused(name, expected, tmp_path):
    model, _ = fit_numbers(GatedRegressor, "linear")
    with pytest.raises(ModelFileError, match=expected):
        stochgate.save(model, tmp_path / name)
    assert not any(tmp_path.iterdir())


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(path, monkeypatch):
    model, _ = fit_numbers(GatedRegressor, "linear")
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        stochgate.save(model, path)
    assert path.read_bytes() == b"old"
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_files_have_the_rights_of_any_new_file(path):
    model, _ = fit_numbers(GatedRegressor, "linear")
    stochgate.save(model, path)
    (path.parent / "other").write_bytes(b"")
    assert path.stat().st_mode == (path.parent / "other").stat().st_mode


def test_safetensors_is_asked_for_in_one_sentence(path, monkeypatch):
    model, _ = fit_numbers(GatedRegressor, "linear")
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(ImportError, match=r"Saving a model needs the package safetensors: pip install"):
        stochgate.save(model, path)


def test_wide_models_are_small_files(path):
    X = normal_columns(80, 3000)
    model = GatedRegressor(network="linear", cv=3, training=Training(n_steps=20), random_state=0)
    model = model.fit(as_frame_of_many(X), X[:, 0] + 0.1 * X[:, 1])
    stochgate.save(model, path)
    assert path.stat().st_size < 2_000_000
    pd.testing.assert_frame_equal(stochgate.load(path).path_, model.path_)


def as_frame_of_many(X):
    return pd.DataFrame(X, columns=[f"gene {j}" for j in range(X.shape[1])])
