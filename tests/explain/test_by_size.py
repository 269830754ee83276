"""The best set of each size is one that was judged as it is."""

from stochgate.explain.by_size import best_by_size


def test_votes_of_folds_that_disagree_are_no_sets_of_the_path():
    row = {"stage": "path", "n_features": 2, "held_out_loss": 0.5}
    agree, differ = {**row, "n_by_fold": [2, 3, 2]}, {**row, "n_by_fold": [9, 8, 9], "held_out_loss": 0.1}
    every = {**row, "stage": "all", "n_by_fold": [2, 2, 2], "held_out_loss": 0.2}
    diverged = {**row, "n_by_fold": [2, 2, 2], "held_out_loss": float("inf")}
    assert best_by_size([agree, differ, every, diverged]) == {2: agree}
    assert best_by_size([{**differ, "stage": "team"}, agree])[2]["stage"] == "team"
