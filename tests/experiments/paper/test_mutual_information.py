"""Mutual information by enumeration is right, and the judges see where an equation fails."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mutual_info_score

from experiments.claims import FAILS, HOLDS, NOT_RUN, PARTLY
from experiments.paper.mutual_information import METHODS, MUTUAL_INFORMATION, TASKS, run_cell
from experiments.paper.parts.gated_joint import (
    best_probabilities,
    draw_joint,
    excess_of_models,
    information,
)

OPTIMUM, EXPANSION, BOUND = (claim.judge for claim in MUTUAL_INFORMATION.paper.claims)


@pytest.fixture(scope="module")
def table():
    cells = [(task, method, seed) for task in TASKS for method in METHODS for seed in range(3)]
    return pd.DataFrame([{"task": t, "method": m, "seed": s, **run_cell(t, m, s)} for t, m, s in cells])


def draw(task, seed=0):
    return draw_joint(*TASKS[task], 1, np.random.default_rng(seed))


def test_information_equals_scikit_learns():
    counts = np.array([[3, 1], [0, 4], [2, 2]])
    assert information(counts / counts.sum()) == pytest.approx(
        mutual_info_score(None, None, contingency=counts)
    )


@pytest.mark.parametrize("task", TASKS)
def test_joints_satisfy_the_assumptions(task):
    for seed in range(5):
        joint = draw(task, seed)
        assert joint.p.sum((1, 2)) == pytest.approx(1)
        assert joint.least_unique() > 1e-3
        assert joint.given(np.ones(len(joint.relevant))) == pytest.approx(joint.given(joint.relevant))


@pytest.mark.parametrize("task", TASKS)
def test_certain_gates_give_the_information_of_their_set(task):
    joint = draw(task)
    found = information(joint.mixtures(joint.gates.astype(float)))
    assert found == pytest.approx([joint.given(s) for s in joint.gates])
    assert joint.chances(np.full((1, joint.gates.shape[1]), 0.3)).sum() == pytest.approx(1)


def test_probabilities_keep_to_the_constraint():
    joint = draw("4-with-0")
    candidates, values = best_probabilities(joint, 2, 3, np.random.default_rng(0))
    assert candidates.shape == (4, 4)
    assert (candidates.sum(1) <= 2 + 1e-12).all()
    assert ((candidates >= 0) & (candidates <= 1)).all()
    assert values == pytest.approx(information(joint.mixtures(candidates)))


def test_the_true_distribution_is_beaten_by_no_model():
    p = draw("3-with-0").mixtures(np.full((2, 3), 0.4))
    excess = excess_of_models(p, 5, np.random.default_rng(0))
    assert excess.shape == (5, 2)
    assert (excess > 0).all()


def test_the_proposition_holds_and_the_expansion_needs_columns_without_0(table):
    assert OPTIMUM(table).final_verdict == HOLDS
    assert EXPANSION(table).final_verdict == PARTLY
    assert BOUND(table).final_verdict == HOLDS
    found = EXPANSION(table)
    assert found.numbers["without_high"] < 1e-12 < found.numbers["with_high"]
    assert "at most 0.000000 nats" in found.say(found.paper_settings)


def test_judges_see_what_fails(table):
    assert OPTIMUM(table.assign(gap=0.1)).final_verdict == FAILS
    with_0 = table["task"].str.endswith("with-0")
    assert OPTIMUM(table.assign(gap=np.where(with_0, 0.1, 0.0))).final_verdict == PARTLY
    assert OPTIMUM(table.assign(is_star=0.0)).final_verdict == FAILS
    assert BOUND(table.assign(bound_share=0.99)).final_verdict == FAILS


def test_too_small_a_k_can_break_the_proposition():
    gaps = [run_cell("4-without-0", "small-k", seed)["gap"] for seed in range(4)]
    assert min(gaps) > -1e-9
    assert max(gaps) > 1e-4


def test_no_results_judge_nothing(table):
    for claim in MUTUAL_INFORMATION.paper.claims:
        assert claim.judge(table.iloc[:0]).final_verdict == NOT_RUN
        assert claim.judge(table.iloc[:0][["task", "method", "seed"]]).final_verdict == NOT_RUN


def test_results_can_be_drawn_and_tabulated(table):
    assert len(MUTUAL_INFORMATION.draw(table).axes) == 2
    assert "right-k" in MUTUAL_INFORMATION.tables(table, METHODS)
