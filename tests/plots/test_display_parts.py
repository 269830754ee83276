"""Names are written as they are, texts keep their distance, and every display keeps the convention."""

import pickle
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given as each
from hypothesis import strategies

from choices import FAST
from problems import normal_columns
from stochgate import GatedRegressor, plots
from stochgate.plots.display import label_of, names_of, spread_out

DISPLAYS = ["PathDisplay", "GatesDisplay", "StabilityDisplay", "ImportanceDisplay"]


@pytest.mark.parametrize("name", DISPLAYS)
def test_a_display_draws_on_new_axes_or_on_given_ones_and_returns_itself(chosen, name):
    from matplotlib import pyplot

    display = getattr(plots, name).from_estimator(chosen[0])
    assert display.ax_.figure is display.figure_
    axes = pyplot.figure(layout="constrained").subplots(1, 2)
    assert display.plot(ax=axes[1]) is display
    assert display.ax_ is axes[1]
    assert display.figure_ is axes[1].figure
    assert not axes[0].has_data()
    display.figure_.canvas.draw()  # where a name that is taken for mathematics would fail


@pytest.mark.parametrize("name", DISPLAYS)
def test_an_estimator_that_is_not_fitted_is_refused(name):
    with pytest.raises(ValueError, match="not fitted"):  # NotFittedError is one
        getattr(plots, name).from_estimator(GatedRegressor())


@pytest.mark.parametrize("name", DISPLAYS)
def test_a_pickled_model_without_data_is_drawn(chosen, name):
    display = getattr(plots, name).from_estimator(pickle.loads(pickle.dumps(chosen[0])))
    assert display.ax_.has_data()


@pytest.mark.parametrize("name", DISPLAYS)
def test_a_model_without_features_is_drawn(name):
    X, y = normal_columns(60, 4), normal_columns(60, 1, seed=5)[:, 0]
    with pytest.warns(UserWarning, match="No feature"):
        model = GatedRegressor(network="linear", **FAST).fit(X, y)
    getattr(plots, name).from_estimator(model).figure_.canvas.draw()


@pytest.mark.parametrize("name", ["PathDisplay", "StabilityDisplay", "ScoreDisplay"])
def test_a_given_penalty_has_nothing_to_compare(given, name):
    rows = () if name != "ScoreDisplay" else (np.zeros((4, 6)), [0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"GatedClassifier has no .*lam='auto'"):
        getattr(plots, name).from_estimator(given, *rows)


def test_drawing_without_matplotlib_names_it(chosen, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"matplotlib: pip install stochgate\[plots\]"):
        plots.PathDisplay.from_estimator(chosen[0])


@each(strategies.text())
def test_any_text_becomes_a_label_of_one_line(name):
    from matplotlib.cbook import is_math_text

    label = label_of(name, most=10)
    assert 0 < len(label.replace(r"\$", "$")) <= 10 + label.count("\\")
    assert label.isprintable()
    assert not is_math_text(label)


def test_long_names_keep_both_ends():
    assert label_of("a" * 30 + "b" * 30, most=9) == "aaaa…bbbb"
    assert label_of("short") == "short"
    assert label_of(7) == "7"
    assert label_of("\n") == "(no name)"


@each(strategies.lists(strategies.floats(0, 1), max_size=30))
def test_texts_are_apart_in_order_and_within_the_axes(positions):
    apart = spread_out(np.array(positions), gap=0.05)
    order = np.argsort(positions, kind="stable")
    assert (np.diff(np.sort(apart)) >= min(0.05, 1 / max(len(positions), 1)) - 1e-9).all()
    assert ((apart > -1e-9) & (apart < 1 + 1e-9)).all()
    for before, after in pairwise(order):
        assert positions[before] == positions[after] or apart[before] < apart[after]


def test_features_without_names_are_called_by_their_position(given, chosen):
    assert names_of(given) == [0, 1, 2, 3, 4, 5]
    assert names_of(chosen[0])[0] == "$x_"
