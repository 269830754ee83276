"""What y may be in survival analysis, and what is said of one that can not be."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sksurv.util import Surv

from stochgate import survival_target
from stochgate.objectives import Cox
from stochgate.survival import as_labels, is_survival_target, read_survival_target

EVENT, TIME = [True, False, True, False], [2.5, 3.0, 0.0, 1.0]
WORDS = ["yes", "No", "YES", "no"]
EVENT_FIRST = np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("dead", bool), ("days", float)])
TIME_FIRST = np.array(list(zip(TIME, EVENT, strict=True)), dtype=[("days", float), ("dead", bool)])
ENTRY, STRATA = [1.0, 0.0, -1.0, 0.5], ["a", "b", "a", "b"]


@pytest.mark.parametrize(
    "y",
    [
        EVENT_FIRST,
        TIME_FIRST,
        EVENT_FIRST.astype([("dead", int), ("days", np.float32)]),
        Surv.from_arrays(EVENT, TIME),
        survival_target(EVENT, TIME),
        (EVENT, TIME),
        (np.array(EVENT, dtype=int), pd.Series(TIME)),
        (np.array(EVENT, dtype=float), np.array(TIME)),
        (WORDS, TIME),
        (np.array([True, 0, "true", "False"], dtype=object), TIME),
        (["1", "0", "1", "0"], ["2.5", "3", "0", "1"]),
        np.column_stack([EVENT, TIME]),
        np.column_stack([EVENT, TIME]).tolist(),
        np.array([WORDS, TIME], dtype=object).T,
        pd.DataFrame({"dead": EVENT, "days": TIME}),
        pd.DataFrame({"dead": np.array(EVENT, dtype=int), "days": TIME}, index=[7, 7, 1, 0]),
        pd.DataFrame({"T": TIME, "E": np.array(EVENT, dtype=int)}),
        pd.DataFrame({"T": TIME, "E": WORDS}),
        pd.DataFrame({"Time": TIME, "Event": WORDS}),
        pd.DataFrame({"T": TIME, "E": pd.array(EVENT, dtype="boolean")}),
        pl.DataFrame({"T": TIME, "E": EVENT}),
        pl.DataFrame({"T": TIME, "E": WORDS}),
    ],
    ids=lambda y: type(y).__name__,
)
def test_every_form_of_y_reads_the_same(y):
    target = read_survival_target(y)
    assert is_survival_target(y)
    assert target.event.dtype == bool
    assert target.time.dtype == np.float64
    assert target.event.tolist() == EVENT
    assert target.time.tolist() == TIME
    assert target.entry is target.stratum is None


@pytest.mark.parametrize(
    "y",
    [
        survival_target(EVENT, TIME, ENTRY, STRATA),
        survival_target(WORDS, TIME, pd.Series(ENTRY), pd.Series(STRATA, dtype="category")),
        pd.DataFrame({"stratum": STRATA, "time": TIME, "entry": ENTRY, "event": WORDS}),
        pl.DataFrame({"stratum": STRATA, "time": TIME, "entry": ENTRY, "event": EVENT}),
        pickle.loads(pickle.dumps(survival_target(EVENT, TIME, ENTRY, STRATA)))[[0, 1, 2, 3]],
    ],
    ids=lambda y: type(y).__name__,
)
def test_entry_times_and_strata_are_part_of_y(y):
    target = read_survival_target(y)
    assert is_survival_target(y)
    assert target.event.tolist() == EVENT
    assert target.time.tolist() == TIME
    assert target.entry.tolist() == ENTRY
    assert target.stratum.tolist() == STRATA


def test_strata_may_come_without_entry_times():
    y = survival_target(EVENT, TIME, strata=STRATA)
    assert y.dtype.names == ("event", "time", "stratum")
    assert read_survival_target(y).entry is None


@pytest.mark.parametrize("labels", [[1, 2, 1, 2], [1.0, 2.0, 1.0, 2.0], ["1", "2", "1", "2"]])
def test_labels_of_strata_are_text(labels):
    assert survival_target(EVENT, TIME, strata=labels)["stratum"].tolist() == ["1", "2", "1", "2"]


@pytest.mark.parametrize("kind", [np.float64, np.float32, object])
def test_the_text_of_a_label_depends_on_its_value_alone(kind):
    values, texts = [1.0, 2.5, 0.1, -0.0, np.inf, 1e20], ["1", "2.5", "0.1", "0", "inf"]
    labels = np.array(values, dtype=kind)
    assert as_labels(labels)[:5].tolist() == texts
    assert [as_labels(labels[i : i + 1])[0] for i in range(5)] == texts
    assert as_labels(labels)[5] == as_labels(labels[5:])[0]
    mixed = np.array([np.float32(1), np.float64(2), 3, True, "4.0"], dtype=object)
    assert as_labels(mixed).tolist() == ["1", "2", "3", "True", "4.0"]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        pytest.param(([1, 0, 1], [1, 2, -3]), r"row 2 is negative \(-3.0\)", id="negative"),
        pytest.param(([1, 0], [1, np.nan]), "NaN or infinity.*row 1 is nan", id="time NaN"),
        pytest.param(([1, 0], [np.inf, 1]), "NaN or infinity.*row 0 is inf", id="time inf"),
        pytest.param(([1, 0, 2], [1, 2, 3]), "holds 2 in row 2, not 0 or 1", id="coded 2"),
        pytest.param(([1, 2, 1], [1, 2, 3]), "as R allows, where 2 is the event", id="coded 1 and 2"),
        pytest.param(([1, np.nan], [1, 2]), "holds nan in row 1, not 0 or 1", id="event NaN"),
        pytest.param((["yes", None], [1, 2]), "holds None in row 1, not 0 or 1", id="event None"),
        pytest.param((TIME, EVENT), "event column holds 2.5 in row 0.*swap.*expected", id="swapped"),
        pytest.param(np.column_stack([TIME, EVENT]), "swap.*first is the event", id="swapped columns"),
        pytest.param(TIME, r"shape \(4,\).*expected y = \(event, time\)", id="times alone"),
        pytest.param(np.ones((4, 3)), r"shape \(4, 3\).*expected", id="three columns"),
        pytest.param((EVENT, TIME, ENTRY), "tuple of 3 parts.*survival_target", id="three parts"),
        pytest.param(
            np.zeros(2, dtype=[("a", bool), ("b", float), ("c", float)]), "'c'.*expected", id="fields"
        ),
        pytest.param(
            pd.DataFrame({"event": [1], "time": [2], "age": [3]}), "'age'.*not some of", id="columns"
        ),
        pytest.param(pd.DataFrame({"T": [1, 0], "E": [0, 1]}), "either column.*tuple", id="both events"),
        pytest.param(pd.DataFrame({"T": [1, 3], "E": [2, 1]}), "neither column.*'e': ", id="no events"),
        pytest.param(([1, 0, 1], [1, 2]), "3 for event, 2 for time", id="lengths"),
        pytest.param((np.ones((3, 1)), [1, 2, 3]), r"\(3, 1\).*expected", id="event 2-d"),
        pytest.param(([1, 0, 1], np.ones((3, 2))), r"\(3, 2\).*expected", id="time 2-d"),
        pytest.param((1, 2.0), r"\(\).*expected", id="scalars"),
        pytest.param((["1", "dead"], [1, 2]), "event column holds 'dead'.*expected", id="text"),
        pytest.param(
            pd.DataFrame({"dead": [1, 0], "days": [3, "long"]}), "time column holds 'long'", id="text time"
        ),
        pytest.param(
            ([1, 0], np.array(["2020-01-01", "2020-02-01"], dtype="M8[D]")), "holds dates", id="dates"
        ),
    ],
)
def test_wrong_y_names_what_is_wrong(y, message):
    with pytest.raises(ValueError, match=message):
        read_survival_target(y)
    with pytest.raises(ValueError, match=message):
        Cox().encode(y)


def test_a_target_without_events_can_be_read_but_not_learnt_from():
    y = [0, 0], [1, 2]
    assert not read_survival_target(y).event.any()
    with pytest.raises(ValueError, match="no event: every time is censored"):
        Cox().encode(y)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"entry": [0, 3, 1]}, "entry in row 1 is 3.0, not below its time 2.0"),
        ({"entry": [0, 2, 1]}, "entry in row 1 is 2.0, not below its time 2.0"),
        ({"entry": [0, np.nan, 1]}, "entry in row 1 is nan"),
        ({"entry": [0, "late", 1]}, "entry column holds 'late'"),
        ({"entry": [0, 1]}, "2 for entry"),
        ({"strata": ["a", None, "b"]}, "stratum of row 1 is missing"),
        ({"strata": [1.0, 2.0, np.nan]}, "stratum of row 2 is missing"),
        ({"strata": np.ones((3, 2))}, r"\(3, 2\)"),
    ],
)
def test_wrong_entry_times_and_strata_are_named(more, message):
    with pytest.raises(ValueError, match=message):
        survival_target([1, 0, 1], [1, 2, 3], **more)


@pytest.mark.parametrize("y", [[0, 1, 2], np.ones((3, 3)), np.ones(3), pd.DataFrame(np.ones((3, 3)))])
def test_other_targets_are_no_survival_targets(y):
    assert not is_survival_target(y)
