"""Scores of other sizes are those of `at`, and curves those of the risk groups."""

import numpy as np
import pytest

from stochgate import survival_target
from stochgate.metrics import survival_curves_by_risk
from stochgate.plots import ScoreDisplay, SurvivalDisplay
from stochgate.plots.score import sizes_around


def test_scores_are_those_of_the_model_at_each_size(chosen):
    model, X, y = chosen
    display = ScoreDisplay.from_estimator(model, X, y, ks=[4, 1, 2])
    assert display.line_.get_xdata().tolist() == [1, 2, 4]
    assert display.score.tolist() == [model.at(k=k).score(X, y) for k in (1, 2, 4)]
    assert display.chosen_.get_xdata() == [2]
    assert display.chosen_.get_ydata() == [model.score(X, y)]
    assert display.ax_.get_ylabel() == "accuracy"
    assert ScoreDisplay.from_estimator(model, X, y).k.tolist() == sizes_around(2, 6)


def test_a_model_that_has_let_go_of_its_data_has_no_other_sizes(chosen):
    import copy

    model, X, y = chosen
    with pytest.raises(ValueError, match="data of the fit"):
        ScoreDisplay.from_estimator(copy.copy(model).forget_data(), X, y)


def test_sizes_lie_around_the_chosen_number():
    assert sizes_around(100, 2000) == [25, 50, 75, 100, 150, 200, 400]
    assert sizes_around(14, 30) == [4, 7, 10, 14, 21, 30]  # 28 is next to all
    assert sizes_around(1, 1) == [1]
    assert 29 in sizes_around(29, 30)


def test_small_differences_look_small():
    k, flat, steep = np.array([1, 2]), np.array([0.9, 0.901]), np.array([0.2, 0.9])
    ranges = [
        np.ptp(ScoreDisplay(k=k, score=score, chosen_k=1, chosen_score=score[0]).plot().ax_.get_ylim())
        for score in (flat, steep)
    ]
    assert ranges[0] >= 0.1
    assert ranges[1] > 0.7


def test_no_feature_is_a_level():
    scores = {"k": np.array([1, 2]), "score": np.array([0.4, 0.5])}
    display = ScoreDisplay(**scores, chosen_k=0, chosen_score=0.5).plot()
    assert display.chosen_.get_ydata() == [0.5, 0.5]


@pytest.mark.parametrize("n_groups", [2, 3, 4])
def test_curves_are_those_of_groups_by_predicted_risk(cox, n_groups):
    model, X, y = cox
    event, time = y.T
    groups = survival_curves_by_risk(event, time, model.predict(X), n_groups)
    display = SurvivalDisplay.from_estimator(model, X, y, n_groups=n_groups)
    assert len(display.lines_) == len(display.bands_) == n_groups
    for line, curve in zip(display.lines_, groups.curves, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), curve.survival)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert len(set(texts)) == n_groups
    assert "log-rank p" in display.ax_.get_legend().get_title().get_text()


def test_the_p_value_is_written():
    groups = survival_curves_by_risk([1, 1, 1, 0], [1, 2, 3, 4], [4, 3, 2, 1])
    title = SurvivalDisplay(groups=groups).plot().ax_.get_legend().get_title().get_text()
    assert title == f"log-rank p = {groups.p_value:.2g}"


def test_what_has_no_risk_or_entry_times_is_refused(cox, given):
    model, X, y = cox
    with pytest.raises(ValueError, match="predicts no risk"):
        SurvivalDisplay.from_estimator(given, X, y)
    with pytest.raises(ValueError, match="entry times"):
        SurvivalDisplay.from_estimator(model, X, survival_target(y[:, 0], y[:, 1], entry=y[:, 1] / 2))
