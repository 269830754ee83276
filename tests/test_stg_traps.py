"""Traps that users of the first implementation of stochastic gates fell into; none is here.

The numbers are those of the list of traps that was collected when this package was planned.
"""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from scipy.special import expit
from scipy.stats import norm
from sklearn.metrics import log_loss, mean_squared_error
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
from stochgate import GatedClassifier, GatedCox, GatedRegressor, Training
from stochgate.gates import GATES, GaussianGate
from stochgate.networks import ACTIVATIONS, MLP, ModuleNetwork
from stochgate.objectives import Cox

LONG = {"n_steps": 300}


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_fit_needs_no_validation_data_and_returns_self(estimator_class):  # 2, 24
    X, y = make_problem(estimator_class)
    model = estimator_class(lam=0.1, training=Training(n_steps=2), verbose=1)
    assert model.fit(X, y) is model


def test_cox_predicts_a_risk_score():  # 3
    X, y = survival_times()
    model = short_fit(GatedCox, X, y)
    assert model.predict(X).shape == (len(X),)
    assert model.score(X, y) > 0.75


@pytest.mark.parametrize("device", ["auto", "cpu", "cpu:0"])
def test_devices_have_their_torch_names(device):  # 4
    X, y = two_classes()
    model = GatedClassifier(lam=0.1, device=device, training=Training(n_steps=2)).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_every_activation_trains(activation):  # 5
    X, y = two_classes()
    assert short_fit(GatedClassifier, X, y, activation=activation).score(X, y) > 0.8


def test_any_module_trains():  # 5
    X, y = two_classes()
    network = ModuleNetwork(lambda n, k: nn.Sequential(nn.Linear(n, 8), nn.GELU(), nn.Linear(8, k)))
    assert short_fit(GatedClassifier, X, y, hidden=None, network=network).score(X, y) > 0.8


@pytest.mark.parametrize("layer", [nn.BatchNorm1d, lambda n: nn.Dropout()])
def test_batch_norm_and_dropout_are_refused_in_words(layer):  # 6
    network = ModuleNetwork(lambda n, k: nn.Sequential(layer(n), nn.Linear(n, k)))
    with pytest.raises(ValueError, match="hidden state across a stack of models"):
        GatedClassifier(network=network).fit(*two_classes())


def test_a_misspelt_gate_is_refused_before_training():  # 7
    with pytest.raises(ValueError, match="Unknown gate 'stg'; use one of"):
        GatedClassifier(gate="stg").fit(*two_classes())


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@pytest.mark.parametrize("gate", sorted(GATES))
def test_lam_closes_gates(estimator_class, gate):  # 9, 20
    X, y = make_problem(estimator_class)
    opened = [
        short_fit(estimator_class, X, y, gate=gate, lam=lam, training=LONG).get_support().sum()
        for lam in (0.0, 0.8)
    ]
    assert opened[0] == X.shape[1]
    assert 0 < opened[1] < opened[0]


def test_cox_keeps_a_clean_signal():  # 9
    X, y = survival_times()
    model = short_fit(GatedCox, X, y, lam=0.8, training=LONG)
    np.testing.assert_array_equal(model.get_support(indices=True), [0])


@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_row_order_does_not_matter_to_cox(ties):  # 10
    X, y = survival_times()
    y[:, 1] = np.ceil(5 * y[:, 1])  # with ties
    model = short_fit(GatedCox, X, y, ties=ties, training={"n_steps": 60})
    for order in (np.argsort(y[:, 1]), np.argsort(-y[:, 1])):
        other = short_fit(GatedCox, X[order], y[order], ties=ties, training={"n_steps": 60})
        np.testing.assert_allclose(other.gates_, model.gates_, atol=1e-6)
        np.testing.assert_allclose(other.predict(X), model.predict(X), atol=1e-6)


def test_cox_risk_sets_use_time():  # 10
    X, y = survival_times()
    shuffled = y.copy()
    shuffled[:, 1] = np.random.default_rng(2).permutation(y[:, 1])
    assert short_fit(GatedCox, X, y).score(X, y) > 0.75
    assert short_fit(GatedCox, X, shuffled).score(X, y) < 0.7


def test_cox_mini_batches_still_order_the_risks():  # 11
    X, y = survival_times(n_samples=200)
    order = np.argsort(y[:, 1])  # neighbours in time would make poor batches
    full, batched = (
        short_fit(GatedCox, X[order], y[order], training={"n_steps": 600, "batch_size": size})
        for size in (None, 20)
    )
    X, y = survival_times(n_samples=1000, seed=9)
    assert batched.score(X, y) > full.score(X, y) - 0.02


def test_cox_batch_without_events_adds_nothing():  # 11
    X, y = survival_times()
    y[:, 0] = np.arange(len(y)) < 3
    model = short_fit(GatedCox, X, y, training={"batch_size": 5})
    assert np.isfinite(model.gates_).all()
    assert np.isfinite(model.predict(X)).all()
    objective = Cox()
    rows = objective.encode(y).rows
    censored = objective.take(rows, torch.arange(50, 60))
    output = torch.randn(2, 10, 1, generator=torch.Generator().manual_seed(0)).requires_grad_()
    loss = objective.loss(output, censored, torch.ones(2, 10), {})
    assert loss.tolist() == [0, 0]
    loss.sum().backward()
    assert not output.grad.any()


@pytest.mark.parametrize("ties", ["breslow", "efron"])
@pytest.mark.parametrize("size", [100.0, 1000.0])
def test_cox_loss_bears_large_log_hazards(ties, size):  # 12
    event, time = torch.ones(4), torch.tensor([1.0, 2.0, 2.0, 3.0])
    objective = Cox(ties)
    rows = objective.encode((event.numpy(), time.numpy())).rows
    eta = torch.tensor([-size, size, size, 0.0]).view(1, 4, 1).requires_grad_()
    loss = objective.loss(eta, rows, torch.ones(1, 4), {})
    loss.sum().backward()
    # log risk sums in the limit: size + log 2 for the first; then log 2 each, or log 2 and log 1
    expected = 2 * size + np.log(2) * (3 if ties == "breslow" else 2)
    assert loss.item() == pytest.approx(expected)
    assert torch.isfinite(eta.grad).all()


def test_flat_y_is_not_broadcast():  # 13
    X, y = linear_response()
    flat, column = (short_fit(GatedRegressor, X, t, training=LONG) for t in (y, y[:, None]))
    np.testing.assert_array_equal(flat.gates_, column.gates_)
    assert flat.score(X, y) > 0.8


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_random_state_is_all_that_matters(estimator_class):  # 14
    X, y = make_problem(estimator_class)
    gates = {}
    for global_seed, seed in ((0, 1), (5, 1), (0, 999)):
        with torch.random.fork_rng():
            torch.manual_seed(global_seed)
            model = short_fit(estimator_class, X, y, random_state=seed, training={"n_steps": 20})
        gates[global_seed, seed] = model.gates_
    np.testing.assert_array_equal(gates[0, 1], gates[5, 1])
    assert not np.array_equal(gates[0, 1], gates[0, 999])


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_one_missing_cell_spoils_no_gate(estimator_class):  # 15
    X, y = make_problem(estimator_class)
    X[3, 1] = np.nan
    assert np.isfinite(short_fit(estimator_class, X, y, training={"n_steps": 20}).gates_).all()
    with pytest.raises(ValueError, match="column 1 holds NaN in row 3"):
        estimator_class(missing="error").fit(X, y)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@pytest.mark.parametrize("sigma", [0.3, 0.5])
def test_open_probability_is_a_probability(estimator_class, sigma):  # 16
    X, y = make_problem(estimator_class)
    model = short_fit(estimator_class, X, y, lam=0.8, gate=GaussianGate(sigma), training=LONG)
    partly = (model.gates_ > 0) & (model.gates_ < 1)  # there the gate is mu itself
    assert partly.any()
    np.testing.assert_allclose(
        model.open_probability_[partly], norm.cdf(model.gates_[partly] / sigma), atol=1e-12
    )
    closed = model.gates_ == 0
    assert closed.any()
    assert ((model.open_probability_[closed] > 0) & (model.open_probability_[closed] <= 0.5)).all()
    np.testing.assert_array_equal(model.feature_importances_, model.open_probability_)


def test_nothing_but_loss_and_penalty_moves_a_gate():  # 18
    X = normal_columns()
    y = np.zeros(len(X))  # nothing to learn: a linear model starts and stays at its optimum
    free, priced = (
        short_fit(GatedRegressor, X, y, lam=lam, hidden=(), training={"n_steps": 50}) for lam in (0.0, 0.1)
    )
    np.testing.assert_array_equal(free.gates_, GaussianGate.start)
    assert (priced.gates_ < GaussianGate.start).all()


def test_initial_weights_have_the_asked_spread():  # 19
    base = torch.zeros(1, 1, dtype=torch.float64)
    weights = MLP((200,), init_std=0.1).initial(torch.tensor([0]), 100, base, intercept=True)["weight_0"]
    assert weights.std().item() == pytest.approx(0.1, rel=0.02)
    assert weights.abs().max() > 0.3  # a normal distribution has tails


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_early_stopping_returns_the_best_snapshot(estimator_class):  # 22
    X, y = make_problem(estimator_class, n_samples=80)
    training = {"n_steps": 300, "n_snapshots": 100, "lr": 0.05, "validation_fraction": 0.3}
    stopped = short_fit(estimator_class, X, y, training={**training, "patience": 5})
    held_out = stopped.history_["held_out_loss"]
    best = np.nanargmin(held_out)
    assert best < len(held_out) - 1 < 99
    assert stopped.n_steps_ == stopped.history_["step"][best]
    seen = {}
    short_fit(
        estimator_class,
        X,
        y,
        training={**training, "patience": 5},
        callbacks=[lambda snapshot: seen.update({snapshot.step: snapshot.gates[0].clone()})],
    )
    np.testing.assert_array_equal(stopped.gates_, seen[stopped.n_steps_])
    assert not np.array_equal(stopped.gates_, seen[max(seen)])


def easy_problem(estimator_class):
    """Return 250 rows of 20 columns, of which 0, 1 and 2 matter much."""
    X = normal_columns(250, 20)
    rng = np.random.default_rng(1)
    signal = 2 * X[:, 0] - 2 * X[:, 1] + 2 * X[:, 2]
    y = {
        GatedClassifier: rng.random(250) < expit(signal),
        GatedRegressor: signal + rng.normal(size=250),
        GatedCox: (np.ones(250), rng.exponential(np.exp(-signal))),
    }
    return X, y[estimator_class]


@pytest.mark.slow  # default fits of every kind
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_defaults_are_useful(estimator_class):  # 23
    X, y = easy_problem(estimator_class)
    model = estimator_class(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.get_support(indices=True), [0, 1, 2])
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_second_fit_starts_afresh(estimator_class):  # 24
    X, y = make_problem(estimator_class)
    model = short_fit(estimator_class, X, y, training={"n_steps": 20})
    gates, predicted = model.gates_, predictions(model, X)
    model.fit(X[:, ::-1], y).fit(X, y)
    np.testing.assert_array_equal(model.gates_, gates)
    np.testing.assert_array_equal(predictions(model, X), predicted)


@pytest.mark.parametrize("estimator_class", [*ESTIMATORS, Training])
def test_unknown_parameters_are_refused(estimator_class):  # 25
    with pytest.raises(TypeError, match="report_maps"):
        estimator_class(report_maps=True)


@pytest.mark.parametrize("batch_size", [None, 50])
def test_recorded_losses_are_means_over_rows(batch_size):  # 27
    X, y = two_classes()  # 120 rows: the last batch of 50 is short
    model = short_fit(GatedClassifier, X, y, training={"batch_size": batch_size})
    assert model.history_["train_loss"][-1] == pytest.approx(log_loss(y, model.predict_proba(X)))
    X, y = linear_response()
    model = short_fit(GatedRegressor, X, y, training={"batch_size": batch_size})
    in_units_of_y = model.history_["train_loss"][-1] * y.var()
    assert in_units_of_y == pytest.approx(mean_squared_error(y, model.predict(X)))


@pytest.mark.parametrize("threshold", [0.0, 0.5])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_closed_features_do_not_leak(estimator_class, threshold):  # 28
    X, y = make_problem(estimator_class)
    model = short_fit(estimator_class, X, y, lam=0.8, threshold=threshold, training=LONG)
    closed = model.gates_ <= threshold
    assert 0 < closed.sum() < X.shape[1]
    np.testing.assert_array_equal(predictions(model, np.where(closed, 1e6, X)), predictions(model, X))


@pytest.mark.parametrize("as_X", [as_frame, np.ndarray.tolist, sparse.csr_array])
@pytest.mark.parametrize("as_y", [pd.Series, list])
@pytest.mark.parametrize("labels", [("a", "b", "c"), (1, 2, 3)])
def test_common_containers_and_labels_are_accepted(as_X, as_y, labels):  # 29
    X, y = three_classes()
    y = np.array(labels)[y]
    model = short_fit(GatedClassifier, as_X(X), as_y(y))
    np.testing.assert_array_equal(model.classes_, labels)
    assert model.score(as_X(X), as_y(y)) > 0.8


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_many_rows_are_predicted_as_few(estimator_class, container):  # 30
    X, y = make_problem(estimator_class)
    model = short_fit(estimator_class, container(X), y, training={"n_steps": 20})
    many = np.tile(X, (170, 1))  # 20 400 rows: several blocks and a rest
    expected = np.tile(predictions(model, container(X)).T, 170).T
    np.testing.assert_allclose(predictions(model, container(many)), expected, rtol=1e-9)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_nothing_is_printed(estimator_class, capfd):  # 32
    X, y = make_problem(estimator_class)
    model = estimator_class(training=short_training(n_steps=20), random_state=0).fit(X, y)
    predictions(model, X)
    assert capfd.readouterr() == ("", "")
