"""XOR among noise columns: one setting of each method for all of them, and claims judged by a rule."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from experiments.claims import FAILS, HOLDS, PARTLY, UNPUBLISHED
from experiments.paper.parts.planted_methods import (
    METHODS,
    draw_split,
    make_planted_model,
    measure,
    weights_of,
)
from experiments.paper.xor import XOR, describe_curves, draw_xor, judge_ranks, judge_spread, run_cell
from stochgate import GatedClassifier
from stochgate.metrics import informative_weight_ratio


def make_table(**ranks):
    """Return results whose median ranks are given, two runs of each method at two numbers of columns."""
    rows = [
        {"task": task, "method": method.replace("_", "-"), "seed": seed, "median_rank": rank}
        for method, given in ranks.items()
        for task in ("D10", "D90")
        for seed, rank in enumerate(given, start=1000)
    ]
    return pd.DataFrame(rows)


FOUND, LOST = (1.5, 1.5), (6.0, 9.0)
AS_CLAIMED = {
    **dict.fromkeys(("stg", "hc", "forest", "extra_trees", "xgboost", "ours"), FOUND),
    **dict.fromkeys(("lasso", "svc", "dfs", "sgnn"), LOST),
}


def test_splits_have_the_printed_shares_and_no_row_twice():
    split = draw_split(1500, seed=3)
    assert [len(part) for part in (split.train, split.valid, split.test)] == [405, 45, 1050]
    assert np.array_equal(np.sort(np.concatenate([split.train, split.valid, split.test])), np.arange(1500))


def test_each_number_of_noise_columns_has_one_draw():
    assert [draw_xor(task).X.shape[1] for task in XOR.tasks] == [12, 32, 52, 72, 92]
    assert np.array_equal(draw_xor("D10").X, draw_xor("D10").X)


@pytest.mark.parametrize("method", ["stg", "hc", "hc-scaled", "dfs", "sgnn", "lasso", "svc", "xgboost"])
def test_a_cell_says_what_was_found(method):
    record = run_cell("D10", method, 1, max_steps=3)
    assert {"test_score", "n_selected", "f1", "median_rank", "ifwr", "n_models"} <= set(record)
    assert 1.5 <= record["median_rank"] <= 11.5
    assert 0 <= record["ifwr"] <= 1
    assert record["n_steps"] == (3 if method in ("stg", "hc", "hc-scaled", "dfs", "sgnn") else None)


@pytest.mark.parametrize("method", METHODS)
def test_a_method_is_what_the_paper_prints(method):
    model = make_planted_model("xor", method, seed=5)
    assert model.random_state == 5
    printed = {"dfs": ((100, 10), 3.3e-5, 14_000), "sgnn": ((100, 10, 5), 3e-5, 800)}
    if hasattr(model, "lams"):
        hidden, lam, n_epochs = printed.get(method, ((476, 490, 14), 0.17, 20_000))
        assert (model.hidden, model.lams, model.n_epochs) == (hidden, (lam,), n_epochs)


def test_a_small_run_has_fewer_steps_and_penalties():
    model = make_planted_model("madelon", "stg", seed=0, max_steps=7, n_lams=2)
    assert (model.count_steps(450), len(model.lams)) == (7, 2)


def test_hc_differs_from_scaled_hc_by_its_step():
    small, large = (make_planted_model("xor", method, seed=0).gate_step for method in ("hc", "hc-scaled"))
    assert (small, large) == ("same", "scaled")


def test_ifwr_weighs_the_gates():
    problem, split = draw_xor("D10"), draw_split(1500, 0)
    model = make_planted_model("xor", "stg", seed=0, max_steps=3)
    record = measure(model, problem, split)
    assert record["ifwr"] == informative_weight_ratio(model.stack_.gates[0], problem.relevant)
    assert weights_of(model).shape == (12,)


def test_validation_rows_are_learnt_from_where_they_cannot_be_handed_over():
    problem, split = draw_xor("D10"), draw_split(1500, 0)
    seen = []

    class Watched(GatedClassifier):
        def fit(self, X, y):
            seen.append(len(X))
            return super().fit(X, y)

    for choose in (False, True):
        measure(Watched(lam=0.1), problem, split, choose=choose)
    assert seen == [405, 450]


def test_only_named_methods_may_reach_the_optimum():
    assert judge_ranks(make_table(**AS_CLAIMED)).verdict == HOLDS
    assert judge_ranks(make_table(**{**AS_CLAIMED, "lasso": FOUND})).verdict == PARTLY
    assert judge_ranks(make_table(**{**AS_CLAIMED, "stg": LOST, "lasso": FOUND})).verdict == FAILS
    finding = judge_ranks(make_table(**AS_CLAIMED))
    assert "STG at the optimum in 100% of the runs" in finding.say(finding.paper_settings)


def test_the_rank_that_varies_least_is_judged_by_its_standard_deviation():
    assert judge_spread(make_table(**AS_CLAIMED)).verdict == HOLDS
    assert judge_spread(make_table(**{**AS_CLAIMED, "stg": (1.5, 1.6)})).verdict == PARTLY
    assert judge_spread(make_table(**{**AS_CLAIMED, "stg": LOST})).verdict == FAILS


def test_curves_are_told_without_a_verdict():
    table = make_table(**AS_CLAIMED).assign(test_score=1.0, ifwr=0.5)
    finding = describe_curves(table)
    assert finding.final_verdict == UNPUBLISHED
    assert finding.say(finding.paper_settings).startswith("10 to 90 noise columns: STG accuracy 1.00")


def test_results_can_be_shown():
    table = make_table(**AS_CLAIMED).assign(test_score=1.0, ifwr=0.5, n_selected=2)
    assert "| STG | 1.000 (0.000) | 1.000 (0.000) |" in XOR.tables(table, ["stg", "hc"])
    figure = XOR.draw(table)
    assert len(figure.axes) == 3
    plt.close(figure)
