"""Pictures show the numbers they are given."""

import sys

import numpy as np
import pytest

from stochgate import GatedRegressor, Training, plots
from stochgate.datasets import make_linear
from stochgate.metrics import survival_curves_by_risk
from survival_problems import tied_problem

PATH = [
    {
        "network": "mlp",
        "stage": "path",
        "lam": 2.0,
        "n_features": 1,
        "held_out_loss": 3.0,
        "held_out_sd": 0.1,
    },
    {
        "network": "mlp",
        "stage": "path",
        "lam": 1.0,
        "n_features": 4,
        "held_out_loss": 2.0,
        "held_out_sd": 0.2,
    },
    {
        "network": "mlp",
        "stage": "refit",
        "lam": 1.0,
        "n_features": 4,
        "held_out_loss": 1.0,
        "held_out_sd": 0.2,
    },
    {
        "network": "linear",
        "stage": "path",
        "lam": 1.0,
        "n_features": 2,
        "held_out_loss": 2.5,
        "held_out_sd": 0.3,
    },
]


@pytest.fixture
def ax():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    yield axes
    pyplot.close(figure)


def test_the_path_is_sorted_and_leaves_out_refits():
    losses = plots.losses_along_path(PATH)
    assert losses["mlp"]["lam"].tolist() == [1.0, 2.0]
    assert losses["mlp"]["held_out_loss"].tolist() == [2.0, 3.0]
    assert losses["linear"]["n_features"].tolist() == [2]
    pandas = pytest.importorskip("pandas")
    of_frame = plots.losses_along_path(pandas.DataFrame(PATH))
    assert of_frame["mlp"]["lam"].tolist() == [1.0, 2.0]


def test_pictures_show_the_numbers(ax):
    groups = survival_curves_by_risk(*tied_problem())
    plots.draw_survival_curves(groups, ax)
    for line, curve in zip(ax.get_lines(), groups.curves, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), curve.survival)
    assert f"{groups.p_value:.2g}" in ax.get_title()
    ax.clear()
    plots.draw_path(plots.losses_along_path(PATH), ax)
    assert [line.get_label() for line in ax.get_lines()] == ["mlp", "linear"]


def test_scores_along_the_path_are_those_of_the_models_at_its_penalties(ax):
    problem = make_linear(250, 8, n_relevant=2, random_state=0)
    X, y = problem.X, problem.y
    training = Training(n_steps=60)
    model = GatedRegressor(network="linear", training=training, random_state=0).fit(X[:200], y[:200])
    scores = plots.scores_along_path(model, X[200:], y[200:])
    assert (np.diff(scores["lam"]) > 0).all()
    assert scores["lam"].tolist() == sorted(model.path_.query("stage == 'path'")["lam"])
    for lam, n_features, score in zip(*scores.values(), strict=True):
        alone = model.at(lam=lam)
        assert (alone.get_support().sum(), alone.score(X[200:], y[200:])) == (n_features, score)
    plots.draw_scores(scores, ax)
    np.testing.assert_array_equal(ax.get_lines()[0].get_ydata(), scores["score"])
    assert [text.get_text() for text in ax.texts] == [str(n) for n in scores["n_features"]]


def test_a_table_without_a_path_is_refused():
    with pytest.raises(ValueError, match="no path of penalties"):
        plots.losses_along_path([row for row in PATH if row["stage"] == "refit"])


def test_drawing_without_matplotlib_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"matplotlib: pip install stochgate\[plots\]"):
        plots.draw_path({})
