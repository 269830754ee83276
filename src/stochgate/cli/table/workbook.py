"""Excel workbooks: the table on the first sheet."""

import io
import warnings
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pandas as pd

from stochgate.cli.errors import UserError
from stochgate.cli.table.text_files import find_header, join_cells, refuse_duplicates
from stochgate.cli.table.text_table import find_missing_signs, leave_out_numbers, say_header, say_missing
from stochgate.cli.text import list_names, quote
from stochgate.optional import require

_HEADER_ROWS = 21  # among which the header is looked for
_NO_TEXT = {"", "NA", "N/A", "n/a", "NaN", "nan", "<NA>", "NULL", "null", "None"}  # as in other files
_NO_RESULT = {"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A"}  # of a formula


def is_workbook(data: bytes) -> bool:
    """Tell whether bytes are a workbook of Excel since 2007: a zip archive with a certain folder."""
    return data.startswith(b"PK\x03\x04") and b"xl/" in data


def read_workbook(path: Path, data: bytes) -> tuple[pd.DataFrame, list[str]]:
    """Return the table of a workbook's first sheet, and notes.

    Numbers, texts and truth values are as the cells have them; dates become texts. The index is the row
    that Excel shows.

    Examples
    --------
    >>> import io
    >>> from pathlib import Path
    >>> import openpyxl
    >>> from stochgate.cli.table.workbook import read_workbook
    >>> book, made = openpyxl.Workbook(), io.BytesIO()
    >>> for row in (["dose", "code"], [0.5, "01"], [1, "02"]):
    ...     book.active.append(row)
    >>> book.save(made)
    >>> read_workbook(Path("a.xlsx"), made.getvalue())[0].to_dict("index")
    {2: {'dose': 0.5, 'code': '01'}, 3: {'dose': 1.0, 'code': '02'}}
    """
    sheet, notes = _open_first_sheet(path, data)
    cells = ([_as_value(cell) for cell in row] for row in sheet.iter_rows(values_only=True))
    rows = {i: row for i, row in enumerate(cells, sheet.min_row) if any(cell is not None for cell in row)}
    if len(rows) < 2:
        raise UserError(
            f"The first sheet of {path}, {quote(sheet.title)}, holds no table: give one with a header and "
            "rows there."
        )
    frame, on_header = _make_frame(rows)
    if signs := find_missing_signs(frame):
        for name, of_column in signs.items():
            frame[name] = frame[name].mask(frame[name].isin(of_column)).infer_objects()
        on_header.append(say_missing(signs))
    frame, on_numbers = leave_out_numbers(frame)
    return frame, [*notes, *on_numbers, *on_header]


def _open_first_sheet(path: Path, data: bytes) -> tuple[Any, list[str]]:
    """Return the first sheet, and a note where there are others."""
    openpyxl = require("openpyxl", package="openpyxl", needed_by="Reading Excel workbooks", extra="excel")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and menus, which are not read
            first, *others = openpyxl.load_workbook(io.BytesIO(data), data_only=True).worksheets
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise UserError(
            f"{path} cannot be opened as an Excel workbook ({reason}): save its table as CSV."
        ) from error
    if not others:
        return first, []
    left_out = list_names([sheet.title for sheet in others])
    return first, [f"The first sheet, {quote(first.title)}, was read, and not {left_out}."]


def _as_value(cell: Any) -> Any:
    """Return what a cell holds, dates as text, None for nothing."""
    if isinstance(cell, datetime):
        return str(cell.date() if cell.time() == time() else cell)
    if isinstance(cell, date | time | timedelta):
        return str(cell)
    if isinstance(cell, str) and cell.strip() in _NO_TEXT | _NO_RESULT:
        return None
    return cell


def _make_frame(rows: dict[int, list[Any]]) -> tuple[pd.DataFrame, list[str]]:
    """Return the data frame of some rows by their numbers, and a note where a title is above the header."""
    numbers, cells = list(rows), list(rows.values())
    first = [["" if cell is None else str(cell) for cell in row] for row in cells[:_HEADER_ROWS]]
    at = find_header(first)
    header = first[at]
    used = [
        j for j, name in enumerate(header) if name or any(row[j] is not None for row in cells[at + 1 :])
    ]
    refuse_duplicates(header)
    frame = pd.DataFrame(
        [[row[j] for j in used] for row in cells[at + 1 :]],
        columns=[header[j] or f"Unnamed: {j}" for j in used],
        index=pd.Index(numbers[at + 1 :], name="row"),
    )
    return frame, [say_header("Row", numbers[at], join_cells(first[:at]))] if at else []
