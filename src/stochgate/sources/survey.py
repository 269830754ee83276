"""What only a pass over all rows can tell of columns: which values are missing, which texts there are."""

from collections import Counter
from typing import Any

import numpy as np

from stochgate.sources.source import Block, Source
from stochgate.tables.frame import column_types, is_number, read_objects
from stochgate.tables.levels import label
from stochgate.tables.obstacles import Obstacle, refuse
from stochgate.tables.table import Table

MOST_COUNTED = 10_000  # texts of one column: of more the rarest are forgotten, which share a level anyway


class Survey:
    """Counts the texts of every column that is not of numbers, and the missing values of all.

    Parameters
    ----------
    source : Source

    Attributes
    ----------
    n_rows : int
    n_missing : ndarray of int, shape (n_features,)
        How many values of each column are missing.
    counts : dict of int to Counter
        How often each text of a column was seen; None stands for a missing one.
    """

    def __init__(self, source: Source):
        self.names = source.names
        self.n_rows, self.n_missing = 0, np.zeros(source.n_features, dtype=np.int64)
        self.counts: dict[int, Counter] = {}

    def add(self, block: Block) -> None:
        """Take a block into account."""
        X = block.X
        self.n_rows += len(block.rows)
        if isinstance(X, np.ndarray):
            self.n_missing += Table(X, {}).n_missing if X.dtype.kind == "f" else 0
            return
        types = column_types(X)
        for j, dtype in enumerate(types):
            if not is_number(dtype):
                texts = _count_texts(X, j)
                self.n_missing[j] += texts[None]
                self.counts.setdefault(j, Counter()).update(texts)
                _forget_rarest(self.counts[j])
            elif hasattr(X, "column_names"):
                self.n_missing[j] += _count_missing(X.column(j))
            else:
                self.n_missing[j] += int(X.iloc[:, j].isna().sum())

    def refuse_missing(self) -> None:
        """Raise where a value is missing, for models that may have none."""
        lacking = np.flatnonzero(self.n_missing)
        if len(lacking):
            column = int(lacking[0]) if self.names is None else self.names[lacking[0]]
            refuse([Obstacle(column, "missing values", "fill them in, or say missing='auto'")])


def _count_missing(column: Any) -> int:
    import pyarrow.compute as pc

    n_nan = pc.sum(pc.is_nan(column)).as_py() if column.type in _floats() else 0
    return column.null_count + (n_nan or 0)


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
