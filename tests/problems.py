"""Small problems with a known answer, shared by the tests."""

import numpy as np
import pandas as pd

from stochgate import GatedClassifier, GatedCox, GatedRegressor, Training

ESTIMATORS = [GatedClassifier, GatedRegressor, GatedCox]


def normal_columns(n_samples=120, n_features=6, seed=0):
    """Return independent standard normal columns."""
    return np.random.default_rng(seed).normal(size=(n_samples, n_features))


def two_classes(n_samples=120, n_features=6, seed=0):
    """Return X and labels 0 and 1 that columns 0 and 1 decide, with some noise."""
    X = normal_columns(n_samples, n_features, seed)
    noise = np.random.default_rng(seed + 1).normal(size=n_samples)
    return X, (2 * X[:, 0] - 2 * X[:, 1] + 0.5 * noise > 0).astype(int)


def three_classes(n_samples=150, n_features=6, seed=0):
    """Return X and labels 0, 1 and 2 that column 0 decides."""
    X = normal_columns(n_samples, n_features, seed)
    return X, np.digitize(X[:, 0], [-0.5, 0.5])


def linear_response(n_samples=120, n_features=6, seed=0):
    """Return X and a y that is linear in columns 0 and 1, with some noise."""
    X = normal_columns(n_samples, n_features, seed)
    noise = np.random.default_rng(seed + 1).normal(size=n_samples)
    return X, 2 * X[:, 0] - X[:, 1] + 0.3 * noise


def survival_times(n_samples=120, n_features=6, seed=0):
    """Return X and y = (event, time) whose hazard grows with column 0; a fifth is censored."""
    X = normal_columns(n_samples, n_features, seed)
    rng = np.random.default_rng(seed + 1)
    time = rng.exponential(np.exp(-1.5 * X[:, 0]))
    event = rng.random(n_samples) > 0.2
    return X, np.column_stack([event, time])


PROBLEMS = {
    GatedClassifier: two_classes,
    GatedRegressor: linear_response,
    GatedCox: survival_times,
}


def make_problem(estimator_class, **sizes):
    """Return X and y of the kind the estimator learns from."""
    return PROBLEMS[estimator_class](**sizes)


def short_training(**changes):
    """Return settings that train in a tenth of a second and leave no rounding to speak of."""
    return Training(**{"n_steps": 150, "n_snapshots": 2, "dtype": "float64", **changes})


def short_fit(estimator_class, X, y, sample_weight=None, training=None, **parameters):
    """Return the estimator, fitted with a small budget and a fixed seed."""
    parameters = {"lam": 0.1, "hidden": (8,), "random_state": 0, **parameters}
    training = short_training(**(training or {}))
    model = estimator_class(training=training, **parameters)
    return model.fit(X, y, sample_weight=sample_weight)


def predictions(model, X):
    """Return what the model says of X as numbers: probabilities where it has them."""
    return (model.predict_proba if hasattr(model, "predict_proba") else model.predict)(X)


def as_frame(X):
    """Return X as a DataFrame with the columns "a", "b", ..."""
    return pd.DataFrame(X, columns=list("abcdefghijklmnopqrstuvwxyz"[: X.shape[1]]))
