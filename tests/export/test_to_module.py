"""The torch module says what the estimator says, and needs no stochgate to do so."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import torch

import stochgate
from fitted_models import (
    NETWORKS,
    bend,
    fit_automatically,
    fit_numbers,
    fit_table,
    make_layers,
    mixed_table,
    target_of,
)
from problems import ESTIMATORS, normal_columns, short_training, three_classes, two_classes
from stochgate import GatedClassifier, GatedCox, GatedRegressor
from stochgate.export import module_input
from stochgate.objectives import Regression
from stochgate.objectives.base import Objective

TOLERANCE = {"float32": 1e-6, "float64": 1e-12}
FAST = {"network": "linear", "training": short_training(n_steps=40), "random_state": 0}


def output_of(model, X):
    """Return what the estimator's network says, on the scale of y, shape (n_samples, n_outputs)."""
    method = "decision_function" if isinstance(model, GatedClassifier) else "predict"
    found = getattr(model, method)(X)
    return found[:, None] if found.ndim == 1 else found


def assert_agree(model, X, dtype="float64", module=None):
    module = model.to_module() if module is None else module
    found, expected = module(module_input(model, X)), output_of(model, X)
    assert found.shape == expected.shape
    size = np.abs(expected).max()
    np.testing.assert_allclose(found.numpy(), expected, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype] * size)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_module_agrees_with_the_estimator(estimator_class, network, dtype):
    model, X = fit_numbers(estimator_class, network, dtype)
    assert_agree(model, X, dtype)
    columns = torch.from_numpy(X[:, model.support_])
    torch.testing.assert_close(model.to_module()(columns), model.to_module()(module_input(model, X)))


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_text_and_missing_values_are_handled(estimator_class, network):
    model, X = fit_table(estimator_class, network)
    X = pd.concat([X, X.iloc[:3].assign(age=np.nan, city=["Paris", None, "Oslo"], sex=[None, "x", "f"])])
    assert_agree(model, X)
    module = model.to_module()
    assert module.column_names[0] == "age"
    assert [name.split("=")[0] for name in module.column_names[1:]] == ["city"] * 3 + ["sex"]
    assert torch.isnan(module_input(model, X)[:, 0]).sum() == X["age"].isna().sum()


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_teams_are_averaged(estimator_class):
    model, X = fit_automatically(estimator_class)
    assert_agree(model, X, "float32")
    assert_agree(model.reduced(), X, "float32", model.to_module())


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_values_far_out_are_drawn_in_and_outputs_shrunk(estimator_class):
    model, X = fit_automatically(estimator_class)
    bent = bend(model)
    assert not np.allclose(output_of(bent, X), output_of(model, X))
    assert_agree(bent, X, "float32")
    assert_agree(bent, 1e200 * X, "float32")


@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid", "selu", "silu"])
def test_every_activation_agrees(activation):
    X, y = two_classes()
    model = GatedClassifier(
        0.0, activation=activation, hidden=(4,), training=short_training(n_steps=20), random_state=0
    )
    assert_agree(model.fit(X, y), X)


def test_large_targets_and_several_outputs_keep_their_digits():
    X = normal_columns()
    y = np.column_stack([1e9 + X[:, 0] * X[:, 2], X[:, 1] ** 2])
    assert_agree(GatedRegressor(0.0, **FAST).fit(X, y), X)


def test_many_classes_have_a_logit_each():
    X, y = three_classes()
    model = GatedClassifier(0.0, **FAST).fit(X, y)
    assert_agree(model, X)
    assert model.to_module()(torch.from_numpy(X)).argmax(1).tolist() == model.predict(X).tolist()


def test_raw_columns_agree():
    X, y = two_classes()
    training = short_training(n_steps=40, standardize=False)
    model = GatedClassifier(0.0, network="linear", training=training, random_state=0).fit(X, y)
    assert model._predictor.shift is None
    assert_agree(model, X)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_model_without_features_says_the_base_rate(estimator_class):
    X, score = mixed_table()
    with pytest.warns(stochgate.NoFeatureSelectedWarning):
        model = estimator_class(1e4, **{**FAST, "training": short_training(n_steps=40, gate_lr=0.05)}).fit(
            X, target_of(estimator_class, score)
        )
    assert_agree(model, X)
    assert model.to_module().column_names == []


def test_missing_values_stay_missing_where_the_model_refuses_them():
    X, y = two_classes()
    model = GatedClassifier(0.0, missing="error", **FAST).fit(X, y)
    X[0, 0] = np.nan
    found = model.to_module()(torch.from_numpy(X))
    assert found.isnan().flatten().tolist() == [True] + [False] * (len(X) - 1)


# ---- a module as any other


def test_the_output_has_the_type_of_the_input():
    model, X = fit_numbers(GatedRegressor, "mlp", "float32")
    module, columns = model.to_module(), torch.from_numpy(X[:, model.support_])
    assert not module.training
    assert module(columns).dtype == torch.float64
    single = module(columns.float())
    assert single.dtype == torch.float32
    torch.testing.assert_close(single.double(), module(columns), rtol=1e-5, atol=1e-5)
    whole = module(columns.round().long())
    torch.testing.assert_close(whole, module(columns.round().float()))


def test_a_module_can_be_made_single_precision():
    model, X = fit_table(GatedRegressor, "encoded", "float32")
    module = model.to_module().float()
    assert {buffer.dtype for buffer in module.buffers() if buffer.is_floating_point()} == {torch.float32}
    found = module(module_input(model, X).float())[:, 0]
    np.testing.assert_allclose(found.numpy(), model.predict(X), rtol=1e-4)


@pytest.mark.parametrize("network", ["linear", "past", "encoded"])
def test_torch_export_takes_it_with_any_number_of_rows(network):
    model, X = fit_table(GatedCox, network)
    module, columns = model.to_module(), module_input(model, X)
    rows = torch.export.Dim("rows")
    program = torch.export.export(module, (columns[:5],), dynamic_shapes=({0: rows},))
    torch.testing.assert_close(program.module()(columns), module(columns))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore:The TorchScript type system")
def test_torch_script_takes_it():
    model, X = fit_table(GatedClassifier, "deep")
    module, columns = model.to_module(), module_input(model, X)
    for script in (torch.jit.script(module), torch.jit.trace(module, columns[:5])):
        torch.testing.assert_close(script(columns), module(columns))


def test_a_saved_module_runs_without_stochgate(tmp_path):
    model, X = fit_table(GatedClassifier, "encoded")
    module, columns = model.to_module(), module_input(model, X)
    torch.save(module, tmp_path / "module.pt")
    torch.save((columns, module(columns)), tmp_path / "rows.pt")
    code = """
import sys
sys.modules["stochgate"] = None
import torch
module = torch.load("module.pt", weights_only=False)
columns, expected = torch.load("rows.pt")
assert torch.equal(module(columns), expected)
assert module.column_names[0] == "age"
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_a_custom_module_has_its_members_inside():
    model, _ = fit_numbers(GatedRegressor, "module")
    module = model.to_module()
    kinds = [type(part) for part in module.modules()]
    assert {type(part) for part in make_layers(1, 1)} <= set(kinds)


def test_a_loaded_model_gives_the_same_module(tmp_path):
    model, X = fit_table(GatedCox, "encoded")
    stochgate.save(model, tmp_path / "model")
    loaded, columns = stochgate.load(tmp_path / "model"), module_input(model, X)
    assert torch.equal(loaded.to_module()(columns), model.to_module()(columns))
    torch.testing.assert_close(module_input(loaded, X), columns, equal_nan=True, rtol=0, atol=0)


class Counts(Regression):
    """An objective of the user's: the output is the logarithm of a rate."""

    def loss(self, output, rows, weights, learned):
        return (output.exp() - rows["y"] * output).mean(2).mul(weights).sum(1)

    slope = Objective.slope
    held_out_losses = Objective.held_out_losses

    def learn(self, rows, weights):
        return {}

    def base(self, rows, weights, learned):
        return (weights @ rows["y"].to(weights) / weights.sum(1, keepdim=True)).log()

    def score(self, output, rows, weights, learned):
        return -self.mean_loss(output, rows, weights, learned)

    average = Objective.average

    def read(self, output, learned):
        return output.exp()


class AbsoluteErrors(Regression):
    """Another loss, whose outputs are read as those of any regression."""

    def loss(self, output, rows, weights, learned):
        return (output - self._scaled(rows, learned).to(output)).abs().mean(2).mul(weights).sum(1)

    slope = Objective.slope
    held_out_losses = Objective.held_out_losses


class OwnRegressor(GatedRegressor):
    objective = Counts

    def _make_objective(self, training):
        return self.objective()


@pytest.mark.parametrize("export", ["to_module", "to_onnx"])
def test_predictions_of_an_unknown_objective_are_refused(export, tmp_path):
    X = normal_columns()
    y = np.random.default_rng(0).poisson(np.exp(1 + X[:, 0]))
    model = OwnRegressor(0.0, **FAST).fit(X, y)
    assert model.predict(X).min() > 0
    given = () if export == "to_module" else (tmp_path / "model.onnx",)
    with pytest.raises(ValueError, match=r"The objective is a Counts, and exports know how Class.*Pickle"):
        getattr(model, export)(*given)
    assert not any(tmp_path.iterdir())


def test_another_loss_is_exported(monkeypatch):
    X = normal_columns()
    monkeypatch.setattr(OwnRegressor, "objective", AbsoluteErrors)
    assert_agree(OwnRegressor(0.0, **FAST).fit(X, 3 + X[:, 0] + X[:, 1]), X)
