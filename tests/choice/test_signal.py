"""Whether there is a signal: evidence of several kinds."""

import numpy as np
import pytest
from scipy import sparse

from choices import EMPTY, FAST, FEW, make_candidates
from problems import ESTIMATORS, linear_response, normal_columns
from stochgate import GatedRegressor, NoFeatureSelectedWarning, Training
from stochgate.choice import auto, signal
from stochgate.choice.comparison import start_comparison
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.recipe import make_recipe
from stochgate.choice.second_look import smallest_p
from stochgate.choice.signal import Signal, combine, finds_signal
from stochgate.datasets import make_noise


@pytest.mark.parametrize(
    ("gain", "found"),
    [
        ([0.3, -0.2, 0.1, -0.25, 0.1], False),  # luck
        ([1e-5] * 5, False),  # sure, but less than any feature is worth
        ([0.3, 0.2, 0.3, 0.25, 0.2], True),
    ],
)
def test_a_signal_is_a_sure_gain_over_the_model_without_features(gain, found):
    candidates = make_candidates([EMPTY - gain], [FEW])
    assert finds_signal(candidates, np.repeat(EMPTY[:, None], 2, axis=1), 100).found is found


def test_evidence_of_several_kinds_adds_up():
    """Two tests tell what one alone would not, and the more are made the less each tells."""
    candidates = make_candidates([EMPTY - [0.3, -0.2, 0.3, 0.05, 0.1]], [FEW])
    empty = np.repeat(EMPTY[:, None], 2, axis=1)

    def found(*p_values):
        return finds_signal(candidates, empty, 100, tests=[lambda p=p: p for p in p_values]).found

    assert not found()
    assert not found(0.5, 0.5)
    assert not found(0.01, 1.0)
    assert found(0.01, 0.01)
    assert found(0.004, None)  # a test that cannot be made is not counted
    assert not found(0.004, 1.0)


def test_a_sure_gain_asks_for_no_further_test():
    candidates = make_candidates([EMPTY - [0.3, 0.2, 0.3, 0.25, 0.2]], [FEW])
    tests = [lambda: pytest.fail("asked")]
    assert finds_signal(candidates, np.repeat(EMPTY[:, None], 2, axis=1), 100, tests=tests).found


def test_the_gain_is_free_of_the_choice():
    """Each of many lucky cells is good on one fold only: the fold it is chosen for gains nothing."""
    losses = np.where(np.eye(5, dtype=bool), EMPTY - 0.5, EMPTY + 0.1)
    found = finds_signal(make_candidates(losses, [FEW] * 5), np.repeat(EMPTY[:, None], 2, axis=1), 100)
    assert found.gain < 0


def test_where_nothing_is_judged_the_columns_are_asked():
    candidates = make_candidates([np.full(5, np.inf)], [FEW])
    empty = np.repeat(EMPTY[:, None], 2, axis=1)
    assert finds_signal(candidates, empty, 100, tests=[lambda: 1e-4]).found
    assert not finds_signal(candidates, np.full_like(empty, np.nan), 100, tests=[lambda: 0.5]).found


def test_noise_passes_as_often_as_the_level_says():
    rng = np.random.default_rng(0)
    assert np.mean([combine(p) <= 0.05 for p in rng.random((4000, 3))]) == pytest.approx(0.05, abs=0.012)


# ---- what is asked in a fit


def asked(monkeypatch, X, y, groups=None, **parameters):
    """Return how many tests a fit may make beside the held-out rows."""
    numbers = []

    def count(*args):
        numbers.append(len(args[4]))
        return finds_signal(*args)

    monkeypatch.setattr(signal, "finds_signal", count)
    GatedRegressor(network="linear", **FAST, **parameters).fit(X, y, groups=groups)
    return numbers


def test_single_columns_are_not_asked_of_groups_nor_all_beside_kept_ones(monkeypatch):
    X, y = linear_response(60, 6)
    groups = np.arange(60) // 2
    assert asked(monkeypatch, X, y) == [2]
    assert asked(monkeypatch, X, y, groups=groups) == [1]
    assert asked(monkeypatch, X, y, always_keep=[4]) == [1]
    assert asked(monkeypatch, X, y, always_keep=[4], groups=groups) == [0]
    assert asked(monkeypatch, X, y, always_keep=range(6)) == [0]


@pytest.mark.parametrize("n_features_to_select", [None, 2])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_noise_may_be_sparse(kind, n_features_to_select, recwarn):
    noise = make_noise(120, 10, kind="regression", random_state=0)
    X = kind(np.where(np.abs(noise.X) < 0.7, 0, noise.X))
    model = GatedRegressor(network="linear", n_features_to_select=n_features_to_select, **FAST)
    assert model.fit(X, noise.y).get_support().sum() == (n_features_to_select or 0)
    assert model.summary().verdict == "no signal found"


def test_a_kept_column_makes_no_signal_of_the_others():
    selected = 0
    for seed in range(6):
        X = normal_columns(200, 40, seed)
        y = 3 * X[:, 0] + normal_columns(200, 1, seed + 100)[:, 0]
        model = GatedRegressor(network="linear", always_keep=[0], **FAST).fit(X, y)
        selected += int(model.get_support().sum()) - 1
        losses = model._choice.losses
        assert losses["selected"] < 0.2 * losses["none"]
    assert selected == 0


def test_an_effect_beside_a_kept_column_is_found():
    X = normal_columns(200, 40, 0)
    y = 3 * X[:, 0] + X[:, 5] + normal_columns(200, 1, 100)[:, 0]
    model = GatedRegressor(network="linear", always_keep=[0], **FAST).fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(model.get_support()), [0, 5])


def test_a_signal_that_no_set_can_use_is_none(monkeypatch):
    noise = make_noise(100, 10, kind="regression", random_state=1)
    monkeypatch.setattr(auto, "find_signal", lambda *_: Signal(0.0, 0.1, True))
    monkeypatch.setattr(auto, "judge_kept", lambda among: (among.empty - 9, among.empty_blocks))
    with pytest.warns(NoFeatureSelectedWarning):
        model = GatedRegressor(network="linear", **FAST).fit(noise.X, noise.y)
    assert model.summary().verdict == "no signal found"


# ---- the smallest p-value of a single column


def find_smallest(estimator_class, X, y):
    model = estimator_class(network="linear", training=Training(dtype="float64"), random_state=0)
    comparison = start_comparison(model._make_problem(X, y, None, None)[0], 5, None)
    return smallest_p(comparison.simplest, make_recipe(None, comparison.keep), comparison.first)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_noise_has_a_small_p_as_seldom_as_it_says(estimator_class):
    kind = ("classification", "regression", "survival")[ESTIMATORS.index(estimator_class)]
    draws = (make_noise(80, 15, kind=kind, random_state=seed) for seed in range(60))
    small = [find_smallest(estimator_class, noise.X, noise.y) <= 0.2 for noise in draws]
    assert 0.05 <= np.mean(small) <= 0.35  # 0.2, with a standard error of 0.05


def test_a_strong_column_has_a_small_p():
    X, y = linear_response(100, 8)
    assert find_smallest(GatedRegressor, X, y) < DEFAULTS.signal_level
