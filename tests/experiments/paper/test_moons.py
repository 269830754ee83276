"""Two moons among noise columns: the draws, and claims judged by a rule."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from experiments.claims import FAILS, HOLDS, NOT_RUN, PARTLY, UNPUBLISHED
from experiments.paper.moons import (
    MOONS,
    OF_PAPER,
    TASKS,
    describe_variance,
    draw_moons,
    judge_accuracy,
    judge_dfs,
    judge_ranks,
    run_cell,
)


def make_table(scores, ranks=None):
    """Return results of every method at every task, accuracies and ranks by method (others 0.9 and 1.5)."""
    return pd.DataFrame(
        [
            {
                "task": task,
                "method": method,
                "seed": 1000,
                "test_score": scores.get(method, 0.9),
                "median_rank": (ranks or {}).get(method, 1.5),
                "f1": 1.0,
                "n_selected": 2,
            }
            for task in TASKS
            for method in MOONS.methods
        ]
    )


AS_CLAIMED = {"stg": 0.99, "forest": 0.985}


def test_the_texts_noise_is_larger_than_the_codes():
    near, far = draw_moons("D50"), draw_moons("var50")
    assert near.X.shape == far.X.shape == (1000, 52)
    assert np.var(far.X[:, 0]) > np.var(near.X[:, 0])


def test_a_cell_says_what_was_found():
    record = run_cell("var50", "stg", 1, max_steps=3)
    assert (record["n_models"], record["n_steps"]) == (1, 3)
    assert record["median_rank"] >= 1.5


def test_stg_and_the_forest_alone_are_near_perfect():
    assert judge_accuracy(make_table(AS_CLAIMED)).verdict == HOLDS
    assert judge_accuracy(make_table({**AS_CLAIMED, "xgboost": 0.99})).verdict == PARTLY
    assert judge_accuracy(make_table({"xgboost": 0.99})).verdict == FAILS


def test_all_methods_rank_both_columns_first():
    assert judge_ranks(make_table(AS_CLAIMED)).verdict == HOLDS
    assert judge_ranks(make_table(AS_CLAIMED, {"dfs": 4.0})).verdict == PARTLY
    assert judge_ranks(make_table(AS_CLAIMED, dict.fromkeys(OF_PAPER, 4.0))).verdict == FAILS


def test_dfs_is_judged_by_its_distance_from_stg():
    assert judge_dfs(make_table({"stg": 0.99})).verdict == HOLDS
    assert judge_dfs(make_table({"stg": 0.91})).verdict == PARTLY
    assert judge_dfs(make_table({"dfs": 0.95})).verdict == FAILS


def test_the_variance_is_told_without_a_verdict():
    table = make_table(AS_CLAIMED)
    assert describe_variance(table).final_verdict == UNPUBLISHED
    assert describe_variance(table[table["task"] == "D10"]).final_verdict == NOT_RUN


def test_results_can_be_shown():
    table = make_table(AS_CLAIMED)
    assert "| STG | 0.990 |" in MOONS.tables(table, ["stg"])
    figure = MOONS.draw(table)
    assert len(figure.axes) == 3
    plt.close(figure)
