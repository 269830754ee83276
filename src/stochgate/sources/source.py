"""What every source of rows answers, and the blocks it yields."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from stochgate.tables.frame import take_columns as of_frame

ROWS_AT_ONCE = 16_384  # in a block: 200 columns of it fit into a cache of 16 MB


@dataclass(frozen=True)
class Block:
    """Some rows of a table.

    Attributes
    ----------
    X : ndarray, DataFrame or pyarrow table, shape (n_rows, n_features)
        The features that were asked for.
    rows : ndarray of int, shape (n_rows,)
        Their numbers, counted through the whole table.
    y : ndarray
    weight, group : ndarray, shape (n_rows,), or None
        Sample weights, and which rows belong together.
    """

    X: Any
    rows: np.ndarray
    y: Any
    weight: np.ndarray | None = None
    group: np.ndarray | None = None

    def take(self, index: np.ndarray) -> "Block":
        """Return some of the rows."""
        others = (None if part is None else part[index] for part in (self.weight, self.group))
        return Block(take_rows(self.X, index), self.rows[index], take_rows(self.y, index), *others)


class Source(ABC):
    """A table whose rows are read block by block, as often as asked.

    A part is what can be read on its own, in any order: a row group of a Parquet file, some rows of an
    array. What can only be read from its beginning has one part.

    Attributes
    ----------
    names : list of str, or None
        Of the features.
    n_features : int
    sample_rows : int, or None for the default
        Rows on which decisions are made.
    """

    names: list[str] | None
    n_features: int
    sample_rows: int | None = None

    @property
    @abstractmethod
    def n_parts(self) -> int:
        """How many parts there are."""

    @abstractmethod
    def read(self, part: int, features: Sequence[int] | None = None) -> Iterator[Block]:
        """Yield the rows of a part, in their order, in blocks of one or more; by default all features."""

    def open_bytes(self, features: Sequence[int] | None = None) -> int:
        """Return about how many bytes a part takes while it is read."""
        return 0

    def describe(self) -> str:
        """Return a text that changes with the data, as far as can be told without reading them."""
        return f"{type(self).__name__} {self.n_parts} {self.n_features} {self.names}"


def take_rows(values: Any, index: np.ndarray) -> Any:
    """Return some rows of an array, a data frame or a pyarrow table."""
    if isinstance(values, np.ndarray):
        return values[index]
    if hasattr(values, "column_names"):  # pyarrow
        return values.take(index)
    return _safe_indexing(values, index)


def take_columns(X: Any, columns: np.ndarray) -> Any:
    """Return some columns of an array, a data frame or a pyarrow table; all of them as they are."""
    if np.array_equal(columns, np.arange(X.shape[1])):
        return X
    return X[:, columns] if isinstance(X, np.ndarray) else of_frame(X, columns.tolist())


def kept_columns(n_columns: int, names: list[Any] | None, exclude: Sequence[Any]) -> np.ndarray:
    """Return the positions of the columns that are left when some, named or numbered, are taken out."""
    places = []
    for column in exclude:
        if names is not None and column in names:
            places.append(names.index(column))
        elif isinstance(column, (int, np.integer)) and 0 <= column < n_columns:
            places.append(int(column))
        else:
            raise ValueError(f"exclude names the column {column!r}, which the table does not have.")
    return np.setdiff1d(np.arange(n_columns), places)


def join_rows(parts: list[Any]) -> Any:
    """Return arrays, data frames or pyarrow tables below one another."""
    first = parts[0]
    if isinstance(first, np.ndarray):
        return np.concatenate(parts)
    if hasattr(first, "column_names"):
        import pyarrow as pa

        return (
            pa.Table.from_batches(parts)
            if isinstance(first, pa.RecordBatch)
            else pa.concat_tables(parts, promote_options="permissive")
        )
    if hasattr(first, "iloc"):
        import pandas as pd

        return pd.concat(parts, ignore_index=True)
    raise ValueError(
        f"A block of X is a {type(first).__name__}; give NumPy arrays, pandas DataFrames or pyarrow tables."
    )
