"""The Cox objective: extreme numbers, models without weight, means and held-out rows."""

from functools import partial

import numpy as np
import pytest
import torch

from stochgate.objectives import Cox
from stochgate.objectives.base import Objective
from survival_problems import KINDS, assert_equals_double_loops, double_loops, evaluate, stack

either_ties = pytest.mark.parametrize("ties", ["breslow", "efron"])
each_kind = pytest.mark.parametrize("kind", KINDS)
several_seeds = pytest.mark.parametrize("seed", range(4))
assert_equal = partial(torch.testing.assert_close, rtol=1e-10, atol=1e-10)


# ---- the numbers


def extreme(kind, ties, dtype, size):
    """Return the loss and gradient at log hazards of -size, 0 and size, and what they should be."""
    _, y, weights = stack(kind, 3)
    signs = torch.randint(-1, 2, weights.shape, generator=torch.Generator().manual_seed(0))
    eta, weights = (size * signs).to(dtype), weights.to(dtype)
    ours = evaluate(Cox(ties=ties), eta, Cox().encode(y).rows, weights)
    return ours, double_loops(ties, eta, y, weights)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-4), (torch.float64, 1e-11)])
@either_ties
@each_kind
def test_log_hazards_of_100_stay_finite(kind, ties, dtype, tolerance):
    (loss, gradient), (expected_loss, expected_gradient) = extreme(kind, ties, dtype, size=100)
    assert loss.dtype == gradient.dtype == dtype
    assert loss.isfinite().all()
    assert gradient.isfinite().all()
    torch.testing.assert_close(loss.double(), expected_loss, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(gradient.double(), expected_gradient, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@either_ties
@each_kind
def test_log_hazards_of_10000_stay_finite(kind, ties, dtype):
    (loss, gradient), (expected_loss, expected_gradient) = extreme(kind, ties, dtype, size=10_000)
    torch.testing.assert_close(loss.double(), expected_loss, rtol=1e-5, atol=0)
    torch.testing.assert_close(gradient.double(), expected_gradient, rtol=1e-2, atol=1e-2)


@either_ties
@each_kind
def test_constant_log_hazard_changes_nothing(kind, ties):
    eta, y, weights = stack(kind, 0)
    rows = Cox().encode(y).rows
    loss, gradient = evaluate(Cox(ties=ties), eta, rows, weights)
    for shift in (-300.0, 1.5, 300.0):
        shifted, shifted_gradient = evaluate(Cox(ties=ties), eta + shift, rows, weights)
        assert_equal(shifted, loss)
        assert_equal(shifted_gradient, gradient)
    assert_equal(gradient.sum(1), torch.zeros(len(eta), dtype=eta.dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@either_ties
@each_kind
def test_model_without_event_adds_zero_and_has_no_mean(kind, ties, dtype):
    eta, y, weights = stack(kind, 0)
    eta, weights = eta.to(dtype), weights.to(dtype)
    weights[1] = 0
    weights[2, y["event"]] = 0
    objective, rows = Cox(ties=ties), Cox().encode(y).rows
    output = eta[..., None].requires_grad_()
    for loss, empty in [(objective.loss, 0.0), (objective.mean_loss, np.nan)]:
        losses = loss(output, rows, weights, {})
        (gradient,) = torch.autograd.grad(losses.sum(), output)
        np.testing.assert_array_equal(losses[1:3].detach(), empty)
        assert (gradient[1:3] == 0).all()
        assert gradient.isfinite().all()
        assert (losses[[0, 3, 4]] > 0).all()


@either_ties
@each_kind
def test_batch_without_event_adds_zero(kind, ties):
    eta, y, weights = stack(kind, 0)
    objective = Cox(ties=ties)
    index = torch.nonzero(~torch.from_numpy(y["event"]))[:, 0]
    batch = objective.take(objective.encode(y).rows, index)
    loss, gradient = evaluate(objective, eta[:, index], batch, weights[:, index])
    assert (loss == 0).all()
    assert (gradient == 0).all()


@either_ties
@each_kind
def test_latest_rows_without_weight_make_no_nan(kind, ties):
    eta, y, weights = stack(kind, 0)
    time = y["time"]
    y["event"][time == time.max()] = True
    weights[:, time >= time.max() - 1] = 0
    weights[0] = torch.from_numpy(time == time.min())  # one risk set is left
    assert_equals_double_loops(ties, eta, y, weights)


@either_ties
@each_kind
def test_float32_holds_over_many_rows(kind, ties):
    eta, y, weights = stack(kind, 0, n_samples=20_000, n_times=300)
    rows = Cox().encode(y).rows
    exact, exact_gradient = evaluate(Cox(ties=ties), eta, rows, weights)
    loss, gradient = evaluate(Cox(ties=ties), eta.float(), rows, weights.float())
    torch.testing.assert_close(loss.double(), exact, rtol=1e-5, atol=0)
    torch.testing.assert_close(gradient.double(), exact_gradient, rtol=1e-4, atol=1e-5)


# ---- means and held-out rows


@either_ties
@each_kind
def test_mean_is_over_the_weight_of_the_events(kind, ties):
    eta, y, weights = stack(kind, 0)
    objective, rows = Cox(ties=ties), Cox().encode(y).rows
    expected, _ = double_loops(ties, eta, y, weights)
    mean = objective.mean_loss(eta[..., None], rows, weights, {})
    assert_equal(mean, expected / weights[:, y["event"]].sum(1))
    again = objective.mean_loss(eta[..., None], rows, 3 * weights, {})
    assert_equal(again - mean, torch.full_like(mean, np.log(3)))  # the risk sets weigh 3 times more


@either_ties
@several_seeds
@each_kind
def test_held_out_loss_is_what_the_held_out_rows_add(kind, seed, ties):
    eta, y, weights = stack(kind, seed)
    train = torch.rand(weights.shape, generator=torch.Generator().manual_seed(seed)) < 0.6
    train[4] = False  # nothing trained on
    train[3] = True  # nothing held out
    test_weights, weights = weights * ~train, weights * train
    rows = Cox().encode(y).rows
    ours = Cox(ties=ties).held_out_loss(eta[..., None], rows, weights, test_weights, {})
    both, _ = double_loops(ties, eta, y, weights + test_weights)
    alone, _ = double_loops(ties, eta, y, weights)
    held_out = test_weights[:, y["event"]].sum(1)
    assert_equal(ours[held_out > 0], ((both - alone) / held_out)[held_out > 0])
    assert ours[3].isnan()
    assert_equal(ours[4], both[4] / held_out[4])


@each_kind
def test_base_is_zero(kind):
    _, y, weights = stack(kind, 0)
    assert Cox().base(Cox().encode(y).rows, weights, {}).tolist() == [[0]] * len(weights)


@pytest.mark.parametrize("spread", [1.0, 100.0, 3000.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_written_slope_is_that_of_log_space(spread, dtype):
    rng = np.random.default_rng(0)
    time = rng.integers(1, 12, size=40)  # many ties
    target = Cox().encode(np.column_stack([rng.random(40) < 0.6, time]))
    weights = torch.tensor(rng.integers(0, 3, size=(4, 40)), dtype=dtype)
    weights[3] = 0  # a model without weight
    output = spread * torch.tensor(rng.normal(size=(4, 40, 1)), dtype=dtype)
    written = Cox().slope(target.rows, weights, {})(output)
    expected = Objective.slope(Cox(), target.rows, weights, {})(output)
    assert written.dtype == dtype
    torch.testing.assert_close(written, expected, rtol=1e-4 if dtype == torch.float32 else 1e-9, atol=1e-6)
