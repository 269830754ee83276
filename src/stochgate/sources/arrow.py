"""Datasets of pyarrow: files of Parquet and other formats, read row group by row group."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stochgate.sources.source import ROWS_AT_ONCE, Block, Source
from stochgate.tables.frame import is_date
from stochgate.tables.obstacles import Obstacle, refuse
from stochgate.tables.read import DATE_ADVICE

OBJECT_ADVICE = "give one number or one text in each row, or exclude the column"
_PAGE = 1 << 20  # bytes of one column that writers put together, by default
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
        self.schema = _widen(dataset, set(self.names))
        self.parts = [part for fragment in dataset.get_fragments() for part in _split(fragment)]
        self.starts: list[int] | None = None
        self.is_parquet = bool(self.parts) and all(hasattr(part, "row_groups") for part in self.parts)
        if self.is_parquet:
            sizes = [sum(group.num_rows for group in part.row_groups) for part in self.parts]
            self.starts = [0, *np.cumsum(sizes).tolist()]

    @property
    def n_parts(self) -> int:  # noqa: D102
        return len(self.parts)

    def read(self, part: int, features: Sequence[int] | None = None) -> Iterator[Block]:  # noqa: D102
        import pyarrow as pa

        assert self.names is not None
        names = self.names if features is None else [self.names[j] for j in features]
        _refuse_types(self.schema, names)
        start = self._start_of(part)
        for batch in self._batches(part, [*names, *self.others]):
            if batch.num_rows == 0:
                continue
            rows = np.arange(start, start + batch.num_rows)
            weight, group = (None if n is None else to_array(batch[n]) for n in (self.weight, self.group))
            yield Block(batch.select(names), rows, self._target(batch), weight, group)
            start += batch.num_rows
        pa.default_memory_pool().release_unused()  # it would keep the pages of each part it has read

    def open_bytes(self, features: Sequence[int] | None = None) -> int:
        """Return the bytes of a row group's columns as they are decoded, of large ones page by page."""
        if not self.is_parquet:
            return 0
        n_columns = self.n_features if features is None else len(features)
        share = n_columns / max(1, len(self.dataset.schema.names))
        largest = max(sum(group.total_byte_size for group in part.row_groups) for part in self.parts)
        return 2 * int(min(largest * share, n_columns * _PAGE))

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
        if self.is_parquet:
            options["fragment_scan_options"] = ds.ParquetFragmentScanOptions(
                pre_buffer=False, use_buffered_stream=True, buffer_size=_BUFFER
            )
        return self.parts[part].to_batches(schema=self.schema, columns=columns, **options)

    def _start_of(self, part: int) -> int:
        """Return the number of a part's first row; files that do not say their length are counted."""
        if self.starts is None:
            self.starts = [0]
            for each in self.parts:
                self.starts.append(self.starts[-1] + each.count_rows())
        return self.starts[part]


def _widen(dataset: Any, features: set[str]) -> Any:
    """Return the schema to read with: the first rows of a CSV do not tell what the others hold."""
    import pyarrow as pa

    schema = dataset.schema
    if type(getattr(dataset, "format", None)).__name__ != "CsvFileFormat":
        return schema
    wider = {pa.int64(): pa.float64(), pa.null(): pa.string()}
    for place, field in enumerate(schema):
        if field.name in features:
            schema = schema.set(place, field.with_type(wider.get(field.type, field.type)))
    return schema


def _refuse_types(schema: Any, names: list[str]) -> None:
    """Raise where a column holds neither numbers nor text."""
    from pyarrow import types

    obstacles = []
    for name in names:
        held = schema.field(name).type
        if is_date(held):
            obstacles.append(Obstacle(name, f"dates ({held})", DATE_ADVICE))
        elif types.is_nested(held) or types.is_binary(held) or types.is_large_binary(held):
            obstacles.append(Obstacle(name, str(held), OBJECT_ADVICE))
    refuse(obstacles)


def to_array(column: Any) -> np.ndarray:
    """Return a column of pyarrow as an array."""
    return column.to_numpy(zero_copy_only=False)


def _split(fragment: Any) -> list[Any]:
    return fragment.split_by_row_group() if hasattr(fragment, "split_by_row_group") else [fragment]


def _shorten(names: list[str]) -> str:
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
