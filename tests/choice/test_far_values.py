"""Columns with values far out: when they are drawn in, and what that changes."""

import numpy as np
import pytest
import torch
from scipy import sparse

from problems import normal_columns, short_training
from stochgate import GatedClassifier, GatedRegressor
from stochgate.choice import comparison
from stochgate.choice.comparison import start_comparison
from stochgate.engine import DenseColumns
from stochgate.engine.data import learn_scaling
from stochgate.engine.inputs import Inputs, reach_of
from stochgate.networks import EncodedMLP, linear

HEAVY = np.exp(2 * normal_columns(300, 4))  # counts, incomes, gene expressions


def test_columns_with_values_far_out_have_a_reach():
    X = np.hstack([normal_columns(300, 3), HEAVY])
    reach = reach_of(X)
    assert np.isinf(reach[:3]).all()
    np.testing.assert_allclose(reach[3:], 3 * HEAVY.std(axis=0))
    np.testing.assert_allclose(reach_of(sparse.csr_array(X)), reach)


def test_a_constant_column_has_none():
    assert np.isinf(reach_of(np.full((50, 2), 1e9))).all()


def test_a_sparse_column_far_from_0_is_left_alone():
    """Its values would be drawn towards 0, all to the same number."""
    X = sparse.csr_array(np.r_[2000 + normal_columns(199, 1)[:, 0], 2015.0][:, None])
    assert np.isinf(reach_of(X)).all()


@pytest.mark.filterwarnings("error")
def test_huge_values_end_at_the_reach():
    inputs = Inputs.learn(HEAVY, linear(), raw=False, draw_in=True)
    far = np.full((1, 4), 1e300)
    drawn = inputs.apply(far, torch.float64, torch.device("cpu")).dense().numpy()
    np.testing.assert_allclose(drawn[0], inputs.reach)
    assert np.isinf(reach_of(np.array([[1e200], [-1e200], [0.0]]))).all()


def test_values_are_drawn_in_smoothly_and_keep_their_order():
    inputs = Inputs.learn(HEAVY, linear(), raw=False, draw_in=True)
    plain = Inputs.learn(HEAVY, linear(), raw=False)
    drawn, given = (i.apply(HEAVY, torch.float64, torch.device("cpu")).dense() for i in (inputs, plain))
    assert (drawn.abs() <= torch.from_numpy(inputs.reach)).all()
    assert torch.equal(drawn.argsort(0), given.argsort(0))
    near = given.abs() < 0.05 * torch.from_numpy(inputs.reach)
    torch.testing.assert_close(drawn[near], given[near], rtol=2e-3, atol=0)


def test_sparse_columns_are_drawn_in_as_dense_ones():
    X = np.where(normal_columns(300, 4) > 1, HEAVY, 0)
    of_sparse = Inputs.learn(sparse.csr_array(X), linear(), raw=False, draw_in=True)
    drawn = of_sparse.apply(sparse.csr_array(X), torch.float64, torch.device("cpu")).dense().numpy()
    np.testing.assert_allclose(drawn, X / np.sqrt(1 + (X / of_sparse.reach) ** 2))
    columns, taken = of_sparse.take(np.array([2, 0]))
    again = taken.apply(sparse.csr_array(X[:, columns]), torch.float64, torch.device("cpu")).dense()
    np.testing.assert_allclose(again, drawn[:, [2, 0]])


def test_raw_and_encoded_columns_are_left_alone():
    assert Inputs.learn(HEAVY, linear(), raw=True, draw_in=True).reach is None
    assert Inputs.learn(HEAVY, EncodedMLP(), raw=False, draw_in=True).reach is None


def is_drawn_in(estimator, X, y):
    """Return whether an automatic choice draws the values of X in."""
    problem, _ = estimator._make_problem(X, y, None, None)
    return start_comparison(problem, 3, None).simplest.inputs.reach is not None


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_they_are_drawn_in_where_that_predicts_better(container):
    noise = normal_columns(300, 1, seed=5)[:, 0]
    X = np.hstack([HEAVY, normal_columns(300, 2, seed=6)])
    model = GatedRegressor(network="linear", training=short_training(), random_state=0)
    assert is_drawn_in(model, container(X), np.log(HEAVY[:, 0]) + 0.3 * noise)
    assert not is_drawn_in(model, container(X), HEAVY[:, 0] + 0.3 * noise)


def test_columns_without_far_values_are_not_asked_about(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("nothing is to be trained")

    monkeypatch.setattr(comparison, "train_cells", refuse)
    X = normal_columns(200, 5)
    assert not is_drawn_in(GatedRegressor(network="linear", random_state=0), X, X[:, 0])


def test_the_model_reads_new_rows_as_it_was_trained():
    y = (np.log(HEAVY[:, 0]) > 0).astype(int)
    model = GatedClassifier(network="linear", cv=3, training=short_training(), random_state=0).fit(HEAVY, y)
    assert model._predictor.inputs.reach is not None
    assert model.score(HEAVY, y) > 0.95
    far = np.array([[1e9, 1.0, 1.0, 1.0], [np.exp(8.0), 1.0, 1.0, 1.0]])
    np.testing.assert_allclose(*model.predict_proba(far), atol=0.02)  # further out changes next to nothing


def test_dense_columns_that_were_sparse_are_centred_as_sparse_ones_are():
    X = torch.from_numpy(np.where(normal_columns(80, 3) > 0.5, 1.0, 0.0) + np.array([0.0, 0.0, 5.0]))
    weights = torch.ones(1, 80, dtype=torch.float64)
    columns = DenseColumns(X, was_sparse=True)
    shift = learn_scaling(columns, weights, standardize=True).shift
    assert (shift[0] != 0).tolist() == [False, False, True]
    assert columns.take(torch.tensor([0])).was_sparse
    assert columns.rows(slice(5)).was_sparse
    assert learn_scaling(columns.take(torch.tensor([0, 1])), weights, standardize=True).shift is None
