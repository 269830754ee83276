"""From a table to the columns of numbers that models are trained on."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from stochgate.tables.levels import FEWEST_ROWS, MISSING, Levels, marks_missing
from stochgate.tables.table import Table

FAR = 0.2  # by so much more missing values than in the fit, and by so many
CHANCES = 4  # standard errors, is far more


@dataclass(frozen=True)
class TableEncoding:
    """How each feature of a table becomes columns of numbers, all behind one gate.

    A column of numbers stays as it is. Where the fit has missing values they are filled with the column's
    median, and where at least 5 rows lack a value and 5 have one a second column says where: its weight
    takes up what the fill does, so that another fill near the other values would give the same model. A
    column of text becomes a column of 0 and 1 per level (`Levels`), or none where it has too many different
    values.

    Attributes
    ----------
    n_features : int
    fill : ndarray, shape (n_features,)
        What stands for a missing number.
    masked : ndarray of bool, shape (n_features,)
        Which features have a column that says where values are missing.
    levels : dict of int to Levels or None
        Of the features that hold text; None for one that is left out.
    missing_share : ndarray, shape (n_features,), or None
        The share of rows of the fit that lack a value; None where that is not known, as in an old file.
    """

    n_features: int
    fill: np.ndarray
    masked: np.ndarray
    levels: dict[int, Levels | None]
    missing_share: np.ndarray | None = None

    @classmethod
    def learn(
        cls,
        table: Table,
        n_rows: int | None = None,
        n_missing: np.ndarray | None = None,
        counts: dict[int, Counter] | None = None,
    ) -> "TableEncoding":
        """Learn fills and levels; y is not looked at.

        Parameters
        ----------
        table : Table
        n_rows : int, optional
            Rows of the whole table, where this one is a sample of it.
        n_missing : ndarray of int, shape (n_features,), optional
            How many of these lack a value.
        counts : dict of int to Counter, optional
            How often these have each text.
        """
        n_features, n_rows = table.shape[1], table.shape[0] if n_rows is None else n_rows
        n_missing = table.n_missing if n_missing is None else n_missing
        is_number = np.ones(n_features, dtype=bool)
        is_number[list(table.labels)] = False
        fill = np.zeros(n_features)
        known = np.flatnonzero((n_missing > 0) & is_number)
        if len(known):
            columns = table.numbers[:, known]
            empty = np.isnan(columns).all(axis=0)
            fill[known[~empty]] = np.nanmedian(columns[:, ~empty], axis=0)
        if counts is None:
            levels = {j: Levels.learn(labels) for j, labels in table.labels.items()}
        else:
            levels = {j: Levels.of_counts(counts[j]) for j in table.labels}
        masked = marks_missing(n_missing, n_rows) & is_number
        return cls(n_features, fill, masked, levels, n_missing / n_rows)

    @property
    def is_plain(self) -> bool:
        """Whether the features are the columns."""
        return not self.levels and not self.masked.any()

    @property
    def left_out(self) -> list[int]:
        """The features of text that have too many different values."""
        return [j for j, levels in self.levels.items() if levels is None]

    def counts(self) -> np.ndarray:
        """Return how many columns each feature has, shape (n_features,)."""
        counts = 1 + self.masked.astype(int)
        for j, levels in self.levels.items():
            counts[j] = 0 if levels is None else len(levels.columns)
        return counts

    def feature_of(self) -> np.ndarray | None:
        """Return the feature of every column, None where the features are the columns."""
        return None if self.is_plain else np.repeat(np.arange(self.n_features), self.counts())

    def column_names(self, names: list[Any]) -> list[str]:
        """Return what the columns are called: "age", "age (missing)", "sex=male".

        Examples
        --------
        >>> import numpy as np
        >>> from stochgate.tables.encoding import TableEncoding
        >>> from stochgate.tables.levels import Levels
        >>> sex = {1: Levels(("female", "male"))}
        >>> TableEncoding(2, np.zeros(2), np.array([True, False]), sex).column_names(["age", "sex"])
        ['age', 'age (missing)', 'sex=male']
        """
        return [
            str(names[j]) if what is None else f"{names[j]}{'=' if j in self.levels else ' '}{what}"
            for j, what in self._columns()
        ]

    def against(self) -> list[str | None]:
        """Return what a 1 in each column is compared with, None for columns of numbers.

        Examples
        --------
        >>> import numpy as np
        >>> from stochgate.tables.encoding import TableEncoding
        >>> from stochgate.tables.levels import Levels
        >>> sex = {1: Levels(("female", "male"))}
        >>> TableEncoding(2, np.zeros(2), np.array([True, False]), sex).against()
        [None, 'not missing', 'female']
        """
        first = {j: levels.names[0] for j, levels in self.levels.items() if levels is not None}
        return [None if what is None else first.get(j, "not missing") for j, what in self._columns()]

    def _columns(self) -> Iterator[tuple[int, str | None]]:
        """Yield for every column its feature, and the level or the gaps that it marks, None for numbers."""
        for j in range(self.n_features):
            levels = self.levels.get(j)
            marks = [None, MISSING][: 1 + int(self.masked[j])] if j not in self.levels else []
            yield from ((j, what) for what in (marks if levels is None else levels.columns))

    def missing_of(self) -> np.ndarray:
        """Return for every column which one says where its values are missing, -1 where none does."""
        ends, counts = np.cumsum(self.counts()), self.counts()
        says = self.masked.copy()
        for j, levels in self.levels.items():
            says[j] = levels is not None and MISSING in levels.columns
        return np.repeat(np.where(says, ends - 1, -1), counts)

    def lacks_far_more(self, n_missing: np.ndarray, n_rows: int) -> np.ndarray:
        """Return which features lack values in far more of some rows than in the fit, shape (n_features,).

        That is in 5 rows at least, and in a share that is larger by more than 0.2 and by more than 4
        standard errors.

        Parameters
        ----------
        n_missing : ndarray of int, shape (n_features,)
        n_rows : int
        """
        if self.missing_share is None or n_rows == 0:
            return np.zeros(self.n_features, dtype=bool)
        share = self.missing_share
        by_chance = CHANCES * np.sqrt(share * (1 - share) / n_rows)
        return (n_missing >= FEWEST_ROWS) & (n_missing / n_rows > share + np.maximum(FAR, by_chance))

    def describe_fill(self, feature: int) -> str:
        """Return in words what a missing value of a feature becomes."""
        levels = self.levels.get(feature)
        if levels is not None:
            known = MISSING in levels.names
            return "read as a value of its own" if known else f"read as {levels.names[0]!r}"
        marked = " and marked as missing" if self.masked[feature] else ""
        return f"filled with {self.fill[feature]:.4g}{marked}"

    def with_fill(self, features: np.ndarray, values: np.ndarray) -> "TableEncoding":
        """Return the encoding with what stands for missing numbers of some features."""
        fill = self.fill.copy()
        fill[features] = values
        return replace(self, fill=fill)

    def take(self, features: np.ndarray) -> "TableEncoding":
        """Return the encoding of some features alone."""
        place = {int(j): i for i, j in enumerate(features)}
        levels = {place[j]: found for j, found in self.levels.items() if j in place}
        share = None if self.missing_share is None else self.missing_share[features]
        return TableEncoding(len(features), self.fill[features], self.masked[features], levels, share)

    def apply(self, table: Table) -> Any:
        """Return the columns of a table, shape (n_samples, n_columns); no number is missing in them."""
        missing = table.missing
        if self.is_plain and not missing.any():
            return table.numbers
        if sparse.issparse(table.numbers):
            table = Table(table.numbers.toarray(), table.labels)
        is_missing = np.isnan(table.numbers[:, missing])
        numbers = np.array(table.numbers)
        numbers[:, missing] = np.where(is_missing, self.fill[missing], numbers[:, missing])
        if self.is_plain:
            return numbers
        masks = np.zeros(numbers.shape, dtype=bool)
        masks[:, missing] = is_missing
        ends = np.cumsum(self.counts())
        columns = np.empty((len(numbers), ends[-1]), dtype=numbers.dtype)
        values = np.setdiff1d(np.arange(self.n_features), list(self.levels))
        columns[:, ends[values] - 1 - self.masked[values]] = numbers[:, values]
        columns[:, ends[self.masked] - 1] = masks[:, self.masked]
        for j, levels in self.levels.items():
            if levels is not None:
                columns[:, ends[j] - len(levels.columns) : ends[j]] = levels.encode(table.labels[j])
        return columns
