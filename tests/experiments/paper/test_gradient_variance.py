"""Estimates of the gradients are unbiased, and what is compared does not depend on scale."""

import numpy as np
import pandas as pd
import pytest
import torch

from experiments.claims import FAILS, HOLDS, NOT_RUN, PARTLY
from experiments.paper.gradient_variance import (
    GATES,
    GRADIENT_VARIANCE,
    METHODS,
    START,
    TASKS,
    compare,
    run_cell,
)
from experiments.paper.parts.gate_gradients import (
    all_losses,
    exact_gradient,
    gate_estimates,
    make_risk,
    parameter_of,
    score_estimates,
)

VARIANCE, SIGN, HC_STG, NOISE = (claim.judge for claim in GRADIENT_VARIANCE.paper.claims)


@pytest.fixture(scope="module", params=["xor", "linear"])
def risk(request):
    return make_risk(request.param, 0)[0]


def uniform(n, n_rows=1, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(n, n_rows, 10, dtype=torch.float64, generator=generator)


def test_training_stops_when_the_loss_has_halved(risk):
    loss = risk(torch.ones(1, 10).double()).mean().item()
    assert 0.1 < loss < 0.8
    assert not any(weight.requires_grad for weight in risk.weights)


def test_the_exact_gradient_is_that_of_the_expected_loss(risk):
    z, chance, loss = all_losses(risk, 0.3)
    assert chance.sum().item() == pytest.approx(1)
    pi = torch.full((10,), 0.3, dtype=torch.float64, requires_grad=True)
    expected = (torch.where(z == 1, pi, 1 - pi).prod(1) * loss).sum()
    torch.testing.assert_close(exact_gradient(risk, 0.3), torch.autograd.grad(expected, pi)[0])


@pytest.mark.parametrize("n_rows", [1, 100])
def test_the_score_function_is_unbiased_with_and_without_baseline(risk, n_rows):
    exact = exact_gradient(risk, START)
    for baseline in (0.0, 0.4):
        found = score_estimates(risk, START, uniform(3000, n_rows), baseline)
        errors = (found.mean(0) - exact) / (found.std(0) / len(found) ** 0.5)
        assert errors.abs().max() < 4.5


@pytest.mark.parametrize("name", GATES)
def test_a_gates_gradient_is_the_slope_of_its_mean_loss(risk, name):
    gate, u = GATES[name], uniform(500)
    parameter = parameter_of(gate, START)
    assert gate.open_probability(parameter).item() == pytest.approx(START)
    found = gate_estimates(risk, gate, parameter, u).sum(1).mean().item()
    up, down = (risk(gate.sample(parameter + step, gate.noise(u))).mean().item() for step in (1e-6, -1e-6))
    assert found == pytest.approx((up - down) / 2e-6, rel=0.02, abs=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_run(method):
    found = run_cell("xor-even", method, 0, n_estimates=60)
    assert found["relative_variance"] > 0
    assert 0 <= found["wrong_sign"] + found["no_sign"] <= 1
    assert (found["no_sign"] > 0) == (method in GATES)


def test_gates_drawn_for_each_row_vary_less():
    for method in ("score", "stg"):
        step, rows = (run_cell("linear", m, 0, n_estimates=500) for m in (method, f"{method}-rows"))
        assert rows["relative_variance"] < 0.5 * step["relative_variance"]


def test_what_is_compared_does_not_depend_on_scale():
    found = torch.randn(100, 3, generator=torch.Generator().manual_seed(0)).double() + 1
    exact, relevant = torch.ones(3).double(), np.array([True, False, True])
    once, scaled = compare(found, exact, relevant), compare(7 * found, 7 * exact, relevant)
    assert scaled["variance"] == pytest.approx(49 * once["variance"])
    for name in ("relative_variance", "wrong_sign", "no_sign"):
        assert scaled[name] == pytest.approx(once[name])


def make_table(tasks=tuple(TASKS), **by_method):
    usual = {"score": 100.0, "score-baseline": 10.0, "hc": 2.0, "hc-gaussian": 1.5, "stg": 1.0}
    usual |= {"score-rows": 5.0, "hc-rows": 0.2, "stg-rows": 0.1}
    found = [
        {"task": t, "method": m, "seed": s, "relative_variance": v, "wrong_sign": v / 200}
        for t in tasks
        for m, v in {**usual, **by_method}.items()
        for s in (0, 1)
    ]
    return pd.DataFrame(found)


def test_claims_are_judged_task_by_task():
    table = make_table()
    assert [judge(table).final_verdict for judge in (VARIANCE, SIGN, HC_STG, NOISE)] == [HOLDS] * 4
    assert VARIANCE(make_table(score=0.5)).final_verdict == FAILS
    assert HC_STG(make_table(hc=0.5)).final_verdict == FAILS
    assert NOISE(make_table(**{"hc-gaussian": 3.0})).final_verdict == FAILS
    mixed = pd.concat([make_table(["xor"]), make_table(["linear"], hc=0.5)])
    assert HC_STG(mixed).final_verdict == PARTLY
    said = HC_STG(mixed)
    assert "HC 0.50 to 2.00 times STG" in said.say(said.paper_settings)


def test_no_results_judge_nothing():
    empty = make_table().iloc[:0]
    for claim in GRADIENT_VARIANCE.paper.claims:
        assert claim.judge(empty).final_verdict == NOT_RUN
        assert claim.judge(empty[["task", "method", "seed"]]).final_verdict == NOT_RUN


def test_results_can_be_drawn_and_tabulated():
    table = make_table(["xor"])
    assert len(GRADIENT_VARIANCE.draw(table).axes) == 2
    assert "wrong sign" in GRADIENT_VARIANCE.tables(table, METHODS)
