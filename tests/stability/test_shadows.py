"""Shadow columns, and the false discovery rate they give."""

import numpy as np
import pytest

from stochgate.stability.shadows import select_by_fdr, shadow_fdr


def test_q_values_by_hand():
    # t = 5: 4/5 (1 + 0)/1; t = 4: (4/5) (1 + 0)/2; t = 2: (4/5) (1 + 1)/3; t = 1: (4/5) (1 + 2)/4
    q_values = shadow_fdr([4, 1, 5, 2], [3, 1, 0, 0])
    assert q_values == pytest.approx([0.4, 0.6, 0.8 / 2, 1.6 / 3])
    assert select_by_fdr([4, 1, 5, 2], [3, 1, 0, 0], fdr=0.4).tolist() == [True, False, True, False]


def test_several_sets_of_shadows_lower_the_smallest_q_value():
    scores = np.r_[np.full(5, 10.0), np.zeros(95)]
    one, ten = (shadow_fdr(scores, np.zeros((m, 100))).min() for m in (1, 10))
    assert one == pytest.approx(100 / 101 / 5)
    assert ten == pytest.approx(100 / 1001 / 5)


def test_q_values_fall_as_scores_rise_and_ties_share_them():
    rng = np.random.default_rng(0)
    scores, shadows = rng.integers(8, size=50), rng.integers(6, size=100)
    q_values = shadow_fdr(scores, shadows)
    order = np.argsort(scores)
    assert (np.diff(q_values[order]) <= 0).all()
    for score in np.unique(scores):
        assert len(np.unique(q_values[scores == score])) == 1
    assert ((q_values > 0) & (q_values <= 1)).all()


@pytest.mark.parametrize("n_sets", [1, 5])
def test_the_false_discovery_rate_is_kept(n_sets):
    rng = np.random.default_rng(n_sets)
    shares, found = [], []
    for _ in range(600):
        scores = rng.normal(size=80) + np.where(np.arange(80) < 15, 3.0, 0.0)
        selected = select_by_fdr(scores, rng.normal(size=(n_sets, 80)), fdr=0.2)
        shares.append(selected[15:].sum() / max(1, selected.sum()))
        found.append(selected[:15].mean())
    assert np.mean(shares) <= 0.2 + 2 * np.std(shares) / np.sqrt(len(shares))
    assert np.mean(found) > 0.6
