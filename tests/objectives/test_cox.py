"""The Cox objective against R, lifelines, scikit-survival and its definition."""

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
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.util import Surv

from stochgate import survival_target
from stochgate.objectives import Cox
from stochgate.objectives.risk_sets import cut_intervals
from survival_problems import KINDS, assert_equals_double_loops, double_loops, evaluate, stack

ORACLE = json.loads((Path(__file__).parents[1] / "oracles" / "cox.json").read_text())
STRATA = json.loads((Path(__file__).parents[1] / "oracles" / "cox_strata.json").read_text())

either_ties = pytest.mark.parametrize("ties", ["breslow", "efron"])
each_kind = pytest.mark.parametrize("kind", KINDS)
several_seeds = pytest.mark.parametrize("seed", range(4))
assert_equal = partial(torch.testing.assert_close, rtol=1e-10, atol=1e-10)


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


@pytest.mark.parametrize("case", STRATA["cases"], ids=lambda c: " ".join(map(str, list(c.values())[:4])))
def test_loss_with_entry_times_and_strata_equals_r(case):
    y = survival_target(
        STRATA["event"],
        STRATA["time"],
        STRATA["entry"] if case["truncated"] else None,
        STRATA["stratum"] if case["stratified"] else None,
    )
    x, objective = np.column_stack([STRATA["x1"], STRATA["x2"]]), Cox(case["ties"])
    weights = torch.tensor(STRATA["weight"] if case["weighted"] else np.ones(len(x)), dtype=torch.float64)
    eta = torch.from_numpy(x @ STRATA["beta"])
    loss, gradient = evaluate(objective, eta[None], objective.encode(y).rows, weights[None])
    assert loss.item() == pytest.approx(-case["loglik"], rel=1e-12)
    np.testing.assert_allclose(gradient[0], -np.array(case["gradient"]), rtol=1e-9, atol=1e-11)


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


@several_seeds
def test_entry_times_and_strata_equal_lifelines(seed):
    x, event, time, weights = regression_problem(seed)
    entry, strata = np.where(np.arange(80) % 3 == 0, np.floor(time / 2), 0), np.arange(80) % 2
    data = pd.DataFrame(x).assign(time=time, event=event, weight=weights, entry=entry, s=strata)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticalWarning)
        fitter = CoxPHFitter().fit(
            data, "time", "event", weights_col="weight", entry_col="entry", strata=["s"]
        )
    objective = Cox(ties="efron")
    eta = torch.from_numpy(x @ fitter.params_.to_numpy())[None]
    rows = objective.encode(survival_target(event, time, entry, strata)).rows
    loss, gradient = evaluate(objective, eta, rows, torch.from_numpy(weights)[None])
    assert loss.item() == pytest.approx(-fitter.log_likelihood_, rel=1e-8)
    np.testing.assert_allclose(gradient[0].numpy() @ x, 0, atol=1e-3)


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
@each_kind
def test_cox_equals_double_loop(kind, seed, ties):
    eta, y, weights = stack(kind, seed)
    assert_equals_double_loops(ties, eta, y, weights)


@either_ties
@each_kind
def test_gradient_equals_finite_differences(kind, ties):
    eta, y, weights = stack(kind, 0, n_samples=12, n_times=3)
    rows = Cox().encode(y).rows

    def loss(eta):
        return Cox(ties=ties).loss(eta[..., None], rows, weights, {})

    assert torch.autograd.gradcheck(loss, eta.requires_grad_(), eps=1e-6, atol=1e-7, rtol=1e-7)


@either_ties
@several_seeds
@each_kind
def test_weight_0_equals_row_removed(kind, seed, ties):
    eta, y, weights = stack(kind, seed)
    loss, gradient = evaluate(Cox(ties=ties), eta, Cox().encode(y).rows, weights)
    for m, w in enumerate(weights):
        used = w > 0
        rows = Cox().encode(y[used.numpy()]).rows
        alone, alone_gradient = evaluate(Cox(ties=ties), eta[m : m + 1, used], rows, w[None, used])
        assert_equal(loss[m], alone[0])
        assert_equal(gradient[m, used], alone_gradient[0])
        assert (gradient[m, ~used] == 0).all()


@either_ties
@each_kind
def test_held_out_rows_leave_the_risk_set(kind, ties):
    eta, y, weights = stack(kind, 0)
    rows = Cox().encode(y).rows
    moved = torch.where(weights > 0, eta, -50 * eta)
    for before, after in zip(
        evaluate(Cox(ties=ties), eta, rows, weights),
        evaluate(Cox(ties=ties), moved, rows, weights),
        strict=True,
    ):
        assert_equal(after, before)


@either_ties
@each_kind
def test_whole_weights_equal_repeated_rows_under_breslow_alone(kind, ties):
    eta, y, weights = stack(kind, 0)
    count = weights[3].long()
    loss, _ = evaluate(Cox(ties=ties), eta[3:4], Cox().encode(y).rows, weights[3:4])
    again = torch.arange(len(y)).repeat_interleave(count).numpy()
    rows = Cox().encode(y[again]).rows
    repeated, _ = evaluate(Cox(ties=ties), eta[3:4, again], rows, torch.ones(1, len(again)))
    assert torch.allclose(loss, repeated, rtol=1e-10) == (ties == "breslow")


@either_ties
@each_kind
def test_row_order_does_not_matter(kind, ties):
    eta, y, weights = stack(kind, 1)
    shuffled = torch.randperm(len(y), generator=torch.Generator().manual_seed(0))
    loss, gradient = evaluate(Cox(ties=ties), eta, Cox().encode(y).rows, weights)
    rows = Cox().encode(y[shuffled.numpy()]).rows
    again, again_gradient = evaluate(Cox(ties=ties), eta[:, shuffled], rows, weights[:, shuffled])
    assert_equal(again, loss)
    assert_equal(again_gradient, gradient[:, shuffled])


@either_ties
@each_kind
def test_only_the_order_of_times_matters(kind, ties):
    eta, y, weights = stack(kind, 2)
    loss, _ = evaluate(Cox(ties=ties), eta, Cox().encode(y).rows, weights)
    for field in set(y.dtype.names) & {"time", "entry"}:
        y[field] = np.exp(y[field])
    again, _ = evaluate(Cox(ties=ties), eta, Cox().encode(y).rows, weights)
    assert_equal(again, loss, rtol=0, atol=0)


@either_ties
@several_seeds
@each_kind
def test_batch_equals_encoding_the_subset(kind, seed, ties):
    eta, y, weights = stack(kind, seed)
    objective = Cox(ties=ties)
    index = torch.randperm(len(y), generator=torch.Generator().manual_seed(seed))[:17]
    batch = objective.take(objective.encode(y).rows, index)
    subset = objective.encode(y[index.numpy()]).rows
    for ours, expected in zip(
        evaluate(objective, eta[:, index], batch, weights[:, index]),
        evaluate(objective, eta[:, index], subset, weights[:, index]),
        strict=True,
    ):
        assert_equal(ours, expected, rtol=0, atol=0)
    assert_equal(
        objective.total(batch, weights[:, index], {}), weights[:, index][:, y["event"][index]].sum(1)
    )


# ---- entry times and strata


@either_ties
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rows_that_are_gone_or_not_yet_there_leave_no_trace(ties, dtype):
    """Sums over everyone, less those not at risk, would keep no digit of those at risk."""
    eta, y, weights = stack("entry and strata", 0)
    away = y["time"] <= 2
    y["entry"][~away] = 2.5
    y["time"][~away] += 10
    eta = torch.where(torch.from_numpy(away), eta + 60, eta - 60).to(dtype)
    loss, gradient = evaluate(Cox(ties), eta, Cox().encode(y).rows, weights.to(dtype))
    expected_loss, expected_gradient = double_loops(ties, eta, y, weights.to(dtype))
    tolerance = 1e-4 if dtype == torch.float32 else 1e-10
    torch.testing.assert_close(loss.double(), expected_loss, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(gradient.double(), expected_gradient, rtol=tolerance, atol=tolerance)


@either_ties
def test_strata_add_up(ties):
    eta, y, weights = stack("entry and strata", 1)
    loss, gradient = evaluate(Cox(ties), eta, Cox().encode(y).rows, weights)
    parts = torch.zeros_like(loss)
    for stratum in np.unique(y["stratum"]):
        own = np.flatnonzero(y["stratum"] == stratum)
        rows = Cox().encode(y[own][["event", "time", "entry"]]).rows
        part, part_gradient = evaluate(Cox(ties), eta[:, own], rows, weights[:, own])
        assert_equal(gradient[:, own], part_gradient)
        parts += part
    assert_equal(loss, parts)


@either_ties
def test_entry_before_the_first_event_changes_nothing(ties):
    eta, y, weights = stack("plain", 1)
    early = survival_target(y["event"], y["time"], np.full(len(y), -1.0), np.zeros(len(y)))
    assert "until" not in Cox().encode(early).rows
    for ours, expected in zip(
        evaluate(Cox(ties), eta, Cox().encode(early).rows, weights),
        evaluate(Cox(ties), eta, Cox().encode(y).rows, weights),
        strict=True,
    ):
        assert torch.equal(ours, expected)


@pytest.mark.parametrize("n_samples", [1, 2, 3, 8, 9, 100])
def test_intervals_are_cut_into_their_slots(n_samples):
    ends = np.random.default_rng(0).integers(n_samples + 1, size=(2, n_samples))
    start, stop = torch.from_numpy(np.sort(ends, axis=0))  # some are empty
    row, node = cut_intervals(start, stop)
    n_leaves = 1 << (n_samples - 1).bit_length()
    leaf = torch.arange(n_leaves, 2 * n_leaves)
    covers = torch.zeros(n_samples, n_leaves)
    for r, n in zip(row.tolist(), node.tolist(), strict=True):
        covers[r] += leaf >> (n_leaves.bit_length() - n.bit_length()) == n
    slots = torch.arange(n_leaves)
    assert torch.equal(covers, ((start[:, None] <= slots) & (slots < stop[:, None])).float())
