"""The Cox experiments: protocols, what their networks cost, and the rules of their claims."""

import os

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from experiments.claims import FAILS, HOLDS, NOT_RUN, PARTLY
from experiments.paper import cox_gaussian, cox_metabric
from experiments.paper.cox_gaussian import COX_GAUSSIAN
from experiments.paper.cox_metabric import (
    COX_METABRIC,
    PUBLISHED,
    draw_rows,
    judge_concordance,
    judge_features,
)
from experiments.paper.parts.cox_methods import make_cox_model, training_cost
from experiments.paper.parts.sentences import list_numbers

needs_data = pytest.mark.skipif(
    not os.environ.get("STOCHGATE_DATA"), reason="STOCHGATE_DATA names no folder of data"
)


def test_the_protocol_of_the_supplement_leaves_validation_rows_out():
    train, test = draw_rows("paper", 1000, 1000)
    assert len(train) == 640
    assert len(test) == 200
    assert not set(train) & set(test)
    whole, same_test = draw_rows("splits", 1000, 1000)
    assert set(train) < set(whole)
    assert (same_test == test).all()


def test_the_fixed_protocol_has_one_test_set():
    (train, test), (other_train, other_test) = (draw_rows("fixed", 1000, seed) for seed in (0, 1))
    assert (test == other_test).all()
    assert set(train) != set(other_train)


@pytest.mark.parametrize(("method", "cost"), [("cox-stg", 2000), ("deepsurv", 2000), ("cox-lasso", None)])
def test_networks_at_given_settings_tell_their_steps(method, cost):
    found = training_cost(make_cox_model(method, 0, "cpu"), 100)
    assert found.get("n_steps") == cost


@needs_data
def test_a_cell_of_metabric_tells_kinds_of_features():
    pytest.importorskip("sksurv")
    record = cox_metabric.run_cell("paper", "cox-lasso", 1000, n_genes=5, n_patients=300)
    assert 0 <= record["test_score"] <= 1
    assert record["n_oncotype"] <= 8
    assert record["n_clinical"] <= 5


@needs_data
def test_a_cell_of_the_example_tells_whether_exactly_the_two_were_found():
    pytest.importorskip("sksurv")
    record = cox_gaussian.run_cell("500", "cox-lasso", 1000)
    assert record["exact"] in (0.0, 1.0)
    assert record["true_score"] == pytest.approx(0.658, abs=1e-3)


def make_table(task, value, **found):
    rows = [
        {"task": task, "method": name.replace("_", "-"), "seed": seed, value: number}
        for name, number in found.items()
        for seed in (1000, 1001)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(("stg", "verdict"), [(0.65, HOLDS), (0.637, PARTLY), (0.60, FAILS)])
def test_the_highest_concordance_holds_and_near_it_partly(stg, verdict):
    others = {"deepsurv": 0.5, "rsf": 0.64, "cox_lasso": 0.5, "cox_hc": 0.5}
    finding = judge_concordance(make_table("paper", "test_score", **others, cox_stg=stg, ours=0.9))
    assert finding.final_verdict == verdict
    assert finding.say(finding.paper_settings).endswith(f"cox-hc 0.500, cox-stg {stg:.3f}")
    assert finding.say(finding.defaults) == "ours 0.900"


@pytest.mark.parametrize(("size", "verdict"), [(2, HOLDS), (20, PARTLY), (221, FAILS), (0, FAILS)])
def test_the_fewest_features_hold_unless_there_are_none(size, verdict):
    others = {"deepsurv": 221, "rsf": 221, "cox_lasso": 44, "cox_hc": 14}
    table = make_table("paper", "n_selected", cox_stg=size, **others)
    assert judge_features(table).final_verdict == verdict


def test_claims_on_five_methods_need_all_of_them():
    table = make_table("paper", "test_score", cox_stg=0.64)
    assert judge_concordance(table).final_verdict == NOT_RUN


@pytest.mark.parametrize(("share", "verdict"), [(1.0, HOLDS), (0.5, PARTLY), (0.0, FAILS)])
def test_the_example_is_judged_on_all_rows(share, verdict):
    table = pd.concat(
        [make_table("all", "exact", cox_stg=share), make_table("500", "exact", cox_stg=1.0)]
    ).assign(test_score=0.6)
    assert cox_gaussian.judge_features(table).final_verdict == verdict


@pytest.mark.parametrize(("experiment", "task"), [(COX_METABRIC, "paper"), (COX_GAUSSIAN, "all")])
def test_results_can_be_drawn(experiment, task):
    table = make_table(task, "test_score", cox_stg=0.6, ours=0.7).assign(n_selected=2)
    plt.close(experiment.draw(table))


def test_published_rows_are_the_papers_five_methods():
    assert list(PUBLISHED) == ["deepsurv", "rsf", "cox-lasso", "cox-hc", "cox-stg"]


def test_a_list_of_numbers_leaves_out_what_is_missing():
    values = {"SE1": 1.0, "SE2": np.nan}
    assert list_numbers(values, ".0f", "size") == ("SE1 {size_se1:.0f}", {"size_se1": 1.0})
    sentence, numbers = list_numbers(values, ".0f", "size", needed="SE2")
    assert sentence == "{size_none:.0f}"
    assert np.isnan(numbers["size_none"])
