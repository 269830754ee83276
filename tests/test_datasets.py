import numpy as np
import pytest

from stochgate import datasets

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


@pytest.mark.parametrize("censored", [0.3, 0.7])
def test_the_share_of_censored_rows_is_as_asked(censored):
    problem = datasets.make_cox(1000, censored=censored, random_state=0)
    assert problem.y["event"].mean() == pytest.approx(1 - censored, abs=0.01)


def test_neighbouring_columns_correlate_by_rho():
    problem = datasets.make_linear(20_000, n_features=20, rho=0.7, random_state=0)
    correlation = np.corrcoef(problem.X.T)
    assert np.diag(correlation, 1) == pytest.approx(0.7, abs=0.03)
    assert np.diag(correlation, 2) == pytest.approx(0.49, abs=0.03)


def test_xor_has_no_main_effect():
    problem = datasets.make_xor(20_000, random_state=0)
    assert np.abs(np.corrcoef(problem.X.T, problem.y)[-1, :-1]).max() < 0.03
