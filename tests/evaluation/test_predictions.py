"""An evaluation keeps what was predicted for each row by the model that had not seen it."""

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, ShuffleSplit, cross_val_predict
from sklearn.preprocessing import StandardScaler

from stochgate import evaluate

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
y = X[:, 0] + RNG.normal(size=40)


def test_predictions_are_those_of_cross_val_predict():
    cv = KFold(4, shuffle=True, random_state=1)
    expected = cross_val_predict(LinearRegression(), X, y, cv=cv)
    np.testing.assert_allclose(evaluate(LinearRegression(), X, y, cv=cv).predictions, expected)


def test_rows_left_out_twice_or_never_give_no_predictions():
    assert evaluate(LinearRegression(), X, y, cv=ShuffleSplit(3, random_state=0)).predictions is None
    no_weight = np.where(np.arange(40) == 3, 0.0, 1.0)
    assert evaluate(LinearRegression(), X, y, sample_weight=no_weight).predictions is None


def test_a_model_that_predicts_nothing_has_no_predictions():
    found = evaluate(StandardScaler(), X, y, cv=2, scoring=lambda model, X, y: 1.0)
    assert found.predictions is None
