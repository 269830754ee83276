"""A table larger than memory: 5,000,000 x 200 numbers, six of whose columns matter."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

N_ROWS, N_COLUMNS = 5_000_000, 200
PLANTED = (3, 17, 42, 99, 120, 150)
_ROWS_OF_A_FILE = 100_000


def draw_rows(n_rows: int, n_columns: int, seed: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return normal columns in single precision, and classes that six of them tell in part."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns), dtype=np.float32)
    a, b, c, d, e, f = (X[:, j % n_columns] for j in PLANTED)
    score = a + 0.8 * b * c + 0.7 * (d**2 - 1) + 0.5 * e - 0.4 * f
    return X, (score + rng.logistic(size=n_rows) > 0).astype(np.int8)


def write_parquet(folder: Path, n_rows: int = N_ROWS, n_columns: int = N_COLUMNS, seed: int = 0) -> Path:
    """Write the table as a folder of Parquet files, as pyarrow writes them by default."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True)
    for number, n in enumerate(_files(n_rows)):
        X, y = draw_rows(n, n_columns, [seed, number])
        columns = {f"x{j}": X[:, j] for j in range(n_columns)}
        pq.write_table(pa.table({**columns, "y": y}), folder / f"part-{number:04d}.parquet")
    return folder


def write_npy(folder: Path, n_rows: int = N_ROWS, n_columns: int = N_COLUMNS, seed: int = 0) -> Path:
    """Write the same rows as X.npy and y.npy."""
    folder.mkdir(parents=True, exist_ok=True)
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (n_rows, n_columns))
    labels, start = [], 0
    for number, n in enumerate(_files(n_rows)):
        X[start : start + n], y = draw_rows(n, n_columns, [seed, number])
        labels.append(y)
        start += n
    X.flush()
    np.save(folder / "y.npy", np.concatenate(labels))
    return folder / "X.npy"


@contextmanager
def scratch() -> Iterator[Path]:
    """Give a folder with room for ten gigabytes, below `$STOCHGATE_SCRATCH` if that is set, for a while."""
    folder = Path(tempfile.mkdtemp(prefix="stochgate-", dir=os.environ.get("STOCHGATE_SCRATCH")))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _files(n_rows: int) -> list[int]:
    return [min(_ROWS_OF_A_FILE, n_rows - start) for start in range(0, n_rows, _ROWS_OF_A_FILE)]
