"""MADELON over a range of penalties: what a cell records, and how wide a range is."""

from functools import partial

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from experiments.claims import FAILS, HOLDS, NOT_RUN, PARTLY
from experiments.methods import make_model
from experiments.paper import madelon_lambda
from experiments.paper.madelon_lambda import MADELON_LAMBDA, TASKS, longest_range, run_cell
from stochgate import Training

CLAIMS = MADELON_LAMBDA.paper.claims
LAMS = [0.1, 0.3, 1.0, 3.0]


def make_table(n, precision, strong, tasks=tuple(TASKS)):
    """Return results of STG that are the same in all draws."""
    values = {"n_by_lam": n, "precision_by_lam": precision, "precision_strong_by_lam": strong}
    return pd.DataFrame(
        [
            {"task": task, "method": "stg", "seed": seed, "lams": LAMS, **values}
            for task in tasks
            for seed in (1000, 1001)
        ]
    )


@pytest.mark.parametrize("task", TASKS)
def test_a_cell_has_every_penalty(task):
    record = run_cell(task, "stg", 3, n_samples=60, n_noise=10, lams=[0.0, 1e4], hidden=(4,), max_steps=30)
    assert record["n_by_lam"] == [30, 0]
    assert record["precision_by_lam"] == [pytest.approx(20 / 30), 0]
    assert record["precision_strong_by_lam"] == [pytest.approx(5 / 30), 0]
    assert (record["n_models"], record["n_steps"]) == (2, 30)


def test_our_defaults_are_one_point(monkeypatch):
    quickly = partial(make_model, network="linear", training=Training(n_steps=30), cv=2)
    monkeypatch.setattr(madelon_lambda, "make_model", quickly)
    record = run_cell("madelon", "ours", 3, n_samples=80, n_noise=2)
    assert 0 <= record["precision_strong"] <= record["precision"] <= 1
    assert "test_score" not in record


def test_the_longest_range_counts_in_decades():
    assert longest_range(LAMS, [True, True, False, True]) == (0.1, 0.3)
    assert longest_range([1, 2, 3, 100, 200], [True, True, False, True, True]) == (1, 2)
    assert str(longest_range(LAMS, [False] * 4)) == "(nan, nan)"


@pytest.mark.parametrize(
    ("precision", "strong", "verdict"),
    [
        ([0.1, 1, 1, 1], [0.1, 0.3, 1, 1], HOLDS),
        ([0.1, 1, 1, 1], [0.1, 0.3, 0.9, 1], PARTLY),
        ([0.1, 0.5, 0.9, 1], [0.1, 0.3, 0.9, 0.9], FAILS),
    ],
)
def test_precision_is_asked_against_all_relevant_and_the_strong(precision, strong, verdict):
    finding = CLAIMS[0].judge(make_table([50, 20, 5, 5], precision, strong))
    assert finding.final_verdict == verdict


@pytest.mark.parametrize(
    ("n", "verdict"), [([50, 5, 5, 4], HOLDS), ([50, 9, 5, 4], FAILS), ([50, 9, 3, 0], FAILS)]
)
def test_five_columns_are_asked_over_a_factor_of_three(n, verdict):
    finding = CLAIMS[1].judge(make_table(n, [1] * 4, [1] * 4))
    assert finding.final_verdict == verdict
    assert finding.say(finding.paper_settings).count("five columns") == 2


def test_results_that_are_missing_judge_nothing():
    table = pd.DataFrame([{"task": "madelon", "method": "ours", "seed": 1000, "precision": 1.0}])
    assert {claim.judge(table).final_verdict for claim in CLAIMS} == {NOT_RUN}


def test_results_can_be_shown():
    table = make_table([50, 20, 5, 5], [0.1, 1, 1, 1], [0.1, 0.3, 1, 1], tasks=["madelon"])
    assert "| 0.3 | 20.0 | 0.0 | 1.0 | 0.0 | 0.3 | 0.0 |" in MADELON_LAMBDA.tables(table, ["stg"])
    figure = MADELON_LAMBDA.draw(table)
    assert len(figure.axes) == 2  # two scales of the task that was run
    figure.canvas.draw()
    plt.close(figure)
