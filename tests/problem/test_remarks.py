"""What the values of a column may stand for, and what a column says of y, is said."""

import warnings

import numpy as np
import pandas as pd
import pytest

from problems import short_fit
from stochgate import GatedClassifier, GatedCox, GatedRegressor, LeftOutColumnWarning
from stochgate.problem.meanings import find_missing_numbers, may_be_codes, may_be_ids
from stochgate.problem.remarks import follows_almost

RNG = np.random.default_rng(0)
AGES = RNG.integers(18, 91, 100)


def remarks(estimator_class, y, **columns):
    n_rows = len(y[0]) if isinstance(y, tuple) else len(y)
    X = pd.DataFrame({"x": np.sin(np.arange(n_rows)), **columns})
    return " ".join(short_fit(estimator_class, X, y, training={"n_steps": 2}).remarks_)


@pytest.mark.parametrize(
    ("others", "value", "n_rows"),
    [(AGES, -999, 2), (AGES, 999, 2), (AGES, 99, 3), (AGES, -9, 2), (RNG.random(100), -99.9, 2)],
)
def test_numbers_for_missing_values_are_found(others, value, n_rows):
    found = find_missing_numbers(np.append(others, [value] * n_rows), 3)
    assert [(one.value, one.feature, one.n_rows) for one in found] == [(value, 3, n_rows)]
    assert (found[0].low, found[0].high) == (others.min(), others.max())


@pytest.mark.parametrize(
    "values",
    [
        np.append(AGES, -999),
        np.append(np.arange(100), [99] * 9),
        np.append(RNG.poisson(2, 99), [9, 9]),
        np.append(RNG.normal(size=99), [-0.9, -0.9]),
        np.append(RNG.lognormal(3, 2, 99), [99, 99]),
        np.repeat([9.99, 1.5, 2.0], 20),
        np.repeat([0, 99], 20),
    ],
)
def test_honest_nines_are_left_alone(values):
    assert find_missing_numbers(values, 0) == []


def test_ids_repeat_evenly_or_say_their_name():
    people = np.repeat(np.arange(30), [2, 3, 4] * 10)
    assert may_be_ids("x", people)
    assert may_be_ids("x", people.astype(str))
    assert not may_be_ids("age", AGES)
    assert not may_be_ids("x", np.arange(60))
    many = np.arange(200) % 20
    assert [may_be_ids(name, many) for name in ("subject", "Patient_ID", "userId")] == [True] * 3
    assert [may_be_ids(name, many) for name in ("x", "valid", "patients")] == [False] * 3


def test_codes_are_few_and_small():
    assert may_be_codes(np.array([1, 2, 3]))
    assert not may_be_codes(np.array([0, 1]))
    assert not may_be_codes(np.array([4, 6, 8]))
    assert not may_be_codes(np.arange(12))


def test_columns_that_almost_follow_y_are_found_among_few_of_their_rows():
    y = np.arange(2000.0)
    noise = RNG.normal(size=2000)
    X = np.column_stack([y + 20 * noise, np.exp(y / 200 + noise / 50), y + 200 * noise, noise, 0 * y])
    assert follows_almost(X, y).tolist() == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("estimator_class", "make_y"),
    [(GatedRegressor, lambda v: v), (GatedCox, lambda v: (np.arange(len(v)) % 3 > 0, np.exp(v)))],
)
def test_a_column_that_almost_gives_a_quantity_or_the_times_away_is_named(estimator_class, make_y):
    value = RNG.normal(size=100)
    said = remarks(estimator_class, make_y(value), near=value + 0.02 * RNG.normal(size=100))
    assert "Column 'near' alone tells y almost exactly" in said
    said = remarks(estimator_class, make_y(value), near=value + 0.5 * RNG.normal(size=100))
    assert "almost exactly" not in said


def test_remarks_name_the_column_the_number_and_the_option():
    age = np.where(np.arange(100) % 10, AGES, -999.0)
    age[5] = np.nan
    said = remarks(GatedRegressor, RNG.normal(size=100), age=age)
    assert "Column 'age' holds -999 in 10 rows, away from its other values" in said
    assert "--missing-values=age=-999 (.replace(-999, np.nan) in Python)" in said
    said = remarks(GatedRegressor, RNG.normal(size=100), age=age, weight=age)
    assert "Each of the 2 columns 'age', 'weight' holds -999 in some rows" in said
    assert "--missing-values=-999 (" in said


@pytest.mark.parametrize("kind", [int, str])
def test_repeated_ids_are_named_as_numbers_and_as_text(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutColumnWarning)
        patients = np.repeat(np.arange(40), 3).astype(kind)
        said = remarks(GatedRegressor, RNG.normal(size=120), **{"the patient": patients})
    assert "Column 'the patient' repeats values in a few rows each" in said
    assert "--row-groups 'the patient'" in said


def test_all_codes_are_in_one_sentence():
    codes = {f"c{j}": RNG.integers(1, 4, 60) for j in range(7)}
    said = remarks(GatedRegressor, RNG.normal(size=60), **codes, flag=np.arange(60) % 2)
    assert said.count("--categorical") == 1
    assert "Each of the 7 columns 'c0', 'c1', 'c2', 'c3', 'c4' and 2 more holds a few small whole" in said
    assert "flag" not in said


def test_counts_as_classes_are_questioned():
    counts = np.repeat(np.arange(7), [60, 40, 20, 10, 6, 5, 5])
    said = remarks(GatedClassifier, counts)
    assert "y has 7 classes, whole numbers from 0 to 6" in said
    assert "GatedRegressor (--task regression)" in said
    for classes in (np.arange(150) % 10, np.repeat([0, 1, 2], [80, 40, 20]), counts.astype(str)):
        assert "classes, whole numbers" not in remarks(GatedClassifier, classes)
