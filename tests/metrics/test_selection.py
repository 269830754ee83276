import numpy as np
import pytest

from stochgate.metrics import (
    informative_weight_ratio,
    median_rank,
    selection_scores,
    selection_stability,
    support_overlap,
)

RELEVANT = np.array([True, True, False, False, False])


def test_all_features_kept_have_recall_1_and_precision_of_the_share():
    scores = selection_scores(np.ones(500), np.arange(500) < 5)
    assert scores["recall"] == 1
    assert scores["precision"] == pytest.approx(5 / 500)


def test_f1_is_the_harmonic_mean():
    scores = selection_scores([True, False, True, False, False], RELEVANT)
    assert scores == {"precision": 0.5, "recall": 0.5, "f1": 0.5}


def test_an_empty_selection_scores_0():
    assert selection_scores(np.zeros(5), RELEVANT) == {"precision": 0, "recall": 0, "f1": 0}


def test_median_rank_of_five_leaders_is_3():
    assert median_rank(-np.arange(500), np.arange(500) < 5) == 3


def test_ties_share_the_mean_rank():
    assert median_rank([1, 1, 1, 1, 1], RELEVANT) == 3
    assert median_rank([1, 1, 0, 0, 0], RELEVANT) == 1.5


def test_ifwr_of_binary_weights_is_precision():
    selected = np.array([1, 0, 1, 1, 0])
    assert informative_weight_ratio(selected, RELEVANT) == pytest.approx(1 / 3)
    assert informative_weight_ratio(np.zeros(5), RELEVANT) == 0


def test_overlap_is_the_mean_jaccard_index():
    assert support_overlap([[1, 1, 0], [1, 1, 0], [0, 0, 1]]) == pytest.approx(1 / 3)
    assert support_overlap([[0, 0], [0, 0]]) == 1
    with pytest.raises(ValueError, match="at least two runs"):
        support_overlap([[1, 0]])


def test_stability_is_nogueiras_index():
    # shares 1, 2/3, 1/3, 0; variances 0, 1/3, 1/3, 0; mean size 2 of 4
    supports = [[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]]
    assert selection_stability(supports) == pytest.approx(1 - (1 / 6) / (1 / 4))
    assert selection_stability([[1, 0, 0]] * 3) == 1
    with pytest.raises(ValueError, match="at least two runs"):
        selection_stability([[1, 0]])


@pytest.mark.parametrize("selected", [0, 1])
def test_selecting_nothing_or_everything_has_no_stability(selected):
    assert np.isnan(selection_stability(np.full((4, 3), selected)))


def test_random_selections_have_stability_0():
    supports = np.random.default_rng(0).random((50, 400)) < 0.1
    assert selection_stability(supports) == pytest.approx(0, abs=0.01)
