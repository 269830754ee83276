"""Blocks of rows that somebody else's code makes."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from stochgate.sources.numbers import as_table
from stochgate.sources.source import Block, Source, kept_columns, take_columns
from stochgate.tables.frame import column_names


class BlockSource(Source):
    """Tuples (X, y) or (X, y, sample_weight) of rows, from an iterable that can be gone through again.

    A list, or whatever else has a length and items, is read in any order; anything else from its beginning.
    Columns of data frames are found by their names.

    Parameters
    ----------
    blocks : iterable of tuple
    exclude : sequence
        Columns that are no features, by name or position.
    """

    def __init__(self, blocks: Iterable[Any], exclude: Sequence[Any] = ()):
        if iter(blocks) is blocks:
            raise ValueError(
                "X is an iterator, which can be gone through once only; give a list of blocks (X, y), or "
                "an object whose __iter__ begins anew."
            )
        self.blocks = blocks
        self.has_items = hasattr(blocks, "__len__") and hasattr(blocks, "__getitem__")
        given = next(iter(blocks), None)
        if given is None:
            raise ValueError("X has no block of rows.")
        first = _read(given, 0)
        self.known, self.n_columns = column_names(first.X), first.X.shape[1]
        self.has_weight = first.weight is not None
        self.kept = kept_columns(self.n_columns, self.known, exclude)
        self.names = None if self.known is None else [str(self.known[j]) for j in self.kept]
        self.n_features = len(self.kept)
        self.starts = [0]  # numbers of the blocks' first rows, as far as they are known

    @property
    def n_parts(self) -> int:  # noqa: D102
        return len(self.blocks) if self.has_items else 1  # type: ignore[arg-type]

    def read(self, part: int, features: Sequence[int] | None = None) -> Iterator[Block]:  # noqa: D102
        numbered = [(part, self.blocks[part])] if self.has_items else enumerate(self.blocks)  # type: ignore[index]
        wanted = self.kept if features is None else self.kept[np.asarray(features, dtype=int)]
        for number, given in numbered:
            X, y, weight = _read(given, number)
            if self.has_weight != (weight is not None):
                raise ValueError(f"Only one of block {number} and the first has weights; give all some.")
            start = self._start_of(number)
            if number + 1 == len(self.starts):
                self.starts.append(start + X.shape[0])
            rows = start + np.arange(X.shape[0])
            if len(rows):
                yield Block(take_columns(X, self._places(X, number)[wanted]), rows, y, weight)

    def _places(self, X: Any, number: int) -> np.ndarray:
        """Return where a block has the columns of the first one."""
        names = column_names(X)
        if names is None or self.known is None:
            if X.shape[1] != self.n_columns or (names is None) != (self.known is None):
                raise ValueError(
                    f"Block {number} has {X.shape[1]} columns{'' if names is None else ' with names'}, but "
                    f"the first one has {self.n_columns}{'' if self.known is None else ' with names'}."
                )
            return np.arange(self.n_columns)
        place = {name: i for i, name in enumerate(names)}
        lacking = [name for name in self.known if name not in place]
        if lacking:
            raise ValueError(f"Block {number} has no column {lacking[0]!r}, which the first one has.")
        return np.array([place[name] for name in self.known], dtype=int)

    def _start_of(self, number: int) -> int:
        while len(self.starts) <= number:  # blocks that were not read yet are counted
            self.starts.append(self.starts[-1] + self.blocks[len(self.starts) - 1][0].shape[0])  # type: ignore[index]
        return self.starts[number]


class _Given(NamedTuple):
    X: Any
    y: Any
    weight: np.ndarray | None


def _read(given: Any, number: int) -> _Given:
    """Check the form of a block."""
    is_block = isinstance(given, (tuple, list)) and len(given) in (2, 3)
    if not is_block or len(getattr(given[0], "shape", ())) != 2:
        raise ValueError(
            f"Block {number} is a {type(given).__name__}; give tuples (X, y) or (X, y, sample_weight) "
            "whose X has rows and columns."
        )
    X, y = _as_rows(given[0], number), _as_target(given[1])
    weight = None if len(given) == 2 or given[2] is None else np.asarray(given[2])
    for name, values in (("y", y), ("sample_weight", weight)):
        if values is not None and len(values) != X.shape[0]:
            raise ValueError(f"In block {number} {name} has {len(values)} rows, but X has {X.shape[0]}.")
    return _Given(X, y, weight)


def _as_rows(X: Any, number: int) -> Any:
    """Return an array of numbers, a pandas DataFrame or a pyarrow table."""
    if sparse.issparse(X):
        raise ValueError(f"Block {number} is sparse; give dense arrays or data frames.")
    if hasattr(X, "to_arrow"):  # polars
        return X.to_arrow()
    if column_names(X) is not None:
        return as_table(X)
    X = np.asarray(X)
    if X.dtype.kind in "biufmM":  # dates are refused where features are read
        return X
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Block {number} is an array of other things than numbers ({error}); give a data frame, whose "
            "columns of text are encoded."
        ) from error


def _as_target(y: Any) -> Any:
    """Return y as an array, of (event, time) with two columns; a DataFrame of pandas as it is."""
    if y is None or (hasattr(y, "iloc") and hasattr(y, "columns")):
        return y
    return np.column_stack(y) if isinstance(y, tuple) else np.asarray(y)
