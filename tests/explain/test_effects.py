"""Effects against the field's own models, and what their intervals keep."""

import numpy as np
import pandas as pd
import pytest
from lifelines import CoxPHFitter
from scipy.special import expit
from scipy.stats import t
from sklearn.linear_model import LogisticRegression

from stochgate import GatedClassifier, GatedCox, GatedRegressor, Training
from stochgate.explain.refit import LinearRefit
from stochgate.objectives import Classification, Cox, Regression

AUTO = {
    "network": "linear",
    "training": Training(n_steps=60, n_snapshots=5, dtype="float64"),
    "cv": 2,
    "random_state": 0,
}
RNG = np.random.default_rng(3)
X = RNG.normal(size=(150, 3)) * [1, 5, 0.1]
ETA = X @ [1, -0.1, 3]


def refit(objective, y, columns=X, weights=None, n_outputs=1, groups=None, level=0.95):
    weights = np.ones(len(columns)) if weights is None else weights
    rows = objective.encode(y).rows
    return LinearRefit(objective, rows, columns, weights, n_outputs, groups).intervals(level)


def sandwich(A, curvature, residuals, groups=None):
    """Return the errors of all but the intercept: HC3, or CR1 of groups."""
    inverse = np.linalg.inv(A.T @ (A * curvature[:, None]))
    if groups is None:
        scores = A * (residuals / (1 - ((A @ inverse) * A).sum(1) * curvature))[:, None]
        factor = 1
    else:
        scores = pd.DataFrame(A * residuals[:, None]).groupby(groups).sum().to_numpy()
        factor = len(A) / (len(A) - A.shape[1]) * len(scores) / (len(scores) - 1)
    return np.sqrt(factor * np.diag(inverse @ scores.T @ scores @ inverse))[:-1]


def least_squares(y, weights, groups=None):
    """Return coefficients and sandwich errors of weighted least squares."""
    A = np.column_stack([X, np.ones(len(X))])
    inverse = np.linalg.inv(A.T @ (A * weights[:, None]))
    beta = inverse @ A.T @ (weights * y)
    return beta[:3], sandwich(A, weights, weights * (y - A @ beta), groups)


@pytest.mark.parametrize("groups", [None, np.arange(150) // 5])
def test_of_numbers_they_are_weighted_least_squares_with_the_sandwich(groups):
    y = ETA + RNG.normal(size=150) * (1 + np.abs(X[:, 0]))
    weights = RNG.integers(1, 4, 150).astype(float)
    low, middle, high = refit(Regression(), y, weights=weights, groups=groups)
    beta, error = least_squares(y, weights / weights.mean(), groups)
    np.testing.assert_allclose(middle[0], beta, rtol=1e-5)
    freedom = 146 if groups is None else 29
    np.testing.assert_allclose(high[0] - low[0], 2 * t.isf(0.025, freedom) * error, rtol=1e-4)


def test_of_two_classes_they_are_the_logit():
    y = RNG.random(150) < expit(ETA)
    low, middle, high = refit(Classification(), y)
    beta = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(middle, beta.coef_, rtol=1e-3)
    A = np.column_stack([X, np.ones(150)])
    p = beta.predict_proba(X)[:, 1]
    error = sandwich(A, p * (1 - p), y - p)
    np.testing.assert_allclose(high[0] - low[0], 2 * t.isf(0.025, 146) * error, rtol=1e-3)


def test_of_many_classes_they_are_those_against_the_mean_of_all():
    y = np.argmax(ETA[:, None] * [0, 1, -1] + RNG.gumbel(size=(150, 3)), axis=1)
    low, middle, high = refit(Classification(), y, n_outputs=3)
    beta = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000).fit(X, y).coef_
    np.testing.assert_allclose(middle, beta - beta.mean(axis=0), rtol=1e-3, atol=1e-4)
    assert (high - low > 0).all()


@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_of_survival_they_are_those_of_lin_and_wei(ties):
    event, time = (RNG.random(150) < 0.6).astype(int), RNG.exponential(np.exp(-ETA))
    alone = np.arange(150)
    low, middle, high = refit(Cox(ties), (event, time), groups=alone)
    fitter = CoxPHFitter()
    frame = pd.DataFrame(X).assign(event=event, time=time)
    fitter.fit(frame, "time", "event", robust=True)
    np.testing.assert_allclose(middle[0], fitter.params_, rtol=1e-4)
    n = event.sum()
    error = fitter.standard_errors_ * np.sqrt(n / (n - 3) * 150 / 149)
    np.testing.assert_allclose(high[0] - low[0], 2 * t.isf(0.025, n - 3) * error, rtol=1e-3)
    of_rows = refit(Cox(ties), (event, time))
    assert (np.abs((of_rows[2] - of_rows[0]) / (high - low) - 1) < 0.1).all()


def test_what_rows_cannot_tell_is_nan():
    y = RNG.random(150) < expit(ETA)
    separates = np.where(np.arange(150) < 8, 1.0, 0.0)
    y[:8] = True
    columns = np.column_stack([X, X[:, 1] + X[:, 2], separates, np.ones(150)])
    for part in refit(Classification(), y, columns):
        assert np.isnan(part[0]).tolist() == [False, True, True, True, True, True]
    for part in refit(Regression(), ETA[:3], X[:3]):
        assert np.isnan(part).all()


FITTED = GatedClassifier(n_features_to_select=2, **AUTO)


def test_ratios_are_named_and_said_against_what():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(50, 9, 240), "sex": rng.choice(["f", "m", "m"], 240)})
    frame.loc[::6, "age"] = np.nan
    y = rng.random(240) < expit((frame["age"].fillna(50) - 50) / 5 + 2 * (frame["sex"] == "f") - 1)
    effects = FITTED.fit(frame, y).effects()
    assert effects["column"].tolist() == ["age", "age (missing)", "sex=f"]
    assert effects["against"].tolist() == ["one unit less", "not missing", "m"]
    np.testing.assert_allclose(effects["odds_ratio"], np.exp(effects["coefficient"]))
    np.testing.assert_allclose(effects["ratio_high"], np.exp(effects["high"]))
    assert (effects["ratio_low"] < effects["odds_ratio"]).all()
    per_sd = effects["coefficient"][0] * frame["age"].fillna(frame["age"].median()).std(ddof=0)
    np.testing.assert_allclose(effects["per_sd"], [per_sd, np.nan, np.nan])
    np.testing.assert_allclose(effects["ratio_per_sd"][0], np.exp(per_sd))


def test_a_network_with_hidden_layers_has_the_effects_of_a_linear_model_beside_it():
    given = {**AUTO, "network": "mlp", "n_features_to_select": 2}
    y = ETA + RNG.normal(size=150)
    model = GatedRegressor(**given).fit(X, y)
    _, middle, _ = refit(Regression(), y, X[:, model.support_])
    np.testing.assert_allclose(model.effects()["coefficient"], middle[0], rtol=1e-4)


def test_rows_of_their_own_do_for_any_model():
    y = RNG.random(150) < expit(ETA)
    model = GatedClassifier(n_features_to_select=2, **AUTO).fit(X, y)
    of_fit = model.effects()
    weights = np.r_[np.ones(150), np.zeros(150)]  # a row of weight 0 is not there
    twice = np.tile(X, (2, 1)), np.r_[y, ~y]
    for loaded in (model.reduced(), model.forget_data()):
        columns = twice[0][:, model.support_] if loaded is not model else twice[0]
        found = loaded.effects(columns, twice[1], sample_weight=weights)
        np.testing.assert_allclose(found["low"], of_fit["low"], rtol=1e-6)
        with pytest.raises(ValueError, match=r"give others, effects\(X, y\)"):
            loaded.effects()


def test_rows_of_the_same_group_count_together():
    X_twice, groups = np.repeat(X, 2, axis=0), np.repeat(np.arange(150), 2)
    y = np.repeat(ETA + RNG.normal(size=150), 2)
    model = GatedRegressor(n_features_to_select=2, **AUTO).fit(X_twice, y, groups=groups)
    together, apart = model.effects(), model.effects(X_twice, y)
    wider = (together["high"] - together["low"]) / (apart["high"] - apart["low"])
    np.testing.assert_allclose(wider, np.sqrt(2), rtol=0.02)


def test_values_far_out_are_drawn_in_as_the_model_has_them():
    rng = np.random.default_rng(1)
    columns = rng.normal(size=(300, 3))
    columns[:3, 0] = 400
    y = columns[:, 0].clip(-3, 3) + 0.3 * rng.normal(size=300)
    effects = GatedRegressor(n_features_to_select=1, **AUTO).fit(columns, y).effects()
    assert effects["against"].tolist() == ["one unit less, near the middle"]


def test_nothing_selected_is_said():
    y = np.random.default_rng(0).normal(size=150)
    with pytest.warns(UserWarning, match="No feature was selected"):
        model = GatedRegressor(**AUTO).fit(X, y)
    with pytest.raises(ValueError, match="No feature is selected"):
        model.effects()


def test_survival_takes_rows_of_its_own():
    event, time = np.ones(150), RNG.exponential(np.exp(-ETA))
    model = GatedCox(n_features_to_select=2, **AUTO).fit(X, (event, time))
    found = model.effects(X[:100], (event[:100], time[:100]))
    assert (found["ratio_low"] < found["hazard_ratio"]).all()
    assert (found["high"] - found["low"] > (model.effects()["high"] - model.effects()["low"])).all()
