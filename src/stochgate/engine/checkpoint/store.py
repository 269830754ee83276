"""Files of a checkpoint: tensors and numbers, and a checksum, so that no damaged file is ever loaded."""

import errno
import hashlib
import io
import os
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor

from stochgate.atomic import written_atomically
from stochgate.engine.checkpoint.errors import CheckpointWriteError

MAGIC = b"stochgate checkpoint 1\n"  # a file begins with it; its last bytes are the checksum of all others
_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_N_CHECKSUM = hashlib.sha256().digest_size


def write(path: Path, content: Any) -> None:
    """Write tensors, numbers and texts, in lists and dicts, to a file: as a whole or not at all.

    Raises
    ------
    CheckpointWriteError
        What was there before is there still.
    """
    try:
        with written_atomically(path) as file:
            hashed = _Hashed(file)
            hashed.write(MAGIC)
            torch.save(_alone(content), hashed)  # type: ignore[arg-type]
            file.write(hashed.checksum.digest())
    except (OSError, RuntimeError) as error:  # torch tells of a write that failed in its own way
        cause = next((e for e in (error, error.__context__) if isinstance(e, OSError)), None)
        if cause is None:
            raise
        raise write_error(path.parent, cause) from error


def write_error(folder: Path, cause: OSError) -> CheckpointWriteError:
    """Return the error that says what to do when a folder cannot be written to."""
    reason = os.strerror(cause.errno) if cause.errno else str(cause)
    advice = "make room on that disk" if cause.errno in _FULL else "give a folder that can be written to"
    return CheckpointWriteError(
        cause.errno,
        f"The checkpoint in {str(folder)!r} cannot be written ({reason}): {advice} and repeat the call; "
        "what was written before is intact, and a fit goes on from there",
    )


def read(path: Path) -> Any:
    """Return what a file holds, on the CPU; None where it is not there, cut short or damaged."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    body, checksum = memoryview(content)[:-_N_CHECKSUM], content[-_N_CHECKSUM:]
    if not content.startswith(MAGIC) or hashlib.sha256(body).digest() != checksum:
        return None
    return torch.load(io.BytesIO(body[len(MAGIC) :]), map_location="cpu", weights_only=True)


def _alone(content: Any) -> Any:
    """Return the same with tensors that do not hold on to the memory of others; all of it is saved."""
    if isinstance(content, dict):
        return {name: _alone(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_alone(value) for value in content]
    if not isinstance(content, Tensor):
        return content
    content = content.detach()
    n_bytes = content.numel() * content.element_size()
    return content if content.untyped_storage().nbytes() == n_bytes else content.clone()


class _Hashed:
    """A file whose checksum is taken while it is written."""

    def __init__(self, file: BinaryIO):
        self.file, self.checksum = file, hashlib.sha256()

    def write(self, content: bytes) -> int:
        """Write some bytes."""
        self.checksum.update(content)
        return self.file.write(content)

    def flush(self) -> None:
        """Hand over to the system what was written."""
        self.file.flush()
