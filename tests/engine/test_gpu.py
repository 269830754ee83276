"""The engine on a GPU: recorded steps equal plain ones, and the CPU's."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch

from plans import make
from problems import linear_response
from stochgate import GatedRegressor, StabilitySelector, Training
from stochgate.engine import CLOSED, OPEN, DenseColumns, Design, train
from stochgate.engine.backend import gpu_product as on_gpu_product
from stochgate.engine.batches import batches
from stochgate.engine.loop import start
from stochgate.engine.steps import GraphedStep, make_optimizer, make_step
from stochgate.networks import MLP
from stochgate.objectives import Classification, Cox, Regression, Target

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA here"),
]

OBJECTIVES = [
    (Classification(), "binary"),
    (Classification(class_weight="balanced"), "multiclass"),
    (Regression(), "regression"),
    (Cox(), "survival"),
    (Cox(ties="efron"), "survival"),
    (Cox(), "entry and strata"),
    (Cox(ties="efron"), "entry and strata"),
]
NETWORKS = [MLP(hidden=()), MLP(hidden=(8, 4)), MLP(hidden=(8,), linear=(1,))]
# Single precision holds these step sizes exactly: on a GPU the optimiser reads them from such a number.
EXACT = {"lr": 2.0**-7, "gate_lr": 2.0**-8, "lr_decay": "constant"}


class Unrecorded(MLP):
    """An MLP whose steps are launched one operation after another."""

    recordable = False


def unrecorded(network):
    return Unrecorded(**network.get_params())


def on_gpu(plan, design, target):
    """Return a plan and its data on the GPU."""
    moved = {name: value.cuda() for name, value in vars(plan).items() if isinstance(value, torch.Tensor)}
    rows = {name: value.cuda() for name, value in target.rows.items()}
    columns = DenseColumns(design.columns.dense().cuda())
    return (
        replace(plan, **moved),
        Design(columns, design.gate_of, design.n_gates),
        Target(rows, target.n_outputs, target.facts),
    )


def make_on_gpu(objective, kind, training, **parts):
    return on_gpu(*make(objective, kind, training, n_samples=60, **parts))


def step_of(plan, design, target):
    """Return what takes the steps of a plan."""
    models = start(plan, design, target)
    return make_step(models, design, make_optimizer(models, plan.training))


def assert_same_models(models, expected, atol):
    pairs = [(models.gate_parameter, expected.gate_parameter)]
    pairs += [(models.parameters[name], value) for name, value in expected.parameters.items()]
    for value, other in pairs:
        torch.testing.assert_close(value.detach().cpu(), other.detach().cpu(), rtol=0, atol=atol)


@pytest.mark.parametrize("turns", [(), torch.arange(60).view(2, 30).T.flatten().split(40)], ids=len)
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("network", NETWORKS, ids=str)
@pytest.mark.parametrize(("objective", "kind"), OBJECTIVES, ids=str)
def test_recorded_steps_equal_plain_ones(objective, kind, network, optimizer, turns):
    training = Training(n_steps=50, optimizer=optimizer, schedule="ramp")
    plan, design, target = make_on_gpu(objective, kind, training, network=network, dtype=torch.float32)
    plan = replace(plan, turns=turns)
    plain = replace(plan, network=unrecorded(network))
    assert isinstance(step_of(plan, design, target), GraphedStep)
    assert not isinstance(step_of(plain, design, target), GraphedStep)
    recorded, expected = (train(p, design, target) for p in (plan, plain))
    assert_same_models(recorded.models, expected.models, atol=1e-5)
    torch.testing.assert_close(recorded.gate_path, expected.gate_path, rtol=0, atol=1e-5)
    torch.testing.assert_close(recorded.train_loss, expected.train_loss, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("network", NETWORKS, ids=str)
@pytest.mark.parametrize(("objective", "kind"), OBJECTIVES, ids=str)
def test_gpu_equals_cpu(objective, kind, network, optimizer):
    # With centred rows a linear model's intercept has no gradient but rounding, which Adam blows up.
    training = Training(n_steps=30, optimizer=optimizer, n_draws=2, standardize=False, **EXACT)
    plan, design, target = make(objective, kind, training, network=network, n_samples=60)
    expected = train(plan, design, target).models
    moved_plan, moved_design, moved_target = on_gpu(plan, design, target)
    models = train(moved_plan, moved_design, moved_target).models
    assert models.gate_parameter.is_cuda
    assert_same_models(models, expected, atol=1e-8)
    torch.testing.assert_close(
        models.predict(moved_design).cpu(), expected.predict(design), rtol=0, atol=1e-7
    )


@pytest.mark.parametrize(("objective", "kind"), OBJECTIVES, ids=str)
def test_decay_reaches_recorded_steps(objective, kind):
    """The step sizes of a decay are rounded to single precision, so less than all digits agree."""
    training = Training(n_steps=30)
    plan, design, target = make(objective, kind, training, n_samples=60)
    assert_same_models(
        train(*on_gpu(plan, design, target)).models, train(plan, design, target).models, atol=1e-6
    )


@pytest.mark.parametrize("training", [Training(n_steps=40), Training(n_steps=40, batch_size=25)], ids=str)
@pytest.mark.parametrize(("objective", "kind"), OBJECTIVES, ids=str)
def test_a_model_does_not_know_its_neighbours(objective, kind, training):
    plan, design, target = make_on_gpu(objective, kind, training)
    stack = train(plan, design, target).models.gate_parameter
    for rows in ([2], [1, 0], [2, 2, 0, 1]):
        index = torch.tensor(rows, device="cuda")
        others = train(plan.take(index), design, target).models.gate_parameter
        torch.testing.assert_close(others, stack[index], rtol=0, atol=1e-8)


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize(("objective", "kind"), OBJECTIVES, ids=str)
def test_weight_0_equals_the_row_removed(objective, kind, optimizer):
    """On the CPU the engine's tests compare with the rows removed; here X there must not matter."""
    plan, design, target = make_on_gpu(objective, kind, Training(n_steps=40, optimizer=optimizer))
    weights = plan.weights.clone()
    weights[:, 10:20] = 0
    plan = replace(plan, weights=weights)
    wild = design.columns.dense().clone()
    wild[10:20] = 1e3
    models, others = (
        train(plan, Design(DenseColumns(X), None, design.n_gates), target).models
        for X in (design.columns.dense(), wild)
    )
    assert_same_models(models, others, atol=1e-8)


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_models_that_stop_leave_the_others_as_they_are(optimizer):
    """The stack shrinks while it trains, and its step is recorded anew with the optimiser's state."""
    training = Training(n_steps=200, n_snapshots=20, lr=0.05, optimizer=optimizer)
    plan, design, target = make_on_gpu(Regression(), "regression", training)
    training.set_params(patience=3)
    plan = replace(plan, test_weights=(plan.weights == 0).double() + 0.1)
    recorded, plain = (
        train(p, design, target) for p in (plan, replace(plan, network=unrecorded(plan.network)))
    )
    assert torch.equal(recorded.step, plain.step)
    assert_same_models(recorded.models, plain.models, atol=1e-5)


def test_gates_that_are_all_held_need_no_noise():
    plan, design, target = make_on_gpu(Regression(), "regression", Training(n_steps=30))
    fixed = torch.tensor([[OPEN, CLOSED, OPEN, OPEN, CLOSED]] * 3, dtype=torch.int8, device="cuda")
    plan = replace(plan, fixed=fixed)
    recorded = train(plan, design, target).models
    plain = train(replace(plan, network=unrecorded(plan.network)), design, target).models
    assert_same_models(recorded, plain, atol=1e-8)


@pytest.mark.parametrize(("size", "n_turns", "n_recorded"), [(25, 0, 0), (None, 0, 1), (None, 3, 3)])
def test_rows_that_come_again_are_recorded(size, n_turns, n_recorded):
    training = Training(n_steps=20, batch_size=size)
    plan, design, target = make_on_gpu(Regression(), "regression", training)
    plan = replace(plan, turns=torch.arange(60).tensor_split(n_turns) if n_turns else ())
    step, noise = step_of(plan, design, target), torch.zeros(1, 3, design.n_gates, device="cuda").double()
    for batch in islice(batches(design, target, plan), 20):
        step(batch, noise, plan.lam)
    assert len(step.recordings) == n_recorded


@pytest.mark.parametrize("shape", [(3, 9, 12), (2, 70, 600), (1, 1, 1), (2, 33, 519)], ids=str)
@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("wants_scale", [True, False])
def test_kernels_do_what_plain_operations_do(shape, given, wants_scale):
    kernels = on_gpu_product._kernels()
    if kernels is on_gpu_product:
        pytest.skip("Triton is not there")
    generator = torch.Generator("cuda").manual_seed(0)

    def normal(*shape):
        return torch.randn(*shape, generator=generator, dtype=torch.float64, device="cuda")

    n_models, n_units, n_columns = shape
    weight, scale = normal(*shape), normal(n_models, n_columns).clamp_min(0)
    shift, bias = (normal(n_models, n) if given else None for n in (n_columns, n_units))
    width = n_columns + 1 + -(n_columns + 1) % 8
    gated, expected = (some.gate(weight, scale, shift, bias, width) for some in (kernels, on_gpu_product))
    torch.testing.assert_close(gated, expected, rtol=0, atol=1e-11)
    of_gated = normal(n_models, n_units, width)
    found, expected = (
        some.ungate(of_gated, weight, scale, shift, wants_scale) for some in (kernels, on_gpu_product)
    )
    torch.testing.assert_close(found[0], expected[0], rtol=0, atol=1e-11)
    assert (found[1] is None) is not wants_scale
    if wants_scale:
        torch.testing.assert_close(found[1], expected[1], rtol=0, atol=1e-10)


def test_stability_selection_on_the_gpu_equals_that_on_the_cpu():
    X, y = linear_response(n_features=12)
    X[:, 8] = X[:, 9]  # columns that depend on each other
    X[:, 7] = X[:, 0] + 0.5 * X[:, 7]
    X[:, 10] = X[:, 0] + 0.5 * X[:, 8]
    training = Training(n_steps=100, n_snapshots=2, dtype="float64", **EXACT)
    found = [
        StabilitySelector(
            GatedRegressor(network="linear", training=training, device=device),
            fdr=0.1,
            n_pairs=4,
            random_state=0,
        ).fit(X, y)
        for device in ("cpu", "cuda")
    ]
    np.testing.assert_array_equal(found[0].get_support(), found[1].get_support())
    # near 1 the order of two almost equal losses decides
    np.testing.assert_allclose(found[0].q_values_, found[1].q_values_, rtol=0.1, atol=1e-6)


def test_tf32_rounds_but_finds_the_same_features():
    X, y = linear_response(n_features=12)
    found = [
        GatedRegressor(lam=0.5, hidden=(16, 8), device="cuda", random_state=0, training=training).fit(X, y)
        for training in (Training(), Training(tf32=True))
    ]
    np.testing.assert_array_equal(found[0].get_support(), found[1].get_support())
    gates = [model.open_probability_ for model in found]
    assert not np.array_equal(*gates)
    np.testing.assert_allclose(*gates, atol=0.1)
    assert not torch.backends.cuda.matmul.allow_tf32
