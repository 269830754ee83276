"""The rows of a large table on which decisions are made, and what only a pass over all rows can tell."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stochgate.sources.source import Block, Source, join_rows
from stochgate.sources.survey import Survey

MOST_ROWS, FEWEST_ROWS = 50_000, 2_000  # of a sample, by default
MOST_NUMBERS = 1e7  # in it: wide tables have fewer rows
MOST_KINDS = 1_000  # of rows: of each there is one in the sample at least
RARE = 0.5  # a class gets at least this share of what it would have if all were alike


@dataclass(frozen=True)
class Sample:
    """Some rows of a table, drawn at random.

    Attributes
    ----------
    block : Block
        The rows. Their weights undo what was drawn more often: rows of rare classes.
    given_weight : ndarray, shape (n_samples,)
        The weights that these rows have in the table.
    n_rows : int
        Rows of weight in the whole table.
    mean_weight : float
        Of these.
    survey : Survey
        What a pass over all rows has found.
    """

    block: Block
    given_weight: np.ndarray
    n_rows: int
    mean_weight: float
    survey: Survey

    @property
    def is_all(self) -> bool:
        """Whether it is the whole table."""
        return len(self.block.rows) == self.n_rows


def rows_of_a_sample(n_features: int) -> int:
    """Return how many rows a decision is made on, by default.

    Examples
    --------
    >>> from stochgate.sources.sample import rows_of_a_sample
    >>> rows_of_a_sample(20), rows_of_a_sample(1000), rows_of_a_sample(100_000)
    (50000, 10000, 2000)
    """
    return int(np.clip(MOST_NUMBERS // max(1, n_features), FEWEST_ROWS, MOST_ROWS))


def draw_sample(
    source: Source, kinds_of: Callable[[Any], np.ndarray], n_sampled: int | None, seed: int
) -> Sample:
    """Go through a table twice: count the kinds of its rows, then draw some of each.

    Parameters
    ----------
    source : Source
    kinds_of : callable
        Returns the kind of every row, given its y: its class, or whether there was an event.
    n_sampled : int or None
        Rows to draw, about.
    seed : int
    """
    n_sampled = rows_of_a_sample(source.n_features) if n_sampled is None else n_sampled
    counts, total = count_kinds(source, kinds_of)
    n_rows = sum(counts.values())
    if n_rows < 2:
        raise ValueError(f"The table has {n_rows} rows of weight; a fit needs 2 or more.")
    rng = np.random.default_rng(seed)
    drawn = {
        kind: np.sort(rng.choice(counts[kind], size, replace=False))
        for kind, size in share_out(counts, n_sampled).items()
    }
    survey, seen = Survey(source), Counter[Any]()
    parts: list[Block] = []
    for block in all_blocks(source):
        survey.add(block)
        kinds, chosen = kinds_of(block.y), []
        for kind in np.unique(kinds).tolist():
            own = np.flatnonzero(kinds == kind)
            low, high = np.searchsorted(drawn[kind], [seen[kind], seen[kind] + len(own)])
            chosen.append(own[drawn[kind][low:high] - seen[kind]])
            seen[kind] += len(own)
        index = np.sort(np.concatenate(chosen))
        if len(index):
            parts.append(block.take(index))
    joined = _join(parts)
    weight = np.ones(len(joined.rows)) if joined.weight is None else np.asarray(joined.weight, dtype=float)
    block = _weighted(joined, kinds_of, counts, {kind: len(rows) for kind, rows in drawn.items()})
    return Sample(block, weight, n_rows, total / n_rows, survey)


def count_kinds(source: Source, kinds_of: Callable[[Any], np.ndarray]) -> tuple[Counter, float]:
    """Return how many rows of weight there are of each kind, and their weight in all."""
    counts, total = Counter[Any](), 0.0
    for block in all_blocks(source, []):
        if block.y is None:
            raise ValueError("y is missing: name its column, or give blocks (X, y).")
        _refuse_missing(block)
        kinds, sizes = np.unique(kinds_of(block.y), return_counts=True)
        counts.update(dict(zip(kinds.tolist(), sizes.tolist(), strict=True)))
        if len(counts) > MOST_KINDS:
            raise ValueError(
                f"y has more than {MOST_KINDS} different classes; for a y of numbers use a regression."
            )
        total += len(block.rows) if block.weight is None else float(block.weight.sum())
    return counts, total


def _refuse_missing(block: Block) -> None:
    """Raise where y is missing, or no finite number."""
    y = np.asarray(block.y)
    if y.dtype.kind == "f":
        wrong = ~np.isfinite(y)
    elif y.dtype.kind == "O":
        wrong = np.reshape([value is None or value != value for value in y.ravel()], y.shape)
    else:
        return
    if wrong.any():
        at = np.argwhere(wrong)[0]
        raise ValueError(f"y is {y[tuple(at)]} in row {block.rows[at[0]]}: mend it, or drop the row.")


def share_out(counts: Counter, n_sampled: int) -> dict[Any, int]:
    """Return how many rows to draw of each kind: their share, but of rare kinds more.

    Examples
    --------
    >>> from collections import Counter
    >>> from stochgate.sources.sample import share_out
    >>> share_out(Counter({"no": 900_000, "yes": 100_000}), 1000)
    {'no': 750, 'yes': 250}
    >>> share_out(Counter({"no": 600, "yes": 300}), 1000)
    {'no': 600, 'yes': 300}
    """
    n_rows = sum(counts.values())
    if n_rows <= n_sampled:
        return dict(counts)
    least = max(1, int(RARE * n_sampled / len(counts)))
    rare = {kind: min(n, least) for kind, n in counts.items() if n * n_sampled < least * n_rows}
    left = n_sampled - sum(rare.values())
    n_others = n_rows - sum(counts[kind] for kind in rare)
    return {
        kind: rare.get(kind) or min(n, max(1, round(left * n / n_others))) for kind, n in counts.items()
    }


def all_blocks(source: Source, features: Any = None) -> Iterator[Block]:
    """Yield all blocks in their order, without the rows of weight 0."""
    for part in range(source.n_parts):
        for block in source.read(part, features):
            block = with_weight(block)
            if len(block.rows):
                yield block


def with_weight(block: Block) -> Block:
    """Return the rows of weight; a weight that is no number, or below 0, is refused."""
    if block.weight is None:
        return block
    try:
        weight = np.asarray(block.weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Sample weights must be numbers ({error}).") from error
    wrong = np.flatnonzero(~(weight >= 0) | np.isinf(weight))
    if len(wrong):
        at = wrong[0]
        raise ValueError(
            f"The sample weight of row {block.rows[at]} is {weight[at]}; give a number not below 0."
        )
    block = replace(block, weight=weight)
    return block if weight.all() else block.take(np.flatnonzero(weight))


def _join(parts: list[Block]) -> Block:
    first = parts[0]
    return Block(
        join_rows([part.X for part in parts]),
        np.concatenate([part.rows for part in parts]),
        join_rows([part.y for part in parts]),
        None if first.weight is None else np.concatenate([part.weight for part in parts]),
        None if first.group is None else np.concatenate([part.group for part in parts]),
    )


def _weighted(
    block: Block, kinds_of: Callable[[Any], np.ndarray], counts: Counter, drawn: dict[Any, int]
) -> Block:
    """Return the block with weights that make up for kinds that were drawn more often than others."""
    factor = {kind: counts[kind] / drawn[kind] for kind in counts}
    largest, smallest = max(factor.values()), min(factor.values())
    if largest <= 1.001 * smallest:  # but for rounding all were drawn alike
        return block
    of_row = np.array([factor[kind] for kind in kinds_of(block.y).tolist()])
    weight = of_row if block.weight is None else of_row * block.weight
    return Block(block.X, block.rows, block.y, weight, block.group)
