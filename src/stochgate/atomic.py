"""Write a file as a whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

UNFINISHED = ".part"  # how the name of a file ends that is being written


def write_atomically(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file; whoever reads it finds the old content or the new one, never a part.

    Parameters
    ----------
    path : str or path
        What is there is replaced.
    content : bytes

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from stochgate.atomic import write_atomically
    >>> path = Path(tempfile.mkdtemp()) / "note.txt"
    >>> write_atomically(path, b"all of it")
    >>> path.read_bytes()
    b'all of it'
    """
    with written_atomically(path) as file:
        file.write(content)


@contextmanager
def written_atomically(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to be written; it takes its place, on the disk, when all of it is written.

    Parameters
    ----------
    path : str or path
        What is there is replaced, unless an error ends the writing: then it stays as it is.
    """
    path = Path(path)
    beside = path.with_name(f".{uuid4().hex}{UNFINISHED}")  # same folder: renaming across disks copies
    try:
        with open(beside, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Bring a folder's names to the disk, where the system can: a renamed file has its new name then."""
    with suppress(OSError):  # Windows opens no folder
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
