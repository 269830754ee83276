"""The ONNX file says what the estimator says, in another runtime."""

import sys

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest

import stochgate
from fitted_models import (
    NETWORKS,
    bend,
    fit_automatically,
    fit_numbers,
    fit_table,
    mixed_table,
    target_of,
)
from problems import ESTIMATORS, as_frame, normal_columns, short_training, three_classes, two_classes
from stochgate import GatedClassifier, GatedCox, GatedRegressor
from stochgate.export.formula import Formula
from stochgate.export.onnx_model import make_onnx, name_inputs

LAYERED = [name for name in NETWORKS if name != "module"]
FAST = {"network": "linear", "training": short_training(n_steps=40), "random_state": 0}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.onnx"


def open_file(path):
    onnx.checker.check_model(onnx.load(path), full_check=True)
    return onnxruntime.InferenceSession(path)


def feed(session, X, dtype=np.float32):
    """Return the columns a session asks for, by name or, without names, in order."""
    given = {}
    for j, asked in enumerate(session.get_inputs()):
        column = X[asked.name] if isinstance(X, pd.DataFrame) else X[:, j]
        if asked.type == "tensor(string)":
            given[asked.name] = np.array([["" if v is None else v] for v in column], dtype=object)
        else:
            given[asked.name] = np.asarray(column, dtype=dtype)[:, None]
    return given


def run(model, X, path, dtype="float32"):
    """Return the outputs of the model's ONNX file by name."""
    model.to_onnx(path, dtype=dtype)
    session = open_file(path)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, feed(session, X, dtype)), strict=True))


def assert_agree(model, X, path, X_full=None, dtype="float32"):
    found, X_full = run(model, X, path, dtype), X if X_full is None else X_full
    if isinstance(model, GatedClassifier):
        assert found["label"].tolist() == model.predict(X_full).tolist()
        expected, values = model.predict_proba(X_full), found["probabilities"]
    else:
        expected = model.predict(X_full).reshape(len(X_full), -1)
        values = found["log_hazard" if isinstance(model, GatedCox) else "value"]
    assert values.shape == expected.shape
    assert values.dtype == dtype
    size = np.abs(expected).max()
    np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-5 * size)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("network", LAYERED)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_onnx_agrees_with_the_estimator(estimator_class, network, dtype, path):
    model, X = fit_numbers(estimator_class, network, dtype, named=True)
    X = X.astype(np.float32).astype(float)
    assert_agree(model, X, path)
    assert [given.name for given in open_file(path).get_inputs()] == ["a", "b", "e"]


@pytest.mark.parametrize("network", LAYERED)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_text_and_missing_values_are_handled(estimator_class, network, path):
    model, X = fit_table(estimator_class, network)
    X = pd.concat(
        [X, X.iloc[:4].assign(age=np.nan, city=["Paris", None, "Oslo", "(missing)"], sex=list("xfmf"))]
    )
    X["age"] = X["age"].astype(np.float32).astype(float)
    assert_agree(model, X, path)
    kinds = {given.name: given.type for given in open_file(path).get_inputs()}
    assert kinds == {"age": "tensor(float)", "city": "tensor(string)", "sex": "tensor(string)"}


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_teams_agree(estimator_class, path):
    model, X = fit_automatically(estimator_class)
    assert_agree(model, X, path)


@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [False, True], [3, 7], [1.0, 2.0], ["a", "b", "c"], [10, 20, 30]],
    ids=str,
)
def test_labels_are_those_of_the_classes(labels, path):
    X = normal_columns()
    y = np.array(labels)[np.digitize(X[:, 0] * X[:, 1], [-0.5, 0.5][: len(labels) - 1])]
    model = GatedClassifier(0.0, **FAST).fit(X, y)
    assert_agree(model, X, path)
    label = run(model, X, path)["label"]
    assert {type(value) for value in label.tolist()} == {type(labels[0])}


@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid", "selu", "silu"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_activation_agrees(activation, dtype, path):
    X, y = two_classes()
    training = short_training(n_steps=20, dtype=dtype)
    model = GatedClassifier(0.0, activation=activation, hidden=(4,), training=training, random_state=0).fit(
        X, y
    )
    assert_agree(model, X, path)


def test_several_outputs_agree(path):
    X = normal_columns()
    model = GatedRegressor(0.0, **FAST).fit(X, np.column_stack([X[:, 0] * X[:, 2], 5 + X[:, 1] ** 2]))
    assert_agree(model, X, path)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_values_far_out_are_drawn_in_and_outputs_shrunk(estimator_class, path):
    model, X = fit_automatically(estimator_class)
    assert_agree(bend(model), 30 * X, path)


def test_double_precision_keeps_more_digits(path):
    X = normal_columns()
    X[:, 0] += 1e6
    model = GatedRegressor(0.0, **FAST).fit(X, (X[:, 0] - 1e6) * X[:, 1] + X[:, 2])
    expected = model.predict(X)
    errors = [
        np.abs(run(model, X, path, dtype)["value"][:, 0] - expected).max()
        for dtype in ("float32", "float64")
    ]
    assert errors[1] < 1e-10 < errors[0]
    with pytest.raises(ValueError, match="dtype is 'float16'; give one of 'float32', 'float64'"):
        model.to_onnx(path, dtype="float16")


def test_missing_values_stay_missing_where_the_model_refuses_them(path):
    X, y = three_classes()
    model = GatedRegressor(0.0, missing="error", **FAST).fit(X, y)
    X[0, 0] = np.nan
    assert np.isnan(run(model, X, path)["value"][:, 0]).tolist() == [True] + [False] * (len(X) - 1)


# ---- names


def test_inputs_have_distinct_names_that_onnx_can_hold():
    assert name_inputs(["", "column_0", "\ud800", "a"]) == ["column_0_", "column_0", "column_2", "a"]
    assert name_inputs([0, 1]) == ["column_0", "column_1"]


def test_columns_may_have_any_name(path):
    X, score = mixed_table()
    X.columns = ["label", "/constant_0", '<script>"\n', "probabilities"]
    model = GatedClassifier(0.0, **FAST).fit(X, target_of(GatedClassifier, score))
    found = run(model, X, path)
    assert list(found) == ["label_", "probabilities_"]
    assert found["label_"].tolist() == model.predict(X).tolist()


def test_texts_that_no_file_can_hold_are_the_others(path):
    X, score = mixed_table()
    X["city"] = X["city"].replace({"Rome": "\ud800"})
    model = GatedRegressor(0.0, **FAST).fit(X, score)
    known = X[X["city"] != "\ud800"]
    assert_agree(model, known, path)


# ---- what is refused


def test_custom_modules_are_refused(path):
    model, _ = fit_numbers(GatedRegressor, "module")
    with pytest.raises(ValueError, match=r"The network is a ModuleNetwork.*to_module\(\) with torch.onnx"):
        model.to_onnx(path)
    assert not path.exists()


def test_a_model_without_features_is_refused(path):
    X, y = two_classes()
    training = short_training(n_steps=40, gate_lr=0.05)
    with pytest.warns(stochgate.NoFeatureSelectedWarning):
        model = GatedClassifier(1e4, network="linear", training=training, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="No feature is selected"):
        model.to_onnx(path)


def test_a_model_whose_columns_say_nothing_gives_the_base_rate():
    model, X = fit_numbers(GatedClassifier, "linear", named=True)
    small = model.reduced()
    small._predictor = type(small._predictor)(
        **{**vars(small._predictor), "scale": 0 * small._predictor.scale}
    )
    session = onnxruntime.InferenceSession(
        make_onnx(Formula.of(small), np.dtype("float32")).SerializeToString()
    )
    found = session.run(["probabilities"], feed(session, X))[0]
    np.testing.assert_allclose(found, small.predict_proba(X), rtol=1e-5)


def test_onnx_is_asked_for_in_one_sentence(path, monkeypatch):
    model, _ = fit_numbers(GatedRegressor, "linear")
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(
        ImportError, match=r"Writing ONNX needs the package onnx: pip install stochgate\[onnx\]"
    ):
        model.to_onnx(path)


def test_a_loaded_model_can_be_exported(path, tmp_path):
    model, X = fit_table(GatedCox, "encoded")
    stochgate.save(model, tmp_path / "model")
    loaded = stochgate.load(tmp_path / "model")
    np.testing.assert_array_equal(run(loaded, X, path)["log_hazard"], run(model, X, path)["log_hazard"])


def test_frames_name_the_inputs():
    model, _ = fit_numbers(GatedRegressor, "linear", named=True)
    assert as_frame(normal_columns()).columns[model.support_].tolist() == name_inputs(
        Formula.of(model).features
    )
