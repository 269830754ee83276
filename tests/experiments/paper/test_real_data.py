"""Real data: splits, the curves of all kinds of methods, and the rules by which curves are compared."""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from experiments.claims import FAILS, HOLDS, NOT_RUN, PARTLY
from experiments.methods import make_model
from experiments.paper import real_data
from experiments.paper.parts.curves import accuracy_at, mean_curve, mean_gain
from experiments.paper.parts.real_data_settings import GIVEN, OF_PAPER, SETTINGS
from experiments.paper.real_data import MOST_ROWS, REAL_DATA, Data, load_split, run_cell, take_rows
from stochgate import Training
from stochgate.datasets import RealTable

CLAIMS = REAL_DATA.paper.claims
SIZES = (5, 10, 20, 50, 100, 200)


@pytest.fixture
def small_files(monkeypatch):
    """Put a table of 100 rows and 12 columns, of which two matter and one is constant, for all files."""
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, size=(100, 12)).astype(float)
    X[:, 11] = 3.0
    y = (X[:, 0] + X[:, 1] > 1).astype(int)
    table = RealTable("classification", csr_array(X), y, np.arange(12).astype(str))
    monkeypatch.setattr(real_data, "load_real", lambda name: table)
    arrays = {"X_train": X, "y_train": y, "X_test": X[:20], "y_test": y[:20]}
    monkeypatch.setattr(real_data, "read_arrays", lambda name: arrays)
    return X


def make_table(tasks=OF_PAPER, **accuracies):
    """Return results in which each method has one accuracy at all sizes."""
    return pd.DataFrame(
        [
            {
                "task": task,
                "method": method.replace("_", "-"),
                "seed": seed,
                "curve": [[n, accuracy] for n in SIZES],
            }
            for task in tasks
            for method, accuracy in accuracies.items()
            for seed in (1000, 1001)
        ]
    )


def test_five_seeds_are_the_folds_of_one_partition(small_files):
    tested = [load_split("pcmac", seed).X_test.toarray() for seed in range(1000, 1005)]
    assert sorted(map(tuple, np.vstack(tested))) == sorted(map(tuple, small_files[:, :11]))


def test_a_tenth_of_the_rows_trains_where_the_paper_says_so(small_files):
    data = load_split("rcv1", 1000)
    assert (len(data.y), len(data.y_test)) == (10, 90)


@pytest.mark.parametrize("task", SETTINGS)
def test_columns_are_scaled_and_constant_ones_left_out(task, small_files):
    data = load_split(task, 3)
    assert data.X.shape[1] == data.X_test.shape[1] <= 11
    assert data.X.max() <= small_files.max() / SETTINGS[task].scale
    assert (SETTINGS[task].split == GIVEN) == (task == "mnist")


def test_at_most_so_many_rows_are_taken():
    data = Data(np.zeros((5, 2)), np.arange(5), None, None)
    assert take_rows(data, None, 0) is take_rows(data, MOST_ROWS, 0) is data
    assert len(set(take_rows(data, 3, 0).y)) == 3


@pytest.mark.parametrize("method", REAL_DATA.methods[1:])
def test_a_cell_has_a_curve(method, small_files):
    if method == "xgboost":
        pytest.importorskip("xgboost")
    record = run_cell("pcmac", method, 3, n_penalties=2, max_steps=2, most_features=4)
    assert record["n_models"] == len(record["curve"])
    assert record["fewest"] == min(size for size, _ in record["curve"])
    assert all(0 <= accuracy <= 1 for _, accuracy in record["curve"])
    assert (record["n_columns"], record["n_train"], record["n_classes"]) == (11, 80, 2)
    if method in ("lasso", "svc"):
        sizes = [size for size, _ in record["curve"]]
        assert sizes[0] <= 2
        assert max(sizes[:-1]) <= 4 < sizes[-1]
    if method in ("forest", "extra-trees", "xgboost"):
        assert [size for size, _ in record["curve"]] == [1, 2, 3, 4]


def test_ours_chooses_and_is_asked_for_other_sizes(small_files, monkeypatch):
    quickly = partial(make_model, network="linear", training=Training(n_steps=100), cv=2)
    monkeypatch.setattr(real_data, "make_model", quickly)
    record = run_cell("pcmac", "ours", 3, our_sizes=(1, 3))
    assert [size for size, _ in record["curve"]] == [1, 3]
    assert record["test_score"] > 0.6
    assert record["n_selected"] >= 1


@pytest.mark.parametrize("task", SETTINGS)
@pytest.mark.parametrize("method", ["stg", "hc", "hc-scaled"])
def test_penalties_can_close_gates(task, method):
    settings = SETTINGS[task]
    closes = {"stg": 0.75, "hc": 11.0, "hc-scaled": 2.3}[method]
    lams = settings.lams(method)
    assert len(lams) == settings.n_penalties
    assert lams == sorted(lams)
    assert closes / (settings.lr * lams[-1]) < settings.n_steps  # useless gates are closed in time


def test_curves_are_read_at_common_sizes_without_guessing():
    curve = [[0, 0.5], [10, 0.7], [10, 0.9], [40, 0.9], [500, 1.0]]
    assert accuracy_at(curve, [5, 10, 20, 40, 100, 500, 600]) == pytest.approx(
        [np.nan, 0.8, 0.85, 0.9, np.nan, 1.0, np.nan], nan_ok=True
    )
    table = pd.DataFrame([{"task": "a", "method": "m", "seed": s, "curve": curve} for s in range(2)])
    other = {"task": "a", "method": "m", "seed": 2, "curve": [[1, 0.5], [3, 0.6]]}
    table = pd.concat([table, pd.DataFrame([other])])
    assert mean_curve(table, "a", "m", [1, 20]) == pytest.approx([np.nan, 0.85], nan_ok=True)
    assert np.isnan(mean_gain(table, "a", "m", "none", [20]))


@pytest.mark.parametrize(
    ("claim", "accuracies", "verdict"),
    [
        (0, {"stg": 0.9, "lasso": 0.8, "svc": 0.8}, HOLDS),
        (0, {"stg": 0.9, "lasso": 0.8, "svc": 0.95}, FAILS),
        (0, {"stg": 0.9, "lasso": 0.8}, NOT_RUN),
        (1, {"stg": 0.9, "forest": 0.85, "xgboost": 0.89}, FAILS),
        (1, {"stg": 0.9, "forest": 0.85, "xgboost": 0.99}, PARTLY),
        (2, {"stg": 0.9, "hc": 0.8, "hc_scaled": 0.8}, HOLDS),
        (2, {"stg": 0.9, "hc": 0.8, "hc_scaled": 0.91}, FAILS),
    ],
)
def test_methods_are_compared_on_each_data_set(claim, accuracies, verdict):
    assert CLAIMS[claim].judge(make_table(**accuracies)).final_verdict == verdict


def test_an_advantage_on_some_sets_holds_partly():
    table = pd.concat(
        [
            make_table(OF_PAPER[:4], stg=0.9, lasso=0.8, svc=0.8),
            make_table(OF_PAPER[4:], stg=0.7, lasso=0.8, svc=0.8),
        ]
    )
    finding = CLAIMS[0].judge(table)
    assert finding.verdict == PARTLY
    assert "over LASSO: -0.011 in the mean, above on 4 of 9 sets" in finding.say(finding.paper_settings)


def test_trees_that_are_slightly_better_in_places_hold():
    table = pd.concat(
        [make_table(OF_PAPER[:4], stg=0.9, forest=0.91), make_table(OF_PAPER[4:], stg=0.9, forest=0.89)]
    )
    assert CLAIMS[1].judge(table).verdict == HOLDS


@pytest.mark.parametrize(
    ("tenth", "fifths", "verdict"),
    [
        ([[25, 0.8], [900, 0.81]], [[22, 0.9], [900, 0.9]], HOLDS),
        ([[25, 0.6], [900, 0.81]], [[22, 0.9], [900, 0.9]], PARTLY),
        ([[0, 0.5], [900, 0.5]], [[900, 0.9]], FAILS),
    ],
)
def test_about_25_genes_are_enough_or_not(tenth, fifths, verdict):
    rows = [("pbmc", tenth), ("pbmc-folds", fifths)]
    table = pd.DataFrame([{"task": t, "method": "stg", "seed": 1000, "curve": c} for t, c in rows])
    assert CLAIMS[3].judge(table).final_verdict == verdict


def test_results_that_are_missing_judge_nothing():
    for table in (make_table(["coil20"], forest=0.9), make_table(forest=0.9).drop(columns="curve")):
        assert {claim.judge(table).final_verdict for claim in CLAIMS} == {NOT_RUN}


def test_results_can_be_shown():
    table = make_table(["coil20"], stg=0.9, ours=0.95).assign(
        n_columns=1000, n_train=5, n_test=6, n_classes=20
    )
    shown = REAL_DATA.tables(table, ["stg", "lasso"])
    assert "| coil20 | 1024 / 1000 | 1152 / 5 | 288 / 6 | 20 / 20 |" in shown
    assert "| coil20 | 0.900 | - |" in shown
    figure = REAL_DATA.draw(table)
    assert len(figure.axes) == len(SETTINGS)
    figure.canvas.draw()
    plt.close(figure)
