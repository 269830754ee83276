"""From a file to a data frame, whatever its format, separator or encoding."""

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from stochgate.cli.errors import UsageError, UserError
from stochgate.cli.table.text_files import SPACES, find_encoding, is_text, refuse_duplicates
from stochgate.cli.table.text_table import read_text_table
from stochgate.cli.table.workbook import is_workbook, read_workbook
from stochgate.cli.text import count, quote
from stochgate.optional import require

FORMATS = "a table as CSV, TSV, Excel (.xlsx), Parquet or Arrow (Feather)"
_UNPACK = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ\0": lzma.decompress}
_FOREIGN = {
    b"PK\x03\x04": "a zip archive or an open document; unpack it, or save its table as CSV",
    b"\xd0\xcf\x11\xe0": "an Excel workbook of the old kind or with a password; save its table as CSV",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"GIF8": "a picture",
    b"%PDF": "a PDF document",
    b"\x28\xb5\x2f\xfd": "packed with zstd; unpack it first",
}
_WORDS = {r"\t": "\t", "tab": "\t", "space": SPACES, "comma": ",", "semicolon": ";"}


def read_table(
    path: Path, sep: str | None = None, texts: Mapping[str, set[str]] | None = None, **options: bool
) -> tuple[pd.DataFrame, list[str]]:
    r"""Read a table.

    Parameters
    ----------
    path : Path
        CSV, TSV or other separated text (also packed by gzip, bzip2 or xz), an Excel workbook, Parquet,
        Arrow or Feather; which of them is told by its content.
    sep : str, optional
        The separator of a text file; by default it is found out.
    texts : mapping of str to set of str, optional
        Columns of a text file that hold text, whatever it looks like; as in `read_text_table`.
    **options : of `read_text_table`

    Returns
    -------
    DataFrame with texts as column names, and notes on what was found out on the way; its index is where
    the rows stand in the file, and named for how it counts them: "line", or "row"

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from stochgate.cli.table.read import read_table
    >>> path = Path(tempfile.mkdtemp()) / "table.csv"
    >>> _ = path.write_text("a;b\n1,5;x\n")
    >>> frame, notes = read_table(path)
    >>> frame.to_dict("list"), notes
    ({'a': [1.5], 'b': ['x']}, ['Columns are separated by semicolons.', 'Decimals have a comma.'])
    """
    sep = _read_separator(sep)
    data = _read_bytes(path)
    notes: list[str] = []
    try:
        if data[:4] == b"PAR1":
            frame = _tidy(pd.read_parquet(_arrow_input(data)))
        elif data[:6] == b"ARROW1" or path.suffix.lower() in (".arrow", ".arrows", ".feather"):
            frame = _tidy(_read_arrow(data))
        elif is_workbook(data):
            frame, notes = read_workbook(path, data)
        else:
            text, on_encoding = _decode(path, data)
            frame, on_layout = read_text_table(path, text, sep, texts, **options)
            notes = on_encoding + on_layout
    except (UserError, ImportError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"{path} could not be read as a table ({reason}): check the file.") from error
    if frame.shape[1] == 0 or len(frame) == 0:
        raise UserError(f"{path} has {count(len(frame), 'row')}: give a table with a header and rows.")
    return frame, notes


def _read_bytes(path: Path) -> bytes:
    """Return a file's content, unpacked; refuse what is no table."""
    if path.is_dir():
        raise UserError(f"{path} is a folder: give the path of {FORMATS}.")
    if not path.exists():
        raise UserError(f"There is no file {path}: check its name and folder.")
    data = path.read_bytes()
    for start, unpack in _UNPACK.items():
        if data.startswith(start):
            try:
                data = unpack(data)
            except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
                raise UserError(f"{path} is damaged and cannot be unpacked ({error}).") from error
    for start, what in _FOREIGN.items():
        if data.startswith(start) and not is_workbook(data):
            raise UserError(f"{path} is {what}: give {FORMATS}.")
    if not data.strip():
        raise UserError(f"{path} is empty: give {FORMATS}, with a header and rows.")
    return data


def _read_separator(sep: str | None) -> str | None:
    """Return a separator as pandas takes it."""
    sep = None if sep is None else _WORDS.get(sep, sep)
    if sep is not None and sep != SPACES and (len(sep) != 1 or sep in '"\r\n'):
        raise UsageError(f"--sep is {quote(sep)}: give one character, or the word tab or space.")
    return sep


def _arrow_input(data: bytes) -> Any:
    require("pyarrow", package="pyarrow", needed_by="Reading Parquet or Arrow files", extra="cli")
    return io.BytesIO(data)


def _read_arrow(data: bytes) -> pd.DataFrame:
    """Read the file or the stream format of Arrow."""
    source = _arrow_input(data)
    ipc = require("pyarrow.ipc", package="pyarrow", needed_by="Reading Arrow files", extra="cli")
    reader = ipc.open_file(source) if data[:6] == b"ARROW1" else ipc.open_stream(source)
    return reader.read_all().to_pandas()


def _tidy(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame with texts as column names, an index with a name among the columns."""
    named = [name for name in frame.index.names if name is not None and name not in frame.columns]
    if not isinstance(frame.index, pd.RangeIndex) and named:
        frame = frame.reset_index(level=named)
    frame.columns = pd.Index([str(name) for name in frame.columns], dtype=object)
    refuse_duplicates(list(frame.columns))
    frame.index = pd.RangeIndex(1, len(frame) + 1, name="row")
    return frame


def _decode(path: Path, data: bytes) -> tuple[str, list[str]]:
    """Return a text, and a note on its encoding."""
    encoding = find_encoding(data)
    if not is_text(data, encoding):
        raise UserError(f"{path} is not a text but a binary file: give {FORMATS}.")
    if encoding == "latin-1":
        note = "The file is not in UTF-8 and was read as Latin-1: check letters with accents."
        return data.decode(encoding), [note]
    return data.decode(encoding), []
