"""Columns that a person should look at before believing a model."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy import sparse

from stochgate.problem.problem import Problem

FEWEST_ROWS = 20  # of fewer rows a column may agree with y by chance,
FEWEST_OTHERS = 5  # as may one that has the same value in all rows but so many
MOST_NAMED = 5


@dataclass(frozen=True)
class Remarks:
    """Positions of the features that a person should look at.

    Attributes
    ----------
    given_away : list of int
        Features that are a copy of y, or made from it: one value per class, or rising (or falling) with y
        without an exception.
    told_apart : list of int
        Features whose values in one class never reach those in another.
    numbered : list of int
        Features that number the rows.
    left_out : list of int
        Texts with too many different values to be a feature.
    constant : list of int
        Features with one value only.
    """

    given_away: list[int]
    told_apart: list[int]
    numbered: list[int]
    left_out: list[int]
    constant: list[int]

    def only(self, name: str) -> "Remarks":
        """Return the remarks of one kind."""
        none: dict[str, list[int]] = {field.name: [] for field in fields(self)}
        return Remarks(**{**none, name: getattr(self, name)})

    def sentences(self, names: list[Any]) -> list[str]:
        """Return the remarks in words, the gravest first."""
        told = {
            "{columns} gives y away: it is a copy of y, or was made from it, and should be excluded unless "
            "it is known before y is.": self.given_away,
            "{columns} alone tells the classes apart without an error, which is good news only if it was "
            "measured before y was known.": self.told_apart,
            "{columns} numbers the rows, as an id does; exclude it unless the order means something.": (
                self.numbered
            ),
            "{columns} holds text with too many different values, as ids and notes do, and is left out.": (
                self.left_out
            ),
            "{columns} has one value only and stays closed.": self.constant,
        }
        return [text.format(columns=_list(names, found)) for text, found in told.items() if found]


def find_remarks(problem: Problem) -> Remarks:
    """Look at the columns of a problem, and at what they say of y."""
    constant = problem.constant_features()
    left_out = problem.table.left_out
    given, apart, numbered = [], [], []
    if problem.n_samples >= FEWEST_ROWS and not sparse.issparse(problem.X):
        X, answers = problem.X, problem.objective.answers(problem.target.rows)
        given_away = np.zeros(X.shape[1], dtype=bool)
        told_apart = np.zeros(X.shape[1], dtype=bool)
        for values, is_label in answers:
            given_away |= has_one_value_per_class(X, values) if is_label else follows(X, values)
            if is_label and np.bincount(values).min() >= FEWEST_OTHERS:
                told_apart |= has_classes_apart(X, values)
        given_away &= varies_in_several_rows(X, given_away)
        given = _features(problem, given_away)
        apart = [j for j in _features(problem, told_apart) if j not in given]
        numbered = [j for j in _features(problem, numbers_rows(X)) if j not in given]
    return Remarks(
        given_away=given,
        told_apart=apart,
        numbered=numbered,
        left_out=left_out,
        constant=[j for j in constant.tolist() if j not in left_out],
    )


def has_one_value_per_class(X: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return which columns vary, but not within a class, shape (n_columns,).

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.problem.remarks import has_one_value_per_class
    >>> X = np.array([[5.0, 1.0, 0.0], [5.0, 2.0, 0.0], [7.0, 1.0, 0.0]])
    >>> has_one_value_per_class(X, np.array([0, 0, 1]))
    array([ True, False, False])
    """
    low, high = _ranges(X, label)
    return np.all(low == high, axis=0) & (low.min(axis=0) < high.max(axis=0))


def has_classes_apart(X: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return in which columns the ranges of the classes do not overlap, shape (n_columns,)."""
    low, high = _ranges(X, label)
    order = np.argsort(low, axis=0)
    low, high = np.take_along_axis(low, order, axis=0), np.take_along_axis(high, order, axis=0)
    return np.all(high[:-1] < low[1:], axis=0) & (len(low) > 1)


def follows(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return which columns rise with y without exception, or fall with it, shape (n_columns,).

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.problem.remarks import follows
    >>> follows(np.array([[1.0, 9.0, 1.0], [4.0, 3.0, 2.0], [2.0, 3.5, 0.0]]), np.array([0.0, 2.0, 1.0]))
    array([ True,  True, False])
    """
    steps = np.diff(X[np.argsort(y, kind="stable")], axis=0)
    return (np.all(steps >= 0, axis=0) | np.all(steps <= 0, axis=0)) & np.any(steps, axis=0)


def varies_in_several_rows(X: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Return which of the columns asked for differ from their most frequent value in at least 5 rows."""
    found = np.zeros(X.shape[1], dtype=bool)
    for j in np.flatnonzero(asked):
        found[j] = len(X) - np.unique(X[:, j], return_counts=True)[1].max() >= FEWEST_OTHERS
    return found


def numbers_rows(X: np.ndarray) -> np.ndarray:
    """Return which columns hold n whole numbers in a row, in any order, shape (n_columns,)."""
    n_samples = len(X)
    found = X.max(axis=0) - X.min(axis=0) == n_samples - 1
    for j in np.flatnonzero(found):
        found[j] = (np.diff(np.sort(X[:, j])) == 1).all()
    return found


def _ranges(X: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest and the highest value of each class, shape (n_classes, n_columns)."""
    classes = [X[label == c] for c in np.unique(label)]
    return np.stack([part.min(axis=0) for part in classes]), np.stack([p.max(axis=0) for p in classes])


def _features(problem: Problem, columns: np.ndarray) -> list[int]:
    """Return the features of some columns."""
    feature_of = problem.table.feature_of()
    found = np.flatnonzero(columns)
    return found.tolist() if feature_of is None else np.unique(feature_of[found]).tolist()


def _list(names: list[Any], features: list[int]) -> str:
    named = ", ".join(repr(names[j]) for j in features[:MOST_NAMED])
    more = f" and {len(features) - MOST_NAMED} more" if len(features) > MOST_NAMED else ""
    return f"Column {named}" if len(features) == 1 else f"Each of the {len(features)} columns {named}{more}"
