"""Log-odds are what probabilities are made of."""

import numpy as np
import pytest
from scipy.special import expit, softmax

from problems import short_fit, three_classes, two_classes
from stochgate import GatedClassifier, NoFeatureSelectedWarning


def test_two_classes_have_the_log_odds_of_the_second():
    X, y = two_classes()
    model = short_fit(GatedClassifier, X, np.array(["no", "yes"])[y])
    found = model.decision_function(X)
    assert found.shape == (len(X),)
    np.testing.assert_allclose(expit(found), model.predict_proba(X)[:, 1], rtol=1e-12)
    np.testing.assert_array_equal(found > 0, model.predict(X) == "yes")


def test_more_classes_have_a_logit_each():
    X, y = three_classes()
    model = short_fit(GatedClassifier, X, y)
    found = model.decision_function(X)
    assert found.shape == (len(X), 3)
    np.testing.assert_allclose(softmax(found, axis=1), model.predict_proba(X), rtol=1e-12)


def test_without_features_it_is_the_base_rate():
    X, y = two_classes()
    with pytest.warns(NoFeatureSelectedWarning):
        model = short_fit(GatedClassifier, X, y, lam=1e4)
    np.testing.assert_allclose(model.decision_function(X), np.log(y.mean() / (1 - y.mean())))
