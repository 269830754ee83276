"""The task, the target and the groups of rows are told from the table."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_tables import make_frame

from stochgate.cli.errors import UsageError, UserError
from stochgate.cli.request import Request
from stochgate.cli.table.columns import find_columns, split_condition
from stochgate.cli.table.data import take_apart
from stochgate.cli.table.task import as_numbers, detect_task, make_survival_target, make_target


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b"] * 200, "classification"),
        (pd.Categorical([1.5, 2.5] * 200), "classification"),
        ([True, False] * 200, "classification"),
        ([0, 1] * 200, "classification"),
        ([0.5, 1.5] * 200, "classification"),
        (list(range(20)) * 20, "classification"),
        (list(range(21)) * 20, "regression"),
        (list(range(6)) * 20, "classification"),
        (list(range(7)) * 19, "regression"),
        ([1.0, 2.0, 3.0] * 100, "classification"),
        ([1.0, 2.0, 2.5] * 100, "regression"),
        (list(range(400)), "regression"),
        (np.linspace(0, 1, 50), "regression"),
    ],
)
def test_the_task_is_detected_by_the_documented_rule(values, task):
    detected = detect_task(as_numbers(pd.Series(values)))
    assert detected.task == task
    assert detected.why.startswith("it ")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["1", "2"], [1, 2]),
        (["1.5", "2"], [1.5, 2.0]),
        ([1.0, 2.0], [1, 2]),
        (["1", "x"], ["1", "x"]),
        (pd.Categorical([3, 4]), ["3", "4"]),
        (pd.array([True, False], dtype="boolean"), [True, False]),
        ([True, False], [True, False]),
        ([1e300, 2e300], [1e300, 2e300]),
        ([np.inf, 1.0], [np.inf, 1.0]),
    ],
)
def test_numbers_as_text_are_numbers(given, expected):
    assert as_numbers(pd.Series(given)).tolist() == expected


def test_classes_keep_their_type():
    assert make_target(pd.Series([1, 2] * 5), "y", "classification").dtype.kind == "i"
    assert make_target(pd.Series(["a", "b"] * 5), "y", "classification").dtype.kind == "U"
    assert make_target(pd.Series([0.5, 1.5] * 5), "y", "classification").tolist()[:2] == ["0.5", "1.5"]


@pytest.mark.parametrize(
    ("values", "task", "said"),
    [
        (["a"] * 20, "classification", "one value only ('a')"),
        ([1.5] * 20, "regression", "one value only"),
        ([f"id {i}" for i in range(20)], "classification", "20 classes in 20 rows"),
        (["a", "b"] * 10, "regression", "'a', which is not a number"),
        ([np.inf, 1.0] * 10, "regression", "'inf', which is not a number"),
    ],
)
def test_targets_that_teach_nothing_are_refused(values, task, said):
    with pytest.raises(UserError) as caught:
        make_target(pd.Series(values), "y", task)
    assert said in str(caught.value)
    assert "'y'" in str(caught.value)


@pytest.mark.parametrize("values", [pd.date_range("2020-01-01", periods=9), [[1]] * 9, [{}] * 9])
def test_columns_of_dates_and_objects_are_refused(values):
    with pytest.raises(UserError, match=r"The column 'y' holds (dates|objects)"):
        as_numbers(pd.Series(values, name="y"))


def survival(event, time, code=None):
    return make_survival_target(pd.Series(event, name="status"), pd.Series(time), code)


def test_events_may_be_numbers_words_or_a_value_that_is_named():
    for event, code in (
        ([1, 0], None),
        (["yes", "no"], None),
        (["1.0", "0"], None),
        (["dead", "alive"], "dead"),
    ):
        assert survival(event, [2, 3], code)["event"].tolist() == [True, False]
    assert survival([2, 1], [2, 3], "2")["event"].tolist() == [True, False]


@pytest.mark.parametrize(
    ("event", "time", "code", "said"),
    [
        ([0, 0], [1, 2], None, "every time is censored"),
        ([0, 1], [-1, 2], None, "negative"),
        ([0, 1], ["soon", "late"], None, "'soon', not a number"),
        (["dead", "alive"], [1, 2], None, "--event 'COLUMN=VALUE'"),
        ([1, 2], [1, 2], None, "--event 'COLUMN=VALUE'"),
        (["dead", "alive"], [1, 2], "gone", "is never 'gone'"),
    ],
)
def test_survival_targets_that_cannot_be_used_are_refused(event, time, code, said):
    with pytest.raises((UserError, ValueError)) as caught:
        survival(event, time, code)
    assert said in str(caught.value)


def request(**given):
    return Request(**{"data": Path("t.csv"), "target": "kind", **given})


def test_rows_without_a_target_are_left_out_with_a_note():
    frame = make_frame()
    frame.loc[[0, 5], "kind"] = None
    data = take_apart(frame, request())
    assert len(data.X) == len(data.y) == 58
    assert "2 rows without a value of 'kind' left out; 58 remain." in data.notes
    assert data.X["x0"].tolist() == frame["x0"].drop([0, 5]).tolist()


def test_values_that_are_missing_are_marked_in_all_columns_or_in_one():
    frame = make_frame().assign(age=[-999, 30] * 30, size=[99.0, 1.0, -999.0] * 20, word=["?", "99"] * 30)
    data = take_apart(frame, request(missing_values=["age=-999", "99,?"]))
    assert data.X[["age", "size", "word"]].isna().sum().tolist() == [30, 20, 60]
    assert data.notes == [
        "'age=-999' counts as missing in 30 cells.",
        "'99' counts as missing in 50 cells.",
        "'?' counts as missing in 30 cells.",
    ]
    frame.loc[:4, "amount"] = -7
    data = take_apart(frame, request(target="amount", missing_values=["-7"]))
    assert data.notes[-1] == "5 rows without a value of 'amount' left out; 55 remain."


def test_categorical_columns_hold_kinds_and_so_does_such_a_target():
    frame = make_frame().assign(code=[1, 2, 3] * 20, grade=[1, 2, 3] * 20)
    data = take_apart(frame, request(target="grade", categorical=["code,grade"]))
    assert data.X["code"].dtype == "category"
    assert data.task == "classification"
    assert data.y[:3].tolist() == ["1", "2", "3"]


def test_whole_numbers_taken_for_classes_name_the_option():
    frame = make_frame(200).assign(count=np.arange(200) % 8)
    data = take_apart(frame, request(target="count"))
    assert data.why.endswith(
        "8 different whole numbers in 200 rows (--task regression takes them as a quantity)."
    )


def test_the_target_and_what_is_excluded_are_no_features():
    data = take_apart(make_frame(), request(exclude=["amount,months", "died"], row_groups="patient"))
    assert list(data.X.columns) == ["x0", "x1", "x2", "x3"]


@pytest.mark.parametrize(
    ("pattern", "n_groups"), [("patient", 60), (r"patient=^(\d+)_", 20), (r"patient=\d$", 3)]
)
def test_rows_are_grouped_by_a_column_or_a_pattern_on_it(pattern, n_groups):
    data = take_apart(make_frame(), request(row_groups=pattern))
    assert len(np.unique(data.groups)) == n_groups
    assert "patient" not in data.X.columns


def test_the_first_group_of_a_pattern_is_the_label():
    frame = make_frame().assign(patient=["309_1", "309_2", "50810A_1"] * 20)
    assert take_apart(frame, request(row_groups="patient=^(.+)_")).groups[:3].tolist() == [
        "309",
        "309",
        "50810A",
    ]


@pytest.mark.parametrize(
    ("given", "kind", "said"),
    [
        ({"row_groups": "patient=^(x)"}, UsageError, "does not match '0_0'"),
        ({"row_groups": "patient=("}, UsageError, "not a regular expression"),
        ({"row_groups": "patients"}, UsageError, "did you mean 'patient'?"),
        ({"row_groups": "kind"}, UsageError, "which is to be predicted"),
        ({"row_groups": "patient=_"}, UserError, "all rows belong to '_'"),
        ({"target": "knd"}, UsageError, "did you mean 'kind'?"),
        ({"target": "KIND"}, UsageError, "did you mean 'kind'?"),
        ({"target": "qqqqq"}, UsageError, "its columns are 'x0', 'x1'"),
        ({"target": None, "time": "months", "event": "months"}, UsageError, "same column"),
        ({"keep": ["kind"]}, UsageError, "that column is the target"),
        ({"keep": ["x0"], "exclude": ["x0"]}, UsageError, "that column is excluded"),
        ({"exclude": ["x9"]}, UsageError, "--exclude names 'x9'"),
        ({"exclude": ["x0,x1,x2,x3,amount,months,died,patient"]}, UserError, "No column is left"),
        ({"missing_values": ["-98"]}, UsageError, "'-98', which no cell holds"),
        ({"missing_values": ["ages=1"]}, UsageError, "--missing-values names 'ages'"),
        ({"categorical": ["x9"]}, UsageError, "--categorical names 'x9'"),
        ({"k": 99}, UsageError, "8 columns to choose from"),
        ({"k": 1, "keep": ["x0,x1"]}, UsageError, "--keep names 2 columns"),
    ],
)
def test_what_does_not_fit_the_table_is_refused(given, kind, said):
    with pytest.raises(kind) as caught:
        take_apart(make_frame(), request(**given))
    assert type(caught.value) is kind
    assert said in str(caught.value)


def test_tables_with_few_rows_are_refused():
    with pytest.raises(UserError, match="9 rows, too few"):
        take_apart(make_frame(9), request())
    frame = make_frame(30).assign(kind=["a"] * 5 + [None] * 25)
    with pytest.raises(UserError, match="5 rows with a value of 'kind', too few"):
        take_apart(frame, request())
    with pytest.raises(UserError, match="Every row lacks a value of 'kind'"):
        take_apart(frame.assign(kind=None), request())


def test_a_missing_group_is_refused():
    frame = make_frame()
    frame.index = pd.RangeIndex(2, 62, name="line")
    frame.loc[6, "patient"] = None
    with pytest.raises(UserError, match="line 6 has no value of 'patient'"):
        take_apart(frame, request(row_groups="patient"))


def test_a_header_of_numbers_is_suspected_to_be_none():
    with pytest.raises(UsageError, match="does it lack a header"):
        find_columns(["0.1", "2", "3"], ["y"], "--keep")


def test_names_with_commas_and_equals_signs_are_found():
    columns = ["a", "b", "a,b", "dose=mg", "dose"]
    assert find_columns(columns, ["a,b"], "--keep") == ["a,b"]
    assert find_columns(columns, ["a, b", '"a,b"'], "--keep") == ["a", "b", "a,b"]
    assert split_condition(columns, "dose=mg", "--row-groups") == ("dose=mg", None)
    assert split_condition(columns, "dose=mg=x=y", "--row-groups") == ("dose=mg", "x=y")
    assert split_condition(columns, "dose=x=y", "--row-groups") == ("dose", "x=y")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"target": None}, "Name the column"),
        ({"time": "t"}, "either --target or --time"),
        ({"target": None, "time": "t"}, "needs both"),
        ({"target": None, "event": "e"}, "needs both"),
        ({"target": None, "time": "t", "event": "e", "task": "regression"}, "--task goes with --target"),
        ({"task": "clustering"}, "classification or regression"),
        ({"k": 0}, "at least 1"),
        ({"fdr": 0.0}, "between 0 and 1"),
        ({"fdr": 1.0}, "between 0 and 1"),
        ({"fdr": 0.1, "k": 2}, "either --k or --fdr"),
        ({"fdr": 0.1, "row_groups": "p"}, "independent"),
        ({"seed": -1}, "--seed"),
        ({"seed": 2**32}, "--seed"),
    ],
)
def test_options_that_exclude_each_other_are_refused(given, said):
    with pytest.raises(UsageError) as caught:
        request(**given)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("mice.csv", "mice"),
        ("mice.csv.gz", "mice"),
        ("mice.v2.parquet", "mice.v2"),
        ("mice", "mice"),
        (".csv", ".csv"),
        ("a.b.c.tsv.xz", "a.b.c"),
    ],
)
def test_results_are_named_after_the_data(name, stem):
    assert request(data=Path("folder") / name).stem == stem
