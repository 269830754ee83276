"""Directions against planted effects: of classes, numbers and survival, in the summary and the report."""

import numpy as np
import pandas as pd
import pytest

from stochgate import GatedClassifier, GatedCox, GatedRegressor, Training
from stochgate.explain.direction import (
    find_directions_alone,
    is_reversed,
    mark_direction,
    read_direction,
    read_order,
)
from stochgate.explain.summary import say_reversed
from stochgate.report import collect, render
from stochgate.tables.encoding import TableEncoding

FAST = {"network": "linear", "training": Training(n_steps=200, n_snapshots=10, lr=0.1), "random_state": 0}
WORDS = {
    GatedClassifier: ("+ for sick", "- for sick", "sick more likely", "sick less likely", "sick"),
    GatedRegressor: ("+", "-", "dose rises", "dose falls", "dose"),
    GatedCox: ("+ for risk", "- for risk", "more risk", "less risk", "risk"),
}


def planted(estimator, seed=0):
    """Return a table whose score rises with "up" and from "low" to "high" of "level", and a y of it."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(240, 3)), columns=["up", "down", "noise"])
    X["level"] = rng.choice(["high", "low", "middle"], 240)
    score = 1.5 * X["up"] - 1.5 * X["down"] + X["level"].map({"low": -2, "middle": 0, "high": 2})
    if estimator is GatedClassifier:
        sick = score + rng.logistic(size=240) / 2 > 0
        return X, pd.Series(np.where(sick, "sick", "healthy"), name="state")
    if estimator is GatedRegressor:
        return X, pd.Series(score + 0.3 * rng.normal(size=240), name="dose")
    return X, np.column_stack([rng.random(240) > 0.2, rng.exponential(np.exp(-score))])


@pytest.mark.parametrize("estimator", WORDS)
def test_planted_directions_are_told_in_the_words_of_each_kind(estimator):
    X, y = planted(estimator)
    model = estimator(always_keep=["up", "down", "level"], **FAST).fit(X, y)
    summary = model.summary()
    up, down, up_words, down_words, of = WORDS[estimator]
    cells = {row[0]: row[summary._cells()[0].index("direction")] for row in summary._cells()[1:]}
    order = "high > middle > low"
    expected = {"up": up, "down": down, "level": order if of == "dose" else f"{order} for {of}"}
    assert {name: cells[name] for name in expected} == expected
    page = render(collect(model, X, y))
    for told in (up_words, down_words, f"{of}: {order}".replace(">", "&gt;")):
        assert told in page
    assert summary.direction_legend in page
    assert summary.direction_legend in summary.text
    if estimator is GatedCox:
        assert "survival: high" not in page


def test_a_feature_that_points_the_other_way_by_itself_is_pointed_out():
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    b = a + 0.5 * rng.normal(size=300)  # by itself it rises with y, beside a it takes off
    X = pd.DataFrame({"a": a, "b": b, "c": rng.normal(size=300)})
    y = pd.Series(2 * a - b + 0.1 * rng.normal(size=300), name="dose")
    model = GatedRegressor(n_features_to_select=2, **FAST).fit(X, y)
    summary = model.summary()
    rows = {row["feature"]: row for row in summary.features.to_dict("records")}
    assert (rows["b"]["direction"], rows["b"]["direction_alone"]) == ("-", "+")
    assert (rows["a"]["direction"], rows["a"]["direction_alone"]) == ("+", "+")
    assert "- (alone +)" in summary.text
    assert "Alone, b points the other way than in the model, which reads it beside" in summary.text
    reversed_rows = [{"feature": name, "direction": "-", "direction_alone": "+"} for name in "ab"]
    assert say_reversed(reversed_rows)[0].startswith("Alone, a and b point the other way")
    assert say_reversed([{**reversed_rows[0], "direction_alone": None}]) == ()
    page = render(collect(model, X, y))
    assert "dose falls (alone: dose rises)" in page
    assert "Alone, b points the other way" in page


def test_a_curve_that_turns_is_told_apart_from_what_depends_on_other_features():
    assert read_direction(np.array([[-1.0, -2.0], [1.0, 2.5]])) == "-+"
    assert read_direction(np.array([[1.0, 2.0], [-1.0, -2.5]])) == "+-"
    assert read_direction(np.array([[1.0, -2.0], [1.0, -2.5]])) == "mixed"
    assert mark_direction("-+", "sick", "classification") == "- then + for sick"
    assert mark_direction("mixed", None, "regression") == "mixed"


def test_directions_alone_need_two_standard_errors_and_leave_missing_values_out():
    rng = np.random.default_rng(1)
    residual = rng.normal(size=(200, 1))
    known = rng.random(200) < 0.5
    X = np.column_stack([residual[:, 0] + rng.normal(size=200), known * residual[:, 0], ~known])
    X = np.column_stack([X, rng.normal(size=200) * 0.01])
    table = TableEncoding(3, np.zeros(3), np.array([False, True, False]), {})
    found = find_directions_alone(X, -residual, table, {0: 0, 1: 0, 2: 0})
    assert found == {0: "-", 1: "-", 2: None}
    assert not is_reversed("+", None)


def test_of_several_classes_the_one_named_is_explained():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    why = "Of 3, the class named is the one that the feature moves most."
    model = GatedClassifier(n_features_to_select=1, **FAST)
    assert why in model.fit(X, three).summary().text
    assert "class named is" not in model.fit(X, three > 0).summary().text


def test_levels_with_signs_of_their_own_stand_in_quotes():
    assert read_order(("<=2cm", ">2cm"), np.array([0.0, 1.0])) == "'>2cm' > '<=2cm'"
    assert read_order(("small", "large"), np.array([0.0, 1.0])) == "large > small"
