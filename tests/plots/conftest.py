"""Fitted models that the tests of the displays share, and figures that are closed again."""

import numpy as np
import pandas as pd
import pytest

from choices import FAST
from problems import survival_times, two_classes
from stochgate import GatedClassifier, GatedCox

HOSTILE = [
    "$x_",
    "a$b$c",
    "<script>",
    "_hidden",
    "a name that goes on\nand on and on, and does not end",
    "",
]


@pytest.fixture(autouse=True)
def _close_figures():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    yield
    from matplotlib import pyplot

    pyplot.close("all")


@pytest.fixture(scope="session")
def chosen():
    """Return a model of two of six columns with unfriendly names, chosen automatically, and new rows."""
    X, y = two_classes(300)
    X = pd.DataFrame(X, columns=HOSTILE)
    model = GatedClassifier(network="linear", **FAST).fit(X[:200], y[:200])
    assert np.flatnonzero(model.get_support()).tolist() == [0, 1]
    return model, X[200:], y[200:]


@pytest.fixture(scope="session")
def given():
    """Return a model without names whose penalty was given."""
    X, y = two_classes(200)
    return GatedClassifier(lam=0.5, network="linear", **FAST).fit(X, y)


@pytest.fixture(scope="session")
def cox():
    """Return a Cox model and the rows it has not seen."""
    X, y = survival_times(200)
    model = GatedCox(lam=0.5, network="linear", **FAST).fit(X[:120], y[:120])
    return model, X[120:], y[120:]
