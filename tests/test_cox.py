"""The Cox objective, its target and its metric against R, lifelines and scikit-survival."""

import json
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from lifelines import CoxPHFitter
from lifelines.exceptions import StatisticalWarning
from lifelines.utils import concordance_index as lifelines_concordance_index
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.metrics import concordance_index_censored
from sksurv.util import Surv

from stochgate.metrics import concordance_index
from stochgate.objectives import Cox
from stochgate.objectives.survival_target import read_survival_target

ORACLE = json.loads((Path(__file__).parent / "oracles" / "cox.json").read_text())

either_ties = pytest.mark.parametrize("ties", ["breslow", "efron"])
several_seeds = pytest.mark.parametrize("seed", range(4))
assert_equal = partial(torch.testing.assert_close, rtol=1e-10, atol=1e-10)


# ---- what the objective is held to, and what feeds it


def double_loop(ties, eta, event, time, weights):
    """Return the negative log partial likelihood of one model, by its definition."""
    w, total = weights, 0 * eta.sum()
    dead = event & (w > 0)
    for i in torch.nonzero(dead)[:, 0].tolist():
        risk = (time >= time[i]) & (w > 0)
        tied = dead & (time == time[i])
        top = eta[risk].max().detach()
        hazard = torch.where(w > 0, w * torch.exp((eta - top).clamp_max(0)), 0)
        if ties == "breslow":
            log_risk = top + torch.log(hazard[risk].sum())
            total = total + w[i] * (log_risk - eta[i])
        else:
            rank = tied[:i].sum().item() / tied.sum().item()
            log_risk = top + torch.log(hazard[risk].sum() - rank * hazard[tied].sum())
            total = total + w[tied].mean() * log_risk - w[i] * eta[i]
    return total


def double_loops(ties, eta, event, time, weights):
    """Return the losses of a stack of models and the gradient, both in float64."""
    event, time = torch.as_tensor(event), torch.as_tensor(time)
    eta = eta.detach().double().requires_grad_()
    weights = weights.double()
    models = zip(eta, weights, strict=True)
    losses = torch.stack([double_loop(ties, e, event, time, w) for e, w in models])
    (gradient,) = torch.autograd.grad(losses.sum(), eta)
    return losses.detach(), gradient


def evaluate(objective, eta, rows, weights):
    """Return the losses of a stack of models and the gradient."""
    output = eta.detach().clone()[..., None].requires_grad_()
    losses = objective.loss(output, rows, weights, {})
    (gradient,) = torch.autograd.grad(losses.sum(), output)
    return losses.detach(), gradient[..., 0]


def stack(seed, n_samples=40, n_times=6):
    """Return eta, event, time and weights of five models, with many ties."""
    rng = np.random.default_rng(seed)
    time = rng.integers(n_times, size=n_samples).astype(float)
    event = rng.random(n_samples) < 0.6
    weights = np.stack(
        [
            np.ones(n_samples),
            rng.uniform(0.1, 3, n_samples),
            rng.random(n_samples) < 0.7,  # a fold
            rng.poisson(1, n_samples),  # a bootstrap
            rng.uniform(0.1, 3, n_samples) * (rng.random(n_samples) < 0.5),
        ]
    )
    eta = torch.from_numpy(rng.normal(scale=2, size=weights.shape))
    return eta, event, time, torch.from_numpy(weights.astype(float))


# ---- the loss against R, lifelines and scikit-survival


def against_r(ties, weighted):
    x = torch.tensor([ORACLE["x1"], ORACLE["x2"]], dtype=torch.float64).T
    cases = [c for c in ORACLE["cases"] if c["ties"] == ties and c["weighted"] == weighted]
    assert len(cases) == 6
    for case in cases:
        rows = Cox(ties=ties).encode((ORACLE["event"], ORACLE["times"][case["time"]])).rows
        weights = torch.tensor([ORACLE["weight"]], dtype=torch.float64)
        weights = weights if weighted else torch.ones_like(weights)
        eta = x @ torch.tensor(case["beta"], dtype=torch.float64)
        loss, gradient = evaluate(Cox(ties=ties), eta[None], rows, weights)
        assert loss.item() == pytest.approx(-case["loglik"], rel=1e-12)
        np.testing.assert_allclose(gradient[0], -np.array(case["gradient"]), rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(x.T @ gradient[0], -np.array(case["score"]), rtol=1e-9)


@either_ties
def test_unweighted_loss_equals_r(ties):
    against_r(ties, weighted=False)


def test_weighted_breslow_equals_r():
    against_r("breslow", weighted=True)


def test_weighted_efron_equals_r():
    against_r("efron", weighted=True)


def regression_problem(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(80, 3)) * [1, 2, 0.5] + [0, 3, -1]
    time = np.ceil(4 * rng.exponential(np.exp(-0.4 * x[:, 0])))  # whole numbers: many ties
    return x, rng.random(80) < 0.7, time, rng.choice([0.5, 1, 2.25], size=80)


@pytest.mark.parametrize("weighted", [False, True])
@several_seeds
def test_efron_equals_lifelines(seed, weighted):
    x, event, time, weights = regression_problem(seed)
    weights = weights if weighted else np.ones_like(weights)
    data = pd.DataFrame(x).assign(time=time, event=event, weight=weights)
    to_the_end = {"precision": 1e-18, "r_precision": 1e-15}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticalWarning)  # its standard errors are not read
        fitter = CoxPHFitter().fit(data, "time", "event", weights_col="weight", fit_options=to_the_end)
    objective = Cox(ties="efron")
    eta = torch.from_numpy(x @ fitter.params_.to_numpy())[None]
    rows = objective.encode((event, time)).rows
    loss, gradient = evaluate(objective, eta, rows, torch.from_numpy(weights)[None])
    assert loss.item() == pytest.approx(-fitter.log_likelihood_, rel=1e-10)
    np.testing.assert_allclose(gradient[0].numpy() @ x, 0, atol=1e-7)


@either_ties
@several_seeds
def test_gradient_is_zero_where_scikit_survival_ends(seed, ties):
    x, event, time, _ = regression_problem(seed)
    y = Surv.from_arrays(event, time)
    model = CoxPHSurvivalAnalysis(ties=ties, tol=1e-14).fit(x, y)
    eta = torch.from_numpy(x @ model.coef_)[None]
    _, gradient = evaluate(Cox(ties=ties), eta, Cox().encode(y).rows, torch.ones_like(eta))
    np.testing.assert_allclose(gradient[0].numpy() @ x, 0, atol=1e-8)
    other = {"breslow": "efron", "efron": "breslow"}[ties]
    _, gradient = evaluate(Cox(ties=other), eta, Cox().encode(y).rows, torch.ones_like(eta))
    assert np.abs(gradient[0].numpy() @ x).max() > 1e-2


# ---- the loss against its definition


@either_ties
@several_seeds
def test_cox_equals_double_loop(seed, ties):
    eta, event, time, weights = stack(seed)
    loss, gradient = evaluate(Cox(ties=ties), eta, Cox().encode((event, time)).rows, weights)
    expected_loss, expected_gradient = double_loops(ties, eta, event, time, weights)
    assert_equal(loss, expected_loss)
    assert_equal(gradient, expected_gradient)


@either_ties
def test_gradient_equals_finite_differences(ties):
    eta, event, time, weights = stack(0, n_samples=12, n_times=3)
    rows = Cox().encode((event, time)).rows

    def loss(eta):
        return Cox(ties=ties).loss(eta[..., None], rows, weights, {})

    assert torch.autograd.gradcheck(loss, eta.requires_grad_(), eps=1e-6, atol=1e-7, rtol=1e-7)


@either_ties
@several_seeds
def test_weight_0_equals_row_removed(seed, ties):
    eta, event, time, weights = stack(seed)
    loss, gradient = evaluate(Cox(ties=ties), eta, Cox().encode((event, time)).rows, weights)
    for m, w in enumerate(weights):
        used = w > 0
        rows = Cox().encode((event[used], time[used])).rows
        alone, alone_gradient = evaluate(Cox(ties=ties), eta[m : m + 1, used], rows, w[None, used])
        assert_equal(loss[m], alone[0])
        assert_equal(gradient[m, used], alone_gradient[0])
        assert (gradient[m, ~used] == 0).all()


@either_ties
def test_held_out_rows_leave_the_risk_set(ties):
    eta, event, time, weights = stack(0)
    rows = Cox().encode((event, time)).rows
    moved = torch.where(weights > 0, eta, -50 * eta)
    for before, after in zip(
        evaluate(Cox(ties=ties), eta, rows, weights),
        evaluate(Cox(ties=ties), moved, rows, weights),
        strict=True,
    ):
        assert_equal(after, before)


@either_ties
def test_whole_weights_equal_repeated_rows_under_breslow_alone(ties):
    eta, event, time, weights = stack(0)
    count = weights[3].long()
    loss, _ = evaluate(Cox(ties=ties), eta[3:4], Cox().encode((event, time)).rows, weights[3:4])
    again = torch.arange(len(time)).repeat_interleave(count).numpy()
    rows = Cox().encode((event[again], time[again])).rows
    repeated, _ = evaluate(Cox(ties=ties), eta[3:4, again], rows, torch.ones(1, len(again)))
    assert torch.allclose(loss, repeated, rtol=1e-10) == (ties == "breslow")


@either_ties
def test_row_order_does_not_matter(ties):
    eta, event, time, weights = stack(1)
    shuffled = torch.randperm(len(time), generator=torch.Generator().manual_seed(0))
    loss, gradient = evaluate(Cox(ties=ties), eta, Cox().encode((event, time)).rows, weights)
    rows = Cox().encode((event[shuffled], time[shuffled])).rows
    again, again_gradient = evaluate(Cox(ties=ties), eta[:, shuffled], rows, weights[:, shuffled])
    assert_equal(again, loss)
    assert_equal(again_gradient, gradient[:, shuffled])


@either_ties
def test_only_the_order_of_times_matters(ties):
    eta, event, time, weights = stack(2)
    loss, _ = evaluate(Cox(ties=ties), eta, Cox().encode((event, time)).rows, weights)
    again, _ = evaluate(Cox(ties=ties), eta, Cox().encode((event, np.exp(time))).rows, weights)
    assert_equal(again, loss, rtol=0, atol=0)


@either_ties
@several_seeds
def test_batch_equals_encoding_the_subset(seed, ties):
    eta, event, time, weights = stack(seed)
    objective = Cox(ties=ties)
    index = torch.randperm(len(time), generator=torch.Generator().manual_seed(seed))[:17]
    batch = objective.take(objective.encode((event, time)).rows, index)
    subset = objective.encode((event[index], time[index])).rows
    for ours, expected in zip(
        evaluate(objective, eta[:, index], batch, weights[:, index]),
        evaluate(objective, eta[:, index], subset, weights[:, index]),
        strict=True,
    ):
        assert_equal(ours, expected, rtol=0, atol=0)
    assert_equal(objective.total(batch, weights[:, index], {}), weights[:, index][:, event[index]].sum(1))


# ---- the numbers


def extreme(ties, dtype, size):
    """Return the loss and gradient at log hazards of -size, 0 and size, and what they should be."""
    _, event, time, weights = stack(3)
    signs = torch.randint(-1, 2, weights.shape, generator=torch.Generator().manual_seed(0))
    eta, weights = (size * signs).to(dtype), weights.to(dtype)
    ours = evaluate(Cox(ties=ties), eta, Cox().encode((event, time)).rows, weights)
    return ours, double_loops(ties, eta, event, time, weights)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-4), (torch.float64, 1e-11)])
@either_ties
def test_log_hazards_of_100_stay_finite(ties, dtype, tolerance):
    (loss, gradient), (expected_loss, expected_gradient) = extreme(ties, dtype, size=100)
    assert loss.dtype == gradient.dtype == dtype
    assert loss.isfinite().all()
    assert gradient.isfinite().all()
    torch.testing.assert_close(loss.double(), expected_loss, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(gradient.double(), expected_gradient, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@either_ties
def test_log_hazards_of_10000_stay_finite(ties, dtype):
    (loss, gradient), (expected_loss, expected_gradient) = extreme(ties, dtype, size=10_000)
    torch.testing.assert_close(loss.double(), expected_loss, rtol=1e-5, atol=0)
    torch.testing.assert_close(gradient.double(), expected_gradient, rtol=1e-2, atol=1e-2)


@either_ties
def test_constant_log_hazard_changes_nothing(ties):
    eta, event, time, weights = stack(0)
    rows = Cox().encode((event, time)).rows
    loss, gradient = evaluate(Cox(ties=ties), eta, rows, weights)
    for shift in (-300.0, 1.5, 300.0):
        shifted, shifted_gradient = evaluate(Cox(ties=ties), eta + shift, rows, weights)
        assert_equal(shifted, loss)
        assert_equal(shifted_gradient, gradient)
    assert_equal(gradient.sum(1), torch.zeros(len(eta), dtype=eta.dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@either_ties
def test_model_without_event_adds_zero_and_has_no_mean(ties, dtype):
    eta, event, time, weights = stack(0)
    eta, weights = eta.to(dtype), weights.to(dtype)
    weights[1] = 0
    weights[2, event] = 0
    objective, rows = Cox(ties=ties), Cox().encode((event, time)).rows
    output = eta[..., None].requires_grad_()
    for loss, empty in [(objective.loss, 0.0), (objective.mean_loss, np.nan)]:
        losses = loss(output, rows, weights, {})
        (gradient,) = torch.autograd.grad(losses.sum(), output)
        np.testing.assert_array_equal(losses[1:3].detach(), empty)
        assert (gradient[1:3] == 0).all()
        assert gradient.isfinite().all()
        assert (losses[[0, 3, 4]] > 0).all()


@either_ties
def test_batch_without_event_adds_zero(ties):
    eta, event, time, weights = stack(0)
    objective = Cox(ties=ties)
    index = torch.nonzero(~torch.from_numpy(event))[:, 0]
    batch = objective.take(objective.encode((event, time)).rows, index)
    loss, gradient = evaluate(objective, eta[:, index], batch, weights[:, index])
    assert (loss == 0).all()
    assert (gradient == 0).all()


@either_ties
def test_latest_rows_without_weight_make_no_nan(ties):
    eta, event, time, weights = stack(0)
    event[time == time.max()] = True
    weights[:, time >= time.max() - 1] = 0
    weights[0] = torch.from_numpy(time == time.min())  # one risk set is left
    loss, gradient = evaluate(Cox(ties=ties), eta, Cox().encode((event, time)).rows, weights)
    expected_loss, expected_gradient = double_loops(ties, eta, event, time, weights)
    assert_equal(loss, expected_loss)
    assert_equal(gradient, expected_gradient)


@either_ties
def test_float32_holds_over_many_rows(ties):
    eta, event, time, weights = stack(0, n_samples=20_000, n_times=300)
    rows = Cox().encode((event, time)).rows
    exact, exact_gradient = evaluate(Cox(ties=ties), eta, rows, weights)
    loss, gradient = evaluate(Cox(ties=ties), eta.float(), rows, weights.float())
    torch.testing.assert_close(loss.double(), exact, rtol=1e-5, atol=0)
    torch.testing.assert_close(gradient.double(), exact_gradient, rtol=1e-4, atol=1e-5)


# ---- means and held-out rows


@either_ties
def test_mean_is_over_the_weight_of_the_events(ties):
    eta, event, time, weights = stack(0)
    objective, rows = Cox(ties=ties), Cox().encode((event, time)).rows
    expected, _ = double_loops(ties, eta, event, time, weights)
    mean = objective.mean_loss(eta[..., None], rows, weights, {})
    assert_equal(mean, expected / weights[:, event].sum(1))
    again = objective.mean_loss(eta[..., None], rows, 3 * weights, {})
    assert_equal(again - mean, torch.full_like(mean, np.log(3)))  # the risk sets weigh 3 times more


@either_ties
@several_seeds
def test_held_out_loss_is_what_the_held_out_rows_add(seed, ties):
    eta, event, time, weights = stack(seed)
    train = torch.rand(weights.shape, generator=torch.Generator().manual_seed(seed)) < 0.6
    train[4] = False  # nothing trained on
    train[3] = True  # nothing held out
    test_weights, weights = weights * ~train, weights * train
    rows = Cox().encode((event, time)).rows
    ours = Cox(ties=ties).held_out_loss(eta[..., None], rows, weights, test_weights, {})
    both, _ = double_loops(ties, eta, event, time, weights + test_weights)
    alone, _ = double_loops(ties, eta, event, time, weights)
    held_out = test_weights[:, event].sum(1)
    assert_equal(ours[held_out > 0], ((both - alone) / held_out)[held_out > 0])
    assert ours[3].isnan()
    assert_equal(ours[4], both[4] / held_out[4])


def test_base_is_zero():
    _, event, time, weights = stack(0)
    assert Cox().base(Cox().encode((event, time)).rows, weights, {}).tolist() == [[0]] * len(weights)


# ---- concordance


def risky_problem(seed, n_samples=70, n_levels=8):
    rng = np.random.default_rng(seed)
    event = rng.random(n_samples) < 0.6
    return event, rng.integers(n_levels, size=n_samples), rng.integers(n_levels, size=n_samples)


def count_pairs(event, time, risk):
    points = pairs = 0
    for i in np.flatnonzero(event):
        for j in range(len(time)):
            if time[i] < time[j] or (time[i] == time[j] and not event[j]):
                pairs += 1
                points += 1 if risk[i] > risk[j] else 0.5 if risk[i] == risk[j] else 0
    return points / pairs


@several_seeds
@pytest.mark.parametrize("n_levels", [2, 8, 10**9])
def test_concordance_equals_pair_count_lifelines_and_scikit_survival(seed, n_levels):
    event, time, risk = risky_problem(seed, n_levels=n_levels)
    ours = concordance_index(event, time, risk)
    assert ours == pytest.approx(count_pairs(event, time, risk), rel=1e-14)
    assert ours == pytest.approx(lifelines_concordance_index(time, -risk, event), rel=1e-14)
    assert ours == pytest.approx(concordance_index_censored(event, time, risk)[0], rel=1e-14)


def test_concordance_of_perfect_reversed_and_constant_risk():
    event, time, _ = risky_problem(0, n_levels=10**9)
    assert concordance_index(event, time, -time) == 1
    assert concordance_index(event, time, time) == 0
    assert concordance_index(event, time, np.zeros(len(time))) == 0.5


@pytest.mark.parametrize(
    ("event", "time"),
    [
        ([0, 0, 0], [1, 2, 3]),  # no event
        ([0, 0, 1], [1, 2, 3]),  # the event comes last
        ([1, 1, 1], [2, 2, 2]),  # all events at one time
        ([1], [2]),
    ],
)
def test_concordance_without_pairs_is_an_error(event, time):
    with pytest.raises(ValueError, match="No pair of rows can be compared"):
        concordance_index(event, time, np.arange(len(time)))


@pytest.mark.parametrize("short", range(3))
def test_concordance_of_unequal_lengths_is_an_error(short):
    columns = list(risky_problem(0))
    columns[short] = columns[short][:-1]
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        concordance_index(*columns)


# ---- the target

EVENT, TIME = [True, False, True, False], [2.5, 3.0, 0.0, 1.0]
EVENT_FIRST = np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("dead", bool), ("days", float)])
TIME_FIRST = np.array(list(zip(TIME, EVENT, strict=True)), dtype=[("days", float), ("dead", bool)])


@pytest.mark.parametrize(
    "y",
    [
        EVENT_FIRST,
        TIME_FIRST,
        EVENT_FIRST.astype([("dead", int), ("days", np.float32)]),
        Surv.from_arrays(EVENT, TIME),
        (EVENT, TIME),
        (np.array(EVENT, dtype=int), pd.Series(TIME)),
        (np.array(EVENT, dtype=float), np.array(TIME)),
        np.column_stack([EVENT, TIME]),
        np.column_stack([EVENT, TIME]).tolist(),
        pd.DataFrame({"dead": EVENT, "days": TIME}),
        pd.DataFrame({"dead": np.array(EVENT, dtype=int), "days": TIME}, index=[7, 7, 1, 0]),
    ],
    ids=lambda y: type(y).__name__,
)
def test_every_form_of_y_reads_the_same(y):
    event, time = read_survival_target(y)
    assert event.dtype == bool
    assert time.dtype == np.float64
    assert event.tolist() == EVENT
    assert time.tolist() == TIME


@pytest.mark.parametrize(
    ("y", "message"),
    [
        pytest.param(([0, 0], [1, 2]), "no event: every time is censored", id="no event"),
        pytest.param(([1, 0, 1], [1, 2, -3]), r"row 2 is negative \(-3.0\)", id="negative"),
        pytest.param(([1, 0], [1, np.nan]), "NaN or infinity.*row 1 is nan", id="time NaN"),
        pytest.param(([1, 0], [np.inf, 1]), "NaN or infinity.*row 0 is inf", id="time inf"),
        pytest.param(([1, 0, 2], [1, 2, 3]), "holds 2.0 in row 2, not 0 or 1", id="coded 2"),
        pytest.param(([1, np.nan], [1, 2]), "holds nan in row 1, not 0 or 1", id="event NaN"),
        pytest.param((TIME, EVENT), "event column holds 2.5 in row 0.*expected", id="swapped"),
        pytest.param(np.column_stack([TIME, EVENT]), "holds 2.5.*first is the event", id="swapped columns"),
        pytest.param(TIME, r"shape \(4,\).*expected y = \(event, time\)", id="times alone"),
        pytest.param(np.ones((4, 3)), r"shape \(4, 3\).*expected", id="three columns"),
        pytest.param(
            np.zeros(2, dtype=[("a", bool), ("b", float), ("c", float)]),
            "'c'.*expected",
            id="fields",
        ),
        pytest.param(([1, 0, 1], [1, 2]), "3 events but 2 times", id="lengths"),
        pytest.param((np.ones((3, 1)), [1, 2, 3]), r"shape \(3, 1\).*expected", id="event 2-d"),
        pytest.param(([1, 0, 1], np.ones((3, 2))), r"shape \(3, 2\).*expected", id="time 2-d"),
        pytest.param((1, 2.0), r"shape \(\).*expected", id="scalars"),
        pytest.param((["1", "dead"], [1, 2]), "event column holds 'dead'.*expected", id="text"),
        pytest.param(
            pd.DataFrame({"dead": [1, 0], "days": [3, "long"]}),
            "time column holds 'long'.*expected",
            id="text time",
        ),
    ],
)
def test_wrong_y_names_what_is_wrong(y, message):
    with pytest.raises(ValueError, match=message):
        read_survival_target(y)
    with pytest.raises(ValueError, match=message):
        Cox().encode(y)
