"""From what a user hands in to a source of rows."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from stochgate.optional import require
from stochgate.sources.arrays import ArraySource, NpyFile
from stochgate.sources.arrow import ArrowSource
from stochgate.sources.blocks import BlockSource
from stochgate.sources.folders import open_dataset
from stochgate.sources.source import Source

_SLICED = ("zarr", "h5py")  # libraries whose arrays are read in slices


@dataclass(frozen=True)
class Stream:
    """A table that is read block by block, for all that is not the default.

    Parameters
    ----------
    data : path, pyarrow dataset, array that is read in slices, or iterable of blocks (X, y)
    exclude : sequence of names or positions
        Columns that are no features. Those of y, weights and groups never are.
    sample_rows : int, optional
        Rows on which the automatic choice is made, and from which medians, quantiles and scales come; by
        default 50,000, of more than 200 columns fewer, so that they hold ten million numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate import GatedRegressor, Stream
    >>> X = np.random.default_rng(0).normal(size=(3000, 4))
    >>> blocks = [(part, part[:, 2] + part[:, 3] ** 2) for part in np.split(X, 3)]
    >>> model = GatedRegressor(lam=1.0, random_state=0)
    >>> model.fit(Stream(blocks, sample_rows=500)).get_support()
    array([False, False,  True,  True])
    """

    data: Any
    exclude: Sequence[Any] = ()
    sample_rows: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.exclude, str):
            raise ValueError(f"exclude is {self.exclude!r}; give a list of columns.")
        if self.sample_rows is not None and self.sample_rows < 2:
            raise ValueError(f"sample_rows is {self.sample_rows}; give 2 or more.")


def is_stream(X: Any, y: Any = None) -> bool:
    """Return whether X is read block by block: a path, a dataset, an array on disk, or blocks (X, y)."""
    if isinstance(X, (str, os.PathLike, Stream, Source)) or _is_dataset(X) or _is_sliced(X):
        return True
    if hasattr(X, "shape") or not isinstance(X, Iterable):
        return False
    if iter(X) is X:
        return y is None
    first: Any = next(iter(X), None)
    is_pair = isinstance(first, (tuple, list)) and len(first) in (2, 3)
    return is_pair and len(getattr(first[0], "shape", ())) == 2


def open_source(X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Source:
    """Return the source of rows that X stands for.

    Parameters
    ----------
    X : what `is_stream` tells to be a stream
    y, sample_weight, groups : names of columns, arrays or files of NumPy beside an array, or None
    """
    if isinstance(X, Source):
        return X  # that knows its y
    given = X if isinstance(X, Stream) else Stream(X)
    source = _open(given, y, sample_weight, groups)
    source.sample_rows = given.sample_rows
    return source


def _open(given: Stream, y: Any, sample_weight: Any, groups: Any) -> Source:
    data = Path(given.data) if isinstance(given.data, (str, os.PathLike)) else given.data
    if isinstance(data, Path):
        data = _open_path(data)
    if _is_dataset(data):
        _refuse_not_names(y=y, sample_weight=sample_weight, groups=groups)
        return ArrowSource(data, y, weight=sample_weight, group=groups, exclude=given.exclude)
    if hasattr(data, "shape"):
        others = [_open_beside(values) for values in (y, sample_weight, groups)]
        return ArraySource(data, others[0], weight=others[1], group=others[2], exclude=given.exclude)
    if any(values is not None for values in (y, sample_weight, groups)):
        raise ValueError(
            "Blocks hold their own y and weights: give (X, y) or (X, y, sample_weight), and no y beside "
            "them; groups need a table with named columns."
        )
    if not isinstance(data, Iterable):
        raise ValueError(f"X is a {type(data).__name__}; give a path, a dataset, an array or blocks.")
    return BlockSource(data, given.exclude)


def _open_path(path: Path) -> Any:
    if not path.exists():
        raise FileNotFoundError(
            f"There is no file or folder {str(path)!r}; hand in a table that is not on this machine as a "
            "pyarrow dataset."
        )
    if path.suffix == ".npy":
        return NpyFile(path)
    if path.suffix == ".zarr" or (path / "zarr.json").exists() or (path / ".zarray").exists():
        zarr = require("zarr", package="zarr", needed_by=f"Reading {path}", extra="streams")
        opened = zarr.open(path, mode="r")
        if not hasattr(opened, "shape"):
            raise ValueError(f"{path} holds several arrays: open it with zarr and hand in one of them.")
        return opened
    if path.suffix in (".h5", ".hdf5"):
        raise ValueError(f"{path} may hold several tables: open it with h5py and hand in one of them.")
    return open_dataset(path)


def _open_beside(values: Any) -> Any:
    """Return y or weights beside an array: an array, or that of a file."""
    if isinstance(values, (str, os.PathLike)):
        path = Path(values)
        if path.suffix != ".npy":
            raise ValueError(f"{values!r} is no column of an array: give an array, or a .npy file.")
        return np.load(path, mmap_mode="r", allow_pickle=False)
    if values is None or _is_sliced(values, n_dims=(1, 2)):
        return values
    return np.column_stack(values) if isinstance(values, tuple) else np.asarray(values)


def _refuse_not_names(**given: Any) -> None:
    for what, value in given.items():
        names = [value] if isinstance(value, str) or value is None else value
        if not isinstance(names, (list, tuple)) or not all(isinstance(n, (str, type(None))) for n in names):
            raise ValueError(f"X is a table with named columns: give {what} as the name of its column.")
        if what != "y" and isinstance(value, (list, tuple)):
            raise ValueError(f"{what} is {value!r}; give the name of one column.")


def _is_dataset(X: Any) -> bool:
    return any("pyarrow" in base.__module__ and base.__name__ == "Dataset" for base in type(X).__mro__)


def _is_sliced(X: Any, n_dims: tuple[int, ...] = (2,)) -> bool:
    return type(X).__module__.split(".")[0] in _SLICED and len(getattr(X, "shape", ())) in n_dims
