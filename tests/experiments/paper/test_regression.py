"""The supplement's regression sets: their rows, both readings of lambda, and what is told of them."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from experiments.claims import UNPUBLISHED
from experiments.paper.parts.regression_sets import SETTINGS, draw_parts
from experiments.paper.regression import (
    METHODS,
    NETWORKS,
    REGRESSION,
    judge_settings,
    make_network,
    make_tables,
    run_cell,
)
from stochgate.datasets import RealTable

SMALL = {"n_rows": 60, "max_steps": 5}


@pytest.mark.parametrize("method", ["stg", "stg-chosen", "hc-scaled", "dnn", "lasso", "xgboost"])
def test_a_cell_measures_the_error_and_the_features(method):
    if method == "xgboost":
        pytest.importorskip("xgboost")
    record = run_cell("SE1", method, 1, **SMALL)
    assert record["r2"] < 1
    assert record["rmse"] > 0
    assert 0 <= record["f1"] <= 1
    assert record["n_selected"] <= record["n_features"] == 18
    assert ("n_steps" in record) == (method in NETWORKS)


def test_a_network_that_diverges_has_no_score(monkeypatch):
    monkeypatch.setitem(NETWORKS, "stg", (lambda setting: {"lr": 1e9, "n_epochs": 50}, {}))
    record = run_cell("SE2", "stg", 1, n_rows=60)
    assert record["diverged"]
    assert "r2" not in record
    assert "n_selected" not in record


def test_lambda_is_read_as_a_sum_and_as_a_mean():
    assert make_network("SE2", "stg", 0).penalty == "sum"
    assert make_network("SE2", "stg-mean", 0).penalty == "mean"
    assert make_network("RAI", "hc", 0).count_steps(5000) == 1800


def test_only_the_chosen_network_leaves_the_printed_step_size():
    for method in NETWORKS:
        lr = make_network("SE3", method, 0).lr
        assert (lr == SETTINGS["SE3"].lr) == (method != "stg-chosen")


def test_parts_of_a_draw_share_no_rows():
    (train, valid, test), _ = draw_parts("SE1", seed=3)
    rows = [tuple(row) for X, _ in (train, valid, test) for row in X]
    assert len(set(rows)) == len(rows) == 3000
    again, _ = draw_parts("SE1", seed=3)
    assert (again.train[0] == train[0]).all()


def test_real_sets_have_the_sizes_of_the_supplement(monkeypatch):
    X = np.arange(9000.0)[:, None]
    table = RealTable("regression", X, X[:, 0], np.array(["x1"]))
    monkeypatch.setattr("stochgate.datasets.load_real", lambda name: table)
    for name, n_train in (("RCP", 6000), ("REL", 6000), ("RAI", 5000)):
        parts, relevant = draw_parts(name, seed=0)
        assert [len(y) for _, y in parts] == [n_train, 1000, 1000]
        assert len(np.unique(np.concatenate([y for _, y in parts]))) == n_train + 2000
        assert relevant is None


def make_table():
    rows = [
        {"task": task, "method": method, "seed": seed, "r2": 0.5, "rmse": 0.1, "n_selected": size}
        for task in ("SE1", "RAI")
        for method, size in (("stg", 0), ("stg-mean", 18), ("stg-chosen", 5), ("ours", 4))
        for seed in (1000, 1001)
    ]
    return pd.DataFrame(rows).assign(n_features=18, diverged=False, f1=1.0)


def test_the_finding_tells_how_many_features_each_reading_keeps():
    finding = judge_settings(make_table())
    assert finding.final_verdict == UNPUBLISHED
    assert finding.say(finding.paper_settings) == (
        "features kept, lambda for each gate: SE1 0.0, RAI 0.0; lambda over all gates: SE1 18.0, RAI 18.0; "
        "lambda chosen: SE1 5.0, RAI 5.0"
    )
    assert finding.say(finding.defaults) == "features: SE1 4.0, RAI 4.0; R2: SE1 0.50, RAI 0.50"


def test_results_can_be_shown():
    tables = make_tables(make_table(), METHODS)
    assert "| STG | 0.5 (0) | - |" in tables
    assert "0 cells diverged." in tables
    plt.close(REGRESSION.draw(make_table()))
