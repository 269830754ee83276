"""Backward elimination: the weakest columns of a ridge regression go; their order is a ranking."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from choices import problem_and_folds, read_problem
from problems import normal_columns
from stochgate import GatedRegressor, Training
from stochgate.choice.bank import Bank
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.sets import elimination
from stochgate.choice.sets.elimination import eliminate
from stochgate.choice.sets.ranking import Ranking


def rank(X, y, **parameters):
    """Return how elimination ranks the gates on two folds and on all rows."""
    problem, folds = problem_and_folds(X, y, **parameters)
    folds = np.vstack([folds[:2], np.ones_like(folds[:1])])
    n_gates = problem.design.n_gates
    order = np.tile(np.arange(n_gates), (len(folds), 1))
    n_kept = int(problem.gates.keep.sum())
    like = Ranking(
        stage="growing", order=order, lams=np.ones(n_gates), n_kept=n_kept, n_free=n_gates - n_kept
    )
    return eliminate(problem, Bank(problem.design), folds, like)


def plain_elimination(X, y):
    """Return the columns in the order of elimination, one ridge regression after another."""
    X = (X - X.mean(0)) / X.std(0)
    r, left, order = y - y.mean(), list(range(X.shape[1])), []
    while left:
        A = X[:, left]
        weights = np.linalg.solve(A.T @ A + len(X) * np.eye(len(left)), A.T @ r)
        order.append(left.pop(int(np.abs(weights).argmin())))
    return order[::-1]


@pytest.mark.parametrize("n_samples", [15, 80])  # fewer rows than columns, and more
def test_elimination_equals_one_ridge_after_another(n_samples):
    X = normal_columns(n_samples, 25)
    y = X[:, 3] - 0.5 * X[:, 8] + normal_columns(n_samples, 1, seed=1)[:, 0]
    assert rank(X, y).order[-1].tolist() == plain_elimination(X, y)


def test_of_many_columns_a_share_goes_at_a_time(monkeypatch):
    monkeypatch.setattr(elimination, "DEFAULTS", replace(DEFAULTS, drop_single=5))
    X = normal_columns(60, 40)
    made = rank(X, 2 * X[:, 7] + X[:, 21])
    assert made.stage == "elimination"
    assert np.sort(made.order, axis=1).tolist() == [list(range(40))] * 3
    assert (made.order[:, :2] == [7, 21]).all()


def test_held_out_rows_have_no_say():
    X, y = normal_columns(60, 30), normal_columns(60, 1, seed=1)[:, 0]
    _, folds = problem_and_folds(X, y)
    held_out = folds[0] != 1
    other = np.where(held_out[:, None], normal_columns(60, 30, seed=2), X)
    assert np.array_equal(rank(X, y).order[0], rank(other, y).order[0])
    assert not np.array_equal(rank(X, y).order[-1], rank(other, y).order[-1])


def test_kept_gates_come_first_and_a_group_goes_as_one():
    X = normal_columns(60, 8)
    made = rank(X, X[:, 6], always_keep=[3])
    assert made.order[:, :2].tolist() == [[3, 6]] * 3
    grouped = rank(X, X[:, 6], feature_groups=[0, 0, 1, 1, 2, 2, 3, 3])
    assert grouped.order[:, 0].tolist() == [3] * 3


def test_sparse_columns_are_ranked_as_dense_ones():
    X = sparse.random(60, 20, density=0.3, random_state=0, format="csr")
    y = np.asarray(X[:, [4]].toarray()).ravel() + 0.1 * normal_columns(60, 1)[:, 0]
    assert np.array_equal(rank(X, y).order, rank(X.toarray(), y).order)


def test_chosen_gates_come_first_in_the_ranking_of_all_rows():
    made = rank(normal_columns(60, 6), normal_columns(60, 1, seed=1)[:, 0])
    chosen = np.zeros(6, dtype=bool)
    chosen[made.order[-1, [2, 5]]] = True
    moved = made.of_all_rows(chosen)
    assert moved.order.shape == (1, 6)
    assert moved.order[0].tolist() == made.order[-1, [2, 5, 0, 1, 3, 4]].tolist()


def test_a_weight_of_two_is_a_row_twice():
    X, y = normal_columns(40, 12), normal_columns(40, 1, seed=1)[:, 0]
    weight = np.where(np.arange(40) < 15, 2.0, 1.0)
    model = GatedRegressor(network="linear", training=Training(dtype="float64"), random_state=0)
    orders = []
    for rows, given in ((np.arange(40), weight), (np.r_[np.arange(40), np.arange(15)], None)):
        problem = read_problem(model, X[rows], y[rows], given)
        like = Ranking(stage="growing", order=np.zeros((1, 12)), lams=np.ones(12), n_kept=0, n_free=12)
        every = np.ones((1, len(rows)), dtype=int)
        orders.append(eliminate(problem, Bank(problem.design), every, like).order[0].tolist())
    assert orders[0] == orders[1]
