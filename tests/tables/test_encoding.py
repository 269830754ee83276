"""Text, truth values and missing values become columns of numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.utils import check_array

from stochgate.tables.encoding import TableEncoding
from stochgate.tables.levels import FEWEST_ROWS, MISSING, MOST_LEVELS, OTHER, Levels
from stochgate.tables.obstacles import MOST_NAMED, Obstacle, refuse
from stochgate.tables.read import needs_reading, read_column, read_frame
from stochgate.tables.table import Table


def objects(*values):
    made = np.empty(len(values), dtype=object)
    made[:] = values
    return made


def read(X, texts=None):
    table, obstacles = read_frame(X, lambda Z: check_array(Z, dtype=float, ensure_all_finite=False), texts)
    refuse(obstacles)
    return table


FRAME = pd.DataFrame(
    {
        "age": [50.0, np.nan, 70.0, 60.0, 20.0, 30.0] * FEWEST_ROWS,
        "sex": ["m", "f", "m", None, "f", "m"] * FEWEST_ROWS,
        "stage": pd.Categorical([1, 2, 1, 2, 1, 1] * FEWEST_ROWS),
        "smoker": [True, False, True, True, False, True] * FEWEST_ROWS,
        "dose": ["1", "2", "3.5", "4", None, "6"] * FEWEST_ROWS,
    }
)
EXPECTED = np.array(  # age, missing; sex=f, missing; stage=2; smoker; dose, missing
    [
        [50, 0, 0, 0, 0, 1, 1, 0],
        [50, 1, 1, 0, 1, 0, 2, 0],
        [70, 0, 0, 0, 0, 1, 3.5, 0],
        [60, 0, 0, 1, 1, 1, 4, 0],
        [20, 0, 1, 0, 0, 0, 3.5, 1],
        [30, 0, 0, 0, 0, 1, 6, 0],
    ]
    * FEWEST_ROWS
)


@pytest.mark.parametrize(
    "make",
    [
        lambda: FRAME,
        lambda: FRAME.convert_dtypes(),
        lambda: pl.from_pandas(FRAME.astype({"stage": str})).with_columns(
            pl.col("stage").cast(pl.Categorical)
        ),
        lambda: pa.Table.from_pandas(FRAME),
    ],
    ids=["pandas", "nullable", "polars", "pyarrow"],
)
def test_every_kind_of_frame_is_read_alike(make):
    X = make()
    assert needs_reading(X)
    table = read(X)
    encoding = TableEncoding.learn(table)
    np.testing.assert_array_equal(encoding.apply(table), EXPECTED)
    np.testing.assert_array_equal(encoding.feature_of(), [0, 0, 1, 1, 2, 3, 4, 4])
    np.testing.assert_array_equal(encoding.missing_of(), [1, 1, 3, 3, -1, -1, 7, 7])
    assert encoding.column_names(list(FRAME)) == [
        "age",
        "age (missing)",
        "sex=f",
        "sex=(missing)",
        "stage=2",
        "smoker",
        "dose",
        "dose (missing)",
    ]


def test_some_features_are_encoded_as_they_are_among_all():
    table = read(FRAME)
    encoding = TableEncoding.learn(table)
    some = encoding.take(np.array([1, 4]))
    np.testing.assert_array_equal(some.apply(read(FRAME[["sex", "dose"]])), EXPECTED[:, [2, 3, 6, 7]])


def test_plain_numbers_are_not_copied():
    numbers = np.random.default_rng(0).normal(size=(9, 3))
    table = Table(numbers, {})
    encoding = TableEncoding.learn(table)
    assert encoding.is_plain
    assert encoding.feature_of() is None
    assert encoding.apply(table) is numbers


def test_a_number_missing_only_later_is_the_fill():
    encoding = TableEncoding.learn(Table(np.arange(6.0).reshape(3, 2), {})).with_fill(np.array([1]), [7.0])
    np.testing.assert_array_equal(encoding.apply(Table(np.array([[1.0, np.nan]]), {})), [[1, 7]])


def test_the_fill_is_the_median_of_what_is_known():
    numbers = np.array([[1.0], [5.0], [np.nan], [100.0]])
    encoding = TableEncoding.learn(Table(numbers, {}))
    np.testing.assert_array_equal(encoding.apply(Table(numbers, {}))[:, 0], [1, 5, 5, 100])


def test_a_column_without_any_value_is_constant():
    numbers = np.array([[1.0, np.nan], [5.0, np.nan]])
    made = TableEncoding.learn(Table(numbers, {})).apply(Table(numbers, {}))
    np.testing.assert_array_equal(made, [[1, 0], [5, 0]])


@pytest.mark.parametrize(
    ("n_missing", "marked"), [(0, False), (1, False), (4, False), (5, True), (25, True), (26, False)]
)
def test_missing_values_are_marked_with_5_rows_of_both_kinds(n_missing, marked):
    numbers = np.arange(30.0)[:, None]
    numbers[:n_missing] = np.nan
    encoding = TableEncoding.learn(Table(numbers, {}))
    assert encoding.column_names(["a"]) == ["a", "a (missing)"][: 1 + marked]
    np.testing.assert_array_equal(encoding.apply(Table(numbers, {}))[:n_missing, 0], (n_missing + 29) / 2)
    levels = Levels.learn(objects(*[None] * n_missing, *"a" * (30 - n_missing)))
    assert levels.names == ("a", MISSING)[: 1 + marked]


def test_a_sample_marks_what_is_missing_in_the_whole_table():
    sample = Table(np.arange(6.0).reshape(3, 2), {})
    encoding = TableEncoding.learn(sample, 1000, np.array([5, 4]))
    assert encoding.masked.tolist() == [True, False]
    assert encoding.fill.tolist() == [2, 3]
    assert encoding.missing_share.tolist() == [0.005, 0.004]


@pytest.mark.parametrize(
    ("share", "n_missing", "n_rows", "far"),
    [
        (0.01, 96, 100, True),
        (0.0, 30, 100, True),
        (0.0, 20, 100, False),
        (0.3, 51, 100, True),
        (0.3, 12, 20, False),
        (0.0, 4, 4, False),
        (0.0, 5, 5, True),
        (0.98, 100, 100, False),
    ],
)
def test_far_more_is_5_rows_and_more_than_chance_makes(share, n_missing, n_rows, far):
    encoding = TableEncoding(1, np.zeros(1), np.zeros(1, dtype=bool), {}, np.array([share]))
    assert encoding.lacks_far_more(np.array([n_missing]), n_rows).tolist() == [far]
    unknown = TableEncoding(1, np.zeros(1), np.zeros(1, dtype=bool), {})
    assert not unknown.lacks_far_more(np.array([n_missing]), n_rows).any()


# Levels


def test_the_most_frequent_level_comes_first():
    labels = objects(*"bbbbbb", *"aaaaa", *"ccccc")
    assert Levels.learn(labels).names == ("b", "a", "c")


def test_rare_levels_share_one_and_missing_ones_have_theirs():
    labels = objects(*"a" * 9, *"b" * FEWEST_ROWS, *"c" * (FEWEST_ROWS - 1), "d", *[None] * FEWEST_ROWS)
    levels = Levels.learn(labels)
    assert levels.names == ("a", "b", OTHER, MISSING)
    np.testing.assert_array_equal(levels.numbers(objects("a", "b", "c", "never", None)), [0, 1, 2, 2, 3])


def test_both_of_two_levels_count_however_rare():
    assert Levels.learn(objects(*"a" * 9, "b")).names == ("a", "b")


def test_what_the_fit_has_not_seen_is_the_most_frequent_level():
    levels = Levels.learn(objects(*"a" * 9, *"b" * 5))
    np.testing.assert_array_equal(levels.numbers(objects("never", None)), [0, 0])


def test_rare_texts_share_a_level_where_there_are_enough_of_them():
    values = ["a"] * 20 + ["b"] * 10
    assert Levels.learn(objects(*values, *"cdef")).names == ("a", "b")
    assert Levels.learn(objects(*values, *"cdefg")).names == ("a", "b", OTHER)
    assert Levels.learn(objects(*values[:20], *"cd")).names == ("a", OTHER)
    assert Levels(("a", "b")).encode(objects("b", "c", "a")).tolist() == [[1], [0], [0]]


def test_texts_that_read_like_our_own_levels_are_told_apart():
    values = objects(*["a"] * 9, *["(missing)"] * 6, *["(other)"] * 6, *"bcdef", *[None] * FEWEST_ROWS)
    labels = read_column(values, "x", np.dtype(object), None)
    levels = Levels.learn(labels)
    assert levels.names == ("a", "'(missing)'", "'(other)'", OTHER, MISSING)
    np.testing.assert_array_equal(levels.numbers(labels)[[0, 9, 15, 21, 26]], [0, 1, 2, 3, 4])


def test_text_of_rare_values_alone_has_no_levels():
    assert Levels.learn(objects(*(f"kind {i % 15}" for i in range(60)))) is None


def test_ids_and_notes_have_no_levels():
    assert Levels.learn(objects(*(f"patient {i}" for i in range(MOST_LEVELS + 1)))) is None
    many = objects(*(f"town {i % 40}" for i in range(400)))
    assert len(Levels.learn(many).names) == MOST_LEVELS + 1


# Columns that are neither


@pytest.mark.parametrize(
    ("values", "what"),
    [
        (objects("1", "2", "<0.1"), "numbers and text \\('<0.1' in row 2\\)"),
        (objects(1.0, 2, "n/a"), "numbers and text \\('n/a' in row 2\\)"),
        (objects("2020-01-31", None, "2021-02-01"), "dates as text"),
        (objects("31.1.2020", "1.2.2021"), "dates as text"),
        (objects([1], [2]), "objects of the type list"),
        (objects(pd.Timestamp("2020"), None), "dates"),
    ],
)
def test_a_column_that_is_neither_number_nor_text_is_an_obstacle(values, what):
    found = read_column(values, "x", np.dtype(object), None)
    assert isinstance(found, Obstacle)
    with pytest.raises(ValueError, match=f"column 'x' holds {what}"):
        refuse([found])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (objects("1", " 2 ", "1e3"), [1, 2, 1000]),
        (objects(True, False, None), [1, 0, np.nan]),
    ],
)
def test_text_that_is_all_numbers_is_numbers(values, expected):
    np.testing.assert_array_equal(read_column(values, "x", np.dtype(object), None), expected)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (objects("120,5", " 80", None, "-1,25e2"), [120.5, 80.0, np.nan, -125.0]),
        (objects("0,125", "0,375", 2.5), [0.125, 0.375, 2.5]),
    ],
)
def test_decimal_commas_are_read(values, expected):
    for is_text in (None, False):
        found = read_column(values, "x", np.dtype(object), is_text)
        np.testing.assert_array_equal(found, expected)


def test_commas_that_may_stand_between_thousands_are_refused():
    found = read_column(objects("1,250", "900", "12,000"), "x", np.dtype(object), None)
    assert found.what == "numbers with a comma ('1,250') that may be decimals or thousands"


def test_a_point_and_a_comma_are_no_numbers():
    assert read_column(objects("1,25", "1.25"), "x", np.dtype(object), None).what.startswith("numbers and")
    assert read_column(objects("1,2,3", "1,2"), "x", np.dtype(object), None).tolist() == ["1,2,3", "1,2"]


def test_a_column_without_any_value_may_hold_text_elsewhere():
    found = read_column(objects(None, None), "note", np.dtype(object), None)
    assert found.tolist() == [None, None]
    assert Levels.learn(found).encode(objects("see file", None)).shape == (2, 0)


def test_codes_with_an_underscore_are_no_numbers():
    found = read_column(objects("309_1", "309_2", "3415_15"), "mouse", np.dtype(object), None)
    assert found.tolist() == ["309_1", "309_2", "3415_15"]


def test_categories_may_be_intervals():
    column = pd.cut(pd.Series([1.0, 5.0, 9.0]), [0, 4, 10])
    found = read_column(column.astype(object).to_numpy(), "age", column.dtype, None)
    assert found.tolist() == ["(0, 4]", "(4, 10]", "(4, 10]"]


def test_text_with_a_few_numbers_is_text():
    found = read_column(objects("a", "b", "c", "7"), "x", np.dtype(object), None)
    assert found.tolist() == ["a", "b", "c", "7"]


def test_whole_numbers_as_levels_have_no_point():
    found = read_column(objects(1.0, 2, None), "x", pd.CategoricalDtype([1, 2]), None)
    assert found.tolist() == ["1", "2", None]


def test_all_obstacles_are_in_one_message():
    many = [Obstacle(f"c{i}", "dates", "drop it") for i in range(MOST_NAMED + 3)]
    with pytest.raises(
        ValueError, match=r"'c0' holds dates: drop it; column 'c1' .*; and 3 more columns\.$"
    ):
        refuse(many)
