"""Where results are written: checked before the work begins."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pandas as pd

from stochgate.cli.errors import UsageError, UserError


@contextmanager
def output_folder(folder: Path, names: Sequence[str], force: bool) -> Iterator[Path]:
    """Make a folder for some files; where the work fails before any is written, remove it again.

    Parameters
    ----------
    folder : Path
    names : sequence of str
        Files to be written, which must not be there yet,
    force : bool
        unless they may be overwritten.
    """
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file: give a folder as --out.")
    there = [name for name in names if (folder / name).exists()]
    if there and not force:
        raise UsageError(
            f"The folder {folder} already holds {', '.join(there)}: use --force to overwrite, or another "
            "--out."
        )
    is_new = not folder.exists()
    _make_writable(folder)
    try:
        yield folder
    except BaseException:
        if is_new:
            with suppress(OSError):  # it holds something
                folder.rmdir()
        raise


def check_output_file(path: Path, force: bool) -> Path:
    """Return where a file is to be written, if it can be."""
    if path.is_dir():
        raise UsageError(f"{path} is a folder: give the path of a file as --out.")
    if path.exists() and not force:
        raise UsageError(f"{path} is already there: use --force to overwrite it, or another --out.")
    _make_writable(path.parent)
    return path


def write_csv(table: pd.DataFrame, path: Path) -> Path:
    r"""Write a table; lists become texts with semicolons between.

    A text that a spreadsheet would take for a formula begins with an apostrophe in the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from stochgate.cli.outputs import write_csv
    >>> path = write_csv(pd.DataFrame({"of": [["a", "b"]]}), Path(tempfile.mkdtemp()) / "t.csv")
    >>> path.read_text()
    'of\na; b\n'
    """
    cells = table.rename(columns=_as_cell).map(_as_cell)
    cells.to_csv(path, index=False, encoding="utf-8", errors="backslashreplace")
    return path


def _as_cell(value: Any) -> Any:
    text = "; ".join(map(str, value)) if isinstance(value, list | tuple) else value
    is_formula = isinstance(text, str) and len(text) > 1 and text[0] in "=+-@\t"
    return f"'{text}" if is_formula else text


def _make_writable(folder: Path) -> None:
    """Make a folder and try to write into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or error
        raise UserError(
            f"Nothing can be written to the folder {folder} ({reason}): give another --out."
        ) from error
