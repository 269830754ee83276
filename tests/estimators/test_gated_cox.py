"""GatedCox from end to end, with entry times and strata."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sksurv.metrics import cumulative_dynamic_auc

from problems import normal_columns, short_fit, short_training
from stochgate import GatedCox, StabilitySelector, evaluate, survival_target
from stochgate.metrics import concordance_index, integrated_brier_score, uno_concordance

TIMES = np.array([0.2, 0.5, 1.0, 2.0])


def late_entries(n_samples=200, n_features=5, seed=0, n_strata=3):
    """Return X and y: column 0 matters; strata differ in hazard and in column 1; some enter late."""
    rng = np.random.default_rng(seed + 1)
    X = normal_columns(4 * n_samples, n_features, seed)
    strata = rng.integers(n_strata, size=len(X))
    X[:, 1] += 3 * strata
    time = rng.exponential(np.exp(-1.5 * X[:, 0] - 2 * strata))
    entry = np.where(rng.random(len(X)) < 0.5, 0.0, 0.3 * rng.exponential(size=len(X)))
    seen = np.flatnonzero(entry < time)[:n_samples]  # who dies before the entry is never seen
    event = rng.random(len(X)) < 0.8
    return X[seen], survival_target(event[seen], time[seen], entry[seen], strata[seen])


def plain(y):
    return y[["event", "time"]]


def auto(**parameters):
    training = short_training(n_snapshots=10)
    return GatedCox(**{"network": "linear", "cv": 3, "training": training, "random_state": 0, **parameters})


def test_strata_and_entry_times_change_the_model():
    X, y = late_entries()
    full = short_fit(GatedCox, X, y, lam=0.05, network="linear", hidden=None)
    for fields in (["event", "time"], ["event", "time", "entry"], ["event", "time", "stratum"]):
        other = short_fit(GatedCox, X, y[fields], lam=0.05, network="linear", hidden=None)
        assert not np.allclose(full.predict(X), other.predict(X))


@pytest.mark.slow  # two default fits
def test_a_column_that_only_tells_the_strata_is_dropped_by_strata():
    X, y = late_entries()
    assert auto().fit(X, plain(y)).get_support()[:2].tolist() == [True, True]
    assert auto().fit(X, y).get_support()[:2].tolist() == [True, False]


@pytest.mark.parametrize("form", [pd.DataFrame, pl.from_numpy, lambda y: pl.from_pandas(pd.DataFrame(y))])
def test_a_frame_with_entry_and_stratum_gives_the_same_model(form):
    X, y = late_entries(n_samples=60)
    frame = form(y)
    ours, other = (short_fit(GatedCox, X, target, training={"n_steps": 20}) for target in (y, frame))
    assert np.array_equal(ours.predict(X), other.predict(X))
    assert ours.score(X, y) == other.score(X, frame)


def test_weight_0_equals_the_row_removed():
    X, y = late_entries(n_samples=80)
    weights = np.arange(len(y)) % 4
    used = weights > 0
    full = short_fit(GatedCox, X, y, sample_weight=weights)
    fewer = short_fit(GatedCox, X[used], y[used], sample_weight=weights[used])
    for model in (full, fewer):
        assert set(model.baseline_.log_cumulative_hazard) == {"0", "1", "2"}
    strata = y["stratum"]
    np.testing.assert_array_equal(
        full.predict_survival_function(X, TIMES, strata), fewer.predict_survival_function(X, TIMES, strata)
    )


def test_score_is_the_concordance_within_strata():
    X, y = late_entries()
    model, weights = short_fit(GatedCox, X, y), np.arange(len(y)) % 3
    risk, more = model.predict(X), {"entry": y["entry"], "strata": y["stratum"]}
    assert model.score(X, y) == concordance_index(y["event"], y["time"], risk, **more)
    weighted = concordance_index(y["event"], y["time"], risk, **more, sample_weight=weights)
    assert model.score(X, y, sample_weight=weights) == weighted != model.score(X, y)


@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_curves_are_those_of_the_baseline(ties):
    X, y = late_entries()
    y["time"] = np.ceil(4 * y["time"]) / 4
    model = short_fit(GatedCox, X, y, ties=ties)
    hazard = model.predict_cumulative_hazard_function(X, TIMES, y["stratum"])
    expected = [model.baseline_.cumulative_hazard(TIMES, stratum) for stratum in y["stratum"]]
    np.testing.assert_allclose(hazard, np.array(expected) * np.exp(model.predict(X))[:, None])
    survival = model.predict_survival_function(X, TIMES, y["stratum"])
    np.testing.assert_allclose(survival, np.exp(-hazard))
    curves = model.predict_survival_function(X, strata=y["stratum"])
    np.testing.assert_array_equal([curve(TIMES) for curve in curves], survival)


def test_survival_is_calibrated_in_every_stratum():
    X, y = late_entries(n_samples=1500)
    model = GatedCox(lam=0.05, network="linear", random_state=0).fit(X, y)
    hazard = model.predict_cumulative_hazard_function(X, strata=y["stratum"])
    # the hazard each row lived through, summed, is the number of events
    lived = np.array([h(t) - h(e) for h, t, e in zip(hazard, y["time"], y["entry"], strict=True)])
    for stratum in np.unique(y["stratum"]):
        own = y["stratum"] == stratum
        assert lived[own].sum() == pytest.approx(y["event"][own].sum(), rel=1e-6)


def test_scikit_survival_takes_the_curves():
    X, y = late_entries()
    y = survival_target(y["event"] & (y["time"] < 3), np.minimum(y["time"], 3))
    model = short_fit(GatedCox, X[:120], y[:120])
    survival = model.predict_survival_function(X[120:], TIMES)
    times = [y[:120], y[120:]]
    assert 0 < integrated_brier_score(*times, survival, TIMES) < 0.25
    assert uno_concordance(*times, model.predict(X[120:]), tau=2.0) > 0.6
    hazard = model.predict_cumulative_hazard_function(X[120:], TIMES)
    assert cumulative_dynamic_auc(*times, hazard, TIMES)[1] > 0.6


def test_curves_survive_pickle_and_not_clone():
    X, y = late_entries(n_samples=80)
    model = short_fit(GatedCox, X, y)
    again = pickle.loads(pickle.dumps(model))
    ours, theirs = (m.predict_survival_function(X, TIMES, y["stratum"]) for m in (model, again))
    assert np.array_equal(ours, theirs)
    with pytest.raises(NotFittedError):
        clone(model).predict_survival_function(X, TIMES, y["stratum"])


def test_automatic_choice_exact_number_and_at_have_curves():
    X, y = late_entries()
    chosen = auto().fit(X, y)
    exact = auto(n_features_to_select=2).fit(X, y)
    for model in (chosen, chosen.at(k=3), chosen.at(lam=0.01), exact, exact.at(k=1)):
        assert model.support_[0]
        hazard = model.predict_cumulative_hazard_function(X, strata=y["stratum"])
        lived = [h(t) - h(e) for h, t, e in zip(hazard, y["time"], y["entry"], strict=True)]
        assert np.sum(lived) == pytest.approx(y["event"].sum(), rel=1e-6)


def test_a_model_without_features_has_the_nelson_aalen_curve():
    X, y = late_entries()
    with pytest.warns(UserWarning, match="No feature was selected"):
        model = short_fit(GatedCox, X, plain(y), lam=100.0)
    order = np.argsort(y["time"])
    steps = y["event"][order] / np.arange(len(y), 0, -1)
    curve = model.predict_cumulative_hazard_function(X[:1])[0]
    np.testing.assert_allclose(curve(y["time"][order]), np.cumsum(steps))


@pytest.mark.slow  # a path, 50 halves and five outer folds
def test_path_and_stability_and_evaluation_take_strata():
    X, y = late_entries()
    assert len(auto().path(X, y)) > 0
    selector = StabilitySelector(auto(), max_false=0.5, n_pairs=10, random_state=0).fit(X, y)
    assert selector.get_support().tolist() == [True, False, False, False, False]
    found = evaluate(auto(always_keep=[1]), X, y, cv=3, random_state=0)
    assert found.supports[:, :2].all()
    assert found.mean > 0.7
    assert (found.base_rate == 0.5).all()
    assert cross_val_score(auto(lam=0.1), X, y, cv=3).mean() > 0.7


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y: survival_target(y["event"] & False, y["time"]), "no event"),
        (lambda y: (y["event"] + 1, y["time"]), "as R allows"),
        (lambda y: (y["event"], -y["time"]), "negative"),
    ],
)
def test_a_target_that_can_not_be_learnt_from_is_an_error(change, message):
    X, y = late_entries(n_samples=40)
    with pytest.raises(ValueError, match=message):
        short_fit(GatedCox, X, change(y))


def test_a_fold_without_events_is_not_learnt_from_and_has_no_pairs_to_score():
    X, y = late_entries(n_samples=40)
    model = short_fit(GatedCox, X, plain(y), training={"n_steps": 5})
    with pytest.raises(ValueError, match="No pair of rows can be compared"):
        model.score(X, survival_target(y["event"] & False, y["time"]))


def test_the_label_of_a_stratum_is_known_whatever_other_labels_come_with_it():
    X, y = late_entries(n_samples=40)
    strata = np.where(np.arange(len(y)) % 2, 1.0, 2.5)
    target = survival_target(y["event"], y["time"], strata=strata)
    model = short_fit(GatedCox, X, target, training={"n_steps": 5})
    both, ones = (model.predict_survival_function(X, TIMES, s) for s in (strata, np.ones(len(y))))
    np.testing.assert_array_equal(both[1::2], ones[1::2])
    assert not np.allclose(both[::2], ones[::2])


def test_functions_have_the_times_of_the_fit_censored_ones_too():
    X, y = late_entries(n_samples=40)
    model = short_fit(GatedCox, X, plain(y), training={"n_steps": 5})
    assert not y["event"].all()
    for predict in (model.predict_survival_function, model.predict_cumulative_hazard_function):
        assert np.array_equal(predict(X[:1])[0].x, np.unique(y["time"]))


def test_one_event_and_equal_times_can_be_learnt_from():
    X, y = late_entries(n_samples=40)
    one = np.arange(len(y)) == y["time"].argmin()
    for target in ((one, y["time"]), (y["event"], np.ones(len(y))), (y["event"], np.zeros(len(y)))):
        model = short_fit(GatedCox, X, target, lam=0.01)
        found = model.predict_survival_function(X, TIMES)
        assert ((found >= 0) & (found <= 1)).all()
