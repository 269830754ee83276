"""From a block as it was read to numbers and texts."""

from typing import Any

import numpy as np

from stochgate.tables.check import dense_numbers
from stochgate.tables.frame import column_types, is_number, take_columns
from stochgate.tables.obstacles import refuse
from stochgate.tables.read import read_frame
from stochgate.tables.table import Table


def read_block(X: Any, texts: set[int]) -> Table:
    """Return the numbers of a block, NaN where they are missing, and the texts of some columns.

    Parameters
    ----------
    X : ndarray, DataFrame or pyarrow table, shape (n_rows, n_features)
    texts : set of int
        The columns that hold text.
    """
    if isinstance(X, np.ndarray):
        return Table(X if X.dtype in (np.float32, np.float64) else X.astype(np.float64), {})
    types = column_types(X)
    if not texts and all(map(is_number, types)):
        return Table(_plain_numbers(X, types), {})
    table, obstacles = read_frame(as_table(X), dense_numbers, texts)
    refuse(obstacles)
    return table


def as_table(X: Any) -> Any:
    """Return a record batch of pyarrow as a table, anything else as it is."""
    if type(X).__name__ == "RecordBatch":
        import pyarrow as pa

        return pa.Table.from_batches([X])
    return X


def refuse_infinite(table: Table, rows: np.ndarray, names: list[Any]) -> None:
    """Raise where a number is infinite.

    Parameters
    ----------
    table : Table
    rows : ndarray of int
        The numbers of its rows.
    names : list
        What its columns are called.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(table.numbers.sum(dtype=np.float64)):
            return
    at = np.argwhere(np.isinf(table.numbers))
    if len(at):
        raise ValueError(
            f"X holds infinity in row {rows[at[0, 0]]}, column {names[at[0, 1]]!r}: make it a number or a "
            "missing value, or drop the row."
        )


def _plain_numbers(X: Any, types: list[Any]) -> np.ndarray:
    """Return columns of numbers as an array whose rows lie next to each other."""
    if hasattr(X, "to_tensor") and not any(str(dtype) in ("bool", "halffloat") for dtype in types):
        made = X.to_tensor(null_to_nan=True, row_major=True).to_numpy()
        return made if made.dtype in (np.float32, np.float64) else made.astype(np.float64)
    return dense_numbers(take_columns(as_table(X), list(range(X.shape[1]))))
