"""Small fitted models of every kind, and their pages."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from problems import linear_response, normal_columns, survival_times, three_classes, two_classes
from stochgate import (
    Evaluation,
    GatedClassifier,
    GatedCox,
    GatedRegressor,
    NoFeatureSelectedWarning,
    Training,
    evaluate,
    survival_target,
)
from stochgate.report import collect, render

HOSTILE = [
    "<script>window.hacked = 1; alert(1)</script>",
    "</script><img src=x onerror='window.hacked = 2'>",
    "quotes \" and ' and &amp; and `${window.hacked = 3}`",
    "two\nlines\u2028and more\u2029",
    "Größe 身長 🧬 \u202ereversed",
    "--><svg onload='window.hacked = 4'>",
]
FAST = Training(n_steps=100)
KINDS = (
    "classes",
    "three",
    "mixed",
    "numbers",
    "survival",
    "weak",
    "nothing",
    "asked",
    "found",
    "lam",
    "sparse",
    "exactly",
    "at",
    "judged",
)


@dataclass
class Fitted:
    """A fitted model, what it was fitted to, and what its report holds."""

    model: Any
    X: Any
    y: Any
    evaluation: Evaluation | None = None

    def __post_init__(self):
        self.data = collect(self.model, self.X, self.y, evaluation=self.evaluation)
        self.page = render(self.data)


def quick(estimator, **parameters):
    return estimator(network="linear", training=FAST, random_state=0, **parameters)


def _classes():
    X, y = two_classes()
    X = pd.DataFrame(X, columns=HOSTILE)
    y = pd.Series(np.where(y == 1, "<b>ill</b>", "well"), name="<u>state</u>")
    return Fitted(quick(GatedClassifier).fit(X, y), X, y)


def _three():
    X, y = three_classes()
    noise = np.random.default_rng(5).normal(size=(2, len(X))) / 2
    X = pd.DataFrame({"a": X[:, 0] + noise[0], "like a": X[:, 0] + noise.sum(axis=0), "b": X[:, 1]})
    y = pd.Series(np.array(["low", "middle", "high"])[y], name="level")
    return Fitted(quick(GatedClassifier).fit(X, y), X, y)


def _mixed():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"age": rng.normal(size=150), "town": rng.choice(["<i>Bern</i>", "Basel", "Chur"], 150)}
    )
    X["weight"] = np.where(rng.random(150) < 0.2, np.nan, rng.normal(size=150))
    y = X["age"] + 2 * (X["town"] == "Basel") + 0.3 * rng.normal(size=150)
    return Fitted(quick(GatedRegressor).fit(X, y.rename("dose")), X, y.rename("dose"))


def _numbers():
    X, y = linear_response()
    return Fitted(quick(GatedRegressor).fit(X, y), X, y)


def _survival():
    X, y = survival_times()
    X, y = pd.DataFrame(X, columns=list("abcdef")), survival_target(y[:, 0], y[:, 1])
    return Fitted(quick(GatedCox).fit(X, y), X, y)


def _nothing():
    X, y = normal_columns(80, 5), np.arange(80) % 2
    with pytest.warns(NoFeatureSelectedWarning):
        model = quick(GatedClassifier).fit(X, y)
    return Fitted(model, X, y)


def _weak():
    X = normal_columns(120, 8)
    y = 0.27 * X[:, 0] + normal_columns(120, 1, seed=100)[:, 0]
    return Fitted(quick(GatedRegressor).fit(X, y), X, y)


def _asked():
    """Return a model of so many features although there is no signal."""
    X, y = normal_columns(80, 5), np.arange(80) % 2
    return Fitted(quick(GatedClassifier, n_features_to_select=2).fit(X, y), X, y)


def _found():
    """Return a model of features that something else has found."""
    X, y = two_classes()
    model = quick(GatedClassifier, always_keep=[0, 1]).fit(X[:, :2], y)
    headline = "Found at a false discovery rate of 0.1: 'a' (q 0.01), 'b' (q 0.02)."
    model._summary = replace(model.summary(), headline=headline, n_features_in=6, n_kept=0)
    return Fitted(model, X[:, :2], y)


def _lam():
    X, y = two_classes()
    return Fitted(quick(GatedClassifier, lam=0.3).fit(X, y), X, y)


def _sparse():
    X, y = two_classes()
    X = sparse.csr_array(np.where(np.abs(X) > 0.3, X, 0))
    return Fitted(quick(GatedClassifier).fit(X, y), X, y)


def _exactly():
    X, y = linear_response()
    return Fitted(quick(GatedRegressor, n_features_to_select=3).fit(X, y), X, y)


def _at():
    """Return a model of a size that was never judged: its loss is not known."""
    found = fitted("numbers")
    return Fitted(found.model.at(k=5), found.X, found.y)


def _judged():
    X, y = two_classes()
    model = quick(GatedClassifier, lam=0.3)
    found = evaluate(model, X, y, cv=3, random_state=0)
    return Fitted(quick(GatedClassifier).fit(X, y), X, y, found)


_MAKERS = {name: globals()[f"_{name}"] for name in KINDS}
_MADE: dict[str, Fitted] = {}


def fitted(kind):
    """Return the model of a kind, fitted once."""
    if kind not in _MADE:
        _MADE[kind] = _MAKERS[kind]()
    return _MADE[kind]
