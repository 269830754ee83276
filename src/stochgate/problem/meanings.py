"""Values that may mean something else than they say: a missing value, an id, the code of a kind."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2

FEWEST_MISSING = 2  # rows that a number for missing values is in,
FEWEST_SMALL = 5  # or one of a single digit, which a count may reach
GAPS = 2  # times the widest gap between the others that it is away from them
FEWEST_IDS = 10  # different ones, each in 2 to 5 rows,
LEAST_REPEATS = 1.5  # and where the name says that they are ids, each in so many rows on average
MOST_CODES, LARGEST_CODE = 10, 20  # different whole numbers that may be codes, from 0 or 1 on
_ID = re.compile(
    r"(?i:(^|[^a-z])(id|patient|subject|person|participant|individual|animal|household)"
    r"([-_. ]?(id|no|nr|number))?([^a-z]|$))|[a-z](Id|ID)$"
)


@dataclass(frozen=True)
class MissingNumber:
    """A number that seems to stand for missing values.

    Attributes
    ----------
    value : float
    feature : int
    n_rows : int
        That hold it.
    low, high : float
        The range of the other values.
    """

    value: float
    feature: int
    n_rows: int
    low: float
    high: float


def is_all_nines(value: float) -> bool:
    """Tell whether a number is 9, 99, 99.9, 999 and so on, or minus that.

    Examples
    --------
    >>> from stochgate.problem.meanings import is_all_nines
    >>> is_all_nines(-999.0), is_all_nines(99.9), is_all_nines(0.9), is_all_nines(19.0)
    (True, True, False, False)
    """
    whole = abs(value) if abs(value) < 10 or float(value).is_integer() else 10 * abs(value)
    return set(f"{whole:.15g}") == {"9"}


def find_missing_numbers(values: np.ndarray, feature: int) -> list[MissingNumber]:
    """Return the numbers of nines at the edge of a column, away from its other values and repeated.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.problem.meanings import find_missing_numbers
    >>> [(found.value, found.n_rows) for found in find_missing_numbers(np.array([30, 31, 35, -9, -9]), 0)]
    [(-9.0, 2)]
    >>> find_missing_numbers(np.array([95, 97, 98, 99, 99]), 0)
    []
    """
    seen, counts = np.unique(values, return_counts=True)
    nines = np.array([is_all_nines(value) for value in seen.tolist()])
    others = seen[~nines]
    if len(others) < 2:
        return []
    low, high, gap = float(others[0]), float(others[-1]), GAPS * np.diff(others).max()
    below = (seen < low) & (((seen < 0) & (low >= 0)) | (low - seen > gap))
    fewest = np.where(np.abs(seen) < 10, FEWEST_SMALL, FEWEST_MISSING)
    fewest[seen < 0] = FEWEST_MISSING
    found = nines & (below | (seen - high > gap)) & (counts >= fewest)
    return [
        MissingNumber(float(value), feature, int(n), low, high)
        for value, n in zip(seen[found], counts[found], strict=True)
    ]


def may_be_ids(name: Any, values: np.ndarray) -> bool:
    """Tell whether whole numbers or texts repeat as ids do that have several rows each.

    Many different values are in 2 to 5 rows each, more evenly than chance would have it, or the name says
    what they are.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.problem.meanings import may_be_ids
    >>> may_be_ids("x", np.repeat(np.arange(30), 3)), may_be_ids("patient_id", np.repeat(np.arange(10), 8))
    (True, True)
    """
    counts = np.unique(values, return_counts=True)[1]
    if len(counts) < FEWEST_IDS or len(values) < LEAST_REPEATS * len(counts):
        return False
    mean = counts.mean()
    if _ID.search(str(name)) is not None:
        return True
    few = np.mean((counts >= 2) & (counts <= 5)) > 0.9
    return bool(few and chi2.cdf(((counts - mean) ** 2).sum() / mean, len(counts) - 1) < 0.01)


def may_be_codes(values: np.ndarray) -> bool:
    """Tell whether whole numbers are few and small: codes of kinds, or else a scale or a count."""
    low, high = values.min(), values.max()
    return bool(low in (0, 1) and high <= LARGEST_CODE) and 3 <= len(np.unique(values)) <= MOST_CODES
