"""Splits of a real table: 70 % of its rows for training, 30 % for testing, 1,000 and 5,000 at most.

Splits are stratified by class or event, and rows that belong together stay together. Missing values are
filled with the medians of the training rows.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from stochgate.datasets import RealTable

TEST_SHARE = 0.3
MAX_TRAIN, MAX_TEST = 1000, 5000
STRATA = {
    "classification": lambda y: y,
    "regression": lambda y: None,
    "survival": lambda y: y["event"],
}


class Part(NamedTuple):
    """The rows of a table to train on, or to test on."""

    X: Any
    y: np.ndarray
    groups: np.ndarray | None


def split_table(table: RealTable, split: int) -> tuple[Part, Part]:
    """Return the training and the test part of a split, without missing values."""
    train, test = (
        Part(table.X[rows], table.y[rows], None if table.groups is None else table.groups[rows])
        for rows in split_rows(table, split)
    )
    if isinstance(table.X, np.ndarray) and np.isnan(table.X).any():
        fill = SimpleImputer(strategy="median", keep_empty_features=True).fit(train.X)
        train, test = (part._replace(X=fill.transform(part.X)) for part in (train, test))
    return train, test


def split_rows(table: RealTable, split: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the training and the test rows of a split, shuffled."""
    rows = np.arange(len(table.y))
    if table.groups is not None:
        splitter = GroupShuffleSplit(1, test_size=TEST_SHARE, random_state=split)
        train, test = next(splitter.split(rows, groups=table.groups))
    else:
        strata = STRATA[table.kind](table.y)
        train, test = train_test_split(rows, test_size=TEST_SHARE, random_state=split, stratify=strata)
    rng = np.random.default_rng(split)
    return rng.permutation(train)[:MAX_TRAIN], rng.permutation(test)[:MAX_TEST]
