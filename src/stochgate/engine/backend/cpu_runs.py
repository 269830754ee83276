"""Models whose numbers of columns are alike share a product; the smaller sets are filled up."""

import math
from collections.abc import Sequence

# Multiplications that take as long as starting another product, there and back.
_OPENING = 2e7


def spare_columns(work: float) -> float:
    """Return how many columns cost as much as another product, at so many multiplications per column."""
    return _OPENING / (2 * work)


def like_sizes(
    sizes: Sequence[int | None], work: float, at_once: float = math.inf
) -> list[tuple[slice, int | None]]:
    """Cut models into runs of like sizes, None for all columns; return each with its largest size.

    A run ends where it would gather more than `at_once` columns, or where filling up its smaller sets costs
    more than another product.

    Parameters
    ----------
    sizes : sequence of int or None
    work : float
        Multiplications per column of a model.
    at_once : float

    Examples
    --------
    >>> from stochgate.engine.backend.cpu_runs import like_sizes
    >>> like_sizes([1, 2, 9, 40, 45], work=1e6)
    [(slice(0, 2, None), 2), (slice(2, 3, None), 9), (slice(3, 5, None), 45)]
    """
    runs, spare = [], spare_columns(work)
    start, widest, total = 0, sizes[0], sizes[0] or 0
    for m, size in enumerate(sizes[1:], start=1):
        if size is None or widest is None:
            wider, more, joins = size, 0, size is widest
        else:
            wider, more = max(widest, size), total + size
            filled = (m + 1 - start) * wider
            joins = filled <= at_once and filled - more <= spare
        if not joins:
            runs.append((slice(start, m), widest))
            start, wider, more = m, size, size or 0
        widest, total = wider, more
    return [*runs, (slice(start, len(sizes)), widest)]
