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
        n_features = self.shape[1]
        found = np.zeros(n_features, dtype=bool)
        values = self.numbers.data if sparse.issparse(self.numbers) else self.numbers
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(values.sum(dtype=np.float64)):  # one pass in the usual case
                return found
        if sparse.issparse(self.numbers):
            found[self.numbers.indices[np.isnan(values)]] = True
        else:
            found = np.isnan(values).any(axis=0)
        found[list(self.labels)] = False
        return found
