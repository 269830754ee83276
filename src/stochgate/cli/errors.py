"""From an exception to one sentence and an exit code: the only place that does it."""

import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import sklearn

import stochgate
from stochgate.cli.text import plain

BAD_DATA, BAD_USAGE, STOPPED = 1, 2, 130
LONGEST = 2000
_OBSTACLES = "X cannot be used as it is", "The table cannot be used as it is"
_A_ROW = re.compile(r"\b(in|of) row (\d+)\b")
_PLAIN_SPOKEN = tuple(str(Path(str(package.__file__)).parent) for package in (stochgate, sklearn))


class UserError(Exception):
    """What a user can put right, in one sentence; by default a file or data that cannot be used."""

    exit_code = BAD_DATA


class UsageError(UserError):
    """A wrong option, or a name that the table does not have."""

    exit_code = BAD_USAGE


@contextmanager
def about_the_file(rows: pd.Index, can_exclude: bool = True) -> Iterator[None]:
    """Raise errors of the library as errors about the file, whose rows it counts from 0.

    Parameters
    ----------
    rows : Index
        Where each row stands in the file; its name is "line" or "row".
    can_exclude : bool
        Whether the command has the option --exclude.

    Examples
    --------
    >>> import pandas as pd
    >>> from stochgate.cli.errors import about_the_file
    >>> from stochgate.survival import survival_target
    >>> with about_the_file(pd.Index([2, 3], name="line")):  # doctest: +ELLIPSIS
    ...     survival_target([1, 0], [5.0, -1.0])
    Traceback (most recent call last):
    ...
    stochgate.cli.errors.UserError: The time in line 3 is negative (-1.0); times ...
    """
    try:
        yield
    except (ValueError, TypeError) as error:
        if not _is_plain_spoken(error):
            raise
        told = _A_ROW.sub(
            lambda found: f"{found[1]} {rows.name or 'row'} {rows[int(found[2])]}", str(error)
        )
        x, table = _OBSTACLES
        advice = " (--exclude leaves columns out)" if can_exclude else ""
        raise UserError(told.replace(x, table + advice)) from error


def explain(error: BaseException) -> tuple[str, int]:
    """Return one sentence on what was wrong, and the exit code.

    A ValueError that stochgate or scikit-learn raises is about what they were given, and so for the user.

    Examples
    --------
    >>> from stochgate.cli.errors import UsageError, explain
    >>> explain(UsageError("There is no column 'y'."))
    ("There is no column 'y'.", 2)
    >>> explain(KeyboardInterrupt())
    ('Stopped.', 130)
    """
    text, code = _read(error)
    text = plain(" ".join(text.split()))
    return (text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"), code


def _read(error: BaseException) -> tuple[str, int]:
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort":  # Abort is typer's
        return "Stopped.", STOPPED
    if isinstance(error, UserError):
        return str(error), error.exit_code
    if hasattr(error, "format_message"):  # of typer, on options it cannot read
        return _with_help(error), BAD_USAGE
    if isinstance(error, MemoryError) or "out of memory" in str(error).lower():
        return "There is not enough memory for this table: use fewer rows or columns.", BAD_DATA
    if isinstance(error, OSError) and error.strerror:
        where = f" ({error.filename})" if error.filename else ""
        return f"A file could not be read or written: {error.strerror}{where}.", BAD_DATA
    if isinstance(error, ImportError) and "pip install" in str(error):
        return f"{error}.", BAD_DATA
    if isinstance(error, (ValueError, TypeError)) and _is_plain_spoken(error):
        return str(error), BAD_DATA
    told = f"{type(error).__name__}: {error}".rstrip(": ")
    return (
        f"Something went wrong that should not have ({told}); please report it with what --debug shows.",
        BAD_DATA,
    )


def _with_help(error: Any) -> str:
    """Return typer's message, and where the options are listed."""
    command = getattr(getattr(error, "ctx", None), "command_path", None) or "stochgate"
    text = error.format_message().rstrip().replace(". Did you", "; did you")
    return text if text.endswith("?") else f"{text.rstrip('.')}; see {command} --help."


def _is_plain_spoken(error: BaseException) -> bool:
    """Tell whether an exception was raised by code whose messages are for users.

    A last frame that raises nothing itself has called compiled code, which does not know the user.
    """
    frames = traceback.extract_tb(error.__traceback__)
    if not frames or not frames[-1].filename.startswith(_PLAIN_SPOKEN):
        return False
    line = frames[-1].line
    return not line or line.startswith("raise")
