"""Results on disk: one JSON object per line, appended as soon as a cell is done."""

import json
import math
import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

Record = dict[str, Any]
CORE = ("stochgate", "torch", "numpy", "scipy", "scikit-learn")


def read_records(path: str | os.PathLike[str]) -> list[Record]:
    """Return the records of a file, none if it does not exist.

    A last line that was cut short, as by a power failure, is skipped; a broken line elsewhere is an error.
    """
    file = Path(path)
    if not file.exists():
        return []
    lines = file.read_bytes().splitlines()
    records = []
    for number, line in enumerate(lines, start=1):
        try:
            records.append(json.loads(line))
        except ValueError as error:
            if number < len(lines):
                raise ValueError(
                    f"Line {number} of {file} is not a JSON object; remove it, and its cell runs again."
                ) from error
    return records


def mend(path: str | os.PathLike[str]) -> None:
    """Make a file ready to append to: a last line that was cut short is taken away."""
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    whole = file.read_bytes() if file.exists() else b""
    if not whole or whole.endswith(b"\n"):
        return
    cut = whole.rfind(b"\n") + 1
    try:
        json.loads(whole[cut:])
    except ValueError:
        file.write_bytes(whole[:cut])
    else:
        file.write_bytes(whole + b"\n")


def append_record(path: str | os.PathLike[str], record: Record) -> None:
    """Append one record with the date; numbers that JSON does not know (NaN, infinity) become null."""
    line = json.dumps(_plain({**record, "date": now()}), allow_nan=False)
    with Path(path).open("a") as file:
        file.write(line + "\n")


def now() -> str:
    """Return date and time as records hold them, in UTC.

    Examples
    --------
    >>> from experiments.study import now
    >>> len(now()) == len("2026-11-15T12:24:44+00:00")
    True
    """
    return datetime.now(UTC).isoformat(timespec="seconds")


def provenance(packages: Iterable[str] = ()) -> Record:
    """Return the versions of packages that are installed, and the machine.

    Parameters
    ----------
    packages : iterable of str
        Distributions besides the core ones.

    Examples
    --------
    >>> from experiments.study import provenance
    >>> sorted(provenance())
    ['machine', 'versions']
    """
    versions = {"python": platform.python_version()}
    for package in (*CORE, *packages):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {"versions": versions, "machine": _machine()}


def _machine() -> Record:
    machine: Record = {"cpu": _cpu_model(), "cores": os.cpu_count()}
    if torch.cuda.is_available():
        machine["gpu"] = torch.cuda.get_device_name()
    return machine


def _cpu_model() -> str:
    """Return the CPU's name where Linux tells it, else its family."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
