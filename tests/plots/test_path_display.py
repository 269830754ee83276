"""The path shows the best loss of each size, and what was chosen."""

import numpy as np
import pytest

from stochgate import GatedClassifier
from stochgate.plots import PathDisplay
from stochgate.plots.path import losses_by_size, worth_a_line

ROW = {"network": "linear", "stage": "path", "n_by_fold": [2, 2], "held_out_sd": 0.1}


def row(n_features, loss, **others):
    return {**ROW, "n_by_fold": [n_features] * 2, "n_features": n_features, "held_out_loss": loss, **others}


def test_the_best_set_of_each_size_counts():
    curve = losses_by_size([row(4, 0.3, held_out_sd=0.2), row(1, 0.9), row(4, 0.4), row(2, np.inf)])[
        "linear"
    ]
    assert curve["n_features"].tolist() == [1, 4]
    assert curve["loss"].tolist() == [0.9, 0.3]
    assert curve["sd"].tolist() == [0.1, 0.2]


def test_sets_on_which_the_folds_disagree_are_left_out():
    rows = [row(2, 0.1, n_by_fold=[9, 9]), row(0, 0.1, n_by_fold=[0, 0]), row(3, 0.5, n_by_fold=[4, 4])]
    assert losses_by_size(rows)["linear"]["n_features"].tolist() == [3]
    assert losses_by_size(rows[:2]) == {}


def test_the_path_without_pandas_is_that_of_the_frame(chosen):
    path = chosen[0].path_
    of_frame, of_list = losses_by_size(path), losses_by_size(path.to_dict("records"))
    np.testing.assert_equal(of_frame, of_list)


def test_what_is_drawn_are_the_losses_of_the_choice(chosen):
    model = chosen[0]
    display = PathDisplay.from_estimator(model)
    (line,) = display.lines_
    shown = dict(zip(line.get_xdata(), line.get_ydata(), strict=True))
    best = model.path_[model.path_["n_features"] == 2]["held_out_loss"].min()
    assert shown[2] == best
    assert display.chosen_.get_xdata() == [2]
    assert display.chosen_.get_ydata() == [model._choice.losses["selected"]]
    flat = [line for line in display.ax_.get_lines() if line.get_linestyle() in ("--", ":")]
    levels = sorted(line.get_ydata()[0] for line in flat)
    assert levels == sorted(model._choice.losses[of] for of in ("all", "none"))
    assert "chosen: 2 features" in [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert display.ax_.get_ylim()[1] > max(levels)


def test_bands_are_one_standard_deviation_wide():
    curve = {"n_features": [1, 2], "loss": [0.5, 0.2], "sd": [0.1, 0.05]}
    display = PathDisplay(curves={"mlp": curve}, n_selected=2, losses={"selected": 0.2}).plot()
    corners = display.bands_[0].get_paths()[0].vertices
    assert corners[:, 1].min() == pytest.approx(0.15)
    assert corners[:, 1].max() == pytest.approx(0.6)


def test_the_axis_reads_from_one_to_thousands():
    curve = {"n_features": [1, 30, 2000], "loss": [0.5, 0.2, 0.3], "sd": [0.1, 0.1, 0.1]}
    ax = PathDisplay(curves={"mlp": curve}, n_selected=30, losses={}).plot().ax_
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert labels == ["1", "2", "5", "10", "20", "50", "100", "200", "500", "1,000", "2,000"]


def test_the_line_falls_to_the_best_and_rises_after_it():
    loss = np.array([0.9, 0.4, 0.6, 0.3, 0.7, 0.5, 0.8])
    assert loss[worth_a_line(loss)].tolist() == [0.9, 0.4, 0.3, 0.5, 0.8]


def test_another_size_whose_loss_is_not_known_is_a_line(chosen):
    display = PathDisplay.from_estimator(chosen[0].at(k=3))
    assert display.chosen_.get_xdata() == [3, 3]


def test_a_path_without_a_set_is_refused(chosen):
    import copy

    model = copy.copy(chosen[0])
    model.path_ = [row(2, 0.1, n_by_fold=[9, 9])]
    with pytest.raises(ValueError, match="agree on no set"):
        PathDisplay.from_estimator(model)


def test_a_model_of_a_given_size_is_drawn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    y = (X[:, 0] + 0.2 * rng.normal(size=120) > 0).astype(int)
    model = GatedClassifier(network="linear", n_features_to_select=2, random_state=0).fit(X, y)
    assert PathDisplay.from_estimator(model).chosen_.get_xdata() == [2]
