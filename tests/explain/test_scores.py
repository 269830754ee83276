"""Accuracy, R2 and C of the models that were judged."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    r2_score,
    recall_score,
    roc_auc_score,
)
from sklearn.model_selection import LeaveOneOut

from problems import ESTIMATORS, make_problem, normal_columns, short_training, three_classes
from stochgate import GatedClassifier, GatedRegressor, survival_target
from stochgate.choice import recipe
from stochgate.engine.data import Scaling
from stochgate.engine.trained import _join_scaling
from stochgate.explain import scores as explain_scores
from stochgate.explain.scores import held_out_scores
from stochgate.metrics import concordance_index
from stochgate.objectives import Classification, Cox, Regression

WEIGHTS = np.random.default_rng(3).integers(0, 3, size=(2, 60)).astype(float)


def scores(objective, output, y):
    """Return an objective's scores of two models with weights of their own."""
    rows, weights = objective.encode(y).rows, torch.from_numpy(WEIGHTS)
    return objective.score(torch.from_numpy(output), rows, weights, objective.learn(rows, weights)).numpy()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_accuracy_is_scikit_learns(n_classes):
    rng = np.random.default_rng(0)
    y, output = rng.integers(0, n_classes, 60), rng.normal(size=(2, 60, 1 if n_classes == 2 else 3))
    told = (output[..., 0] > 0) if n_classes == 2 else output.argmax(2)
    theirs = [accuracy_score(y, t, sample_weight=w) for t, w in zip(told, WEIGHTS, strict=True)]
    np.testing.assert_allclose(scores(Classification(), output, y), theirs)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_r2_is_scikit_learns(n_outputs):
    rng = np.random.default_rng(0)
    y, output = rng.normal(size=(60, n_outputs)), rng.normal(size=(2, 60, n_outputs))
    theirs = [r2_score(y, f, sample_weight=w) for f, w in zip(output, WEIGHTS, strict=True)]
    np.testing.assert_allclose(scores(Regression(standardize=False), output, y), theirs)


@pytest.mark.parametrize("parts", [{}, {"entry", "strata"}], ids=["plain", "entry and strata"])
def test_c_is_that_of_the_metrics(parts):
    rng = np.random.default_rng(0)
    event, time = rng.random(60) < 0.6, rng.integers(2, 12, 60).astype(float)
    more = {"entry": rng.uniform(0, 2, 60), "strata": rng.integers(0, 2, 60)}
    given = {name: more[name] for name in parts}
    y = survival_target(event, time, **given)
    output = rng.normal(size=(2, 60, 1)).round(1)  # with ties
    theirs = [
        concordance_index(event, time, f[:, 0], sample_weight=w, **given)
        for f, w in zip(output, WEIGHTS, strict=True)
    ]
    np.testing.assert_allclose(scores(Cox(), output, y), theirs)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_summary_tells_what_all_columns_reach(estimator_class):
    X, y = make_problem(estimator_class)
    model = estimator_class(network="linear", cv=3, training=short_training(), random_state=0).fit(X, y)
    summary = model.summary()
    found = summary.scores
    assert summary.score_name in ("accuracy", "R2", "C")
    assert found["none"] + 0.2 < min(found["selected"], found["all"])
    assert f"columns reach {found['selected']:.3f}, all columns {found['all']:.3f}" in summary.text


def test_scores_are_those_of_held_out_rows():
    """Without a signal an MLP learns its rows by heart; that must not show."""
    X, y = normal_columns(60, 20), np.arange(60) % 2
    model = GatedClassifier(cv=3, n_features_to_select=20, training=short_training(), random_state=0)
    found = model.set_params(network="mlp").fit(X, y).summary().scores
    assert found["selected"] < 0.75


def test_scores_with_what_a_second_look_added():
    X = normal_columns(300, 8)
    noise = normal_columns(300, 1, seed=9)[:, 0]
    model = GatedRegressor(network="linear", cv=3, random_state=0, training=short_training())
    model.fit(X, 3 * X[:, 0] + 0.25 * X[:, 1] + noise)
    found = model.summary().scores
    assert model._choice.added
    assert found["selected"] == pytest.approx(found["all"], abs=0.03)


def test_classes_that_no_fold_misses_are_scored():
    X, y = three_classes()
    model = GatedClassifier(network="linear", cv=3, training=short_training(), random_state=0).fit(X, y)
    assert model.summary().scores["all"] > 0.8


def test_models_that_centre_and_models_that_do_not_are_joined():
    one = torch.ones(1, 2)
    joined = _join_scaling([Scaling(one, None), Scaling(one, 3 * one)])
    assert joined.shift.tolist() == [[0, 0], [3, 3]]
    assert _join_scaling([Scaling(one, None), Scaling(one, None)]).shift is None


def test_all_columns_are_scored_by_a_team_as_they_were_judged(monkeypatch):
    X, y = make_problem(GatedClassifier)
    model = GatedClassifier(network="mlp", cv=3, training=short_training(), random_state=0).fit(X, y)
    teams = []
    for module in (recipe, explain_scores):
        plan = module.plan_refits
        count = lambda *a, plan=plan, **k: teams.append(k["n_members"]) or plan(*a, **k)  # noqa: E731
        monkeypatch.setattr(module, "plan_refits", count)
    held_out_scores(model._choice)
    assert teams == [4, 4]


def test_kept_columns_are_open_where_nothing_else_is_selected():
    X = normal_columns(100, 4)
    y = X[:, 0] + 0.1 * X[:, 1]
    model = GatedRegressor(
        network="linear", cv=3, always_keep=[0], training=short_training(), random_state=0
    )
    model.fit(X, y)
    choice = replace(model._choice, opened=np.zeros_like(model._choice.opened), added=False)
    assert held_out_scores(choice)["R2"]["selected"] > 0.9


def test_folds_that_can_not_be_judged_are_left_out():
    X, y = make_problem(GatedRegressor, n_samples=20)
    model = GatedRegressor(network="linear", cv=LeaveOneOut(), training=short_training(), random_state=0)
    assert "R2" not in model.fit(X, y).summary().text.split("direction")[0]


def test_a_summary_calls_no_callbacks():
    X, y = make_problem(GatedRegressor)
    calls = []
    model = GatedRegressor(
        network="linear", cv=3, training=short_training(), random_state=0, callbacks=[calls.append]
    ).fit(X, y)
    n_calls = len(calls)
    model.summary()
    assert len(calls) == n_calls > 0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_beside_accuracy_are_scikit_learns(n_classes):
    rng = np.random.default_rng(0)
    y, output = rng.integers(0, n_classes, 60), rng.normal(size=(2, 60, 1 if n_classes == 2 else 3))
    objective, weights = Classification(), torch.from_numpy(WEIGHTS)
    target = objective.encode(np.array(["a", "b", "c"])[y])
    found = objective.other_scores(torch.from_numpy(output), target.rows, weights, {}, target.facts)
    told = (output[..., 0] > 0) if n_classes == 2 else output.argmax(2)
    for i, weight in enumerate(WEIGHTS):
        if n_classes == 3:
            theirs = {"balanced accuracy": balanced_accuracy_score(y, told[i], sample_weight=weight)}
        else:
            recalls = [recall_score(y, told[i], pos_label=k, sample_weight=weight) for k in (1, 0)]
            theirs = {"AUC": roc_auc_score(y, output[i, :, 0], sample_weight=weight)}
            theirs |= dict(zip(("sensitivity (b)", "specificity (a)"), recalls, strict=True))
        assert {name: float(values[i]) for name, values in found.items()} == pytest.approx(theirs)


def test_a_summary_tells_what_accuracy_hides():
    X, y = make_problem(GatedClassifier)
    summary = GatedClassifier(network="linear", cv=3, training=short_training(), random_state=0)
    summary = summary.fit(X, y).summary()
    assert list(summary.other_scores) == ["AUC", "sensitivity (1)", "specificity (0)"]
    own = summary.other_scores["AUC"]
    assert own["none"] == 0.5 < own["selected"]
    assert f"beside it: AUC {own['selected']:.3f} (all columns {own['all']:.3f}), sens" in summary.text


@pytest.mark.parametrize("class_weight", ["balanced", {0: 1, 1: 50}])
def test_without_columns_the_most_common_class_is_told_whatever_classes_weigh(class_weight):
    X, y = normal_columns(120, 4), (np.arange(120) % 10 == 0).astype(int)
    X[:, 0] += 3 * y
    model = GatedClassifier(network="linear", cv=3, training=short_training(), random_state=0)
    model.set_params(class_weight=class_weight).fit(X, y)
    assert model.summary().scores["none"] == pytest.approx(0.9)
