"""Write a file as a whole or not at all."""

import os
from pathlib import Path
from uuid import uuid4


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
    path = Path(path)
    beside = path.with_name(f".{uuid4().hex}.part")  # in the same folder: renaming across disks copies
    try:
        with open(beside, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
