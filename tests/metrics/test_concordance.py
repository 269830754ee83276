"""Concordance against pairs counted one by one, R, lifelines and scikit-survival."""

import json
import time as clock
from pathlib import Path

import numpy as np
import pytest
from lifelines.utils import concordance_index as lifelines_concordance_index
from sksurv.metrics import brier_score, concordance_index_censored, concordance_index_ipcw
from sksurv.util import Surv

from stochgate import survival_target
from stochgate.metrics import concordance_index, integrated_brier_score, uno_concordance

STRATA = json.loads((Path(__file__).parents[1] / "oracles" / "cox_strata.json").read_text())

several_seeds = pytest.mark.parametrize("seed", range(4))


def risky_problem(seed, n_samples=70, n_levels=8):
    rng = np.random.default_rng(seed)
    event = rng.random(n_samples) < 0.6
    return event, rng.integers(n_levels, size=n_samples), rng.integers(n_levels, size=n_samples)


def count_pairs(event, time, risk, entry=None, strata=None, sample_weight=None):
    points = pairs = 0
    for i in np.flatnonzero(event):
        for j in range(len(time)):
            known = time[i] < time[j] or (time[i] == time[j] and not event[j])
            known = known and (entry is None or entry[j] < time[i])
            if known and (strata is None or strata[i] == strata[j]):
                weight = 1 if sample_weight is None else sample_weight[i] * sample_weight[j]
                pairs += weight
                points += weight * (1 if risk[i] > risk[j] else 0.5 if risk[i] == risk[j] else 0)
    return points / pairs


@several_seeds
@pytest.mark.parametrize("n_levels", [2, 8, 10**9])
def test_concordance_equals_pair_count_lifelines_and_scikit_survival(seed, n_levels):
    event, time, risk = risky_problem(seed, n_levels=n_levels)
    ours = concordance_index(event, time, risk)
    assert ours == pytest.approx(count_pairs(event, time, risk), rel=1e-14)
    assert ours == pytest.approx(lifelines_concordance_index(time, -risk, event), rel=1e-14)
    assert ours == pytest.approx(concordance_index_censored(event, time, risk)[0], rel=1e-14)


@several_seeds
@pytest.mark.parametrize(
    "names", [["entry"], ["strata"], ["sample_weight"], ["entry", "strata", "sample_weight"]]
)
def test_concordance_with_entry_strata_and_weights_equals_pair_count(seed, names):
    event, time, risk = risky_problem(seed)
    rng = np.random.default_rng(seed)
    more = {
        "entry": time - rng.integers(1, 5, size=len(time)),
        "strata": rng.choice(["a", "b", "c"], size=len(time)),
        "sample_weight": rng.choice([0, 0.5, 1, 3], size=len(time)),
    }
    more = {name: more[name] for name in names}
    ours = concordance_index(event, time, risk, **more)
    assert ours == pytest.approx(count_pairs(event, time, risk, **more), rel=1e-12)
    assert ours != pytest.approx(concordance_index(event, time, risk), abs=1e-4)


@pytest.mark.parametrize("case", STRATA["cases"], ids=lambda c: " ".join(map(str, list(c.values())[:4])))
def test_concordance_equals_r(case):
    risk = np.column_stack([STRATA["x1"], STRATA["x2"]]) @ STRATA["beta"]
    ours = concordance_index(
        STRATA["event"],
        STRATA["time"],
        risk,
        entry=STRATA["entry"] if case["truncated"] else None,
        strata=STRATA["stratum"] if case["stratified"] else None,
        sample_weight=STRATA["weight"] if case["weighted"] else None,
    )
    assert ours == pytest.approx(case["concordance"], rel=1e-12)


def test_concordance_of_perfect_reversed_and_constant_risk():
    event, time, _ = risky_problem(0, n_levels=10**9)
    assert concordance_index(event, time, -time) == 1
    assert concordance_index(event, time, time) == 0
    assert concordance_index(event, time, np.zeros(len(time))) == 0.5


def test_concordance_of_100000_rows_takes_seconds_at_most():
    rng = np.random.default_rng(0)
    time, risk = rng.exponential(size=(2, 100_000))
    start = clock.process_time()
    found = concordance_index(rng.random(100_000) < 0.5, time, risk)
    assert clock.process_time() - start < 5  # about 0.4 where nothing else runs
    assert abs(found - 0.5) < 0.01


@pytest.mark.parametrize(
    ("event", "time"),
    [
        ([0, 0, 0], [1, 2, 3]),  # no event
        ([0, 0, 1], [1, 2, 3]),  # the event comes last
        ([1, 1, 1], [2, 2, 2]),  # all events at one time
        ([1], [2]),
    ],
)
def test_concordance_without_pairs_is_an_error(event, time):
    with pytest.raises(ValueError, match="No pair of rows can be compared"):
        concordance_index(event, time, np.arange(len(time)))


def test_pairs_of_different_strata_can_not_be_compared():
    with pytest.raises(ValueError, match="No pair of rows can be compared"):
        concordance_index([1, 0], [1, 2], [1, 2], strata=["a", "b"])


@pytest.mark.parametrize("entry", [None, [0, 0, 0], [0, 0, 1]])
def test_pairs_of_small_weight_count(entry):
    event, time, weights = [0, 1, 1], [0.5, 2, 3], [1e7, 1, 1]
    assert concordance_index(event, time, [0, 2, 1], entry=entry, sample_weight=weights) == 1
    assert concordance_index(event, time, [0, 1, 2], entry=entry, sample_weight=weights) == 0
    with pytest.raises(ValueError, match="No pair of rows can be compared"):
        concordance_index(event, time, [0, 1, 2], entry=[0, 0, 2.5], sample_weight=weights)


def test_rows_of_weight_0_make_no_pair():
    with pytest.raises(ValueError, match="No pair of rows can be compared"):
        concordance_index([1, 0, 0], [1, 2, 3], [1, 2, 3], sample_weight=[1, 0, 0])


def test_events_in_words_are_read_as_such():
    event, time, risk = ["no", "yes", "no"], [1, 2, 3], [3, 1, 2]
    assert concordance_index(event, time, risk) == concordance_index([0, 1, 0], time, risk) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"event": [2, 1, 2]}, "where 2 is the event"),
        ({"event": [1, np.nan, 0]}, "holds nan in row 1, not 0 or 1"),
        ({"time": [1, 2, np.nan]}, "the time in row 2 is nan"),
        ({"time": [1, -2, 3]}, "row 1 is negative"),
        ({"risk": [1, np.nan, 2]}, "risk contains NaN in row 1; give"),
        ({"entry": [0, np.nan, 0]}, "the entry in row 1 is nan"),
    ],
)
def test_what_can_not_be_scored_is_an_error(change, message):
    with pytest.raises(ValueError, match=message):
        concordance_index(**{"event": [1, 1, 0], "time": [1, 2, 3], "risk": [3, 2, 1], **change})


@pytest.mark.parametrize("short", range(3))
def test_concordance_of_unequal_lengths_is_an_error(short):
    columns = list(risky_problem(0))
    columns[short] = columns[short][:-1]
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        concordance_index(*columns)


def test_uno_concordance_is_that_of_scikit_survival():
    event, time, risk = risky_problem(0, n_levels=1000)
    y = Surv.from_arrays(event, time)
    expected = concordance_index_ipcw(y[:40], y[40:], risk[40:], tau=600.0)[0]
    for form in (y, survival_target(event, time)):
        assert uno_concordance(form[:40], form[40:], risk[40:], tau=600.0) == expected


def test_integrated_brier_score_is_the_mean_of_brier_scores():
    event, time, _ = risky_problem(0, n_levels=1000)
    y, times = survival_target(event, time), np.linspace(200, 600, 9)
    survival = np.tile(np.linspace(0.9, 0.2, 9), (30, 1))
    _, scores = brier_score(y[:40], y[40:], survival, times)
    expected = ((scores[1:] + scores[:-1]) / 2).mean()  # trapezes of equal width
    assert integrated_brier_score(y[:40], y[40:], survival, times) == pytest.approx(expected)


def test_entry_times_are_refused_where_a_metric_is_not_defined_for_them():
    y = survival_target([1, 0, 1], [1, 2, 3], entry=[0, 1, 2])
    with pytest.raises(ValueError, match="uno_concordance is not defined for entry times"):
        uno_concordance(y, y, [1, 2, 3])
    with pytest.raises(ValueError, match="integrated_brier_score is not defined for entry times"):
        integrated_brier_score(y, y, np.ones((3, 1)), [1.5])


def test_strata_are_refused_where_a_metric_would_ignore_them():
    y = survival_target([1, 0, 1], [1, 2, 3], strata=["a", "b", "a"])
    with pytest.raises(ValueError, match="uno_concordance takes no note of strata"):
        uno_concordance(y, y, [1, 2, 3])
    with pytest.raises(ValueError, match="integrated_brier_score takes no note of strata"):
        integrated_brier_score(y, y, np.ones((3, 1)), [1.5])
