"""Frequencies and importances: the highest first, selected ones in colour."""

import numpy as np
import pytest
from matplotlib.colors import to_hex

from choices import FAST
from problems import linear_response, two_classes
from stochgate import GatedClassifier, GatedRegressor, StabilitySelector
from stochgate.explain.summary import wilson_interval
from stochgate.plots import ImportanceDisplay, StabilityDisplay
from stochgate.plots.display import OTHERS, SELECTED

SHOWN = {"names": ["a", "b", "c"], "selected": np.array([True, False, True])}


def labels(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def test_the_most_frequent_come_first_with_their_interval(chosen):
    model = chosen[0]
    display = StabilityDisplay.from_estimator(model)
    assert labels(display)[:2] == [r"\$x_", r"a\$b\$c"]
    n_folds = len(model._choice.opened)
    ends = [segment[:, 0].tolist() for segment in display.intervals_.get_segments()]
    assert ends[0] == pytest.approx(wilson_interval(1.0, n_folds))
    assert f"share of {n_folds} folds" in display.ax_.get_xlabel()
    assert display.threshold_ is None


def test_a_selector_shows_its_halves_and_its_threshold():
    X, y = linear_response(100, 8)
    estimator = GatedRegressor(lam=0.5, network="linear", **FAST)
    selector = StabilitySelector(estimator, threshold=0.8, n_pairs=4, random_state=0).fit(X, y)
    display = StabilityDisplay.from_estimator(selector)
    assert display.threshold_.get_xdata() == [0.8, 0.8]
    assert "8 halves" in display.ax_.get_xlabel()
    points = display.points_.get_offsets()[:, 0]
    assert sorted(points, reverse=True) == sorted(selector.selection_frequency_, reverse=True)


def test_features_that_are_kept_have_no_interval():
    X, y = two_classes(200)
    model = GatedClassifier(network="linear", always_keep=[4], **FAST).fit(X, y)
    display = StabilityDisplay.from_estimator(model)
    place = labels(display).index("4")
    segments = display.intervals_.get_segments()
    assert np.ptp(segments[place][:, 0]) == 0
    assert sum(np.ptp(segment[:, 0]) > 0 for segment in segments) == 5


def test_only_so_many_frequencies_are_shown():
    display = StabilityDisplay(frequency=np.array([0.4, 0.2, 0.6]), n_draws=5, **SHOWN).plot(n_shown=2)
    assert labels(display) == ["c", "a"]
    assert "(1 more feature is not shown)" in display.ax_.get_xlabel()
    assert labels(display.plot()) == ["c", "a", "b"]


def test_of_equal_frequencies_the_selected_come_first():
    display = StabilityDisplay(frequency=np.array([0.5, 1.0, 1.0]), n_draws=5, **SHOWN).plot()
    assert labels(display) == ["c", "b", "a"]
    colours = [to_hex(colour) for colour in display.points_.get_facecolors()]
    assert colours == [colour.lower() for colour in (SELECTED, OTHERS, SELECTED)]


@pytest.mark.parametrize("model", ["chosen", "given"])
def test_importances_are_those_of_the_model(model, request):
    model = request.getfixturevalue(model)
    model = model[0] if isinstance(model, tuple) else model
    display = ImportanceDisplay.from_estimator(model)
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, np.sort(model.feature_importances_)[::-1])
    colours = [to_hex(bar.get_facecolor()) for bar in display.bars_]
    assert colours.count(SELECTED.lower()) == model.support_.sum()


def test_only_so_many_importances_are_shown():
    display = ImportanceDisplay(importance=np.array([0.4, 0.2, 0.6]), **SHOWN).plot(n_shown=1)
    assert labels(display) == ["c"]
