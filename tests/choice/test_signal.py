"""Whether there is a signal: its p, the three verdicts, and what alpha changes."""

import numpy as np
import pytest
from scipy import sparse

from choices import EMPTY, FAST, FEW, make_candidates
from problems import ESTIMATORS, linear_response, make_problem, normal_columns
from stochgate import GatedClassifier, GatedRegressor, NoFeatureSelectedWarning, Training
from stochgate.choice import auto, signal
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.signal import Signal, held_out_gain, held_out_p
from stochgate.datasets import make_noise

BY_BLOCK = np.repeat(EMPTY[:, None], 2, axis=1)  # held-out losses without features


def weak_signal(seed=0):
    """Return X and a y that column 0 tells a little of."""
    X = normal_columns(120, 8, seed)
    return X, 0.27 * X[:, 0] + normal_columns(120, 1, seed + 100)[:, 0]


# ---- verdict


@pytest.mark.parametrize(
    ("p", "alpha", "verdict"),
    [
        (0.001, 0.05, "clear signal"),
        (0.005, 0.05, "clear signal"),
        (0.006, 0.05, "weak signal"),
        (0.05, 0.05, "weak signal"),
        (0.051, 0.05, "no signal"),
        (0.2, 0.3, "weak signal"),
        (0.003, 0.001, "no signal"),
    ],
)
def test_the_verdict_is_that_of_p_and_alpha(p, alpha, verdict):
    found = Signal(0.1, 0.1, p, alpha)
    assert found.verdict == verdict
    assert found.found == (verdict != "no signal")


def test_alpha_decides_what_a_weak_signal_selects():
    X, y = weak_signal()
    model = GatedRegressor(network="linear", **FAST).fit(X, y)
    assert DEFAULTS.clear_level < model.p_value_ <= 0.05
    assert model.get_support()[0]
    assert model.summary().verdict == "weak signal"
    with pytest.warns(NoFeatureSelectedWarning, match="alpha = 0.001"):
        strict = GatedRegressor(network="linear", alpha=0.001, **FAST).fit(X, y)
    assert strict.p_value_ == model.p_value_
    assert not strict.get_support().any()
    assert strict.summary().verdict == "no signal"


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 1.5, np.nan, "much", None])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_an_impossible_alpha_is_refused(estimator_class, alpha):
    X, y = make_problem(estimator_class)
    with pytest.raises(ValueError, match="'alpha' parameter"):
        estimator_class(alpha=alpha).fit(X, y)


# ---- held-out rows


@pytest.mark.parametrize(
    ("gain", "small"),
    [
        ([0.3, -0.2, 0.1, -0.25, 0.1], False),  # luck
        ([0.3, 0.2, 0.3, 0.25, 0.2], True),
    ],
)
def test_a_sure_gain_on_held_out_rows_has_a_small_p(gain, small):
    mean, error = held_out_gain(make_candidates([EMPTY - gain], [FEW]), BY_BLOCK, 5)
    assert mean == pytest.approx(np.mean(gain))
    assert (held_out_p(mean, error, 5) < 1e-3) == small


def test_the_gain_is_free_of_the_choice():
    """Each of many lucky cells is good on one fold only: the fold it is chosen for gains nothing."""
    losses = np.where(np.eye(5, dtype=bool), EMPTY - 0.5, EMPTY + 0.1)
    gain, _ = held_out_gain(make_candidates(losses, [FEW] * 5), BY_BLOCK, 5)
    assert gain < 0


def test_where_nothing_is_judged_nothing_is_gained():
    assert held_out_gain(make_candidates([np.full(5, np.inf)], [FEW]), BY_BLOCK, 5) == (0, 0)


# ---- in a fit


def asked(monkeypatch, X, y, groups=None, **parameters):
    """Return how often a fit asks all columns, and the p-value it ends with."""
    answers = []

    def watched(*given):
        answers.append(signal_of(*given))
        return answers[-1]

    signal_of = signal.columns_p
    monkeypatch.setattr(signal, "columns_p", watched)
    model = GatedRegressor(network="linear", **FAST, **parameters).fit(X, y, groups=groups)
    monkeypatch.undo()
    return len(answers), model.p_value_


def test_columns_are_asked_unless_all_are_kept(monkeypatch):
    X, y = linear_response(60, 6)
    groups = np.arange(60) // 2
    n_asked, p = asked(monkeypatch, X, y)
    assert n_asked == 1
    assert p <= 0.001
    assert asked(monkeypatch, X, y, groups=groups)[0] == 1
    assert asked(monkeypatch, X, y, n_features_to_select=2)[0] == 1
    assert asked(monkeypatch, X, y, always_keep=[4])[0] == 1
    assert asked(monkeypatch, X, y, always_keep=range(6))[0] == 0


def test_pairs_that_tell_only_together_make_a_signal():
    X = normal_columns(400, 12)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = GatedClassifier(cv=3, **FAST).fit(X, y)
    assert model.p_value_ <= DEFAULTS.clear_level
    np.testing.assert_array_equal(np.flatnonzero(model.get_support()), [0, 1])


@pytest.mark.filterwarnings("ignore::stochgate.NoFeatureSelectedWarning")
@pytest.mark.parametrize("n_features_to_select", [None, 2])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_noise_may_be_sparse(kind, n_features_to_select):
    noise = make_noise(120, 10, kind="regression", random_state=3)
    X = kind(np.where(np.abs(noise.X) < 0.7, 0, noise.X))
    model = GatedRegressor(network="linear", n_features_to_select=n_features_to_select, **FAST)
    assert model.fit(X, noise.y).get_support().sum() == (n_features_to_select or 0)
    assert model.p_value_ > 0.05
    assert model.summary().verdict == "no signal"


def test_a_kept_column_makes_no_signal_of_the_others():
    selected = 0
    for seed in range(6):
        X = normal_columns(200, 40, seed)
        y = 3 * X[:, 0] + normal_columns(200, 1, seed + 100)[:, 0]
        model = GatedRegressor(network="linear", alpha=0.01, always_keep=[0], **FAST).fit(X, y)
        selected += int(model.get_support().sum()) - 1
        losses = model._choice.losses
        assert losses["selected"] < 0.2 * losses["none"]
    assert selected == 0


def test_an_effect_beside_a_kept_column_is_found():
    X = normal_columns(200, 40, 0)
    y = 3 * X[:, 0] + X[:, 5] + normal_columns(200, 1, 100)[:, 0]
    model = GatedRegressor(network="linear", always_keep=[0], **FAST).fit(X, y)
    assert model.get_support()[[0, 5]].all()
    assert model.summary().signal.startswith("clear signal beside the kept features (p ")


def test_a_signal_that_no_set_can_use_selects_nothing(monkeypatch):
    noise = make_noise(100, 10, kind="regression", random_state=1)
    monkeypatch.setattr(auto, "find_signal", lambda *_: Signal(0.0, 0.1, 0.01, 0.05))
    monkeypatch.setattr(auto, "judge_kept", lambda among: (among.empty - 9, among.empty_blocks))
    with pytest.warns(NoFeatureSelectedWarning, match="no set of features beats the base rate"):
        model = GatedRegressor(network="linear", **FAST).fit(noise.X, noise.y)
    assert not model.get_support().any()
    assert model.summary().verdict == "weak signal"


def test_p_of_features_that_are_all_kept_is_a_share():
    X, y = normal_columns(60, 3), normal_columns(60, 1, seed=5)[:, 0]
    model = GatedRegressor(network="linear", always_keep=[0, 1, 2], training=Training(n_steps=60)).fit(X, y)
    assert 0.05 < model.p_value_ <= 1
