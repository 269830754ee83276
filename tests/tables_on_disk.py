"""Small tables, and the same rows in every form that is read block by block."""

import itertools

import numpy as np

N_ROWS, N_FEATURES = 1200, 5


def numbers(n_rows=N_ROWS, n_features=N_FEATURES, seed=0):
    """Return X and a y that follows two of its columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    y = X[:, 0] - X[:, 3] + 0.1 * rng.normal(size=n_rows)
    return X, y.astype(np.float64)


def frame(n_rows=N_ROWS, seed=0):
    """Return a pandas frame of numbers, text, truth values and missing values, with two kinds of y."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    X, y = numbers(n_rows, 4, seed)
    made = pd.DataFrame(X, columns=["age.x", "dose (mg)", "c", "d"])
    made["site"] = rng.choice(["Bern", "Basel", "Chur"], n_rows)
    made["smokes"] = rng.random(n_rows) < 0.3
    made["visits"] = rng.integers(0, 9, n_rows)
    made.loc[rng.random(n_rows) < 0.1, "c"] = np.nan
    made.loc[rng.random(n_rows) < 0.05, "site"] = None
    made["y"] = y + (made["site"] == "Bern")
    made["label"] = np.where(made["y"] > 0.3, "ill", "well")
    made["event"], made["time"] = (
        rng.random(n_rows) < 0.7,
        np.exp(-made["y"]) * rng.exponential(size=n_rows),
    )
    made["weight"] = rng.integers(0, 3, n_rows).astype(float)
    made["person"] = rng.integers(0, 60, n_rows)
    return made


TARGETS = ["y", "label", "event", "time", "weight", "person"]


def write_folder(made, folder, n_files=3, row_group_size=150):
    """Write a frame as a folder of Parquet files."""
    import pyarrow as pa
    from pyarrow import parquet

    folder.mkdir(exist_ok=True)
    table = pa.Table.from_pandas(made, preserve_index=False)
    edges = np.linspace(0, len(made), n_files + 1).astype(int)
    for i, (low, high) in enumerate(itertools.pairwise(edges)):
        parquet.write_table(table.slice(low, high - low), folder / f"part-{i}.parquet", row_group_size)
    return folder


def read_all(source, features=None):
    """Return the numbers, rows and y of all blocks of a source."""
    from stochgate.sources.numbers import read_block

    blocks = [block for part in range(source.n_parts) for block in source.read(part, features)]
    X = np.concatenate([read_block(block.X, set()).numbers for block in blocks])
    rows = np.concatenate([block.rows for block in blocks])
    y = None if blocks[0].y is None else np.concatenate([np.asarray(block.y) for block in blocks])
    return X, rows, y


class Again:
    """Blocks that can be gone through again, but have neither length nor items."""

    def __init__(self, blocks):
        self.blocks = blocks

    def __iter__(self):
        return iter(self.blocks)
