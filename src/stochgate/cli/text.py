"""Untrusted text, such as column names, made fit for one line of a terminal."""

from collections.abc import Sequence
from typing import Any

LONGEST_NAME = 60
MOST_NAMED = 5


def plain(text: Any) -> str:
    r"""Return a text whose line breaks, escape sequences and other control characters can be seen.

    Examples
    --------
    >>> from stochgate.cli.text import plain
    >>> print(plain("dose\n[mg]"), plain("\x1b[31mred"))
    dose\n[mg] \x1b[31mred
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(text))


def shorten(text: Any, length: int = LONGEST_NAME) -> str:
    """Return a plain text, cut where it is too long.

    Examples
    --------
    >>> from stochgate.cli.text import shorten
    >>> shorten("hippocampus", 8)
    'hippoca…'
    """
    made = plain(str(text)[: 2 * length])
    return made if len(made) <= length else made[: length - 1] + "…"


def quote(name: Any) -> str:
    """Return a short name in quotation marks."""
    return f"'{shorten(name)}'"


def list_names(names: Sequence[Any], most: int = MOST_NAMED) -> str:
    """Return some names in quotation marks, and how many more there are.

    Examples
    --------
    >>> from stochgate.cli.text import list_names
    >>> list_names(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    named = ", ".join(map(quote, names[:most]))
    return f"{named} and {len(names) - most} more" if len(names) > most else named


def count(n: int, thing: str) -> str:
    """Return a number of things: "1 row", "2 rows".

    Examples
    --------
    >>> from stochgate.cli.text import count
    >>> count(1, "row"), count(1080, "row")
    ('1 row', '1,080 rows')
    """
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"
