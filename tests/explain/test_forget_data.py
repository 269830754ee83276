"""A fitted model can let go of the data of its fit."""

import gc
import weakref

import numpy as np
import pytest

from problems import linear_response, short_training
from stochgate import GatedRegressor


def fit():
    X, y = linear_response()
    model = GatedRegressor(network="linear", cv=3, training=short_training(), random_state=0)
    return model.fit(X, y), X, weakref.ref(X)


def test_the_data_are_gone_and_predictions_stay():
    model, X, reference = fit()
    rows = X[:5].copy()
    before = model.predict(rows)
    del X
    gc.collect()
    assert reference() is not None
    assert model.forget_data() is model
    gc.collect()
    assert reference() is None
    np.testing.assert_array_equal(model.predict(rows), before)
    assert model.transform(rows).shape == (5, model.support_.sum())


def test_what_needs_the_data_says_so():
    model, _, _ = fit()
    model.forget_data()
    with pytest.raises(ValueError, match=r"summary\(\) needs the data of the fit.*forget_data"):
        model.summary()
    with pytest.raises(ValueError, match=r"at\(\) needs a fit .*forget_data"):
        model.at(k=1)


def test_a_summary_made_before_stays():
    model, _, _ = fit()
    text = model.summary().text
    assert model.forget_data().summary().text == text


def test_a_model_at_another_penalty_forgets_too():
    model = fit()[0].at(lam=0.5).forget_data()
    with pytest.raises(ValueError, match="needs the data"):
        model.summary()
