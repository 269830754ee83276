"""What only a pass over all rows can tell of columns: which values are missing, which texts there are."""

from collections import Counter
from typing import Any

import numpy as np

from stochgate.sources.source import Block, Source
from stochgate.tables.frame import column_types, is_number, read_objects
from stochgate.tables.levels import label
from stochgate.tables.obstacles import Obstacle, refuse

MOST_COUNTED = 10_000  # texts of one column: of more the rarest are forgotten, which share a level anyway


class Survey:
    """Counts the texts of every column that is not of numbers, and notes where numbers are missing.

    Parameters
    ----------
    source : Source

    Attributes
    ----------
    missing : ndarray of bool, shape (n_features,)
        Which columns have a missing value.
    counts : dict of int to Counter
        How often each text of a column was seen; None stands for a missing one.
    """

    def __init__(self, source: Source):
        self.names = source.names
        self.missing = np.zeros(source.n_features, dtype=bool)
        self.counts: dict[int, Counter] = {}

    def add(self, block: Block) -> None:
        """Take a block into account."""
        X = block.X
        if isinstance(X, np.ndarray):
            self._add_numbers(X, np.arange(X.shape[1]))
            return
        types = column_types(X)
        for j, dtype in enumerate(types):
            if not is_number(dtype):
                self.counts.setdefault(j, Counter()).update(_count_texts(X, j))
                _forget_rarest(self.counts[j])
                self.missing[j] |= None in self.counts[j]
            elif hasattr(X, "column_names"):
                self.missing[j] |= _lacks_numbers(X.column(j))
            else:
                self.missing[j] |= bool(X.iloc[:, j].isna().any())

    def refuse_missing(self) -> None:
        """Raise where a value is missing, for models that may have none."""
        lacking = np.flatnonzero(self.missing)
        if len(lacking):
            column = int(lacking[0]) if self.names is None else self.names[lacking[0]]
            refuse([Obstacle(column, "missing values", "fill them in, or say missing='auto'")])

    def _add_numbers(self, X: np.ndarray, columns: np.ndarray) -> None:
        if X.dtype.kind != "f":
            return
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(X.sum(dtype=np.float64)):
                self.missing[columns] |= np.isnan(X).any(axis=0)


def _lacks_numbers(column: Any) -> bool:
    import pyarrow.compute as pc

    if column.null_count:
        return True
    return column.type in _floats() and bool(pc.any(pc.is_nan(column)).as_py())


def _floats() -> tuple[Any, ...]:
    import pyarrow as pa

    return pa.float16(), pa.float32(), pa.float64()


def _count_texts(X: Any, column: int) -> Counter:
    """Return how often each text of a column occurs."""
    if hasattr(X, "column_names"):
        counts = Counter[str | None]()
        for entry in X.column(column).value_counts().to_pylist():
            counts[label(entry["values"])] += entry["counts"]
        return counts
    return Counter(label(value) for value in read_objects(X, column))


def _forget_rarest(counts: Counter) -> None:
    if len(counts) <= MOST_COUNTED:
        return
    kept = counts.most_common(MOST_COUNTED // 2)
    n_missing = counts.get(None)
    counts.clear()
    counts.update(dict(kept))
    if n_missing is not None:
        counts[None] = n_missing
