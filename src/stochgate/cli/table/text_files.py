"""Text files with a table: their encoding, separator, decimal sign and header."""

import codecs
import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice

from stochgate.cli.errors import UserError
from stochgate.cli.text import list_names

SEPARATORS = (",", ";", "\t", "|")
SPACES = r"\s+"
NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars", SPACES: "spaces"}
_SAMPLE = 2_000_000  # characters in which the header is looked for: 10,000 long names fit
_MOST_LINES = 20  # that are compared with the header
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+([eE][-+]?\d+)?")
_DECIMAL_POINT = re.compile(r"[-+]?\d*\.\d+([eE][-+]?\d+)?")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]")
_MOST_CONTROL = 0.002  # share of characters that no text has


@dataclass(frozen=True)
class Layout:
    """How a text file holds its table.

    Attributes
    ----------
    sep : str
        As pandas takes it.
    decimal : {".", ","}
    header : list of str
    """

    sep: str
    decimal: str
    header: list[str]


def find_encoding(data: bytes) -> str:
    """Return the encoding of a text: UTF-8, UTF-16 where it says so, or else Latin-1, which takes all.

    Examples
    --------
    >>> from stochgate.cli.table.text_files import find_encoding
    >>> find_encoding("Größe".encode()), find_encoding("Größe".encode("latin-1"))
    ('utf-8', 'latin-1')
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"


def is_text(data: bytes, encoding: str) -> bool:
    """Tell whether bytes are a text, by the control characters that pictures and archives have."""
    sample = data[:_SAMPLE].decode(encoding, errors="replace")
    return len(_CONTROL.findall(sample)) <= _MOST_CONTROL * len(sample)


def find_layout(text: str, sep: str | None = None) -> Layout:
    r"""Return how a text holds its table; the separator is guessed unless it is given.

    Examples
    --------
    >>> from stochgate.cli.table.text_files import find_layout
    >>> find_layout("a;b\n1,5;2\n")
    Layout(sep=';', decimal=',', header=['a', 'b'])
    """
    sample = text[:_SAMPLE]
    sep = guess_separator(sample) if sep is None else sep
    records = _records(sample, sep)
    if not records:
        raise UserError("The file holds no line of text: give a table with a header and rows.")
    header, cells = records[0], [cell.strip() for row in records[1:] for cell in row]
    commas = any(map(_DECIMAL_COMMA.fullmatch, cells)) and not any(map(_DECIMAL_POINT.fullmatch, cells))
    return Layout(sep, "," if commas and sep != "," else ".", header)


def guess_separator(sample: str) -> str:
    r"""Return the separator by which most lines have as many cells as the header; a comma if none does.

    Lines may have one cell more, the row's name. Spaces are tried last, and must suit all lines.

    Examples
    --------
    >>> from stochgate.cli.table.text_files import guess_separator
    >>> guess_separator("name|dose, in mg\nx|1\n")
    '|'
    """
    best, found = (0.0, 1), ","
    for sep in SEPARATORS:
        agree, n_cells = _agreement(sample, sep)
        if n_cells > 1 and (agree, n_cells) > best:
            best, found = (agree, n_cells), sep
    agree, n_cells = _agreement(sample, SPACES)
    return SPACES if best[1] == 1 and n_cells > 1 and agree == 1 else found


def _agreement(sample: str, sep: str) -> tuple[float, int]:
    """Return the share of the lines that agree with the header, and how many cells that has."""
    records = _records(sample, sep)
    n_cells, *others = map(len, records) if records else [0]
    agree = max(others.count(n_cells), others.count(n_cells + 1))
    return agree / max(1, len(others)), n_cells


def refuse_duplicates(header: list[str]) -> None:
    """Raise where two columns have the same name; columns without one do not count."""
    counts = Counter(name for name in header if name.strip())
    twice = [name for name, n in counts.items() if n > 1]
    if twice:
        raise UserError(
            f"Several columns are called {list_names(twice)}: rename all but one of each, so that a chosen "
            "column has one meaning."
        )


def _records(sample: str, sep: str) -> list[list[str]]:
    """Return the first lines of a text as lists of cells, without empty lines."""
    lines = io.StringIO(sample, newline="")
    if sep == SPACES:
        rows = csv.reader(map(str.strip, lines), delimiter=" ", skipinitialspace=True)
    else:
        rows = csv.reader(lines, delimiter=sep)
    try:
        return list(islice(filter(any, rows), 1 + _MOST_LINES))
    except csv.Error:  # a cell is too long for the module csv
        cells = (line.split(None if sep == SPACES else sep) for line in sample.splitlines())
        return list(islice(filter(any, cells), 1 + _MOST_LINES))
