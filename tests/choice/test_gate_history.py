"""The gates over training are those of the models that made the selection."""

import numpy as np
import pytest
import torch

from choices import FAST
from problems import linear_response, normal_columns, two_classes
from stochgate import GatedClassifier, GatedRegressor, Training
from stochgate.choice.defaults import DEFAULTS


def check_shape(model, n_features):
    step, lam, gates = (model.gate_history_[name] for name in ("step", "lam", "gates"))
    assert gates.shape == (len(step), n_features)
    assert gates.dtype == np.float32
    assert lam.shape == step.shape
    assert (np.diff(step) > 0).all()
    assert ((gates >= 0) & (gates <= 1)).all()


@pytest.mark.parametrize("gate", ["gaussian", "hard-concrete"])
def test_a_given_penalty_has_its_own_training(gate):
    X, y = linear_response()
    model = GatedRegressor(lam=0.6, gate=gate, network="linear", **FAST).fit(X, y)
    check_shape(model, 6)
    history = model.gate_history_
    np.testing.assert_allclose(history["gates"][-1], model.gates_, atol=1e-7)
    assert history["step"].tolist() == model.history_["step"].tolist()
    assert (history["lam"] == 0.6).all()


def test_snapshots_are_what_callbacks_see():
    X, y = two_classes()
    seen = []
    model = GatedClassifier(
        lam=0.5, network="linear", callbacks=[lambda s: seen.append(s.gates[0])], **FAST
    )
    model.fit(X, y)
    np.testing.assert_allclose(model.gate_history_["gates"], torch.stack(seen).numpy(), atol=1e-7)


def test_the_penalty_follows_its_schedule():
    X, y = linear_response()
    training = Training(n_steps=100, n_snapshots=10, schedule="warm-up")
    lam = GatedRegressor(lam=2.0, network="linear", training=training).fit(X, y).gate_history_["lam"]
    assert lam.tolist() == [0.0, 0.0] + [2.0] * 8


def test_features_of_a_group_share_their_history():
    X, y = linear_response()
    model = GatedRegressor(lam=0.5, feature_groups=[0, 1, 2, 2, 0, 3], network="linear", **FAST).fit(X, y)
    check_shape(model, 6)
    gates = model.gate_history_["gates"]
    assert np.array_equal(gates[:, 0], gates[:, 4])
    assert not np.array_equal(gates[:, 0], gates[:, 1])


def test_a_vote_of_the_folds_has_the_mean_of_their_gates():
    X, y = linear_response(200)
    seen = []
    model = GatedRegressor(network="linear", callbacks=[seen.append], **FAST).fit(X, y)
    check_shape(model, 6)
    gates, lam = model.gate_history_["gates"], model.gate_history_["lam"]
    assert (gates[-1][model.support_] > 0.5).all()
    assert (gates[-1][~model.support_] < 0.5).all()
    np.testing.assert_allclose(lam, model.lam_, rtol=1e-6)
    last = [s for s in seen if s.stage in ("path", "survivors") and s.step == s.n_steps]
    means = [s.gates[i : i + 5].mean(0).numpy() for s in last for i in range(0, len(s.gates), 5)]
    assert any(np.allclose(gates[-1], mean, atol=1e-6) for mean in means)


def test_a_joint_set_has_the_growing_penalty_on_all_rows():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(220, 4))
    X = np.repeat(factors, 40, axis=1) + 0.7 * rng.normal(size=(220, 160))
    y = factors @ [1.0, -1.0, 0.8, 0.6] + 0.5 * rng.normal(size=220)
    model = GatedRegressor(network="linear", **FAST).fit(X, y)
    check_shape(model, 160)
    lam, gates = model.gate_history_["lam"], model.gate_history_["gates"]
    assert (np.diff(lam) > 0).all()
    assert lam[-1] == pytest.approx(DEFAULTS.growing_to * 160, rel=0.2)
    last = np.array([np.flatnonzero(gates[:, j] > 0).max(initial=-1) for j in range(160)])
    assert last[model.support_].mean() > last[~model.support_].mean()


def test_without_a_signal_it_is_the_growing_penalty():
    X, y = normal_columns(60, 4), normal_columns(60, 1, seed=5)[:, 0]
    with pytest.warns(UserWarning, match="No feature"):
        model = GatedRegressor(network="linear", **FAST).fit(X, y)
    check_shape(model, 4)
    assert (np.diff(model.gate_history_["lam"]) > 0).all()


def test_a_given_number_has_the_model_that_chose():
    X, y = linear_response(120, 8)
    model = GatedRegressor(network="linear", n_features_to_select=3, **FAST).fit(X, y)
    other = GatedRegressor(network="linear", **FAST).fit(X, y).at(k=3)
    check_shape(model, 8)
    check_shape(other, 8)
    lam = model.gate_history_["lam"]  # it grows until nearly all have closed
    assert (np.diff(lam) > 0).all()
    assert lam[0] < model.lam_ < lam[-1]


def test_gates_that_are_all_kept_stay_open():
    X, y = linear_response()
    model = GatedRegressor(network="linear", always_keep=range(6), **FAST).fit(X, y)
    check_shape(model, 6)
    assert (model.gate_history_["gates"] == 1).all()
