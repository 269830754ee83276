"""A checked table: its numbers, and the texts of the columns that hold words."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class Table:
    """What is left of a table once it is read.

    Attributes
    ----------
    numbers : ndarray or csr_array, shape (n_samples, n_features)
        NaN where a value is missing, and in columns of text.
    labels : dict of int to ndarray of str or None, each of shape (n_samples,)
        The columns of text by their position.
    """

    numbers: Any
    labels: dict[int, np.ndarray]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.numbers.shape

    def take(self, rows: np.ndarray) -> "Table":
        """Return some of the rows."""
        return Table(self.numbers[rows], {j: labels[rows] for j, labels in self.labels.items()})

    @cached_property
    def missing(self) -> np.ndarray:
        """Which columns of numbers have a missing value, shape (n_features,)."""
        found = self.n_missing > 0
        found[list(self.labels)] = False
        return found

    @cached_property
    def n_missing(self) -> np.ndarray:
        """How many numbers or texts of each column are missing, shape (n_features,)."""
        counts = self._count_nan()
        for j, labels in self.labels.items():
            counts[j] = sum(label is None for label in labels)
        return counts

    def _count_nan(self) -> np.ndarray:
        n_features = self.shape[1]
        values = self.numbers.data if sparse.issparse(self.numbers) else self.numbers
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(values.sum(dtype=np.float64)):  # one pass in the usual case
                return np.zeros(n_features, dtype=np.int64)
        if sparse.issparse(self.numbers):
            return np.bincount(self.numbers.indices[np.isnan(values)], minlength=n_features)
        return np.isnan(values).sum(axis=0)
