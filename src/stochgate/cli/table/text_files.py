"""Text files with a table: their encoding, separator, decimal sign and header."""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from stochgate.cli.errors import UserError
from stochgate.cli.text import list_names

SEPARATORS = (",", ";", "\t", "|")
SPACES = r"\s+"
NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars", SPACES: "spaces"}
_SAMPLE = 2_000_000  # characters in which the header is looked for: 10,000 long names fit
_MOST_LINES = 20  # that are compared with the header
_MOST_ABOVE = 5  # lines of a title, without empty ones
MISSING_SIGNS = {
    "?",
    "-",
    "--",
    ".",
    "*",
    "na",
    "n.a.",
    "nd",
    "missing",
    "unknown",
    "none",
    "nil",
    "(null)",
}
MISSING = {*MISSING_SIGNS, "nan", "null", "n/a", "#n/a", "<na>"}  # and what pandas takes for it
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
    line : int
        That of the header; the first is 1.
    title : str
        What stands above the header; empty where nothing does.
    """

    sep: str
    decimal: str
    header: list[str]
    line: int = 1
    title: str = ""


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
    Layout(sep=';', decimal=',', header=['a', 'b'], line=1, title='')
    """
    sample = text[:_SAMPLE]
    sep = guess_separator(sample) if sep is None else sep
    records = _first_records(sample, sep)
    if not records:
        raise UserError("The file holds no line of text: give a table with a header and rows.")
    rows = [row for _, row in records]
    at = find_header(rows)
    cells = [cell.strip() for row in rows[at + 1 :] for cell in row]
    commas = any(map(_DECIMAL_COMMA.fullmatch, cells)) and not any(map(_DECIMAL_POINT.fullmatch, cells))
    return Layout(
        sep, "," if commas and sep != "," else ".", rows[at], records[at][0], join_cells(rows[:at])
    )


def join_cells(rows: Sequence[Sequence[str]]) -> str:
    """Return the text of some rows, such as those of a title."""
    return " ".join(", ".join(filter(None, map(str.strip, row))) for row in rows)


def find_header(rows: Sequence[Sequence[str]]) -> int:
    """Return which row is the header: the first, unless it is a title above the true one.

    A title has fewer filled cells than the header below it, which is all names (the column of the rows'
    names may lack its own): no numbers, nothing missing, nothing twice. A title of several cells is told
    from a header that lacks a name by the numbers below the true header.

    Examples
    --------
    >>> from stochgate.cli.table.text_files import find_header
    >>> find_header([["Study 12", "2024"], ["id", "dose", "sex"], ["a", "0.5", "f"]])
    1
    """
    filled = [sum(j == 0 or cell.strip() != "" for j, cell in enumerate(row)) for row in rows]
    for i in range(1, min(1 + _MOST_ABOVE, len(rows) - 1)):
        lacking, below = filled[i] - max(filled[:i]), rows[i + 1 :]
        is_long = max(map(len, rows[:i])) == len(rows[i]) and max(filled[:i]) > 1
        if lacking < 1 + is_long or not _are_names(rows[i]):
            continue
        as_wide = sum(len(row) == len(rows[i]) for row in below)
        if 2 * as_wide >= len(below) and (lacking > 1 == max(filled[:i]) or _any_numbers(below)):
            return i
    return 0


def _are_names(row: Sequence[str]) -> bool:
    """Tell whether a row may be a header; its first cell, that of the rows' names, may be empty."""
    names = [cell.strip() for cell in (row if row[0].strip() else row[1:])]
    odd = any(not name or _is_number(name) or name.lower() in MISSING for name in names)
    return len(names) > 1 and not odd and len(set(names)) == len(names)


def _any_numbers(rows: Sequence[Sequence[str]]) -> bool:
    """Tell whether a column holds numbers."""
    for column in zip(*(row for row in rows if len(row) == len(rows[0])), strict=True):
        cells = [cell.strip() for cell in column if cell.strip().lower() not in MISSING]
        if any(cells) and all(map(_is_number, filter(None, cells))):
            return True
    return False


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


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
    rows = [row for _, row in _first_records(sample, sep)]
    n_cells, *others = map(len, rows[find_header(rows) :]) if rows else [0]
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


def read_records(text: str, sep: str) -> Iterator[tuple[int, list[str]]]:
    r"""Yield the records of a text, each with the line it begins at; empty lines are none.

    Examples
    --------
    >>> from stochgate.cli.table.text_files import read_records
    >>> list(read_records('a,"two\nlines"\n\n1,2\n', ","))
    [(1, ['a', 'two\nlines']), (4, ['1', '2'])]
    """
    lines = io.StringIO(text, newline="")
    if sep == SPACES:
        reader = csv.reader(map(str.strip, lines), delimiter=" ", skipinitialspace=True)
    else:
        reader = csv.reader(lines, delimiter=sep)
    line = 1
    for row in reader:
        if len(row) > 1 or any(cell.strip() for cell in row):
            yield line, row
        line = reader.line_num + 1


def _first_records(sample: str, sep: str) -> list[tuple[int, list[str]]]:
    """Return the first records of a text that have a filled cell."""
    n = 1 + _MOST_LINES
    try:
        return list(islice((record for record in read_records(sample, sep) if any(record[1])), n))
    except csv.Error:  # a cell is too long for the module csv
        cells = enumerate((line.split(None if sep == SPACES else sep) for line in sample.splitlines()), 1)
        return list(islice((record for record in cells if any(record[1])), n))
