"""A table on disk takes the memory of some blocks, whatever its size."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("pyarrow")

# 400,000 x 200 single numbers are 320 MB, as a data frame of doubles twice that.
CODE = """
import json, resource, sys, time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from stochgate import GatedRegressor, Stream, Training

folder, n_files, n_rows, n_columns = Path(sys.argv[1]), 4, 100_000, 200

def write(number):
    rng = np.random.default_rng(number)
    columns = {f"x{j}": rng.random(n_rows, dtype=np.float32) for j in range(n_columns)}
    columns["y"] = columns["x3"] - columns["x7"]
    parquet.write_table(
        pa.table(columns), folder / f"{number}.parquet", row_group_size=n_rows, use_dictionary=False
    )

if sys.argv[2] == "write":
    for number in range(n_files):
        write(number)
    sys.exit()

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

before = peak()
training = Training(n_steps=250, batch_size=2000)
model = GatedRegressor(lam=1.0, network="linear", training=training, random_state=0)
model.fit(Stream(folder, sample_rows=2000), "y")
fitted = peak()
score = model.score(folder, "y")
print(json.dumps({"fit": fitted - before, "score": peak() - before, "R2": score}))
"""


@pytest.mark.slow  # it writes 320 MB and reads them three times
def test_memory_does_not_grow_with_the_table(tmp_path):
    for what in ("write", "fit"):
        command = [sys.executable, "-c", CODE, str(tmp_path), what]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    megabytes = json.loads(done.stdout)
    assert megabytes["fit"] < 700
    assert megabytes["score"] < 700
    assert megabytes["R2"] > 0.9
