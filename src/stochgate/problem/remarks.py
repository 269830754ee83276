"""Columns that a person should look at before believing a model."""

import shlex
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from stochgate.problem.meanings import (
    MissingNumber,
    find_missing_numbers,
    is_all_nines,
    may_be_codes,
    may_be_ids,
)
from stochgate.problem.problem import Problem

FEWEST_ROWS = 20  # of fewer rows a column may agree with y by chance,
FEWEST_OTHERS = 5  # as may one that has the same value in all rows but so many
MOST_NAMED = 5
ALMOST = 0.995  # R2 with y, or rank correlation
_FIRST_LOOK, _WORTH_IT = 200, 0.7  # rows of the first look at all columns; correlation for a second one


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
    almost : list of int
        Features whose R2 or rank correlation with a quantity or the times is above 0.995.
    missing : list of MissingNumber
        Numbers that seem to stand for missing values.
    numbered : list of int
        Features that number the rows.
    repeated : list of int
        Features that repeat as ids do which have several rows each.
    left_out : list of int
        Texts with too many different values to be a feature.
    target : list of str
        Sentences on y.
    constant : list of int
        Features with one value only.
    codes : list of int
        Features of few different small whole numbers.
    """

    given_away: list[int]
    told_apart: list[int]
    almost: list[int]
    missing: list[MissingNumber]
    numbered: list[int]
    repeated: list[int]
    left_out: list[int]
    target: list[str]
    constant: list[int]
    codes: list[int]

    def only(self, name: str) -> "Remarks":
        """Return the remarks of one kind."""
        none: dict[str, Any] = {field.name: [] for field in fields(self)}
        return Remarks(**{**none, name: getattr(self, name)})

    def sentences(self, names: list[Any]) -> list[str]:
        """Return the remarks in words, the gravest first."""
        told = {
            "{columns} gives y away: it is a copy of y, or was made from it, and should be excluded unless "
            "it is known before y is.": self.given_away,
            "{columns} alone tells the classes apart without an error, which is good news only if it was "
            "measured before y was known.": self.told_apart,
            "{columns} alone tells y almost exactly (R2 or rank correlation above 0.995), which is good "
            "news only if it was measured before y was known.": self.almost,
            "{columns} numbers the rows, as an id does; exclude it unless the order means something.": (
                self.numbered
            ),
            "{columns} repeats values in a few rows each, as the ids of patients with several rows do: if "
            "it is an id, exclude it, and keep the rows of an id in one fold with groups= (--row-groups "
            "{first}).": self.repeated,
            "{columns} holds text with too many different values, as ids and notes do, and is left out.": (
                self.left_out
            ),
            "{columns} has one value only and stays closed.": self.constant,
            "{columns} holds a few small whole numbers, taken as a quantity: if they are codes of kinds, "
            "--categorical {listed} (.astype('category') in Python) reads them as such.": self.codes,
        }
        said = [_say(text, names, found) for text, found in told.items() if found]
        n_grave = sum(map(bool, (self.given_away, self.told_apart, self.almost)))
        return [*said[:n_grave], *_say_missing(self.missing, names), *self.target, *said[n_grave:]]


def find_remarks(problem: Problem, names: list[Any]) -> Remarks:
    """Look at the columns of a problem, whose features have names, and at what they say of y."""
    constant = problem.constant_features()
    left_out = problem.table.left_out
    found: dict[str, list[Any]] = {field.name: [] for field in fields(Remarks)}
    if problem.n_samples >= FEWEST_ROWS and not sparse.issparse(problem.X):
        found |= _find_agreement(problem) | _find_meanings(problem, names)
        found["numbered"] = [
            j for j in _features(problem, numbers_rows(problem.X)) if j not in found["given_away"]
        ]
        found["target"] = problem.objective.question(problem.target)
    found["left_out"] = left_out
    found["constant"] = [j for j in constant.tolist() if j not in left_out]
    return Remarks(**found)


def _find_agreement(problem: Problem) -> dict[str, list[Any]]:
    """Return the features that say too much of y."""
    X, answers = problem.X, problem.objective.answers(problem.target.rows)
    given_away, told_apart, almost = np.zeros((3, X.shape[1]), dtype=bool)
    for values, is_label in answers:
        given_away |= has_one_value_per_class(X, values) if is_label else follows(X, values)
        if not is_label:
            almost |= follows_almost(X, values)
        elif np.bincount(values).min() >= FEWEST_OTHERS:
            told_apart |= has_classes_apart(X, values)
    given_away &= varies_in_several_rows(X, given_away)
    almost &= varies_in_several_rows(X, almost)
    given, apart, near = (_features(problem, found) for found in (given_away, told_apart, almost))
    return {
        "given_away": given,
        "told_apart": [j for j in apart if j not in given],
        "almost": [j for j in near if j not in given + apart],
    }


def _find_meanings(problem: Problem, names: list[Any]) -> dict[str, list[Any]]:
    """Return the features whose values may mean something else than they say."""
    missing: list[MissingNumber] = []
    repeated = [j for j, labels in problem.labels.items() if may_be_ids(names[j], _known(labels))]
    codes: list[int] = []
    X, table = problem.X, problem.table
    starts = np.cumsum(table.counts()) - table.counts()
    low, high, head = X.min(axis=0), X.max(axis=0), X[:_FIRST_LOOK]
    whole = (head == np.round(head)).all(axis=0)
    for j in np.setdiff1d(np.arange(table.n_features), list(table.levels)).tolist():
        column, masked = starts[j], table.masked[j]
        edge = is_all_nines(float(low[column])) or is_all_nines(float(high[column]))
        if not (edge or whole[column] or masked):
            continue
        values = X[X[:, column + 1] == 0, column] if masked else X[:, column]
        if edge:
            missing += find_missing_numbers(values, j)
        if len(values) and (values == np.round(values)).all():
            repeated += [j] * may_be_ids(names[j], values)
            codes += [j] * may_be_codes(values)
    return {"missing": missing, "repeated": sorted(repeated), "codes": codes}


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


def follows_almost(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return which columns have an R2 or a rank correlation with y above 0.995, shape (n_columns,).

    Some rows show which columns are worth a look at all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.problem.remarks import follows_almost
    >>> y = np.arange(50.0)
    >>> follows_almost(np.column_stack([np.exp(y / 9), y % 7, y + y % 2]), y)
    array([ True, False,  True])
    """
    found = np.zeros(X.shape[1], dtype=bool)
    rows = np.linspace(0, len(X) - 1, min(len(X), _FIRST_LOOK)).astype(int)
    r, rank = _correlations(X[rows], y[rows])
    worth = np.flatnonzero(np.maximum(np.abs(r), np.abs(rank)) > _WORTH_IT)
    r, rank = _correlations(X[:, worth], y)
    found[worth] = (r**2 > ALMOST) | (np.abs(rank) > ALMOST)
    return found


def _correlations(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the correlation of each column with y, and that of their ranks; 0 where one is constant."""

    def correlate(columns: np.ndarray, values: np.ndarray) -> np.ndarray:
        columns, values = columns - columns.mean(axis=0), values - values.mean()
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            r = values @ columns / np.sqrt((values**2).sum() * (columns**2).sum(axis=0))
        return np.nan_to_num(r, posinf=0, neginf=0)

    return correlate(X, y), correlate(rankdata(X, axis=0), rankdata(y))


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


def _known(labels: np.ndarray) -> np.ndarray:
    return labels[[label is not None for label in labels]].astype(str)


def _say(text: str, names: list[Any], features: list[int]) -> str:
    """Return a sentence on some features."""
    named = [str(names[j]) for j in features[:MOST_NAMED]]
    listed = shlex.quote(",".join(named))
    return text.format(columns=_list(names, features), first=shlex.quote(named[0]), listed=listed)


def _say_missing(found: list[MissingNumber], names: list[Any]) -> list[str]:
    """Return a sentence for each number that seems to stand for missing values."""
    said = []
    for value in dict.fromkeys(one.value for one in found):
        of_value = [one for one in found if one.value == value]
        one, columns = of_value[0], _list(names, [one.feature for one in of_value])
        where, option = "in some rows, away from its other values", f"{value:.9g}"
        if len(of_value) == 1:
            where = f"in {one.n_rows} rows, away from its other values ({one.low:.6g} to {one.high:.6g})"
            option = shlex.quote(f"{names[one.feature]}={value:.9g}")
        said.append(
            f"{columns} holds {value:.9g} {where}, and it is taken as a number: if it stands for a missing "
            f"value, --missing-values={option} (.replace({value:.9g}, np.nan) in Python) reads it as one."
        )
    return said


def _list(names: list[Any], features: list[int]) -> str:
    named = ", ".join(repr(names[j]) for j in features[:MOST_NAMED])
    more = f" and {len(features) - MOST_NAMED} more" if len(features) > MOST_NAMED else ""
    return f"Column {named}" if len(features) == 1 else f"Each of the {len(features)} columns {named}{more}"
