"""Complementary pairs of halves."""

import numpy as np
import pytest

from stochgate.stability.halves import complementary_pairs


def test_halves_are_disjoint_equal_and_reproducible():
    halves = complementary_pairs(101, n_pairs=20, seed=3)
    assert halves.shape == (40, 101)
    assert not (halves[::2] & halves[1::2]).any()
    assert (halves.sum(axis=1) == 50).all()
    assert np.array_equal(halves, complementary_pairs(101, n_pairs=20, seed=3))
    assert not np.array_equal(halves, complementary_pairs(101, n_pairs=20, seed=4))


def test_each_row_is_in_half_of_the_halves():
    share = complementary_pairs(21, n_pairs=2000, seed=0, strata=np.arange(21) < 5)[::2].mean(axis=0)
    assert share == pytest.approx(10 / 21, abs=0.05)


def test_strata_are_shared_out_evenly():
    strata = np.repeat(["a", "b", "c"], [7, 20, 34])
    halves = complementary_pairs(61, n_pairs=50, seed=0, strata=strata)
    for label in np.unique(strata):
        counts = halves[:, strata == label].sum(axis=1)
        assert (abs(counts[::2] - counts[1::2]) <= 1).all()
    assert (halves.sum(axis=1) == 30).all()


def test_groups_stay_whole_and_halves_even():
    rng = np.random.default_rng(0)
    groups = rng.integers(40, size=200)
    strata = (groups % 4 == 0).astype(int)  # whole patients have an event
    halves = complementary_pairs(200, n_pairs=30, seed=0, strata=strata, groups=groups)
    first, second = halves[::2], halves[1::2]
    assert (first ^ second).all()
    for group in np.unique(groups):
        inside = first[:, groups == group]
        assert (inside.all(axis=1) | ~inside.any(axis=1)).all()
    assert (abs(first.sum(axis=1) - 100) <= 12).all()
    assert (abs(first[:, strata == 1].sum(axis=1) - strata.sum() / 2) <= 12).all()
    assert len(np.unique(first, axis=0)) == 30
