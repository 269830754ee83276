"""STG against HC over the epochs: curves of the IFWR, noise per step or per row, and rules."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from experiments.baselines import GatedNetwork
from experiments.claims import FAILS, HOLDS, NOT_RUN, PARTLY
from experiments.paper.convergence import (
    CONVERGENCE,
    METHODS,
    SHOWN,
    judge_noise,
    judge_reliability,
    judge_speed,
    run_cell,
)
from experiments.paper.parts.per_row import train_per_row
from stochgate.gates import GaussianGate, HardConcreteGate


def make_table(spread=0.0, **levels):
    """Return results of all arms: flat curves at 0.5, or at a given level; two seeds, a spread apart."""
    rows = []
    for task in SHOWN:
        for method in METHODS:
            for seed, sign in ((1000, -1), (1001, 1)):
                level = levels.get(method.replace("-", "_"), 0.5)
                level += sign * spread / 2 if method == "stg" else 0
                curve = {"epochs": [1.0, 2.0], "ifwr": [level, level], "area": level, "last": level}
                cell = {"task": task, "method": method, "seed": seed, "reached": float(level >= 0.9)}
                rows.append({**cell, **curve})
    return pd.DataFrame(rows)


@pytest.mark.parametrize("method", ["stg", "hc-scaled", "stg-per-row", "hc-per-row"])
def test_a_cell_has_a_short_curve(method):
    record = run_cell("moons", method, 1, max_steps=40)
    assert len(record["ifwr"]) == len(record["epochs"]) == 40
    assert record["epochs"][-1] == record["n_steps"] == 40
    assert record["area"] == pytest.approx(np.mean(record["ifwr"]), abs=1e-3)


def test_madelon_has_several_steps_per_epoch():
    record = run_cell("madelon", "stg", 1, max_steps=40)
    assert record["epochs"][-1] == pytest.approx(40 / 3, abs=0.1)


def test_arms_per_row_are_not_run_on_madelon():
    cells = CONVERGENCE.cells(["madelon"], seeds=[1000])
    assert [cell.method for cell in cells] == ["stg", "hc", "hc-scaled"]


@pytest.mark.parametrize("gate", [GaussianGate(), HardConcreteGate()])
def test_gates_per_row_find_the_informative_column(gate):
    X = np.random.default_rng(0).normal(size=(100, 4))
    model = GatedNetwork(
        lams=(0.2,), hidden=(8,), lr=1.0, n_epochs=300, n_snapshots=3, device="cpu", random_state=0
    )
    steps, path = train_per_row(model, gate, X, X[:, 1] > 0)
    assert steps.tolist() == [100, 200, 300]
    assert path.shape == (3, 4)
    assert path[-1].argmax() == 1
    assert path[-1, 1] > 2 * np.delete(path[-1], 1).max()
    again = train_per_row(model, gate, X, X[:, 1] > 0)[1]
    assert np.array_equal(path, again)


def test_speed_is_judged_by_the_area_under_the_curve():
    assert judge_speed(make_table(stg=0.8)).final_verdict == HOLDS
    assert judge_speed(make_table(stg=0.2)).final_verdict == FAILS
    mixed = make_table(stg=0.8)
    mixed.loc[(mixed["task"] == "xor") & (mixed["method"] == "hc"), "area"] = 0.9
    assert judge_speed(mixed).final_verdict == PARTLY


def test_gates_that_never_move_are_not_reliable():
    assert judge_reliability(make_table(stg=0.95)).final_verdict == HOLDS
    assert judge_reliability(make_table(stg=0.95, hc=0.2, spread=0.08)).final_verdict == HOLDS
    assert judge_reliability(make_table(spread=0.2)).final_verdict == FAILS
    one = make_table(stg=0.95)
    assert judge_reliability(one[one["seed"] == 1000]).final_verdict == NOT_RUN


def test_noise_per_row_is_judged_against_noise_per_step():
    assert judge_noise(make_table(stg_per_row=0.9)).final_verdict == HOLDS
    assert judge_noise(make_table(stg_per_row=0.1)).final_verdict == FAILS


def test_results_can_be_shown():
    table = make_table(stg=0.8)
    assert "0.80 (0.00)" in CONVERGENCE.tables(table, ["stg"])
    figure = CONVERGENCE.draw(table)
    assert len(figure.axes) == 3
    plt.close(figure)
