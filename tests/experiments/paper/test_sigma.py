"""The penalty's gradient has its maximum at mu, and the judges compare sigmas at their best penalties."""

import numpy as np
import pandas as pd
import pytest

from experiments.claims import FAILS, HOLDS, NOT_RUN
from experiments.paper.sigma import LAMS, METHODS, SIGMA, SIGMAS, run_cell, slopes

MAXIMUM, MOVE, F1 = (claim.judge for claim in SIGMA.paper.claims)


@pytest.fixture(scope="module")
def curve():
    return {"task": "slope", "method": "curve", "seed": 0, **run_cell("slope", "curve", 0)}


def f1_table(sgd, others):
    """Return results of all sigmas: sgd is the F1 of 0.5 at each penalty, others that of the rest."""
    found = [
        {"task": "xor", "method": method, "seed": seed, "f1": sgd if method == "sgd-0.5" else others}
        for method in METHODS[1:]
        for seed in (0, 1)
    ]
    return pd.DataFrame(found)


def test_the_gradient_is_largest_where_sigma_is_mu(curve):
    assert [curve[f"argmax_{name}"] for name in ("quarter", "start", "one")] == pytest.approx(
        [0.25, 0.5, 1]
    )
    assert curve["maximum"] == pytest.approx(np.exp(-0.5) / np.sqrt(np.pi / 2))
    assert slopes(0.5)[1] < 1e-12
    table = pd.DataFrame([curve])
    assert [judge(table).final_verdict for judge in (MAXIMUM, MOVE)] == [HOLDS, HOLDS]
    assert MAXIMUM(table.assign(argmax_start=0.6)).final_verdict == FAILS
    assert MOVE(table.assign(argmax_one=0.5)).final_verdict == FAILS


def test_sigma_is_judged_at_its_best_penalty():
    one, none = [0.2] * (len(LAMS) - 1) + [1.0], [0.2] * len(LAMS)
    found = F1(f1_table(one, none))
    assert found.final_verdict == HOLDS
    assert found.say(found.paper_settings).startswith("F1 at its best penalty 1.00, other sigmas 0.20 to")
    assert F1(f1_table(none, one)).final_verdict == FAILS
    few = f1_table(one, none)
    assert F1(few[few["method"].isin(["sgd-0.5", "sgd-2"])]).final_verdict == HOLDS


def test_no_results_judge_nothing(curve):
    empty = pd.DataFrame([curve]).iloc[:0]
    for claim in SIGMA.paper.claims:
        assert claim.judge(empty).final_verdict == NOT_RUN
    assert F1(pd.DataFrame([curve])).final_verdict == NOT_RUN


@pytest.mark.parametrize("method", ["sgd-0.5", "adam-2"])
def test_a_stack_has_one_model_per_penalty(method):
    found = run_cell("xor", method, 0, n_steps=20)
    assert len(found["f1"]) == len(found["n_selected"]) == found["n_models"] == len(LAMS)
    assert found["n_steps"] == 20


def test_a_given_penalty_finds_xor_with_the_default_sigma():
    found = run_cell("xor", "adam-0.5", 0)
    assert found["best_f1"] == 1
    assert found["n_selected"][-1] < found["n_selected"][0]


def test_cells_are_those_that_mean_something(curve):
    cells = SIGMA.cells()
    assert len(cells) == 1 + 2 * len(SIGMAS) * 10
    table = pd.concat([pd.DataFrame([curve]), f1_table([0.5] * len(LAMS), [0.1] * len(LAMS))])
    assert len(SIGMA.draw(table).axes) == 3
    assert "0.500" in SIGMA.tables(table, METHODS)
