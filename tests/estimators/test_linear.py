"""Coefficients of linear models: they predict, they are those of the field's own models, intervals hold."""

import numpy as np
import pandas as pd
import pytest
from lifelines import CoxPHFitter
from scipy.special import expit
from sklearn.linear_model import LinearRegression, LogisticRegression

from problems import ESTIMATORS, linear_response, make_problem, short_fit, three_classes
from stochgate import GatedClassifier, GatedCox, GatedRegressor

AUTO = {"network": "linear", "random_state": 0, "cv": 3}


def linear_fit(estimator_class, X, y):
    return short_fit(
        estimator_class, X, y, lam=0.2, hidden=None, network="linear", training={"n_steps": 300}
    )


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_coefficients_predict_as_the_model_does(estimator_class):
    X, y = make_problem(estimator_class)
    X = 3 + 5 * X
    model = linear_fit(estimator_class, X, y)
    assert 0 < model.support_.sum() < X.shape[1]
    output = X @ model.coef_.T + model.intercept_
    if estimator_class is GatedClassifier:
        assert model.coef_.shape == (1, 6)
        np.testing.assert_allclose(expit(output[:, 0]), model.predict_proba(X)[:, 1], rtol=1e-5)
    else:
        np.testing.assert_allclose(output, model.predict(X), rtol=1e-5, atol=1e-5)
    assert ((model.coef_.reshape(6) != 0) == model.support_).all()


def test_many_classes_and_outputs_have_a_row_each():
    X, y = three_classes()
    model = linear_fit(GatedClassifier, X, y)
    logits = X @ model.coef_.T + model.intercept_
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(expected, model.predict_proba(X), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(logits, model.decision_function(X), rtol=1e-4, atol=1e-5)
    X, y = linear_response()
    model = linear_fit(GatedRegressor, X, np.column_stack([y, -2 * y]))
    np.testing.assert_allclose(X @ model.coef_.T + model.intercept_, model.predict(X), atol=1e-5)


def test_coefficients_of_a_table_have_names():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(50, 9, 150), "sex": rng.choice(["m", "f"], 150)})
    y = X["age"] / 9 + (X["sex"] == X["sex"].mode()[0]) * -2.0 + 0.1 * rng.normal(size=150)
    X.loc[:20, "age"] = np.nan
    model = GatedRegressor(lam=0.01, network="linear", random_state=0).fit(X, y)
    other = (set(X["sex"]) - {X["sex"].mode()[0]}).pop()
    found = model.coefficients()
    assert found["column"].tolist() == ["age", "age (missing)", f"sex={other}"]
    assert not hasattr(model, "coef_")  # scikit-learn would take it for one value per feature
    by_hand = np.column_stack([X["age"].fillna(X["age"].median()), X["age"].isna(), X["sex"] == other])
    expected = LinearRegression().fit(by_hand.astype(float), y).coef_
    np.testing.assert_allclose(found["coefficient"], expected, rtol=0.1)
    np.testing.assert_array_equal(model.reduced().coefficients()["coefficient"], found["coefficient"])


def test_models_with_hidden_layers_have_no_coefficients():
    X, y = linear_response()
    model = short_fit(GatedRegressor, X, y, training={"n_steps": 2})
    assert not hasattr(model, "coef_")
    with pytest.raises(AttributeError, match="no coefficients, since the model has hidden layers"):
        model.coefficients()
    assert not hasattr(GatedRegressor(), "coef_")


def fit_by_others(kind, X, y):
    if kind is GatedCox:
        frame = pd.DataFrame(X).assign(event=y[0], time=y[1])
        return CoxPHFitter().fit(frame, "time", "event").params_.to_numpy()
    made = LinearRegression() if kind is GatedRegressor else LogisticRegression(C=np.inf)
    return made.fit(X, y).coef_.ravel()


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_effects_are_those_of_the_fields_own_models(estimator_class):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4)) * [1, 2, 1, 1]
    score = X[:, 0] - 0.5 * X[:, 1]
    y = {
        GatedRegressor: score + rng.normal(size=300),
        GatedClassifier: rng.random(300) < expit(score),
        GatedCox: (np.ones(300), rng.exponential(np.exp(-score))),
    }[estimator_class]
    model = estimator_class(n_features_to_select=2, **AUTO).fit(X, y)
    effects = model.effects()
    assert effects["column"].tolist() == ["0", "1"]
    expected = fit_by_others(estimator_class, X[:, :2], y)
    np.testing.assert_allclose(effects["coefficient"], expected, rtol=1e-3)
    inside = (effects["low"] < expected) & (expected < effects["high"])
    assert inside.all()
    ratio = {GatedClassifier: "odds_ratio", GatedCox: "hazard_ratio"}.get(estimator_class)
    if ratio is None:
        assert "ratio_low" not in effects
    else:
        np.testing.assert_allclose(effects[ratio], np.exp(effects["coefficient"]))
        np.testing.assert_allclose(effects["ratio_low"], np.exp(effects["low"]))


def test_intervals_belong_to_the_columns_they_stand_beside():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 6)), columns=list("abcdef"))
    y = 0.2 * X["a"] + 2 * X["b"] + X["c"] + 0.3 * rng.normal(size=200)
    model = GatedRegressor(threshold=0.95, **AUTO).fit(X, y)
    effects = model.at(lam=float(model.path_["lam"].min())).effects()
    assert (effects["low"] <= effects["coefficient"]).all()
    assert (effects["coefficient"] <= effects["high"]).all()


def test_a_lower_level_has_narrower_intervals():
    X, y = linear_response(200)
    model = GatedRegressor(n_features_to_select=2, **AUTO).fit(X, y + np.sin(np.arange(200)))
    wide, narrow = model.effects(), model.effects(level=0.5)
    assert (narrow["low"] > wide["low"]).all()
    assert (narrow["high"] < wide["high"]).all()
    with pytest.raises(ValueError, match="give a share between 0 and 1"):
        model.effects(level=95)
    np.testing.assert_array_equal(model.reduced().coef_, model.coef_[model.support_])
