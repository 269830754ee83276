"""The numbers of the report are the model's."""

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from report_models import KINDS
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, r2_score

from stochgate import GatedClassifier, GatedRegressor, Training
from stochgate.metrics import survival_curves_by_risk
from stochgate.report import collect
from stochgate.report.plain import to_plain, to_text


def names_of(data, places):
    return [data["names"][place] for place in places]


def test_data_survive_json(each):
    assert json.loads(json.dumps(each.data, allow_nan=False)) == each.data


def test_features_are_those_of_the_summary(each):
    summary, rows = each.model.summary(), each.data["chosen"]["features"]
    expected = summary.features.to_dict("records")
    assert len(rows) == summary.n_features == each.model.support_.sum()
    for row, of_summary in zip(rows, expected, strict=True):
        shown, label = each.data["names"][row["feature"]], of_summary["feature"]
        assert shown == (to_text(label) if isinstance(label, str) else f"column {label}")
        for name in ("gate", "frequency", "loss_without", "loss_without_error"):
            assert row[name] == to_plain(of_summary[name])


def test_scores_and_losses_are_those_of_the_summary(each):
    summary, chosen = each.model.summary(), each.data["chosen"]
    assert chosen["verdict"] == summary.verdict
    assert (chosen["p"], chosen["headline"]) == (summary.p, summary.headline)
    assert (chosen["advice"], chosen["levels"]) == (summary.advice, summary.levels)
    assert chosen["signal"] == (None if summary.verdict is None else summary.signal)
    assert chosen["hints"] == list(summary.hints)
    assert chosen["scores"] == to_plain(summary.scores)
    assert chosen["losses"] == to_plain(summary.losses)
    assert chosen["n_columns"] == summary.n_features_in


def test_selected_are_the_models_features(each):
    shown = set(names_of(each.data, each.data["selected"]))
    labels = getattr(each.model, "feature_names_in_", None)
    chosen = np.flatnonzero(each.model.support_)
    expected = {f"column {j}" for j in chosen} if labels is None else {to_text(labels[j]) for j in chosen}
    assert shown == expected


@pytest.mark.parametrize("kind", ["classes", "three", "numbers", "survival", "sparse"])
def test_each_point_of_the_path_is_the_best_row_of_its_size(get, kind):
    found = get(kind)
    table, path = found.model.path_, found.data["path"]
    n_chosen = found.model.support_.sum()
    for point in path["points"]:
        if point["n"] in (0, n_chosen):
            continue
        rows = table[(table["n_features"] == point["n"]) & (table["stage"] != "all")]
        same = rows[rows["held_out_loss"] == point["loss"]].iloc[0]
        assert point["loss"] >= rows["held_out_loss"].min()
        assert point["sd"] == same["held_out_sd"]
        assert point["network"] == same["network"]
        labels = [to_text(f) if isinstance(f, str) else f"column {f}" for f in same["features"]]
        assert sorted(names_of(found.data, point["features"])) == sorted(labels)


@pytest.mark.parametrize("kind", ["classes", "three", "numbers", "survival", "sparse"])
def test_the_path_starts_at_nothing_and_marks_the_chosen_set(get, kind):
    found = get(kind)
    summary, path = found.model.summary(), found.data["path"]
    first, own = path["points"][0], path["points"][path["chosen"]]
    assert (first["n"], first["loss"], first["features"]) == (0, summary.losses["none"], [])
    assert own["n"] == summary.n_features
    assert own["loss"] == pytest.approx(summary.losses["selected"])
    assert sorted(own["features"]) == sorted(found.data["selected"])
    assert path["all"] == to_plain(summary.losses["all"])


def test_features_enter_and_leave_from_point_to_point(get):
    points = get("classes").data["path"]["points"]
    for before, point in pairwise(points):
        then, now = set(before["features"]), set(point["features"])
        assert set(point["entered"]) == now - then
        assert set(point["left"]) == then - now
        assert point["n_entered"] - point["n_left"] == point["n"] - before["n"]


def test_shares_of_the_gain_go_from_nothing_to_all_columns(get):
    path = get("numbers").data["path"]
    for point in path["points"]:
        expected = (path["none"] - point["loss"]) / (path["none"] - path["all"])
        assert point["share"] == pytest.approx(expected)
    assert {point["share"] for point in get("nothing").data["path"]["points"]} == {None}


def test_a_size_that_was_not_judged_has_no_loss(get):
    path = get("at").data["path"]
    own = path["points"][path["chosen"]]
    assert (own["n"], own["loss"], own["share"]) == (5, None, None)
    assert "how well they predict was not measured" in get("at").page


def test_predictions_for_other_rows_are_not_taken(get):
    found = get("judged")
    data = collect(found.model, found.X[:50], found.y[:50], evaluation=found.evaluation)
    assert not data["outcome"]["is_honest"]
    assert np.sum(data["outcome"]["counts"]) == 50


def test_a_given_penalty_has_no_path_and_no_frequencies(get):
    data = get("lam").data
    assert data["path"] is None
    assert data["stability"] is None
    assert data["chosen"]["verdict"] is None


def test_frequencies_are_the_models(get):
    found = get("numbers")
    frequency = found.model.selection_frequency_
    for each in found.data["stability"]["features"]:
        position = int(found.data["names"][each["feature"]].removeprefix("column "))
        assert each["frequency"] == frequency[position]
        assert each["is_chosen"] == found.model.support_[position]
    shown = [each["frequency"] for each in found.data["stability"]["features"]]
    assert shown == sorted(shown, reverse=True)


def test_gates_over_training_are_the_models(get):
    found = get("lam")
    history, gates = found.model.gate_history_, found.data["gates"]
    assert gates["step"] == history["step"].tolist()
    assert gates["n_open"] == (history["gates"] > 0).sum(axis=1).tolist()
    assert len(gates["chosen"]) == found.model.support_.sum()
    for curve in [*gates["chosen"], *gates["others"]]:
        position = int(found.data["names"][curve["feature"]].removeprefix("column "))
        np.testing.assert_allclose(curve["gate"], history["gates"][:, position], atol=1e-4)
    assert not gates["lam_grows"]


def test_a_model_without_a_record_of_its_gates_has_none(get):
    found = get("lam")
    history = found.model.gate_history_
    del found.model.gate_history_
    try:
        assert collect(found.model, found.X, found.y)["gates"] is None
    finally:
        found.model.gate_history_ = history


def test_confusion_matrix_is_of_the_rows_of_the_fit(get):
    for kind in ("classes", "three"):
        found = get(kind)
        expected = confusion_matrix(found.y, found.model.predict(found.X), labels=found.model.classes_)
        assert found.data["outcome"]["counts"] == expected.tolist()
        assert found.data["outcome"]["score"] == found.model.score(found.X, found.y)
        assert not found.data["outcome"]["is_honest"]


def test_an_evaluation_gives_honest_predictions_and_scores(get):
    found = get("judged")
    expected = confusion_matrix(found.y, found.evaluation.predictions)
    assert found.data["outcome"]["counts"] == expected.tolist()
    assert found.data["outcome"]["is_honest"]
    honest = found.data["honest"]
    assert honest["mean"] == found.evaluation.mean
    assert honest["sd"] == found.evaluation.sd
    assert honest["all_columns"] == found.evaluation.all_columns.mean()
    assert honest["n_selected"] == found.evaluation.n_selected.tolist()
    repeats = {
        found.data["names"][each["feature"]]: each["n_repeats"]
        for each in found.data["stability"]["features"]
    }
    counts = found.evaluation.selection_counts
    assert repeats == {name: counts[int(name.removeprefix("column "))] for name in repeats}


def test_predicted_and_observed_numbers_are_the_models(get):
    found = get("numbers")
    outcome, predicted = found.data["outcome"], found.model.predict(found.X)
    assert outcome["score"] == pytest.approx(r2_score(found.y, predicted))
    pairs = sorted(zip(outcome["predicted"], outcome["observed"], strict=True))
    assert pairs == sorted(zip(predicted.tolist(), found.y.tolist(), strict=True))
    assert sum(each["n"] for each in outcome["bins"]) == len(found.y)


def test_several_outputs_show_the_first():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, :2] + X[:, 2:]
    model = GatedRegressor(lam=0.1, network="linear", training=Training(n_steps=50), random_state=0)
    data = collect(model.fit(X, y), X, y)
    assert data["outcome"]["n_outputs"] == 2
    assert data["asked"]["numbers"]["mean"] == y[:, 0].mean()


def test_survival_curves_are_those_of_the_risk_groups(get):
    found = get("survival")
    risk = found.model.predict(found.X)
    expected = survival_curves_by_risk(found.y["event"], found.y["time"], risk, 3)
    outcome = found.data["outcome"]
    assert outcome["p_value"] == expected.p_value
    for shown, curve in zip(outcome["curves"], expected.curves, strict=True):
        assert shown["survival"] == curve.survival.tolist()
        assert shown["time"] == curve.time.tolist()
    events = found.data["asked"]["events"]
    assert events["n_events"] == found.y["event"].sum()
    assert events["n_events"] + events["n_censored"] == found.data["asked"]["n_rows"]


def test_the_title_asks_for_the_target(get):
    titles = {kind: get(kind).data["title"] for kind in ("three", "numbers", "survival")}
    assert titles == {
        "three": "What predicts level?",
        "numbers": "What predicts y?",
        "survival": "What predicts survival?",
    }


def test_what_was_asked_is_on_record(get):
    asked = get("three").data["asked"]
    assert (asked["task"], asked["target"], asked["n_rows"], asked["n_columns"]) == (
        "classification",
        "level",
        150,
        3,
    )
    counts = pd.Series(get("three").y).value_counts()
    assert {each["label"]: each["count"] for each in asked["classes"]} == counts.to_dict()


def test_settings_title_and_parameters_are_on_record(get):
    found = get("lam")
    data = collect(found.model, found.X, found.y, title="A & B", settings={"file": "data.csv", "rows": 3})
    assert data["title"] == "A & B"
    assert data["repeat"]["settings"] == [
        {"name": "file", "value": "data.csv"},
        {"name": "rows", "value": "3"},
    ]
    assert {each["name"] for each in data["repeat"]["parameters"]} == {
        "lam",
        "network",
        "training",
        "random_state",
    }
    assert data["repeat"]["random_state"] == "0"
    assert "GatedClassifier(lam=0.3" in data["repeat"]["code"]
    assert {"stochgate", "torch", "numpy"} <= {each["name"] for each in data["repeat"]["versions"]}


def test_columns_without_names_are_counted(get):
    assert all(name.startswith("column ") for name in get("numbers").data["names"])
    assert not get("numbers").data["asked"]["named"]


def test_models_of_other_kinds_are_refused_with_advice():
    with pytest.raises(TypeError, match="LogisticRegression: give a fitted GatedClassifier"):
        collect(LogisticRegression(), [[0.0]], [0])
    with pytest.raises(TypeError, match="GatedClassifier: give a fitted"):
        collect(GatedClassifier, [[0.0]], [0])
    with pytest.raises(NotFittedError):
        collect(GatedClassifier(), [[0.0]], [0])


def test_all_kinds_are_covered(get):
    verdicts = {kind: get(kind).data["chosen"]["verdict"] for kind in KINDS}
    assert verdicts["nothing"] == "no signal"
    assert verdicts["weak"] == "weak signal"
    assert verdicts["classes"] == "clear signal"
    assert get("nothing").data["chosen"]["n_features"] == 0
    assert verdicts["lam"] is None
    assert len(get("exactly").data["selected"]) == 3
    assert get("three").data["chosen"]["features"][0]["stand_ins"] != []
