import numpy as np
import pytest
from scipy import sparse

from problems import as_frame, short_training
from stochgate import GatedClassifier
from stochgate.datasets import make_ring
from stochgate.networks import EncodedMLP
from stochgate.networks.encoded import PiecewiseLinear


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    columns = [rng.normal(size=200), rng.integers(0, 2, 200), np.full(200, 3.0), rng.poisson(0.5, 200)]
    return np.column_stack(columns)


def test_edges_are_distinct_quantiles(X):
    encoding = PiecewiseLinear.learn(X, n_bins=4)
    n_columns = np.bincount(encoding.feature_of)
    assert n_columns[0] == 4
    assert n_columns[1] == 1  # two values leave one piece
    assert n_columns[2] == 1  # a constant keeps one column
    assert 1 <= n_columns[3] < 4
    assert (encoding.upper > encoding.lower).all()


def test_pieces_add_up_to_the_feature(X):
    encoding = PiecewiseLinear.learn(X, n_bins=4)
    wider = np.vstack([X, X.max(axis=0) + 1, X.min(axis=0) - 1])  # nothing is lost outside the range
    encoded = encoding.transform(wider)
    for feature in range(X.shape[1]):
        of = encoding.feature_of == feature
        total = encoded[:, of] @ (encoding.upper - encoding.lower)[of] + encoding.lower[of][0]
        assert total == pytest.approx(wider[:, feature])


def test_some_columns_need_their_features_alone(X):
    encoding = PiecewiseLinear.learn(X, n_bins=4)
    columns = np.flatnonzero(np.isin(encoding.feature_of, [0, 3]))
    features, narrowed = encoding.take(columns)
    assert features.tolist() == [0, 3]
    assert np.array_equal(narrowed.transform(X[:, features]), encoding.transform(X)[:, columns])


def test_a_ring_is_found_by_pieces():
    problem, fresh = make_ring(1000, 64, random_state=0), make_ring(1000, 64, random_state=1)
    model = GatedClassifier(0.03 * 64, network="encoded", random_state=0).fit(problem.X, problem.y)
    assert np.array_equal(model.get_support(), problem.relevant)
    assert model.score(fresh.X, fresh.y) > 0.95


def test_one_gate_serves_all_pieces_and_groups_of_features():
    problem = make_ring(200, 6, random_state=0)
    model = GatedClassifier(
        0.2,
        network=EncodedMLP(n_bins=3, hidden=(8,)),
        feature_groups={"pair": ["a", "b"]},
        training=short_training(n_steps=100),
        random_state=0,
    ).fit(as_frame(problem.X), problem.y)
    assert model.gates_.shape == (6,)
    assert model.gates_[0] == model.gates_[1]


def test_number_of_bins_changes_the_result():
    problem = make_ring(200, 6, random_state=0)
    fits = [
        GatedClassifier(
            0.2, network=EncodedMLP(n_bins=n), training=short_training(n_steps=30), random_state=0
        )
        for n in (2, 4)
    ]
    gates = [model.fit(problem.X, problem.y).gates_ for model in fits]
    assert not np.allclose(*gates)


def test_sparse_input_is_refused():
    with pytest.raises(ValueError, match="makes sparse X dense"):
        GatedClassifier(network="encoded").fit(sparse.eye_array(10).tocsr(), np.arange(10) % 2)
