"""Copies of a column are one column for the choice: the first stands, or the cheapest, or what is kept."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from choices import problem_and_folds
from stochgate import GatedRegressor, Training
from stochgate.choice import copies as module
from stochgate.choice.bank import Bank
from stochgate.choice.copies import find_copies

SHORT = Training(n_steps=100, n_snapshots=5)


def table(n_samples=100):
    """Return X whose columns 3 and 5 are copies of column 1, and 6 nearly one; and y."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, 8))
    X[:, 3], X[:, 5] = -2 * X[:, 1] + 1, X[:, 1] + 0.01 * rng.normal(size=n_samples)
    X[:, 6] = X[:, 1] + 0.3 * rng.normal(size=n_samples)
    return X, 3 * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=n_samples)


def copies(X, y, **parameters):
    problem, _ = problem_and_folds(X, y, **parameters)
    return np.flatnonzero(find_copies(Bank(problem.design), problem.gates)).tolist()


def test_the_first_of_like_columns_stands():
    assert copies(*table()) == [3, 5]


def test_the_cheapest_of_like_columns_stands():
    assert copies(*table(), costs=[1, 2, 1, 1, 1, 1, 1, 1]) == [1, 5]


def test_kept_columns_are_no_copies():
    assert copies(*table(), always_keep=[5]) == [1, 3]
    assert copies(*table(), always_keep=[3, 5]) == [1]


def test_groups_are_no_copies():
    X, y = table()
    X = np.column_stack([X[:, [0, 1]], X[:, [0, 1]] * 2, X[:, [0]], X[:, [0]]])
    assert copies(X, y, feature_groups=[0, 0, 1, 1, 2, 3]) == [3]


def test_of_many_rows_near_copies_are_not_copies():
    """A difference that many rows show may tell something: 1 - r is 0.005 here."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 6))
    X[:, 4] = X[:, 1] + 0.1 * X[:, 4]
    assert copies(X[:60], X[:60, 1]) == [4]
    assert copies(X, X[:, 1]) == []


def test_copies_far_apart_are_found(monkeypatch):
    monkeypatch.setattr("stochgate.choice.copies._COLUMNS_AT_ONCE", 3)
    assert copies(*table()) == [3, 5]


def test_copies_of_sparse_columns_are_found():
    X = sparse.random(80, 12, density=0.3, random_state=0, format="csr")
    X = sparse.hstack([X, 2 * X[:, [4]]]).tocsr()
    assert copies(X, np.asarray(X.sum(axis=1)).ravel()) == [12]


def test_so_many_columns_that_it_would_take_long_are_left(monkeypatch):
    monkeypatch.setattr(module, "DEFAULTS", replace(module.DEFAULTS, most_compared=10))
    assert copies(*table()) == []


@pytest.mark.parametrize("as_sparse", [False, True])
def test_the_choice_selects_a_column_once(as_sparse):
    X, y = table(200)
    X[:, 6] = X[:, 7] ** 2
    X = sparse.csr_array(X) if as_sparse else X
    model = GatedRegressor(network="linear", training=SHORT, random_state=0).fit(X, y)
    assert model.get_support(indices=True).tolist() == [1, 2]
    features = model.summary().features.set_index("feature")
    assert set(features.loc[1, "stand_ins"]) >= {3, 5}  # which are said beside it
