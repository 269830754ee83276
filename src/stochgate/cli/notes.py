"""Warnings of the library as notes for the user."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collect_notes() -> Iterator[list[str]]:
    """Gather what the library warns of, each text once, instead of showing it.

    Warnings for programmers (of what will change, of overflows) are dropped.

    Examples
    --------
    >>> import warnings
    >>> from stochgate.cli.notes import collect_notes
    >>> with collect_notes() as notes:
    ...     warnings.warn("Column 'a' has one value only.", UserWarning)
    ...     warnings.warn("soon to be removed", FutureWarning)
    >>> notes
    ["Column 'a' has one value only."]
    """
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield notes
        finally:
            texts = [str(w.message) for w in caught if issubclass(w.category, UserWarning)]
            notes += [text for text in dict.fromkeys(texts) if text not in notes]
