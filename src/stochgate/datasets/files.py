"""Find the files of `registry.FILES` on this machine and check that they are the right ones."""

import hashlib
import os
from pathlib import Path

import numpy as np

from stochgate.datasets.registry import FILES, DataFile

_VARIABLE = "STOCHGATE_DATA"


def find_file(name: str) -> Path:
    """Return where a data file lies, after a check of its sha256.

    It is looked for in the folder that the environment variable STOCHGATE_DATA names, then in the cache:
    `$XDG_CACHE_HOME/stochgate`, or `~/.cache/stochgate`.

    Parameters
    ----------
    name : str
        A key of `FILES`.
    """
    wanted = FILES[name]
    folders = data_folders()
    for folder in folders:
        if (folder / wanted.file).exists():
            return _checked(folder / wanted.file, wanted)
    looked_in = " or ".join(map(str, folders))
    raise FileNotFoundError(
        f"There is no {wanted.file} in {looked_in}: set the environment variable {_VARIABLE} to the folder "
        f"that holds it (made from {wanted.source})."
    )


def data_folders() -> list[Path]:
    """Return the folders where data files are looked for, the first one first."""
    named = os.environ.get(_VARIABLE)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "stochgate"
    return [Path(named), cache] if named else [cache]


def read_arrays(name: str) -> dict[str, np.ndarray]:
    """Return the arrays of an .npz file of `FILES`, by name."""
    with np.load(find_file(name), allow_pickle=False) as arrays:
        return dict(arrays)


def _checked(path: Path, wanted: DataFile) -> Path:
    """Return the path if the file is the one that was registered."""
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != wanted.sha256:
        raise ValueError(
            f"{path} has the sha256 {found}, not {wanted.sha256}: replace it by the file that was made "
            f"from {wanted.source}."
        )
    return path
