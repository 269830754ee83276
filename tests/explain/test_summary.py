"""The summary of a fit: every number in it has a known answer."""

import pickle
import re
import sys
from dataclasses import fields, replace

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import norm
from sklearn.linear_model import LinearRegression

from problems import as_frame, linear_response, normal_columns, survival_times, three_classes, two_classes
from stochgate import GatedClassifier, GatedCox, GatedRegressor, NoFeatureSelectedWarning, Training
from stochgate.choice.sets.cells import train_cells
from stochgate.choice.signal import Signal
from stochgate.choice.tables import make_table
from stochgate.datasets import make_noise
from stochgate.explain.by_size import best_by_size
from stochgate.explain.direction import find_directions, read_direction, waypoints
from stochgate.explain.leave_one_out import rises_without
from stochgate.explain.stand_ins import correlations, correlations_where_known, find_stand_ins
from stochgate.explain.summary import hint, say_scores, spare, wilson_interval
from stochgate.explain.summary_table import COLUMNS, say_p
from stochgate.problem.problem import Problem
from stochgate.problem.rows import LEARNS

FAST = {"network": "linear", "training": Training(n_steps=200, n_snapshots=10), "random_state": 0}
CONVERGED = {**FAST, "training": Training(n_steps=400, n_snapshots=20, lr=0.1)}
HIDDEN = {
    "hidden": (16,),
    "training": Training(n_steps=300, n_snapshots=10, lr=0.03),
    "random_state": 0,
    "cv": 3,
}


@pytest.fixture(scope="module")
def linear_fit():
    """Two features of y = 2 a - b + noise, in which d is a with some noise."""
    X, y = linear_response(200)
    X[:, 3] = X[:, 0] + 0.5 * X[:, 3]
    return GatedRegressor(n_features_to_select=2, **CONVERGED).fit(as_frame(X), y)


@pytest.fixture(scope="module")
def noise_fit():
    """A fit of nothing."""
    problem = make_noise(150, 40, kind="regression", random_state=0)
    with pytest.warns(NoFeatureSelectedWarning):
        return GatedRegressor(**FAST).fit(problem.X, problem.y)


def by_feature(summary):
    """Return the table's rows under the features' names."""
    return {row["feature"]: row for row in summary.features.to_dict("records")}


# ---- the table


def test_directions_are_the_signs_of_a_linear_model(linear_fit):
    rows = by_feature(linear_fit.summary())
    assert {name: row["direction"] for name, row in rows.items()} == {"a": "+", "b": "-"}
    assert [row["direction_of"] for row in rows.values()] == [None, None]


def test_a_noisy_copy_is_a_stand_in(linear_fit):
    summary = linear_fit.summary()
    assert {name: row["stand_ins"] for name, row in by_feature(summary).items()} == {"a": ["d"], "b": []}
    assert "a (or d)" in summary.text


def test_gates_and_frequencies_are_those_of_the_fit(linear_fit):
    for j, name in enumerate("ab"):
        row = by_feature(linear_fit.summary())[name]
        assert row["gate"] == linear_fit.gates_[j]
        assert row["frequency"] == linear_fit.selection_frequency_[j] == 1
        assert (row["frequency_low"], row["frequency_high"]) == wilson_interval(1.0, 5)


def losses_by_hand(model, columns):
    """Return the folds' held-out losses of least squares on some columns, y on the scale learnt from."""
    X, y = model._choice.problem.X[:, columns], model._choice.problem.target.rows["y"][:, 0].numpy()
    losses = []
    for learns in model._choice.comparison.folds == LEARNS:
        predicted = LinearRegression().fit(X[learns], y[learns]).predict(X[~learns])
        losses.append(np.mean((y[~learns] - predicted) ** 2) / y[learns].var())
    return np.array(losses)


@pytest.mark.parametrize(
    ("groups", "units"),
    [(None, [[0], [1], [2]]), ([0, 1, 1, 2, 3, 4], [[0], [1, 2]])],
    ids=["own", "groups"],
)
def test_loss_without_equals_least_squares(groups, units):
    X, y = linear_response(200)
    # a number of features asks for a refit with open gates: a penalised model is no least squares
    model = GatedRegressor(feature_groups=groups, n_features_to_select=len(units), **CONVERGED)
    summary = model.fit(X, y + 0.5 * X[:, 2]).summary()
    rows = by_feature(summary)
    assert set(rows) == {0, 1, 2}
    for unit in units:
        others = [j for j in rows if j not in unit]
        rise = losses_by_hand(model, others) - losses_by_hand(model, [0, 1, 2])
        for feature in unit:
            assert rows[feature]["loss_without"] == pytest.approx(rise.mean(), rel=0.02)
            error = rise.std(ddof=1) / np.sqrt(len(rise))
            assert rows[feature]["loss_without_error"] == pytest.approx(error, rel=0.1)
    assert summary.features["feature"][0] == 0
    assert summary.features["loss_without"].is_monotonic_decreasing


def test_features_of_a_group_share_its_numbers_but_not_the_direction():
    X, y = linear_response(200)
    model = GatedRegressor(feature_groups=[0, 0, 1, 2, 3, 4], **FAST).fit(X, y)
    a, b = (by_feature(model.summary())[j] for j in (0, 1))
    shared = ["gate", "frequency", "frequency_low", "frequency_high", "loss_without", "loss_without_error"]
    assert [a[name] for name in shared] == [b[name] for name in shared]
    assert (a["direction"], b["direction"]) == ("+", "-")


def test_kept_features_are_left_out_too_and_the_folds_had_no_say():
    X, y = linear_response(200)
    summary = GatedRegressor(always_keep=[5], **CONVERGED).fit(X, y).summary()
    kept = by_feature(summary)[5]
    assert kept["frequency"] == 1
    assert np.isnan(kept["frequency_low"])
    assert abs(kept["loss_without"]) < 0.01 < by_feature(summary)[1]["loss_without"]
    assert "kept" in summary.text
    assert kept["loss_without"] < 0
    assert "The loss does not rise without 5: it may be spared." in summary.text


@pytest.mark.parametrize(("k", "n"), [(0, 5), (3, 5), (5, 5), (7, 10)])
def test_interval_is_wilsons(k, n):
    z, share = norm.ppf(0.975), k / n
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    assert wilson_interval(share, n) == pytest.approx((middle - half, middle + half))


# ---- directions


def test_an_effect_of_the_absolute_value_falls_then_rises():
    X = normal_columns(300, 4)
    model = GatedRegressor(**HIDDEN).fit(X, np.abs(X[:, 0]) + X[:, 1])
    rows = by_feature(model.summary())
    assert (rows[0]["direction"], rows[1]["direction"]) == ("-+", "+")


def test_an_interaction_is_mixed():
    X = np.random.default_rng(0).choice([-1.0, 1.0], size=(300, 4))
    model = GatedClassifier(**HIDDEN).fit(X, X[:, 0] * X[:, 1] > 0)
    assert model.summary().features["direction"].tolist() == ["mixed", "mixed"]


def test_directions_of_two_classes_are_those_of_the_last():
    X, y = two_classes()
    summary = GatedClassifier(**FAST).fit(X, np.where(y == 1, "sick", "healthy")).summary()
    rows = by_feature(summary)
    assert (rows[0]["direction"], rows[1]["direction"]) == ("+", "-")
    assert rows[0]["direction_of"] == "sick"
    assert "+ for sick" in summary.text


def test_directions_of_many_classes_name_the_one_affected_most():
    X, y = three_classes()
    row = by_feature(GatedClassifier(**FAST).fit(X, y).summary())[0]
    assert (row["direction"], row["direction_of"]) in {("-", 0), ("+", 2)}


def test_directions_of_many_outputs_name_the_one_affected_most():
    X = normal_columns(150)
    noise = 0.1 * X[:, 2]
    model = GatedRegressor(**FAST).fit(X, np.column_stack([2 * X[:, 0] + noise, noise - X[:, 1]]))
    rows = by_feature(model.summary())
    assert [(rows[j]["direction"], rows[j]["direction_of"]) for j in (0, 1)] == [("+", 0), ("-", 1)]


def test_direction_of_a_cox_model_is_that_of_the_hazard():
    X, y = survival_times()
    summary = GatedCox(**FAST).fit(X, y).summary()
    row = by_feature(summary)[0]
    assert (row["direction"], row["direction_of"]) == ("+", None)
    assert row["loss_without"] > 2 * row["loss_without_error"] > 0
    assert summary.has_signal


def test_a_direction_needs_three_quarters_of_the_change():
    assert read_direction(np.array([[3.0, -0.9]])) == "+"
    assert read_direction(np.array([[-3.0, 1.1]])) == "mixed"
    assert read_direction(np.array([[-3.0, 0.9]])) == "-"
    assert read_direction(np.zeros((2, 3))) is None


def test_waypoints_are_quartiles_or_what_lies_around_the_usual_value():
    assert waypoints(np.arange(101.0)).tolist() == [25, 50, 75]
    assert waypoints(np.repeat([-4.0, 0.0, 1.0, 9.0], [1, 20, 3, 1])).tolist() == [-4, 0, 1]
    assert waypoints(np.ones(9)).tolist() == [1, 1, 1]


# ---- stand-ins


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_correlations_are_pearsons(form, dtype):
    X = normal_columns(80, 7) * (normal_columns(80, 7, seed=9) > 0)
    X[:, 4] = 1000 + X[:, 0] + X[:, 1]
    X[:, 5] = 0.1
    X = X.astype(dtype)
    expected = np.abs(np.corrcoef(np.delete(X, 5, axis=1).T))[:, [1, 4]]
    np.testing.assert_allclose(np.delete(correlations(form(X), [1, 4]), 5, axis=0), expected, atol=1e-6)
    assert (correlations(form(X), [1, 4])[5] == 0).all()


def test_stand_ins_are_alike_or_opened_instead():
    rng = np.random.default_rng(0)
    base = rng.normal(size=2000)
    shares = [1.0, 0.99, 0.9, 0.5, 0.5, 0.1, 0.1, 0.8]
    X = np.column_stack([c * base + np.sqrt(1 - c**2) * rng.normal(size=2000) for c in shares])
    support = np.array([1, 0, 0, 0, 0, 0, 0, 1], dtype=bool)
    opened = np.ones((2, 8), dtype=bool)
    opened[:, 1:3] = False
    opened[1, 0] = False  # the second fold opens the others instead,
    opened[1, 4] = False  # but not this one
    first, last = find_stand_ins(X, support, np.arange(8), opened)
    assert first.tolist() == [1, 2, 3]
    assert last.tolist() == [1, 2]
    many = np.column_stack([X[:, [0]], *[base + 0.01 * (9 - j) * rng.normal(size=2000) for j in range(8)]])
    most = find_stand_ins(many, np.arange(9) == 0, np.arange(9), np.ones((2, 9), dtype=bool))
    assert most[0].tolist() == [8, 7, 6, 5, 4]


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_correlations_are_pearsons_where_both_have_a_value(offset):
    X = offset + normal_columns(90, 6)
    X[:, 2] += X[:, 0] - offset
    X[:, 3:] = 0
    gaps = np.zeros((90, 2), dtype=bool)
    gaps[:50, 0], gaps[40:70, 1] = True, True
    X[:, 1] = np.where(gaps[:, 0], offset + 5, X[:, 1])
    X[:, 2] = np.where(gaps[:, 1], offset - 5, X[:, 2])
    X[:, 4:] = gaps
    found = correlations_where_known(X, np.array([0, 1, 2]), np.array([-1, 4, 5, -1, 4, 5]))
    for j, rows in {0: slice(None), 1: ~gaps[:, 0], 2: ~gaps[:, 1]}.items():
        expected = np.abs(np.corrcoef(X[rows, 0], X[rows, j])[0, 1])
        assert found[j, 0] == pytest.approx(expected, abs=1e-6)
    both = ~gaps.any(axis=1)
    assert found[1, 2] == found[2, 1] == pytest.approx(abs(np.corrcoef(X[both, 1:3].T)[0, 1]), abs=1e-6)
    assert (found[3:] == 0).all()


def shared_gaps_fit():
    """Return a fit to a, whose gaps are those of b and t, and to c; of a and d few rows have both."""
    X, y = normal_columns(200, 5), normal_columns(200, 1, seed=3)[:, 0]
    X[:, 3] = X[:, 0]
    y += 3 * X[:, 0] + 2 * X[:, 2]
    X[:80, :2] = np.nan
    X[90:, 3] = np.nan
    table = as_frame(X).assign(t=np.where(np.arange(200) % 2, "u", "v"))
    table.loc[:79, "t"] = None
    y[:80] += 4
    return GatedRegressor(n_features_to_select=2, **CONVERGED).fit(table, y)


def test_shared_gaps_make_no_stand_ins_and_are_told():
    summary = shared_gaps_fit().summary()
    assert {name: row["stand_ins"] for name, row in by_feature(summary).items()} == {"a": [], "c": []}
    told = "2 other columns lack the same 80 rows as a: what its gaps tell, theirs tell as well."
    assert summary.hints[-1] == told
    assert told in summary.text


def test_the_one_column_with_the_same_gaps_is_named():
    X, y = linear_response(200)
    X[:30, [0, 4]] = X[40:70, 1] = np.nan
    summary = GatedRegressor(n_features_to_select=2, **CONVERGED).fit(as_frame(X), y).summary()
    assert set(by_feature(summary)) == {"a", "b"}
    assert [hint for hint in summary.hints if "lack" in hint] == [
        "e lacks the same 30 rows as a: what its gaps tell, theirs tell as well."
    ]


def test_sparse_columns_are_summed_up_as_dense_ones():
    X = np.random.default_rng(0).poisson(0.15, size=(300, 8)).astype(float)
    X[:, 3] = X[:, 0]
    y = 3 * (X[:, 0] > 0) - X[:, 1] + 0.1 * normal_columns(300)[:, 0]
    model = GatedRegressor(n_features_to_select=2, **CONVERGED).fit(sparse.csr_array(X), y)
    rows = by_feature(model.summary())
    strong = min(set(rows) - {1})
    assert (rows[strong]["direction"], rows[1]["direction"]) == ("+", "-")
    assert rows[strong]["stand_ins"] == [3 - strong]


# ---- verdict and hints


NOTHING = "No feature was selected: no signal shows beyond chance"


def test_noise_has_no_signal_and_no_features(noise_fit):
    summary = noise_fit.summary()
    assert (summary.verdict, summary.n_features, len(summary.features)) == ("no signal", 0, 0)
    assert (summary.p, summary.alpha) == (noise_fit.p_value_, 0.05)
    assert not summary.has_signal
    assert list(summary.features.columns) == list(COLUMNS)
    assert "reach" not in summary.text
    score = f"held-out R2: all columns {summary.scores['all']:.3f}, no column"
    assert score in summary.text
    assert "evaluate(" in summary.text


def test_where_nothing_is_selected_the_way_out_is_named(noise_fit):
    (told,) = noise_fit.summary().hints
    assert told.startswith(f"{NOTHING} ({say_p(noise_fit.p_value_)}, alpha = 0.05); ")
    for way in ("more rows", "a larger alpha", "n_features_to_select=k"):
        assert way in told
    assert noise_fit.summary().text.count(NOTHING) == 1


def test_the_warning_says_what_the_summary_says(noise_fit):
    problem = noise_fit._choice.problem
    with pytest.warns(NoFeatureSelectedWarning) as caught:
        model = GatedRegressor(**FAST).fit(problem.X, problem.target.rows["y"][:, 0].numpy())
    assert [str(each.message) for each in caught] == list(model.summary().hints)


def test_features_asked_for_do_not_make_a_signal(noise_fit):
    at_size = noise_fit.at(k=3).summary()
    assert (at_size.verdict, at_size.n_features) == ("no signal", 3)
    problem = noise_fit._choice.problem
    asked = (
        GatedRegressor(n_features_to_select=3, **FAST)
        .fit(problem.X, problem.target.rows["y"][:, 0])
        .summary()
    )
    assert (asked.verdict, asked.n_features) == ("no signal", 3)
    for summary in (at_size, asked):
        first = summary.text.splitlines()[0]
        assert first.startswith(f"no signal ({say_p(summary.p)}): 3 of 40 features")
        assert first.endswith("; these were asked for")
        assert NOTHING not in summary.text


@pytest.mark.parametrize(
    ("p", "verdict", "advice"),
    [
        (0.004, "clear signal", ""),
        (0.03, "weak signal", "treat these as candidates"),
        (0.4, "no signal", "these were asked for"),
    ],
)
def test_a_verdict_has_its_p_and_its_advice(linear_fit, p, verdict, advice):
    choice = replace(linear_fit._choice, signal=Signal(0.6, 0.1, p, 0.05))
    model = linear_fit.at(k=2)
    model._choice, model._summary = choice, None
    summary = model.summary()
    assert (summary.verdict, summary.advice) == (verdict, advice)
    first = summary.text.splitlines()[0]
    assert first.startswith(f"{verdict} (p = {p}): 2 of 6 features")
    assert first.endswith(f"; {advice}" if advice else "network linear")
    assert "up to 0.005, weak up to alpha = 0.05." in summary.text
    assert first in summary._repr_html_()


def test_a_level_below_that_of_a_clear_signal_leaves_no_weak_one(linear_fit):
    strict = replace(linear_fit.summary(), alpha=0.001)
    assert strict.levels.endswith("the signal is clear up to alpha = 0.001.")


def test_p_is_rounded_so_that_it_does_not_meet_a_level_it_exceeds():
    assert [say_p(p) for p in (0.0501, 0.05, 0.0499, 0.005, 0.00503)] == [
        "p = 0.051",
        "p = 0.05",
        "p = 0.05",
        "p = 0.005",
        "p = 0.0051",
    ]
    assert [say_p(p) for p in (0.001, 1.0, 1e-9)] == ["p = 0.001", "p = 1", "p < 0.001"]


@pytest.mark.parametrize(
    ("frequency", "p", "told"), [(1.0, 0.001, []), (0.6, 0.001, ["60% open"]), (0.6, 0.4, [])]
)
def test_folds_that_do_not_agree_are_pointed_out(linear_fit, frequency, p, told):
    choice = linear_fit._choice
    signal = replace(choice.signal, p=p)
    choice = replace(choice, signal=signal, frequency=np.full_like(choice.frequency, frequency))
    hints = list(hint(linear_fit, choice))
    assert all(text in each for text, each in zip(told, hints, strict=True))


def test_that_no_feature_was_left_out_is_said_unless_they_were_asked_for():
    X, y = linear_response(200, 2)
    told = "No feature was left out; n_features_to_select=k"
    assert told in GatedRegressor(**FAST).fit(X, y).summary().text
    assert told not in GatedRegressor(n_features_to_select=2, **FAST).fit(X, y).summary().text
    assert told not in GatedRegressor(always_keep=[0, 1], **FAST).fit(X, y).summary().text
    assert told not in GatedRegressor(**FAST).fit(X[:, :1], y).summary().text


def test_where_all_features_were_chosen_a_small_set_of_the_path_is_offered():
    X, y = linear_response(200, 2)
    model = GatedRegressor(**FAST).fit(X, y)
    best = best_by_size(model.path_.to_dict("records"))[1]["held_out_loss"]
    losses = model.summary().losses
    told = (
        f"No smaller set that was compared does as well; one of 1 reaches a held-out loss of {best:.3f}, "
    )
    told += f"the 2 chosen {losses['selected']:.3f}, "
    assert f"{told}no feature {losses['none']:.3f}: model.at(k=1)" in model.summary().text
    assert model.at(k=1).support_.sum() == 1
    assert "2 of 2 columns reach" not in model.summary().text  # one number for all columns
    assert f"held-out loss: all columns {losses['selected']:.3f}, no column" in model.summary().text


def test_that_nearly_all_features_were_chosen_or_as_many_as_may_be_is_said(linear_fit, monkeypatch):
    free, choice = linear_fit.at(k=2), linear_fit._choice
    free.n_features_to_select = None
    assert list(hint(free, choice)) == []
    monkeypatch.setattr("stochgate.explain.summary.largest_size", lambda *given: 2)
    (told,) = hint(free, choice)
    assert (
        told
        == "2 features are the most that are tried in a table of this size; larger sets may predict better."
    )
    monkeypatch.setattr("stochgate.explain.summary.NEARLY_ALL", 0.3)
    assert next(hint(free, choice)).startswith("Nearly all features were chosen.")


def test_all_columns_that_look_good_beside_no_selection_are_explained(noise_fit):
    choice, scores = noise_fit._choice, {"selected": 0.5, "all": 0.718, "none": 0.5}
    good = replace(choice, losses={**choice.losses, "all": choice.losses["none"] - 0.1})
    (told,) = say_scores(noise_fit.summary(), good, scores)
    assert told.startswith(
        "All 40 columns together reach R2 0.718 on held-out rows (no column 0.500), which may"
    )
    assert say_p(choice.signal.p) in told
    k = int(re.search(r"model\.at\(k=(\d+)\)", told)[1])
    best = best_by_size(noise_fit.path_.to_dict("records"))[k]["held_out_loss"]
    assert f"one of {k} reaches a held-out loss of {best:.3f}, no feature" in told
    assert list(say_scores(noise_fit.summary(), choice, {**scores, "all": 0.52})) == []
    found = replace(good, signal=replace(choice.signal, p=0.001))
    (told,) = say_scores(noise_fit.summary(), found, scores)
    assert "spread over many" in told


def test_a_gain_that_is_less_sure_than_the_signal_is_pointed_out(linear_fit):
    choice, summary = linear_fit._choice, linear_fit.summary()
    assert list(say_scores(summary, choice, summary.scores)) == []
    unsure = replace(choice, signal=replace(choice.signal, gain=0.095, error=0.123))
    (told,) = say_scores(summary, unsure, summary.scores)
    assert "less sure than that there is a signal" in told
    assert told.endswith("0.095 ± 0.123.")


def test_a_loss_that_falls_without_fewer_wrong_classes_is_explained():
    X, y = two_classes()
    model = GatedClassifier(**FAST).fit(X, y)
    same = {"selected": 0.688, "all": 0.69, "none": 0.6881}
    (told,) = say_scores(model.summary(), model._choice, same)
    assert "but not the share of wrong classes" in told
    assert list(say_scores(model.summary(), model._choice, {**same, "none": 0.5})) == []


def test_hints_on_the_loss_without_agree_with_the_table():
    rows = [{"feature": j, "loss_without": r, "loss_without_error": 0.1} for j, r in enumerate([0.3, 0.05])]
    (told,) = spare(rows)
    assert told == "The loss hardly rises without 1: it may be spared."
    rows += [{"feature": f"u{j}", "loss_without": -0.01, "loss_without_error": 0.001} for j in range(7)]
    (told,) = spare(rows)
    assert told.startswith(
        "The loss hardly rises without 1 and does not rise without u0, u1, u2, u3, u4 and 2 more:"
    )
    assert spare(rows[:1]) == ()


def test_a_headline_takes_the_place_of_the_verdict(linear_fit):
    summary = replace(linear_fit.summary(), headline="Found at a false discovery rate of 0.1: 'a'.")
    first, second = summary.text.splitlines()[:2]
    assert first == summary.headline
    assert second.startswith("2 of 6 features")
    assert "signal" not in summary.text
    assert "p:" not in summary.text


def test_verdict_gain_and_size_are_those_of_the_fit(linear_fit):
    summary, signal = linear_fit.summary(), linear_fit._choice.signal
    assert summary.verdict == "clear signal"
    assert (summary.gain, summary.error) == (signal.gain, signal.error)
    assert (summary.n_features, summary.n_features_in, summary.n_folds) == (2, 6, 5)
    assert (summary.network, summary.lam) == ("linear", linear_fit.lam_)
    first, gain = summary.text.splitlines()[:2]
    clear = f"clear signal ({say_p(linear_fit.p_value_)})"
    assert first == f"{clear}: 2 of 6 features, lam {summary.lam:.3g}, network linear"
    assert f"{signal.gain:.3f} ± {signal.error:.3f}" in gain


# ---- how it is kept and shown


def test_a_given_lam_leaves_names_and_gates():
    X, y = linear_response()
    model = GatedRegressor(**{**FAST, "lam": 0.5}).fit(as_frame(X), y)
    summary = model.summary()
    assert summary.verdict is None
    assert set(summary.features["feature"]) == set(model.get_feature_names_out())
    assert summary.features["gate"].tolist() == sorted(model.gates_[model.support_], reverse=True)
    assert summary.features["direction"].isna().all()
    assert "lam was given" in summary.text
    assert "loss without  " not in summary.text
    assert "p:" not in summary.text
    assert pickle.loads(pickle.dumps(model)).summary().n_features == summary.n_features


def test_a_summary_survives_pickling_when_it_was_made(linear_fit):
    unasked = pickle.loads(pickle.dumps(linear_fit.at(k=1)))
    with pytest.raises(ValueError, match="not pickled"):
        unasked.summary()
    made = linear_fit.summary()
    assert pickle.loads(pickle.dumps(linear_fit)).summary().text == made.text
    assert linear_fit.summary() is made


def test_every_fit_has_its_own_summary(linear_fit):
    X, y = linear_response()
    model = GatedRegressor(**FAST).fit(X, y)
    before = model.summary().text
    assert model.fit(X, y).summary().text == before  # same seed, same numbers
    assert model.fit(X, -y).summary().text != before
    smaller = linear_fit.at(k=1)
    assert (smaller.summary().n_features, linear_fit.summary().n_features) == (1, 2)


def test_the_last_feature_is_worth_the_whole_gain():
    X, y = linear_response(200)
    model = GatedRegressor(n_features_to_select=1, **CONVERGED).fit(X, y)
    choice = model._choice
    rise = model.summary().features["loss_without"][0]
    assert rise == pytest.approx((choice.comparison.empty - losses_by_hand(model, [0])).mean(), rel=0.02)


def test_features_past_the_hidden_layers_stay_there_when_others_are_left_out():
    X = normal_columns(200, 4)
    y = np.abs(X[:, 0]) + 0.5 * X[:, 1]
    model = GatedRegressor(n_features_to_select=2, **HIDDEN).fit(X, y)
    choice = model._choice
    gates = np.array([1, 0])
    deep = rises_without(choice, gates, None).mean(axis=1)
    bent_is_linear = replace(choice, recipe=replace(choice.recipe, linear=np.arange(4) == 0))
    flat = rises_without(bent_is_linear, gates, None).mean(axis=1)
    assert deep[1] > 0.3
    assert abs(flat[1]) < 0.1 * deep[1]  # a straight line is no use for an absolute value


@pytest.mark.parametrize(("lam", "stage"), [(None, "refit"), (0.3, "path")])
def test_leaving_out_features_is_training_with_fewer_gates(linear_fit, lam, stage):
    choice = linear_fit._choice
    folds = choice.comparison.folds
    allowed = np.zeros((3, len(folds), 6), dtype=bool)
    allowed[0, :, [0, 1]] = allowed[1, :, 1] = allowed[2, :, 0] = True
    cells = train_cells(choice.problem, stage, np.full(3, lam or 0.0), folds, allowed)
    rises = rises_without(choice, np.array([0, 1]), lam)
    np.testing.assert_allclose(rises, cells.losses[1:] - cells.losses[0], rtol=1e-3, atol=1e-4)


def test_refits_of_the_same_features_on_the_same_fold_are_trained_once(linear_fit, monkeypatch):
    choice = linear_fit._choice
    folds = choice.comparison.folds
    allowed = np.zeros((3, len(folds), 6), dtype=bool)
    allowed[:, :, 0] = allowed[1:, 0, 1] = allowed[2, :, 2] = True  # new for all folds, for one, for all
    trained = []
    execute = Problem.execute
    monkeypatch.setattr(Problem, "execute", lambda *given: trained.append(given[1]) or execute(*given))
    cells = train_cells(choice.problem, "refit", np.arange(3.0), folds, allowed)
    assert trained[0].n_models == 2 * len(folds) + 1
    for i in range(3):
        alone = train_cells(choice.problem, "refit", np.full(1, float(i)), folds, allowed[i : i + 1])
        for field in fields(alone)[1:-1]:  # gates that are held open have no history
            found_one, expected = getattr(cells, field.name)[i], getattr(alone, field.name)[0]
            np.testing.assert_allclose(found_one, expected, rtol=1e-3, atol=1e-6, err_msg=field.name)


def test_more_features_than_are_left_out_in_turn_have_no_number(linear_fit, monkeypatch):
    monkeypatch.setattr("stochgate.explain.leave_one_out.MOST_REFITS", 1)
    rises = rises_without(linear_fit._choice, np.array([0, 1]), None)
    assert np.isfinite(rises).all(axis=1).tolist() == [True, False]


def test_long_tables_are_cut_in_the_text(linear_fit):
    summary = linear_fit.summary()
    rows = summary.features.to_dict("records") * 20
    many = replace(summary, features=rows, n_features=40)
    assert "... and 10 more features" in many.text
    assert many.text.count("a (or d)") == 15


def test_summary_is_shown_the_same_without_pandas(linear_fit, monkeypatch):
    summary = linear_fit.summary()
    rows = summary.features.to_dict("records")
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert make_table(rows) is rows
    assert replace(summary, features=rows).text == str(summary) == repr(summary)


def test_html_shows_the_table_and_escapes_names(linear_fit):
    summary = linear_fit.summary()
    rows = [{**row, "feature": "<b>"} for row in summary.features.to_dict("records")]
    shown = replace(summary, features=rows)._repr_html_()
    assert shown.count("<tr>") == 3
    assert "<td>&lt;b&gt; (or d)</td>" in shown


def test_directions_read_no_more_than_a_thousand_rows(linear_fit):
    read = []

    class Watched(type(linear_fit._predictor)):
        def outputs(self, X):
            read.append(len(X))
            return super().outputs(X)

    watched = Watched(**vars(linear_fit._predictor))
    problem = linear_fit._choice.problem
    find_directions(watched, np.tile(problem.X, (20, 1)), problem.table, relative=False)
    assert read == [3 * 1000] * 2


def test_one_number_for_all_columns_in_every_score(linear_fit):
    summary = linear_fit.summary()
    known = {"selected": 0.8, "all": 0.7, "none": 0.5}
    some = replace(summary, score_name="accuracy", scores=known, other_scores={"AUC": known})
    assert some.n_features < some.n_features_in
    assert "AUC 0.800 (all columns 0.700)" in some.text
    every = replace(some, n_features_in=some.n_features)
    assert "beside it: AUC 0.800\n" in every.text


def test_the_legend_names_losses_above_only_where_some_are(linear_fit):
    of_k = linear_fit.summary()
    assert "held-out loss: 2 of" not in of_k.text
    assert (
        "takes the set that is best on the other folds, so the luck of the choice is not in it.\n"
        in of_k.text
    )
    compared = replace(of_k, losses={**of_k.losses, "all": 0.5})
    assert "is not in it, as it is in the losses above." in compared.text
    found = replace(of_k, headline="Found at a false discovery rate of 0.1: 'a'.")
    assert "takes the model that is best on the other folds" in found.text
