"""Folds of a table on disk: groups stay whole, and every fold has some."""

import numpy as np
import pytest

from stochgate.sources.arrays import ArraySource
from stochgate.sources.subsets import split_source


def grouped(groups):
    n_rows = len(groups)
    return ArraySource(np.zeros((n_rows, 2)), np.arange(n_rows), group=np.asarray(groups))


def rows_of(source):
    return [row for part in range(source.n_parts) for block in source.read(part, []) for row in block.rows]


@pytest.mark.parametrize("seed", range(5))
def test_few_groups_are_dealt_out_evenly(seed):
    groups = np.arange(40) % 5
    folds = split_source(grouped(groups), 5, by_key=True, seed=seed)
    for learn, test in folds:
        assert len(set(groups[rows_of(test)])) == 1
        assert sorted(rows_of(learn) + rows_of(test)) == list(range(40))


def test_a_group_is_the_same_as_a_whole_number_and_as_a_float():
    source = grouped(np.array([1, 2, 1.0, 2.0, 3], dtype=object))
    groups = np.array([1, 2, 1, 2, 3])
    for learn, test in split_source(source, 3, by_key=True, seed=0):
        assert set(groups[rows_of(learn)]).isdisjoint(groups[rows_of(test)])


def test_fewer_groups_than_folds_are_refused_before_any_fit():
    with pytest.raises(ValueError, match="2 groups, too few for 3 folds"):
        split_source(grouped([0, 1, 0, 1]), 3, by_key=True, seed=0)


def test_a_missing_group_is_refused_with_its_row():
    with pytest.raises(ValueError, match="The group of row 2 is missing"):
        split_source(grouped([0.0, 1.0, np.nan, 1.0]), 2, by_key=True, seed=0)
