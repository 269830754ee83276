import os

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from stochgate import datasets

needs_data = pytest.mark.skipif(
    not os.environ.get("STOCHGATE_DATA"), reason="STOCHGATE_DATA names no folder of data"
)
MAKERS = [getattr(datasets, name) for name in datasets.__all__ if name.startswith("make_")]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_a_seed_gives_one_data_set(make):
    a, b, c = make(random_state=3), make(random_state=3), make(random_state=4)
    assert np.array_equal(a.X, b.X)
    assert np.array_equal(a.y, b.y)
    assert not np.array_equal(a.X, c.X)
    assert a.relevant.shape == (a.X.shape[1],)


def test_no_column_of_madelon_equals_the_label():
    problem = datasets.make_madelon(5000, random_state=0)
    agreement = ((problem.X > 0) == problem.y[:, None]).mean(axis=0)
    assert agreement.min() > 0.2
    assert agreement.max() < 0.8


@pytest.mark.parametrize(
    ("n_redundant", "n_class_1", "first", "total"),
    [(0, 103, 1.2422714, 0.98629407), (15, 102, 1.2422714, -152.90988)],
)
def test_madelon_is_drawn_as_saved_results_have_it(n_redundant, n_class_1, first, total):
    problem = datasets.make_madelon(200, n_noise=10, n_redundant=n_redundant, random_state=3)
    assert problem.y.sum() == n_class_1
    assert problem.X[0, 0] == pytest.approx(first)
    assert (problem.X**3).sum() == pytest.approx(total)


@pytest.mark.parametrize("make", [datasets.make_madelon, datasets.make_madelon_sklearn])
def test_redundant_columns_of_madelon_are_made_of_the_strong_ones(make):
    problem = make(3000, n_noise=4, n_redundant=3, random_state=0)
    assert problem.relevant.tolist() == [True] * 8 + [False] * 4
    assert problem.strong.tolist() == [True] * 5 + [False] * 7
    strong, others = problem.X[:, problem.strong], problem.X[:, ~problem.strong]
    explained = LinearRegression().fit(strong, others).predict(strong).var(axis=0) / others.var(axis=0)
    assert explained[:3].min() > 0.5
    assert explained[3:].max() < 0.02
    assert make(n_noise=4, random_state=0).strong is None


def test_one_column_of_scikit_learns_madelon_tells_the_label():
    problem = datasets.make_madelon_sklearn(5000, n_noise=5, random_state=0)
    agreement = ((problem.X > 0) == problem.y[:, None]).mean(axis=0)
    assert agreement[4] > 0.75
    assert np.abs(np.delete(agreement, 4) - 0.5).max() < 0.03
    assert 0.4 < problem.y[:500].mean() < 0.6  # rows are in no order


def test_the_relevant_columns_of_se3_are_copies_of_two_hidden_ones():
    problem = datasets.make_se3(3000, random_state=0)
    X = problem.X[:, problem.relevant]
    assert X.shape == (3000, 10)
    correlation = np.corrcoef(X.T)
    same = np.kron(np.eye(2), np.ones((5, 5))) > 0
    assert correlation[same].min() > 0.98
    assert np.abs(correlation[~same]).max() < 0.06
    r = X[:, :5].mean(axis=1) ** 2 + X[:, 5:].mean(axis=1) ** 2
    assert np.corrcoef(r * np.exp(-2 * r), problem.y)[0, 1] > 0.98


@pytest.mark.parametrize("make", [datasets.make_cox, datasets.make_cox_nonlinear])
@pytest.mark.parametrize("censored", [0.3, 0.7])
def test_the_share_of_censored_rows_is_as_asked(make, censored):
    problem = make(1000, censored=censored, random_state=0)
    assert problem.y["event"].mean() == pytest.approx(1 - censored, abs=0.01)


def test_neighbouring_columns_correlate_by_rho():
    problem = datasets.make_linear(20_000, n_features=20, rho=0.7, random_state=0)
    correlation = np.corrcoef(problem.X.T)
    assert np.diag(correlation, 1) == pytest.approx(0.7, abs=0.03)
    assert np.diag(correlation, 2) == pytest.approx(0.49, abs=0.03)


def test_xor_has_no_main_effect():
    problem = datasets.make_xor(20_000, random_state=0)
    assert np.abs(np.corrcoef(problem.X.T, problem.y)[-1, :-1]).max() < 0.03


def test_the_nonlinear_hazard_has_no_linear_effect():
    problem = datasets.make_cox_nonlinear(20_000, n_features=5, censored=0.0, random_state=0)
    X, log_time = problem.X, np.log(problem.y["time"])
    assert np.abs(np.corrcoef(X.T, log_time)[-1, :-1]).max() < 0.03
    shapes = [X[:, 0] * X[:, 1], X[:, 2] ** 2, np.abs(X[:, 3])]
    assert np.linalg.lstsq(np.column_stack([*shapes, np.ones(len(X))]), -log_time)[0][:3] == pytest.approx(
        [2, 1, 1], abs=0.05
    )


@needs_data
def test_metabric_has_the_columns_of_the_paper():
    data = datasets.load_metabric()
    assert data.X.shape == (1904, 499)
    assert data.y["event"].sum() == 1103
    kinds, counts = np.unique(data.feature_kinds, return_counts=True)
    assert dict(zip(kinds.tolist(), counts.tolist(), strict=True)) == {
        "clinical": 5,
        "gene": 486,
        "oncotype": 8,
    }
    assert "ESR1" in data.feature_names[data.feature_kinds == "oncotype"]


@needs_data
def test_the_risk_of_the_gaussian_simulation_lies_in_the_first_two_columns():
    data = datasets.load_gaussian_survival("test")
    assert data.X.shape == (1000, 10)
    radius = (data.X[:, :2] ** 2).sum(axis=1)
    assert (
        np.corrcoef(np.argsort(np.argsort(-radius)), np.argsort(np.argsort(data.log_hazard)))[0, 1] > 0.99
    )
    assert data.relevant.tolist() == [True, True] + [False] * 8
    with pytest.raises(ValueError, match="Unknown part 'all'; use one of"):
        datasets.load_gaussian_survival("all")


@needs_data
def test_newsgroups_are_word_counts_of_two_kinds_of_groups():
    X, y = datasets.load_newsgroups()
    assert X.shape == (18774, 55911)
    assert X.dtype == np.float32
    assert X.format == "csr"
    assert X.nnz == 2429942
    assert X.data.min() >= 1
    assert np.array_equal(X.data, X.data.round())
    assert np.unique(y).tolist() == [0, 1]
    assert y.shape == (18774,)
    assert 0.4 < y.mean() < 0.6  # 9 of the 20 groups


def test_data_that_is_not_there_is_asked_for(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("STOCHGATE_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="set the environment variable STOCHGATE_DATA"):
        datasets.load_metabric()
    monkeypatch.setenv("STOCHGATE_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"There is no metabric\.npz in"):
        datasets.load_metabric()
