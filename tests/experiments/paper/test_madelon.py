"""MADELON with more columns than rows: validation rows choose, and claims are judged by a rule."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from experiments.claims import FAILS, HOLDS, PARTLY
from experiments.paper.madelon import MADELON, MADELON_METHODS, run_cell

CLAIMS = MADELON.paper.claims


def make_table(value="test_score", methods=MADELON_METHODS, **stg):
    """Return results in which all methods are alike, but STG has what is given."""
    alike = {"f1": 0.5, "median_rank": 10.0, value: 0.7, "n_selected": 5}
    return pd.DataFrame(
        [
            {"task": "one", "method": m, "seed": seed, **alike, **(stg if m == "stg" else {})}
            for m in methods
            for seed in (1000, 1001)
        ]
    )


@pytest.mark.parametrize("method", ["stg", "hc", "dfs", "sgnn", "lasso", "svc", "dnn"])
def test_a_cell_says_what_was_found(method):
    record = run_cell("madelon", method, 1, n_noise=10, max_steps=3, n_lams=2)
    assert {"test_score", "n_selected", "f1", "median_rank", "n_models"} <= set(record)
    assert "ifwr" not in record  # which of the penalties' gates?
    if method == "dnn":
        assert (record["n_selected"], record["median_rank"], record["n_models"]) == (15, 8.0, 1)


@pytest.mark.parametrize(
    ("claim", "stg", "verdict"),
    [
        (0, {"f1": 0.6}, HOLDS),
        (0, {"f1": 0.49}, PARTLY),
        (0, {"f1": 0.3}, FAILS),
        (1, {"median_rank": 3.0}, HOLDS),
        (1, {"median_rank": 15.0}, PARTLY),
        (1, {"median_rank": 30.0}, FAILS),
        (2, {"test_score": 0.8}, HOLDS),
        (2, {"test_score": 0.6}, FAILS),
    ],
)
def test_claims_are_judged_by_means_over_the_runs(claim, stg, verdict):
    assert CLAIMS[claim].judge(make_table(**stg)).final_verdict == verdict


def test_to_beat_the_network_without_gates_alone_holds_partly():
    table = make_table(test_score=0.8)
    table.loc[table["method"] == "forest", "test_score"] = 0.9
    assert CLAIMS[2].judge(table).verdict == PARTLY


def test_results_can_be_shown():
    table = make_table(f1=0.75)
    assert "| STG | 0.700 (0.000) | 10.0 (0.0) | 0.75 (0.00) |" in MADELON.tables(table, ["stg"])
    figure = MADELON.draw(table)
    assert len(figure.axes) == 3
    plt.close(figure)
