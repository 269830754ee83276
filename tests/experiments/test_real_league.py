"""The real league splits honestly, records what its tables need, and its tables hold the right numbers."""

import numpy as np
import pandas as pd
import pytest

from experiments.__main__ import main
from experiments.leagues import real
from experiments.leagues.real import METHODS, REAL_LEAGUE, make_real_model
from experiments.leagues.real_picture import draw_points, find_points
from experiments.leagues.real_tables import (
    best_of_kind,
    differences,
    feature_counts,
    kind_means,
    pairs,
    stabilities,
)
from experiments.leagues.splits import split_rows, split_table
from experiments.study import read_records
from stochgate.datasets import REAL, RealTable, load_real


@pytest.fixture
def run(capsys):
    """Return what runs a command line as a user does, and returns what it prints."""

    def run_command(*arguments):
        main(["run", *map(str, arguments)])
        return capsys.readouterr().out

    return run_command


def table_of(n_rows, kind="classification", groups=None):
    X = np.arange(2.0 * n_rows).reshape(n_rows, 2)
    return RealTable(kind, X, np.arange(n_rows) % 2, np.array(["a", "b"]), groups)


def test_the_league_runs_and_prints_its_tables(run, tmp_path):
    out = tmp_path / "real.jsonl"
    options = ["--tasks", "wine", "--methods", "lasso", "all-linear", "--out", out]
    printed = run("real-league", *options, "--seeds", "0:2")
    lasso, linear = read_records(out)[:2]
    assert (lasso["n_train"], lasso["n_test"], lasso["n_features"]) == (124, 54, 13)
    assert len(lasso["selected"]) == lasso["n_selected"]
    assert linear["selected"] is None
    assert linear["n_selected"] == 13
    assert linear["score"] > 0.9
    assert linear["balanced_accuracy"] > 0.9
    assert "| wine | 0.9" in printed
    assert run("real-league", *options, "--table") in printed
    states = tmp_path / "states.jsonl"
    run("real-league-states", *options[:-1], states, "--seeds", "3,4")
    assert [record["seed"] for record in read_records(states)] == [3, 3, 4, 4]


def test_ours_is_told_how_many_features_to_select():
    assert make_real_model("ours-k20", "regression", 10, 0, "cpu").n_features_to_select == 10
    assert make_real_model("ours-k20", "survival", 100, 0, "cpu").n_features_to_select == 20
    assert make_real_model("ours", "survival", 100, 0, "cpu").n_features_to_select is None


def test_what_takes_too_long_is_not_finished(monkeypatch):
    monkeypatch.setattr(real, "MAX_SECONDS", 0.001)
    found = real.run_cell("wine", "all-forest", 0)
    assert found["error"] == "not finished in 0.001 seconds"


def test_small_sets_have_more_splits():
    cells = REAL_LEAGUE.cells(["wine", "gbsg2"])
    assert {cell.seed for cell in cells if cell.task == "wine"} == set(range(20))
    assert {cell.seed for cell in cells if cell.task == "gbsg2"} == set(range(5))
    assert {cell.method for cell in cells if cell.task == "wine"} == set(METHODS)
    assert {cell.method for cell in cells if cell.task == "gbsg2"} == set(METHODS) - {"boruta", "stg"}
    assert {cell.seed for cell in REAL_LEAGUE.cells(["wine"], seeds=range(2))} == {0, 1}


def test_large_tables_are_cut_and_rows_are_never_on_both_sides():
    train, test = split_rows(table_of(20_000), 0)
    assert (len(train), len(test)) == (1000, 5000)
    assert not set(train) & set(test)
    assert set(split_rows(table_of(20_000), 1)[1]) != set(test)


def test_classes_and_events_have_equal_shares():
    train, test = split_rows(table_of(200), 0)
    assert (train % 2).mean() == (test % 2).mean() == 0.5
    wine = load_real("wine")
    y = np.zeros(178, dtype=[("event", bool), ("time", float)])
    y["event"][:60] = True
    _, test = split_rows(RealTable("survival", wine.X, y, wine.feature_names), 0)
    assert y["event"][test].sum() == 18


def test_groups_stay_together():
    groups = np.repeat(np.arange(20), 5)
    train, test = split_rows(table_of(100, groups=groups), 0)
    assert not set(groups[train]) & set(groups[test])
    assert len(set(groups[test])) == 6


def test_missing_values_are_filled_from_the_training_rows():
    table = table_of(100)
    train, test = split_rows(table, 0)
    table.X[test[0], 0] = np.nan
    filled = split_table(table, 0)[1].X[0, 0]
    assert filled == np.median(table.X[train, 0])


def results():
    """Return two splits of two sets: ours, a peer that selects and one that does not."""
    rows = [
        ("wine", "ours", 0, 0.9, [0, 1]),
        ("wine", "ours", 1, 0.8, [0]),
        ("wine", "lasso", 0, 0.7, [0, 1, 2]),
        ("wine", "lasso", 1, 0.8, []),
        ("wine", "all-forest", 0, 1.0, None),
        ("wine", "all-forest", 1, 1.0, None),
        ("digits", "ours", 0, 0.5, [1]),
        ("diabetes", "ours", 0, 0.4, [1]),
        ("diabetes", "lasso", 0, 0.3, [1]),
    ]
    table = pd.DataFrame(rows, columns=["task", "method", "seed", "score", "selected"])
    sizes = table["selected"].map(lambda selected: 4 if selected is None else len(selected))
    return table.assign(n_selected=sizes, n_features=4)


KINDS = {name: entry.kind for name, entry in REAL.items()}


def test_the_spread_of_numbers_counts_nothing_as_one():
    counts = feature_counts(results()).set_index(["task", "method"])
    assert counts.loc[("wine", "ours"), "spread"] == 2
    assert counts.loc[("wine", "lasso"), "spread"] == 3
    assert counts.loc[("wine", "lasso"), "median"] == 1.5


def test_stability_needs_two_selections():
    (row,) = stabilities(results()).query("method == 'ours'").to_dict("records")
    assert (row["task"], row["n"]) == ("wine", 2)
    assert row["mean"] == pytest.approx(1 - 0.125 / (0.375 * 0.625))


def test_means_are_over_the_sets_that_all_have():
    table, methods = results(), ["ours", "lasso", "all-forest"]
    means = kind_means(table, KINDS, methods)
    assert means.loc["classification (1 of 2 sets)"].tolist() == ["0.850", "0.750", "1.000"]
    assert means.loc["regression (1 of 1 sets)"].tolist() == ["0.400", "0.300", "-"]
    found = pairs(table, KINDS, methods)
    assert found.loc["classification: lasso", ["sets", "difference"]].tolist() == [1, "+0.100"]


def test_differences_have_nadeau_and_bengios_interval():
    peers = {kind: best_of_kind(results(), KINDS, kind, ["lasso", "stg"]) for kind in set(KINDS.values())}
    assert peers == {"classification": ["lasso"], "regression": ["lasso"], "survival": []}
    found = differences(results(), KINDS, peers)
    assert found.index.tolist() == ["wine", "diabetes"]
    # differences 0.2 and 0; Student's t with 1 degree of freedom
    half = 12.706204736432095 * np.sqrt(0.02 * (1 / 2 + 3 / 7))
    assert found.loc["wine", "95 % interval"] == f"{0.1 - half:+.3f} to {0.1 + half:+.3f}"
    assert found.loc["diabetes", "95 % interval"] == "-"


def test_a_table_without_results_says_so(run, tmp_path):
    assert run("real-league", "--table", "--out", tmp_path / "none.jsonl").startswith("No results in")


def test_the_picture_shows_a_point_per_set_and_method():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    points = find_points(results())
    assert len(points) == 6
    assert points.query("task == 'wine' and method == 'lasso'")["n_features"].tolist() == [1.5]
    figure = draw_points(points)
    assert [axes.get_title() for axes in figure.axes] == ["classification", "regression", "survival"]
    matplotlib.pyplot.close(figure)
