"""The samples that recover the informative features are counted as the claims are worded."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Lasso

from experiments.claims import FAILS, HOLDS, NOT_RUN, PARTLY
from experiments.paper.parts.recovery_claims import (
    compare_methods,
    curve_of,
    draw,
    judge_spread,
    make_tables,
)
from experiments.paper.parts.recovery_shared import (
    CONSTANT_GRID,
    CONSTANTS,
    GATE_OF,
    alpha_N,
    draw_problem,
    train_gated,
    tuning_losses,
)
from experiments.paper.recovery import METHODS, RECOVERY, RECOVERY_CORRELATED, describe, fit_lasso, run_cell

SMALL = {"sizes": (30, 250), "n_steps": 400}


def make_table(exact, contains=None):
    """Return results with the same shares in both tasks: for each method one 0 or 1 per N of two runs."""
    rows = []
    for method, runs in exact.items():
        for task in ("alpha",) if method.startswith("lasso") else ("by-loss", "by-support"):
            for seed, found in enumerate(runs):
                also = found if contains is None else contains[method][seed]
                rows.append(
                    {
                        "task": task,
                        "method": method,
                        "seed": seed,
                        "n_samples": [50, 100, 200],
                        "exact": found,
                        "contains": also,
                        "portion": [x * 0.5 for x in found],
                        "n_selected": [10, 10, 10],
                    }
                )
    return pd.DataFrame(rows)


NEVER, LATE, EARLY = [[0, 0, 0]] * 2, [[0, 0, 1]] * 2, [[0, 1, 1]] * 2


def test_alpha_is_that_of_the_paper():
    assert alpha_N(100) == pytest.approx(math.sqrt(2 * 0.5 * math.log(54) * math.log(10) / 100))


def test_models_learn_from_the_first_rows_of_their_run_alone():
    problems = [draw_problem(seed) for seed in (0, 1)]
    joined = train_gated("stg", problems, (40, 250), (0.2, 0.5), seeds=[0, 1], n_steps=300)
    gates = joined.gates.reshape(2, 2, 2, -1)  # runs, sizes, constants, features
    for run, problem in enumerate(problems):
        alone = train_gated("stg", [problem], (40,), (0.5,), seeds=[run], n_steps=300)
        np.testing.assert_allclose(gates[run, 0, 1], alone.gates[0], atol=1e-4)


def test_the_printed_lasso_is_the_solution_of_equation_3():
    problem, n = draw_problem(0), 100
    X, y = problem.X[:n], problem.y[:n]
    (printed,) = fit_lasso(problem, [n], 0.5)
    coefficients = Lasso(alpha_N(n) / 2).fit(X, y).coef_
    residual = y - y.mean() - (X - X.mean(axis=0)) @ coefficients
    slope = 2 * X.T @ residual / n  # of the mean squared error, equal to alpha_N where a feature is kept
    np.testing.assert_allclose(np.abs(slope[printed]), alpha_N(n), rtol=0.02)
    assert (np.abs(slope[~printed]) <= alpha_N(n) * 1.001).all()


@pytest.mark.parametrize(
    ("task", "method"), [(task, m) for task, methods in METHODS.items() for m in methods if m != "ours"]
)
def test_cells_count_recovered_features(task, method):
    record = run_cell(task, method, 0, rho=0.3, **SMALL)
    assert record["n_samples"] == [30, 250]
    assert record["portion"][1] == 1.0
    assert record["contains"][1] == 1
    assert record["n_selected"][1] >= 10
    assert record["device"] == "cpu"
    assert record["n_models"] == 2


def test_our_defaults_have_few_sizes(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "experiments.paper.recovery.fit_defaults",
        lambda method, problem, sizes, seed, device: asked.extend(sizes) or np.ones((len(sizes), 64), bool),
    )
    record = run_cell("defaults", "ours", 0, rho=0.0)
    assert record["n_samples"] == asked == [30, 60, 100, 250]
    assert record["contains"] == [1, 1, 1, 1]
    assert record["exact"] == [0, 0, 0, 0]
    assert {len(RECOVERY.cells(["defaults"])), len(RECOVERY_CORRELATED.cells(["defaults"]))} == {10}


def test_the_exact_support_has_no_false_features():
    relevant = np.array([True, True, False])
    supports = np.array([[True, True, False], [True, True, True], [True, False, False]])
    record = describe(supports, relevant, [10, 20, 30])
    assert record["exact"] == [1, 0, 0]
    assert record["contains"] == [1, 1, 0]
    assert record["portion"] == [1.0, 1.0, 0.5]
    assert record["n_selected"] == [2, 3, 1]


def test_samples_are_enough_from_where_recovery_stays():
    table = make_table({"stg": [[1, 0, 1]] * 2, "hc": EARLY, "dnc": NEVER})
    needed = [curve_of(table, "exact", method, "by-loss").n_needed for method in ("stg", "hc", "dnc")]
    assert needed == [200, 100, math.inf]


@pytest.mark.parametrize(
    ("dnc", "lasso", "contained", "verdict"),
    [
        (EARLY, LATE, None, HOLDS),
        (LATE, EARLY, None, FAILS),
        (NEVER, LATE, {"dnc": EARLY, "lasso": LATE}, PARTLY),  # with false features alone
        ([[0, 0, 1], [0, 1, 1]], LATE, None, HOLDS),  # the same N, but more often before
        (NEVER, NEVER, None, FAILS),
    ],
)
def test_fewer_samples_are_needed_in_every_reading(dnc, lasso, contained, verdict):
    finding = compare_methods(make_table({"dnc": dnc, "lasso": lasso}, contained), [("dnc", "lasso")])
    assert finding.final_verdict == verdict
    assert ("never" in finding.say(finding.paper_settings)) == (dnc is NEVER)


def test_the_spread_compares_the_two_kinds_of_noise():
    table = make_table({"stg": EARLY, "hc": [[0, 0, 1], [0, 1, 1]]})
    assert judge_spread(table).final_verdict == HOLDS
    assert judge_spread(table.replace({"stg": "hc", "hc": "stg"})).final_verdict == FAILS
    assert judge_spread(table[table["seed"] == 0]).final_verdict == NOT_RUN


def test_results_make_tables_and_a_picture():
    table = make_table({"stg": EARLY, "lasso": LATE})
    text = make_tables(table, ["stg", "lasso"])
    assert "| STG, by-loss | 0.00 | 1.00 | 1.00 |" in text
    assert "| LASSO, alpha | 0.00 | 0.00 | 1.00 |" in text
    assert "LASSO" not in make_tables(table, ["stg"])
    figure = draw(table)
    assert [len(axis.lines) for axis in figure.axes] == [2, 2, 2, 2]


def test_constants_are_of_the_grid_and_can_be_shown():
    found = {constant for of_task in CONSTANTS.values() for constant in of_task.values()}
    assert found <= set(CONSTANT_GRID)
    assert (CONSTANT_GRID[0], CONSTANT_GRID[-1]) == (0.1, 10.0)
    assert {task: list(of_task) for task, of_task in CONSTANTS.items()} == {
        "by-loss": list(GATE_OF),
        "by-support": list(GATE_OF),
    }
    losses = tuning_losses("stg", seeds=[0], n_steps=300)
    assert losses["log loss"].idxmax() > losses["log loss"].idxmin()
