"""Arrays that are read in slices: files of NumPy, memory maps, Zarr and HDF5."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stochgate.sources.source import ROWS_AT_ONCE, Block, Source, kept_columns, take_columns

_BYTES_AT_ONCE = 4 << 20  # in a part: large enough to be read fast, small enough that many make a mixture


class NpyFile:
    """A file of `numpy.save` that is read, not mapped: what was read does not stay in memory.

    Parameters
    ----------
    path : path
    """

    def __init__(self, path: Path):
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
        if not isinstance(mapped, np.memmap):
            raise ValueError(f"{path} holds no array that can be read in slices; save one array to it.")
        self.path, self.shape, self.dtype, self.offset = path, mapped.shape, mapped.dtype, mapped.offset
        self.mapped = None if mapped.flags.c_contiguous else mapped  # columns next to each other

    def __getitem__(self, rows: slice) -> np.ndarray:
        """Read some rows that follow one another."""
        start, stop, _ = rows.indices(self.shape[0])
        if self.mapped is not None:
            return np.array(self.mapped[start:stop])
        made = np.empty((max(0, stop - start), *self.shape[1:]), dtype=self.dtype)
        with self.path.open("rb", buffering=0) as file:
            file.seek(self.offset + start * math.prod(self.shape[1:]) * self.dtype.itemsize)
            left = memoryview(made.reshape(-1).view(np.uint8).data)
            while left:
                n_read = file.readinto(left)
                if not n_read:
                    raise ValueError(f"{self.path} ends before its last row: it was cut short.")
                left = left[n_read:]
        return made


class ArraySource(Source):
    """A two-dimensional array of numbers that can be sliced, with y beside it.

    Parameters
    ----------
    X : NpyFile, np.memmap, zarr.Array, h5py.Dataset or the like, shape (n_samples, n_features)
    y, weight, group : the same, or arrays, with as many rows; or None
    exclude : sequence of int
        Columns that are no features.
    """

    names = None

    def __init__(
        self, X: Any, y: Any, *, weight: Any = None, group: Any = None, exclude: Sequence[int] = ()
    ):
        if len(X.shape) != 2:
            raise ValueError(f"X has the shape {tuple(X.shape)}; expected rows and columns.")
        self.X, self.y, self.weight, self.group = X, y, weight, group
        for name, values in (("y", y), ("sample_weight", weight), ("groups", group)):
            if values is not None and len(values) != X.shape[0]:
                raise ValueError(f"{name} has {len(values)} rows, but X has {X.shape[0]}.")
        self.kept = kept_columns(X.shape[1], None, exclude)
        self.n_features = len(self.kept)
        self.size = self._rows_of_a_part()

    @property
    def n_parts(self) -> int:  # noqa: D102
        return -(-self.X.shape[0] // self.size)

    def read(self, part: int, features: Sequence[int] | None = None) -> Iterator[Block]:  # noqa: D102
        rows = slice(part * self.size, min((part + 1) * self.size, self.X.shape[0]))
        columns = self.kept if features is None else self.kept[np.asarray(features, dtype=int)]
        X = np.asarray(self.X[rows]) if len(columns) else np.empty((rows.stop - rows.start, 0))
        others = [None if v is None else np.asarray(v[rows]) for v in (self.y, self.weight, self.group)]
        for first in range(0, len(X), ROWS_AT_ONCE):
            some = slice(first, first + ROWS_AT_ONCE)
            taken = take_columns(X[some], columns) if len(columns) else X[some]
            number = rows.start + np.arange(first, first + len(taken))
            yield Block(taken, number, *(None if values is None else values[some] for values in others))

    def open_bytes(self, features: Sequence[int] | None = None) -> int:
        """Return the bytes of a part, of which all columns are read."""
        return self.size * self.X.shape[1] * self.X.dtype.itemsize

    def describe(self) -> str:  # noqa: D102
        return f"{super().describe()} {tuple(self.X.shape)} {self.X.dtype}"

    def _rows_of_a_part(self) -> int:
        """Return as many rows as some megabytes hold, in whole chunks of the array where it has chunks."""
        n_bytes = self.X.dtype.itemsize * max(1, self.X.shape[1])
        n_rows = int(np.clip(_BYTES_AT_ONCE // n_bytes, 1, ROWS_AT_ONCE))
        chunks = getattr(self.X, "chunks", None)
        return max(1, n_rows // chunks[0]) * int(chunks[0]) if chunks else n_rows
