"""Threes against eights: what a run records, which penalty counts, and how runs are compared."""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from experiments.claims import FAILS, HOLDS, NOT_RUN, PARTLY
from experiments.methods import make_model
from experiments.paper import mnist_stability
from experiments.paper.mnist_stability import MNIST_STABILITY, at_six, measure, run_cell
from stochgate import Training

CLAIMS = MNIST_STABILITY.paper.claims
STEADY = [[0, 1, 2, 3, 4, 5]] * 4
UNSTEADY = [list(range(10 * i, 10 * i + 4 + i)) for i in range(4)]


def make_table(accuracy=0.92, **runs):
    """Return results at two penalties, of which the first keeps 50 pixels."""
    return pd.DataFrame(
        [
            {
                "task": "mnist38",
                "method": method.replace("_", "-"),
                "seed": 1000 + i,
                "pixels": [list(range(50)), pixels],
                "accuracy": [0.99, accuracy if method == "stg" else 0.9],
            }
            for method, sets in runs.items()
            for i, pixels in enumerate(sets)
        ]
    )


@pytest.fixture
def few_digits(monkeypatch):
    """Put 60 images of 9 pixels for MNIST, whose classes differ in the first pixel."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 256, size=(60, 9)), np.tile([3, 8, 5], 20)
    X[y == 8, 0] //= 4
    arrays = {"X_train": X, "y_train": y, "X_test": X, "y_test": y}
    monkeypatch.setattr(mnist_stability, "read_arrays", lambda name: arrays)
    mnist_stability.read_digits.cache_clear()
    yield
    mnist_stability.read_digits.cache_clear()


@pytest.mark.parametrize("method", ["stg", "hc", "hc-scaled", "ours"])
def test_a_cell_has_the_pixels_of_every_penalty(method, few_digits, monkeypatch):
    quickly = partial(make_model, training=Training(n_steps=30), cv=2)
    monkeypatch.setattr(mnist_stability, "make_model", quickly)
    record = run_cell("mnist38", method, 3, n_steps=3)
    n_models = 1 if method == "ours" else 8
    assert len(record["pixels"]) == len(record["accuracy"]) == record["n_models"] == n_models
    assert method != "ours" or len(record["pixels"][0]) == 6


def test_the_penalty_counts_that_leaves_about_six_pixels():
    pixels, accuracies = at_six(make_table(stg=UNSTEADY), "stg")
    assert pixels == UNSTEADY
    assert accuracies.tolist() == [0.92] * 4
    assert at_six(make_table(stg=[list(range(40))] * 2), "stg")[0] == []  # nowhere near 6
    found = measure(make_table(stg=STEADY), "stg")
    assert (found["variance"], found["stability"], found["union"]) == (0, 1, 6)


@pytest.mark.parametrize(
    ("stg", "hc", "scaled", "verdict"),
    [
        (STEADY, UNSTEADY, UNSTEADY, HOLDS),
        (UNSTEADY, STEADY, UNSTEADY, PARTLY),
        (UNSTEADY, STEADY, STEADY, FAILS),
    ],
)
def test_fewer_changes_are_better(stg, hc, scaled, verdict):
    table = make_table(stg=stg, hc=hc, hc_scaled=scaled)
    assert [claim.judge(table).final_verdict for claim in CLAIMS[:2]] == [verdict] * 2


def test_accuracies_within_a_point_are_comparable():
    runs = {"stg": STEADY, "hc": STEADY, "hc_scaled": STEADY}
    verdicts = [
        CLAIMS[2].judge(make_table(accuracy, **runs)).final_verdict for accuracy in (0.895, 0.85, 0.95)
    ]
    assert verdicts == [HOLDS, FAILS, FAILS]


def test_results_that_are_missing_judge_nothing():
    for table in (make_table(stg=STEADY), make_table(stg=STEADY).drop(columns=["pixels", "accuracy"])):
        assert {claim.judge(table).final_verdict for claim in CLAIMS} == {NOT_RUN}


def test_results_can_be_shown():
    table = make_table(stg=STEADY, hc=UNSTEADY)
    assert "| STG | 6.0 | 0.0 | 1.0 | 6.0 | 0.92 |" in MNIST_STABILITY.tables(table, ["stg", "hc"])
    figure = MNIST_STABILITY.draw(table)
    assert len(figure.axes) == 2
    figure.canvas.draw()
    plt.close(figure)
