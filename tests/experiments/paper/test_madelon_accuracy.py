"""Accuracy against the number of columns on MADELON: folds, curves and peaks."""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from experiments.claims import FAILS, HOLDS, NOT_RUN, PARTLY
from experiments.methods import make_model
from experiments.paper import madelon_accuracy
from experiments.paper.madelon_accuracy import MADELON_ACCURACY, draw_fold, run_cell
from stochgate import Training

CLAIMS = MADELON_ACCURACY.paper.claims
PEAK_AT_5 = [[2, 0.6], [5, 0.9], [20, 0.8]]
PEAK_AT_20 = [[2, 0.6], [5, 0.7], [20, 0.8]]


def make_table(**curves):
    """Return results with a curve for each method."""
    return pd.DataFrame(
        [
            {"task": "madelon", "method": method, "seed": seed, "curve": curve}
            for method, curve in curves.items()
            for seed in (1000, 1001)
        ]
    )


def test_five_seeds_are_the_folds_of_one_draw():
    folds = [draw_fold("madelon", seed, 50, 3) for seed in range(1000, 1006)]
    rows = np.vstack([test[0] for _, test in folds[:5]])
    (X, _), (X_test, _) = folds[0]
    assert sorted(map(tuple, rows)) == sorted(map(tuple, np.vstack([X, X_test])))
    assert not np.isin(folds[5][1][0], rows).any()  # another draw


@pytest.mark.parametrize("method", ["stg", "forest", "lasso"])
def test_a_cell_has_a_curve(method):
    record = run_cell(
        "madelon", method, 5, n_samples=60, n_noise=2, lams=[0.0, 1e4], hidden=(4,), max_steps=30
    )
    assert record["n_models"] == len(record["curve"])
    assert record["most"] == 22
    assert method != "stg" or record["fewest"] == 0


def test_ours_chooses_and_is_asked_for_other_sizes(monkeypatch):
    quickly = partial(make_model, network="linear", training=Training(n_steps=30), cv=2)
    monkeypatch.setattr(madelon_accuracy, "make_model", quickly)
    record = run_cell("madelon", "ours", 5, n_samples=80, n_noise=1, our_sizes=(3,))
    assert record["curve"][0][0] == 3
    assert record["n_selected"] >= 0


@pytest.mark.parametrize(
    ("stg", "forest", "verdicts"),
    [
        (PEAK_AT_5, PEAK_AT_20, (HOLDS, HOLDS)),
        (PEAK_AT_5, [[5, 0.85], [20, 0.8]], (HOLDS, PARTLY)),
        (PEAK_AT_5, [[8, 0.905], [20, 0.8]], (PARTLY, HOLDS)),
        ([[20, 0.95]], PEAK_AT_5, (PARTLY, FAILS)),
        (PEAK_AT_20, PEAK_AT_5, (FAILS, FAILS)),
    ],
)
def test_peaks_are_compared(stg, forest, verdicts):
    table = make_table(stg=stg, forest=forest, lasso=[[10, 0.6], [20, 0.55]])
    assert tuple(claim.judge(table).final_verdict for claim in CLAIMS) == verdicts


def test_results_that_are_missing_judge_nothing():
    for table in (make_table(stg=PEAK_AT_5), make_table(stg=PEAK_AT_5).drop(columns="curve")):
        assert {claim.judge(table).final_verdict for claim in CLAIMS} == {NOT_RUN}


def test_results_can_be_shown():
    table = make_table(stg=PEAK_AT_5, lasso=PEAK_AT_20)
    assert "| STG | - | 0.600 |" in MADELON_ACCURACY.tables(table, ["stg", "lasso"])
    figure = MADELON_ACCURACY.draw(table)
    assert len(figure.axes[0].get_lines()) == 3  # and where 5 is
    figure.canvas.draw()
    plt.close(figure)
