"""Columns that a user names."""

import csv
from collections.abc import Sequence
from difflib import get_close_matches

from stochgate.cli.errors import UsageError
from stochgate.cli.text import list_names, quote


def find_column(columns: Sequence[str], name: str, option: str) -> str:
    """Return the name of a column; where there is none, suggest some.

    Examples
    --------
    >>> from stochgate.cli.table.columns import find_column
    >>> find_column(["Class", "dose"], "class", "--target")
    Traceback (most recent call last):
    ...
    stochgate.cli.errors.UsageError: --target names 'class', which is not there; did you mean 'Class'?
    """
    if name in columns:
        return name
    raise UsageError(f"{option} names {quote(name)}, which is not there; {_suggest(columns, name)}")


def find_columns(columns: Sequence[str], given: Sequence[str], option: str) -> list[str]:
    """Return all columns that entries name: each is one name, or several with commas between.

    Examples
    --------
    >>> from stochgate.cli.table.columns import find_columns
    >>> find_columns(["a", "b", "dose, in mg"], ["dose, in mg", "a,b"], "--keep")
    ['dose, in mg', 'a', 'b']
    """
    found = []
    for entry in given:
        names = [entry]
        if entry not in columns:
            names = [name.strip() for name in next(csv.reader([entry], skipinitialspace=True), [])]
        found += [find_column(columns, name, option) for name in names if name]
    return list(dict.fromkeys(found))


def split_condition(columns: Sequence[str], given: str, option: str) -> tuple[str, str | None]:
    r"""Return the column of "COLUMN" or "COLUMN=...", and what follows the equals sign, None without.

    Examples
    --------
    >>> from stochgate.cli.table.columns import split_condition
    >>> split_condition(["id"], r"id=^(\d+)_", "--row-groups")
    ('id', '^(\\d+)_')
    """
    parts = given.split("=")
    for n in range(len(parts), 0, -1):
        name = "=".join(parts[:n])
        if name in columns:
            return name, None if n == len(parts) else "=".join(parts[n:])
    return find_column(columns, parts[0], option), None


def _suggest(columns: Sequence[str], name: str) -> str:
    """Return what a user might have meant."""
    by_lower = {column.lower(): column for column in reversed(columns)}
    close = [by_lower[match] for match in get_close_matches(name.lower(), by_lower, n=3)]
    if close:
        return f"did you mean {' or '.join(map(quote, close))}?"
    if columns and all(map(_is_number, columns)):
        return "its first line holds only numbers: does it lack a header?"
    return f"its columns are {list_names(columns)}."


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
