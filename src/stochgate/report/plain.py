"""Plain values: what JSON can hold, and text that a page can show."""

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

MOST_CHARACTERS = 120
_UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def to_text(value: Any, most: int = MOST_CHARACTERS) -> str:
    r"""Return a value as text: in one line, of limited length, without what no page can show.

    Parameters
    ----------
    value : any
        Such as a column name or a class label, which may be anything.
    most : int
        Longer texts are cut in the middle, since names often differ at their end.

    Examples
    --------
    >>> from stochgate.report.plain import to_text
    >>> to_text("two\nlines"), to_text("0123456789", most=7)
    ('two lines', '012…789')
    """
    text = re.sub(r"\s+", " ", _UNSHOWABLE.sub("\ufffd", str(value))).strip()
    if len(text) <= most:
        return text or "(no name)"
    half = (most - 1) // 2
    return f"{text[: most - 1 - half]}…{text[-half:]}"


def to_plain(value: Any) -> Any:
    """Return a value as JSON can hold it: lists, dicts, text, numbers; None for NaN and infinity.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.report.plain import to_plain
    >>> to_plain({"loss": np.array([0.5, np.nan]), "open": np.True_})
    {'loss': [0.5, None], 'open': True}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): to_plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return to_text(value)


def to_records(table: Any) -> list[dict[str, Any]]:
    """Return the rows of a table that is a DataFrame, or a list of dict without pandas."""
    return table.to_dict("records") if hasattr(table, "to_dict") else list(table)


def spread_out(n: int, most: int) -> np.ndarray:
    """Return at most so many positions of n, evenly spread, the first and the last among them.

    Examples
    --------
    >>> from stochgate.report.plain import spread_out
    >>> spread_out(9, 3), spread_out(2, 3)
    (array([0, 4, 8]), array([0, 1]))
    """
    return np.linspace(0, n - 1, min(n, most)).round().astype(int)
