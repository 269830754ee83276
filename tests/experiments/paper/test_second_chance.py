"""Gates that come back are those that were closed and end open."""

import numpy as np
import pandas as pd
import pytest

from experiments.claims import FAILS, HOLDS, NOT_RUN, PARTLY
from experiments.paper.parts.recovery_shared import CONSTANT_GRID
from experiments.paper.parts.second_chance_claims import draw, judge_lateness, judge_return, make_tables
from experiments.paper.second_chance import GatePaths, run_cell, show_example

STEPS = np.array([10, 20, 30, 40])
N = len(CONSTANT_GRID)


def make_paths(*gates):
    """Return the paths of gates that do the same with every C."""
    return GatePaths(STEPS, np.repeat(np.array(gates, float).T[:, None, :], N, axis=1))


def make_table(back, opened_at=((3000,),)):
    rows = [
        {
            "task": "linear",
            "method": method,
            "seed": seed,
            "all_closed": 5,
            "all_back": n,
            "opened_at": list(at),
        }
        for method, n in back.items()
        for seed, at in enumerate(opened_at)
    ]
    return pd.DataFrame(rows)


def test_a_gate_that_was_closed_and_ends_open_came_back():
    paths = make_paths([0.5, 0, 0, 0.2], [0.5, 0, 0.1, 0], [0.5, 0.4, 0.3, 0.2], [0, 0, 0, 0])
    assert paths.closed.any(axis=0)[0].tolist() == [True, True, False, True]
    assert paths.reopened.any(axis=0)[0].tolist() == [True, True, False, False]
    assert paths.reopened[-1][0].tolist() == [True, False, False, False]
    assert paths.opened_at[0].tolist() == [40, 0, 0, 0]


def test_the_example_is_the_gate_that_came_back_last_with_stg():
    of_stg = make_paths([0, 0.1, 0.2, 0.3], [0, 0, 0.3, 0.4])
    of_dnc = make_paths([0.5, 0.5, 0.5, 0.5], [0.5, 0, 0, 0])
    example = show_example(of_dnc, of_stg)
    assert example["example_gate"] == 1
    assert example["example_opened_at"] == 30
    assert example["example_steps"] == STEPS.tolist()
    assert example["example_values"] == [0.5, 0, 0, 0]
    assert show_example(of_dnc, of_dnc) == {}


def test_deterministic_gates_never_come_back():
    found = {method: run_cell("linear", method, 0, n_steps=400) for method in ("stg", "dnc")}
    for record in found.values():
        assert record["n_closed"][0] == 0
        assert record["n_closed"][-1] == 10
        assert record["n_models"] == N
    assert found["dnc"]["all_closed"] > 0
    assert found["dnc"]["n_reopened"] == found["dnc"]["n_back"] == [0] * N
    table = pd.DataFrame(
        [{"task": "linear", "method": m, "seed": 0, **record} for m, record in found.items()]
    )
    assert " of 10 |" in make_tables(table, ["stg", "dnc"])
    assert len(draw(table).axes) == 2


@pytest.mark.parametrize(
    ("stg", "dnc", "verdict"), [(2, 0, HOLDS), (2, 1, PARTLY), (0, 0, FAILS), (0, 1, FAILS)]
)
def test_a_second_chance_is_one_that_dnc_does_not_have(stg, dnc, verdict):
    finding = judge_return(make_table({"stg": stg, "dnc": dnc, "hc": 0}))
    assert finding.final_verdict == verdict
    assert f"STG {stg} of 5" in finding.say(finding.paper_settings)


@pytest.mark.parametrize(
    ("opened_at", "verdict"),
    [([[3000], [5000]], HOLDS), ([[50, 70], [5000]], PARTLY), ([[50], []], FAILS), ([[], []], FAILS)],
)
def test_late_is_after_two_thousand_steps(opened_at, verdict):
    assert judge_lateness(make_table({"stg": 1}, opened_at)).final_verdict == verdict
    assert judge_lateness(make_table({"dnc": 1}, opened_at)).final_verdict == NOT_RUN


def test_the_picture_shows_one_gate_of_all_methods():
    example = {"example_C": 1.0, "example_steps": STEPS.tolist(), "example_values": [0.5, 0, 0, 0.3]}
    rows = [
        {"task": "linear", "method": m, "seed": seed, "example_opened_at": at, **example}
        | {"n_closed": [1] * N, "n_back": [0] * N}
        for m in ("stg", "dnc")
        for seed, at in ((0, 20.0), (1, 40.0), (9, None))
    ]
    axis, _ = draw(pd.DataFrame(rows)).axes
    assert len(axis.lines) == 2
