"""The demo's data and settings, read from `examples/demo.py`."""

import runpy
from pathlib import Path
from typing import Any

_DEMO = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "demo.py"))
N_NOISE: int = _DEMO["N_NOISE"]


def split_demo(seed: int) -> Any:
    """Return X_train, X_test, y_train, y_test."""
    return _DEMO["split_rows"](seed)
