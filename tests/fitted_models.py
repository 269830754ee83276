"""Small fitted models of every kind, made once, for the tests of files and exports."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
from torch import nn

from problems import as_frame, make_problem, short_training, three_classes
from stochgate import GatedClassifier, GatedCox, Training
from stochgate.networks import MLP, ModuleNetwork

KEPT = ["age", "city", "sex"]


def make_layers(n_columns, n_outputs):
    """Return a small module, as a user would write it."""
    return nn.Sequential(nn.Linear(n_columns, 4), nn.Tanh(), nn.Linear(4, n_outputs, bias=False))


NETWORKS = {
    "linear": "linear",
    "mlp": MLP((6,), activation="tanh"),
    "deep": MLP((6, 4), activation="silu", skip=True),
    "past": MLP((6,), activation="selu", linear=(0, 2)),
    "encoded": "encoded",
    "module": ModuleNetwork(make_layers),
}


def mixed_table(n_samples=120, seed=0):
    """Return a table of numbers and text, both with missing values, and a score they decide."""
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 12, n_samples)
    city = rng.choice(["Rome", "Oslo", "Köln"], n_samples)
    sex = rng.choice(["f", "m"], n_samples)
    score = (age - 50) / 12 + 2.0 * (city == "Oslo") - (sex == "m") + 0.2 * rng.normal(size=n_samples)
    X = pd.DataFrame({"height": rng.normal(size=n_samples), "age": age, "city": city, "sex": sex})
    X.loc[rng.choice(n_samples, 12, replace=False), "age"] = np.nan
    X.loc[rng.choice(n_samples, 12, replace=False), "city"] = None
    return X, score


def target_of(estimator_class, score):
    """Return a y of the estimator's kind that grows with a score."""
    if estimator_class is GatedClassifier:
        return np.where(score > np.median(score), "yes", "no")
    if estimator_class is GatedCox:
        event = np.random.default_rng(1).random(len(score)) > 0.2
        return event, np.exp(-score) + 0.01
    return 1000 + 50 * score


@cache
def fit_numbers(estimator_class, network, dtype="float64", named=False):
    """Return a model of three columns of numbers, and X."""
    X, y = make_problem(estimator_class)
    X = as_frame(X) if named else X
    training = short_training(n_steps=60, gate_lr=0.05, dtype=dtype)
    model = estimator_class(
        50.0, network=NETWORKS[network], always_keep=[0, 1, 4], training=training, random_state=0
    )
    return model.fit(X, y), X


@cache
def fit_table(estimator_class, network="mlp", dtype="float64"):
    """Return a model of a table with text and missing values, and X."""
    X, score = mixed_table()
    training = short_training(n_steps=60, gate_lr=0.05, dtype=dtype)
    model = estimator_class(
        50.0, network=NETWORKS[network], always_keep=KEPT, training=training, random_state=0
    )
    return model.fit(X, target_of(estimator_class, score)), X


@cache
def fit_automatically(estimator_class):
    """Return an automatic choice, whose final model is a team, with its summary, and X."""
    X, y = three_classes() if estimator_class is GatedClassifier else make_problem(estimator_class)
    model = estimator_class(
        cv=3, hidden=(6,), training=Training(n_steps=60, n_snapshots=5, lr=0.03), random_state=0
    ).fit(as_frame(X), y)
    model.summary()
    return model, as_frame(X)


def bend(model):
    """Return the reduced model with values far out drawn in and its output shrunk, as some choices do."""
    small = model.reduced()
    reach = np.full(len(small._predictor.inputs.center), np.inf)
    reach[0] = 0.5
    inputs = replace(small._predictor.inputs, reach=reach)
    small._predictor = replace(small._predictor, inputs=inputs, shrink=0.7)
    return small


def says(model, X):
    """Return all that a model says of X, by method."""
    methods = ("predict", "predict_proba", "decision_function")
    said = {name: getattr(model, name)(X) for name in methods if hasattr(model, name)}
    if isinstance(model, GatedCox) and len(model.baseline_.log_cumulative_hazard) == 1:
        said["survival"] = model.predict_survival_function(X, times=[0.1, 0.5, 1.0, 3.0])
    return said
