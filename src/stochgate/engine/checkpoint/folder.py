"""The folder of a checkpoint: who may use it, and what fit it belongs to."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.utils import check_random_state

from stochgate.atomic import UNFINISHED, write_atomically
from stochgate.engine.checkpoint.digest import digest
from stochgate.engine.checkpoint.errors import CheckpointError
from stochgate.engine.checkpoint.runner import CheckpointRunner
from stochgate.engine.checkpoint.store import write_error

try:
    import fcntl
except ImportError:  # Windows: nothing stops a second process
    fcntl = None  # type: ignore[assignment]

FORMAT = 1
HEAD, LOCK = "head.json", "lock"
_PACKAGES = ("stochgate", "torch", "numpy", "scikit-learn")
_LONGEST = 60  # of texts in a message
_ADVICE = "Give another folder, or delete this one."


class Checkpoint:
    """A folder that keeps what one fit has trained.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.runner = CheckpointRunner(folder)
        self.head: dict[str, Any] | None = self._read_head()
        self.generator: dict[str, Any] = {}

    def random_state(self, given: Any) -> np.random.RandomState:
        """Return the generator to draw from: of a fit without a seed, the one it began with.

        Parameters
        ----------
        given : int, RandomState or None
        """
        generator = check_random_state(given)
        if given is None and self.head is not None:
            generator = np.random.RandomState()
            generator.set_state(_with_arrays(self.head["generator"]))
        self.generator = _state_of(generator)
        return generator

    def belong_to(self, fit: dict[str, str]) -> None:
        """Begin the checkpoint of a fit, or raise if it is of another one.

        Parameters
        ----------
        fit : dict of texts
            All that its result depends on, besides versions, threads and the generator.
        """
        here = {
            **{f"the version of {name}": _version(name) for name in _PACKAGES},
            "the number of torch's threads": str(torch.get_num_threads()),
            **fit,
            "random_state": digest([json.dumps(self.generator)]),
        }
        if self.head is None:
            self._write_head({"format": FORMAT, "fit": here, "generator": self.generator})
            return
        difference = _difference(self.head["fit"], here)
        if difference is not None:
            raise CheckpointError(
                f"The checkpoint in {str(self.folder)!r} is of another fit: {difference}. {_ADVICE}"
            )

    def _write_head(self, content: dict[str, Any]) -> None:
        try:
            write_atomically(
                self.folder / HEAD, json.dumps({**content, "checksum": _checksum(content)}).encode()
            )
        except OSError as error:
            raise write_error(self.folder, error) from error

    def _read_head(self) -> dict[str, Any] | None:
        names = {entry.name for entry in self.folder.iterdir()} - {LOCK}
        if HEAD not in names:
            others = sorted(name for name in names if not name.startswith("."))
            if others:
                raise CheckpointError(
                    f"The folder {str(self.folder)!r} holds other files ({others[0]}), and no checkpoint: "
                    "give a new or an empty one."
                )
        for name in names:  # what was being written when the process ended
            if name.startswith(".") and name.endswith(UNFINISHED):
                (self.folder / name).unlink(missing_ok=True)
        return _parse(self.folder / HEAD) if HEAD in names else None


@contextmanager
def open_checkpoint(folder: str | os.PathLike[str] | None) -> Iterator[Checkpoint | None]:
    """Open the folder of a checkpoint, for this process alone; without a folder there is none."""
    if folder is None:
        yield None
        return
    path = Path(folder).expanduser()
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = open(path / LOCK, "ab")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise write_error(path, error) from error
    with lock:
        _take(lock, path)
        checkpoint = Checkpoint(path)
        try:
            yield checkpoint
        finally:
            checkpoint.runner.is_over = True


def _take(lock: Any, folder: Path) -> None:
    """Lock a file, for as long as the process lives and has it open."""
    if fcntl is None:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CheckpointError(
            f"The checkpoint in {str(folder)!r} is in use by another fit: wait until that ends, or give "
            "another folder."
        ) from None
    except OSError:  # some network drives have no locks
        return


def _parse(path: Path) -> dict[str, Any]:
    """Return the head of a checkpoint; one that is damaged or of another format is refused."""
    try:
        head = json.loads(path.read_bytes())
        checksum = head.pop("checksum")
        intact = checksum == _checksum(head)
    except (ValueError, KeyError, AttributeError, TypeError):
        intact = False
    if not intact:
        raise CheckpointError(f"The checkpoint in {str(path.parent)!r} is damaged ({HEAD}). {_ADVICE}")
    if head["format"] != FORMAT:
        raise CheckpointError(
            f"The checkpoint in {str(path.parent)!r} has format {head['format']}, but this stochgate has "
            f"{FORMAT}. {_ADVICE}"
        )
    found: dict[str, Any] = head
    return found


def _difference(before: dict[str, str], now: dict[str, str]) -> str | None:
    """Return in words what differs first, None where nothing does."""
    for name in {**before, **now}:
        old, new = before.get(name, "not there"), now.get(name, "not there")
        if old != new and max(len(old), len(new)) > _LONGEST:  # as digests are
            return f"{name} has changed"
        if old != new:
            return f"{name} was {old} and is {new}"
    return None


def _checksum(content: dict[str, Any]) -> str:
    return digest([json.dumps(content, sort_keys=True)])


def _state_of(generator: np.random.RandomState) -> dict[str, Any]:
    """Return the state of a generator as JSON can hold it."""
    state: dict[str, Any] = json.loads(
        json.dumps(generator.get_state(legacy=False), default=np.ndarray.tolist)
    )
    return state


def _with_arrays(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of a generator as it takes it; it is that of numpy's global one."""
    inner = state["state"]
    return {**state, "state": {**inner, "key": np.array(inner["key"], dtype=np.uint32)}}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # a source folder that is not installed
        return "unknown"
