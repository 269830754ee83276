"""Text with a few values: which of them have a column, and how any text is read."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_LEVELS = 30  # values that have a column of their own
FEWEST_ROWS = 5  # that a value needs for it: one seen less often can hardly be learnt and judged
OTHER, MISSING = "(other)", "(missing)"


def marks_missing(n_missing: Any, n_samples: int) -> Any:
    """Tell where a column says which values are missing: 5 rows lack a value at least, and 5 have one.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.tables.levels import marks_missing
    >>> marks_missing(np.array([0, 4, 5, 95, 96]), 100)
    array([False, False,  True,  True, False])
    """
    return np.minimum(n_missing, n_samples - n_missing) >= FEWEST_ROWS


def label(value: Any) -> str | None:
    """Return a value as text, None where it is missing; a whole number is written without a point.

    A text that reads like one of our own levels, "(other)" or "(missing)", is put in quotation marks.

    Examples
    --------
    >>> from stochgate.tables.levels import label
    >>> label("a"), label(2.0), label(None)
    ('a', '2', None)
    """
    if value is None:
        return None
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return repr(value) if value in (OTHER, MISSING) else str(value)


def first_missing(labels: np.ndarray) -> int | None:
    """Return the position of the first label that is None or NaN, or None where none is."""
    if labels.dtype.kind in "biuUS":  # none of these can be missing
        return None
    return next((i for i, value in enumerate(labels.tolist()) if value is None or value != value), None)


@dataclass(frozen=True)
class Levels:
    """The values of a text column that a model tells apart.

    Rows of the first level, the most frequent one, are 0 in every column: a coefficient says how much
    another level differs from it. The 30 most frequent values with at least 5 rows have a level each (both
    of two values always do); the others share one where they have 5 rows together, or where only the most
    frequent value has more, and count as that value elsewhere. Missing values are a level of their own
    where at least 5 rows of the fit lack a value and 5 have one; elsewhere a missing value counts as the
    most frequent one. A value that the fit did not see counts as one of the others, or where there are none
    as the most frequent one.

    Attributes
    ----------
    names : tuple of str
    """

    names: tuple[str, ...]

    @classmethod
    def learn(cls, labels: np.ndarray) -> "Levels | None":
        """Return the levels of labels; None where most rows or all have rare ones, as in ids and notes."""
        return cls.of_counts(Counter(labels.tolist()))

    @classmethod
    def of_counts(cls, counts: Counter) -> "Levels | None":
        """Return the levels of labels that were counted; as `learn`."""
        n_labels, counts = sum(counts.values()), counts.copy()
        n_missing = counts.pop(None, 0)
        ranked = sorted(counts, key=lambda name: (-counts[name], name))
        kept = ranked
        if len(ranked) > 2:
            kept = [name for name in ranked[:MOST_LEVELS] if counts[name] >= FEWEST_ROWS]
        n_kept = sum(counts[name] for name in kept)
        n_other = n_labels - n_missing - n_kept
        if n_other and (not kept or (n_other > n_kept and len(ranked) > MOST_LEVELS)):
            return None
        has_other = n_other >= (1 if len(kept) == 1 else FEWEST_ROWS)
        pooled = [OTHER] * has_other + [MISSING] * bool(marks_missing(n_missing, n_labels))
        return cls((*kept[:1], *sorted(kept[1:]), *pooled))

    @property
    def columns(self) -> tuple[str, ...]:
        """The levels that have a column."""
        return self.names[1:]

    def numbers(self, labels: np.ndarray) -> np.ndarray:
        """Return the position of each label's level, shape (n_samples,)."""
        place: dict[str | None, int] = {name: i for i, name in enumerate(self.names)}
        missing = place.pop(MISSING, 0)
        other = place.pop(OTHER, 0)
        place[None] = missing
        return np.array([place.get(name, other) for name in labels.tolist()], dtype=np.int64)

    def encode(self, labels: np.ndarray) -> np.ndarray:
        """Return a column of 0 and 1 for each level but the first, shape (n_samples, n_levels - 1).

        Examples
        --------
        >>> import numpy as np
        >>> from stochgate.tables.levels import Levels
        >>> Levels(("b", "a", "c")).encode(np.array(["a", "b", "never seen"], dtype=object))
        array([[1., 0.],
               [0., 0.],
               [0., 0.]])
        """
        return (self.numbers(labels)[:, None] == np.arange(1, max(1, len(self.names)))).astype(float)
