"""Parquet files and folders, and whatever else pyarrow reads as a dataset."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stochgate.optional import require
from stochgate.sources.source import ROWS_AT_ONCE, Block, Source

FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".csv": "csv",
    ".orc": "orc",
}
_BUFFER = 1 << 16  # bytes read at once of each column: whole row groups may not fit into memory


class ArrowSource(Source):
    """A pyarrow dataset; its parts are the row groups of Parquet files, or else its files.

    Parameters
    ----------
    dataset : pyarrow.dataset.Dataset
    y : str or list of str
        The column of y; of several outputs, or of event and time, their columns.
    weight, group : str, optional
        Columns that are no features either.
    exclude : list of str
        Further columns that are no features.
    """

    def __init__(
        self,
        dataset: Any,
        y: str | Sequence[str] | None,
        *,
        weight: str | None = None,
        group: str | None = None,
        exclude: Sequence[str] = (),
    ):
        self.dataset = dataset
        self.y = [] if y is None else [y] if isinstance(y, str) else list(y)
        self.is_single = isinstance(y, str)
        self.weight, self.group = weight, group
        others = [*self.y, *(name for name in (weight, group) if name is not None)]
        known = dataset.schema.names
        for name in (*others, *exclude):
            if name not in known:
                raise ValueError(f"The table has no column {name!r}; its columns are {_shorten(known)}.")
        self.others = list(dict.fromkeys(others))
        self.names = [name for name in known if name not in {*others, *exclude}]
        self.n_features = len(self.names)
        self.parts = [part for fragment in dataset.get_fragments() for part in _split(fragment)]
        self.starts: list[int] | None = None
        if self.parts and hasattr(self.parts[0], "row_groups"):
            sizes = [sum(group.num_rows for group in part.row_groups) for part in self.parts]
            self.starts = [0, *np.cumsum(sizes).tolist()]

    @property
    def n_parts(self) -> int:  # noqa: D102
        return len(self.parts)

    def read(self, part: int, features: Sequence[int] | None = None) -> Iterator[Block]:  # noqa: D102
        assert self.names is not None
        names = self.names if features is None else [self.names[j] for j in features]
        start = self._start_of(part)
        for batch in self._batches(part, [*names, *self.others]):
            if batch.num_rows == 0:
                continue
            rows = np.arange(start, start + batch.num_rows)
            weight, group = (None if n is None else to_array(batch[n]) for n in (self.weight, self.group))
            yield Block(batch.select(names), rows, self._target(batch), weight, group)
            start += batch.num_rows

    def describe(self) -> str:  # noqa: D102
        files = [Path(path) for path in getattr(self.dataset, "files", [])]
        sizes = [(path.name, path.stat().st_size) for path in files if path.exists()]
        return f"{super().describe()} {self.dataset.schema} {sizes}"

    def _target(self, batch: Any) -> Any:
        columns = [to_array(batch[name]) for name in self.y]
        if not columns:
            return None
        return columns[0] if self.is_single else np.column_stack(columns)

    def _batches(self, part: int, columns: list[str]) -> Iterator[Any]:
        import pyarrow.dataset as ds

        options: dict[str, Any] = {"batch_size": ROWS_AT_ONCE, "use_threads": False}
        if self.starts is not None:
            options["fragment_scan_options"] = ds.ParquetFragmentScanOptions(
                pre_buffer=False, use_buffered_stream=True, buffer_size=_BUFFER
            )
        return self.parts[part].to_batches(schema=self.dataset.schema, columns=columns, **options)

    def _start_of(self, part: int) -> int:
        """Return the number of a part's first row; files that do not say their length are counted."""
        if self.starts is None:
            self.starts = [0]
            for each in self.parts:
                self.starts.append(self.starts[-1] + each.count_rows())
        return self.starts[part]


def open_dataset(path: Path) -> Any:
    """Return the pyarrow dataset of a file or of a folder of files."""
    ds = require("pyarrow.dataset", package="pyarrow", needed_by="Reading tables from files", extra="cli")
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.suffix in FORMATS)
    if not files:
        raise ValueError(f"{path} holds no table; a folder of Parquet files is expected.")
    if files[0].suffix not in FORMATS:
        known = ", ".join([*FORMATS, ".npy", ".zarr"])
        raise ValueError(f"{path} has the ending {path.suffix!r}; endings that are read: {known}.")
    return ds.dataset(str(path), format=FORMATS[files[0].suffix], partitioning="hive")


def to_array(column: Any) -> np.ndarray:
    """Return a column of pyarrow as an array."""
    return column.to_numpy(zero_copy_only=False)


def _split(fragment: Any) -> list[Any]:
    return fragment.split_by_row_group() if hasattr(fragment, "split_by_row_group") else [fragment]


def _shorten(names: list[str]) -> str:
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
