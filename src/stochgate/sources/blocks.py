"""Blocks of rows that somebody else's code makes."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from stochgate.sources.source import Block, Source, take_columns
from stochgate.tables.frame import column_names


class BlockSource(Source):
    """Tuples (X, y) or (X, y, sample_weight) of rows, from an iterable that can be gone through again.

    A list, or whatever else has a length and items, is read in any order; anything else from its beginning.

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
        first = next(iter(blocks), None)
        if first is None:
            raise ValueError("X has no block of rows.")
        X = _check_block(first)[0]
        names = column_names(X)
        self.kept = _kept(X.shape[1], names, exclude)
        self.names = None if names is None else [str(names[j]) for j in self.kept]
        self.n_features = len(self.kept)
        self.starts = [0]  # numbers of the blocks' first rows, as far as they are known

    @property
    def n_parts(self) -> int:  # noqa: D102
        return len(self.blocks) if self.has_items else 1  # type: ignore[arg-type]

    def read(self, part: int, features: Sequence[int] | None = None) -> Iterator[Block]:  # noqa: D102
        numbered = [(part, self.blocks[part])] if self.has_items else enumerate(self.blocks)  # type: ignore[index]
        for number, given in numbered:
            X, y, *others = _check_block(given)
            if X.shape[1] != len(self.kept) and X.shape[1] <= max(self.kept, default=0):
                raise ValueError(f"Block {number} has {X.shape[1]} columns, fewer than the first.")
            columns = self.kept if features is None else self.kept[np.asarray(features, dtype=int)]
            start = self._start_of(number)
            if number + 1 == len(self.starts):
                self.starts.append(start + X.shape[0])
            weight = np.asarray(others[0]) if others and others[0] is not None else None
            yield Block(take_columns(X, columns), start + np.arange(X.shape[0]), y, weight)

    def _start_of(self, number: int) -> int:
        while len(self.starts) <= number:  # blocks that were not read yet are counted
            self.starts.append(self.starts[-1] + self.blocks[len(self.starts) - 1][0].shape[0])  # type: ignore[index]
        return self.starts[number]


def _check_block(given: Any) -> tuple[Any, ...]:
    if not isinstance(given, tuple) or len(given) not in (2, 3) or len(getattr(given[0], "shape", ())) != 2:
        raise ValueError(
            f"A block of rows is a {type(given).__name__}; give tuples (X, y) or (X, y, sample_weight) "
            "whose X has rows and columns."
        )
    return given


def _kept(n_columns: int, names: list[Any] | None, exclude: Sequence[Any]) -> np.ndarray:
    places = []
    for column in exclude:
        if names is not None and column in names:
            places.append(names.index(column))
        elif isinstance(column, (int, np.integer)) and 0 <= column < n_columns:
            places.append(int(column))
        else:
            raise ValueError(f"exclude names the column {column!r}, which the blocks do not have.")
    return np.setdiff1d(np.arange(n_columns), places)
