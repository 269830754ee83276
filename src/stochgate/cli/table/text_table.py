"""From a text with separated columns to a data frame, and notes on what is not as usual."""

import csv
import io
import re
import shlex
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd

from stochgate.cli.errors import UserError
from stochgate.cli.table.text_files import (
    MISSING_SIGNS,
    NAMES,
    Layout,
    find_layout,
    guess_separator,
    read_records,
    refuse_duplicates,
)
from stochgate.cli.text import MOST_NAMED, count, list_names, quote

USUAL = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
MISSING_WORDS = {  # of pandas; in columns of text, too
    *("#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>"),
    *("N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
}
_WRONG_LINE = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")


def read_text_table(
    path: Path,
    text: str,
    sep: str | None = None,
    texts: Mapping[str, set[str]] | None = None,
    *,
    tell_words: bool = True,
) -> tuple[pd.DataFrame, list[str]]:
    r"""Return the table of a text; its index is the line that each row begins at.

    Parameters
    ----------
    path : Path
        Whose name says which separator is usual.
    text : str
    sep : str, optional
    texts : mapping of str to set of str, optional
        Columns that hold text, whatever it looks like, and the words of `MISSING_WORDS` that are values
        there.
    tell_words : bool
        Whether a note tells of such words in other columns of text, which takes another reading.

    Examples
    --------
    >>> from pathlib import Path
    >>> from stochgate.cli.table.text_table import read_text_table
    >>> frame, notes = read_text_table(Path("a.csv"), ",dose,sex\n1,0.5,f\n2,?,m\n")
    >>> frame.to_dict("index")
    {2: {'dose': 0.5, 'sex': 'f'}, 3: {'dose': nan, 'sex': 'm'}}
    >>> notes[0]
    'The first column has no name and numbers the rows, so it is left out.'
    """
    layout, texts = find_layout(text, sep), texts or {}
    if len(layout.header) == 1:
        _refuse_one_column(path, text, layout.header[0], sep)
    refuse_duplicates(layout.header)
    text = _from_line(text, layout.line)
    notes = [say_header("Line", layout.line, layout.title)] if layout.title else []
    if sep is None and layout.sep != USUAL.get(_suffix(path), layout.sep):
        notes.append(f"Columns are separated by {NAMES[layout.sep]}.")
    if layout.decimal == ",":
        notes.append("Decimals have a comma.")
    frame = _parse(path, text, layout, texts)
    numbers = frame.drop(columns=list(texts), errors="ignore")
    if signs := find_missing_signs(numbers, layout.decimal):
        frame = _parse(path, text, layout, texts, signs)
        notes.append(say_missing(signs))
    if tell_words:
        others = frame.drop(columns=list(texts), errors="ignore")
        notes += _tell_words(find_missing_words(others, lambda names: _parse(path, text, layout, names)))
    for name in filter(frame.columns.__contains__, texts):
        frame[name] = frame[name].mask(frame[name].isin({"", *(MISSING_WORDS - texts[name])}))
    frame.index = _count_lines(text, layout, len(frame))
    frame, on_numbers = leave_out_numbers(frame)
    return frame, on_numbers + notes


def say_missing(signs: dict[str, list[str]]) -> str:
    """Return a note on the signs for missing values, from `find_missing_signs`."""
    named = ", ".join(sorted({repr(sign) for column in signs.values() for sign in column}))
    return f"In columns of numbers {named} counts as missing: {list_names(list(signs))}."


def say_header(unit: str, at: int, title: str) -> str:
    """Return a note on a header below a title."""
    return f"{unit} {at} was taken for the header, and what is above it for a title: {quote(title)}."


def _from_line(text: str, line: int) -> str:
    """Return a text from a line on, which is 1 for all of it."""
    lines = io.StringIO(text, newline="")
    return text[sum(len(next(lines)) for _ in range(line - 1)) :]


def _count_lines(text: str, layout: Layout, n_rows: int) -> pd.Index:
    """Return the line of the file at which each row begins, given the text from the header on."""
    n_lines = text.count("\n") + (not text.endswith("\n"))
    lines: Sequence[int] = range(2, n_rows + 2)
    if n_lines != n_rows + 1:  # some are empty, or within quotation marks
        with suppress(csv.Error):  # a cell is too long for the module csv
            found = [line for line, _ in read_records(text, layout.sep)][1:]
            lines = found if len(found) == n_rows else lines
    return pd.Index(lines, name="line") + layout.line - 1


def find_missing_signs(frame: pd.DataFrame, decimal: str = ".") -> dict[str, list[str]]:
    """Return the columns of numbers in which some cells hold a sign for a missing value, and the signs.

    Examples
    --------
    >>> import pandas as pd
    >>> from stochgate.cli.table.text_table import find_missing_signs
    >>> find_missing_signs(pd.DataFrame({"dose": ["0.5", "?"], "strand": ["+", "-"]}))
    {'dose': ['?']}
    """
    found = {}
    for name in filter(lambda name: pd.api.types.is_string_dtype(frame[name].dtype), frame.columns):
        cells = frame[name].dropna().astype(str)
        numbers = pd.to_numeric(cells.str.replace(decimal, ".", regex=False), errors="coerce")
        others = cells[numbers.isna()].unique()
        has_numbers = 0 < len(others) <= len(MISSING_SIGNS) and numbers.notna().any()
        if has_numbers and all(other.strip().lower() in MISSING_SIGNS for other in others):
            found[name] = list(others)
    return found


def find_missing_words(
    frame: pd.DataFrame, read_again: Callable[[list[str]], pd.DataFrame]
) -> dict[str, dict[str, int]]:
    """Return the columns of text in which words are taken as missing, and how many rows have each word.

    Parameters
    ----------
    frame : DataFrame
    read_again : callable
        Returns the frame with some columns read to the letter.
    """
    lacking = [name for name in frame.columns[frame.isna().any()] if _has_text(frame[name])]
    if not lacking:
        return {}
    cells = read_again(lacking)
    found = {name: cells[name][cells[name].isin(MISSING_WORDS)] for name in lacking}
    return {name: words.value_counts().to_dict() for name, words in found.items() if len(words)}


def _has_text(column: pd.Series) -> bool:
    """Tell whether a column has a cell that is neither missing nor a number."""
    if not pd.api.types.is_string_dtype(column.dtype):
        return False
    cells = column.dropna().astype(str).str.replace(",", ".", regex=False)
    return bool(pd.to_numeric(cells, errors="coerce").isna().any())


def _tell_words(words: dict[str, dict[str, int]]) -> list[str]:
    """Return a note on words in columns of text that were taken as missing, if there are any."""
    if not words:
        return []
    told = [
        " and ".join(f"{quote(word)} in {count(n, 'row')}" for word, n in counts.items())
        + f" of {quote(name)}"
        for name, counts in list(words.items())[:MOST_NAMED]
    ]
    more = f", and such words in {len(words) - MOST_NAMED} more columns" if len(words) > MOST_NAMED else ""
    listed = shlex.quote(",".join(list(words)[:MOST_NAMED]))
    return [
        f"In columns of text, words count as missing: {', '.join(told)}{more}; --categorical {listed} "
        "keeps them as values."
    ]


def _parse(
    path: Path,
    text: str,
    layout: Layout,
    texts: Iterable[str],
    signs: dict[str, list[str]] | None = None,
) -> pd.DataFrame:
    """Return the data frame; lines that are one cell longer than the header begin with the row's name."""

    def parse(index_col: bool | None) -> pd.DataFrame:
        return pd.read_csv(
            io.StringIO(text),
            sep=layout.sep,
            decimal=layout.decimal,
            na_values=signs,
            converters=dict.fromkeys(texts, str) or None,
            index_col=index_col,
            low_memory=False,
        )

    try:
        frame = parse(None)
    except pd.errors.ParserError as error:
        wrong = _WRONG_LINE.search(str(error))
        if wrong is None:
            raise
        line = int(wrong[2]) + layout.line - 1
        raise UserError(
            f"Line {line} of {path} has {wrong[3]} cells where {wrong[1]} were expected: put cells with "
            "separators or line breaks in quotation marks."
        ) from error
    if isinstance(frame.index, pd.MultiIndex):
        raise UserError(f"The lines of {path} have more cells than its header: name every column.")
    if not isinstance(frame.index, pd.RangeIndex) and len(frame) and frame.iloc[:, -1].isna().all():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pd.errors.ParserWarning)
            frame = parse(False)  # the last separator of each line is one too many
    frame.columns = pd.Index([str(name) for name in frame.columns], dtype=object)
    return frame.reset_index(drop=True)


def leave_out_numbers(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return a table without a first column that has no name and counts the rows, and a note on it."""
    if frame.shape[1] < 2 or not str(frame.columns[0]).startswith("Unnamed:"):
        return frame, []
    first, rows = frame.iloc[:, 0], np.arange(len(frame))
    is_number = pd.api.types.is_integer_dtype(first.dtype)
    if not is_number or not ((first == rows).all() or (first == rows + 1).all()):
        return frame, []
    return frame.iloc[:, 1:], ["The first column has no name and numbers the rows, so it is left out."]


def _suffix(path: Path) -> str:
    """Return the suffix that names a kind of text, that of `a.csv.gz` too."""
    return next((suffix for suffix in map(str.lower, path.suffixes) if suffix in USUAL), "")


def _refuse_one_column(path: Path, text: str, name: str, sep: str | None) -> None:
    guessed = guess_separator(text[:100_000])
    advice = "give the character that separates the columns with --sep"
    if sep is not None and guessed != sep:
        advice = f"they seem to be separated by {NAMES[guessed]}, so leave out --sep"
    raise UserError(f"{path} has one column only ({quote(name)}): {advice}.")
