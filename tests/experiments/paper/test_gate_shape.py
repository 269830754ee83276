"""The gates are drawn as the paper's formulas say, and the judges see when they are not."""

import numpy as np
import pandas as pd
import pytest
import torch

from experiments.claims import FAILS, HOLDS, NOT_RUN, PARTLY
from experiments.paper import gate_shape
from experiments.paper.gate_shape import GATE_SHAPE, METHODS, TASKS, run_cell

FORMULA_STG, FORMULA_HC, TAILS, VARIANCE = (claim.judge for claim in GATE_SHAPE.paper.claims)


def make_table(**changes):
    cells = [(task, method, 0) for task in TASKS for method in METHODS]
    found = [
        {"task": t, "method": m, "seed": s, **run_cell(t, m, s, n_draws=20_000), **changes}
        for t, m, s in cells
    ]
    return pd.DataFrame(found)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("task", TASKS)
def test_shares_of_a_formula_sum_to_1(method, task):
    shares = gate_shape.expected_shares(method, gate_shape.parameter_at(METHODS[method], TASKS[task]))
    assert shares.sum() == pytest.approx(1)
    assert (shares > 0).all()


def test_gates_close_together():
    for gate in METHODS.values():
        value = gate.value(torch.tensor(gate_shape.parameter_at(gate, 0.0), dtype=torch.float64))
        assert value.item() == pytest.approx(0, abs=1e-12)


def test_noise_of_both_kinds_has_one_variance():
    u = torch.rand(200_000, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    logistic, gaussian = (METHODS[method].noise(u).std().item() for method in ("hc", "hc-gaussian"))
    assert logistic == pytest.approx(gaussian, rel=0.01)


def test_true_formulas_hold_and_the_tail_is_heavier():
    table = make_table()
    assert [judge(table).final_verdict for judge in (FORMULA_STG, FORMULA_HC, TAILS)] == [HOLDS] * 3
    found = VARIANCE(table)
    assert found.numbers["var_hc"] > found.numbers["var_stg"]
    assert found.final_verdict == PARTLY
    assert "HC with Gaussian noise 0.1" in found.say(found.paper_settings)


def test_a_wrong_formula_fails(monkeypatch):
    monkeypatch.setattr(gate_shape, "DISTRIBUTIONS", {**gate_shape.DISTRIBUTIONS, "stg": _wider})
    assert FORMULA_STG(make_table()).final_verdict == FAILS


def _wider(z, mu):
    return np.clip(0.2 + 0.6 * z, 0, 1)


def test_no_results_judge_nothing():
    empty = make_table().iloc[:0]
    for claim in GATE_SHAPE.paper.claims:
        assert claim.judge(empty).final_verdict == NOT_RUN
        assert claim.judge(empty[["task", "method", "seed"]]).final_verdict == NOT_RUN


def test_results_can_be_drawn_and_tabulated():
    table = make_table()
    assert GATE_SHAPE.draw(table[table["task"] != "edge"]).axes
    assert "HC" in GATE_SHAPE.tables(table, ["stg", "hc"])
