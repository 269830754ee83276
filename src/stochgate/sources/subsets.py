"""Some rows of a source: parts of it, or the rows of some keys."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from stochgate.sources.sample import with_weight
from stochgate.sources.source import Block, Source
from stochgate.tables.levels import first_missing, label


class Subset(Source):
    """Some parts of another source, and of these some rows.

    Parameters
    ----------
    source : Source
    parts : list of int
    keeps : callable, optional
        Returns which rows of a block to keep, a mask of shape (n_rows,); all by default.
    """

    def __init__(
        self, source: Source, parts: list[int], keeps: Callable[[Block], np.ndarray] | None = None
    ):
        self.source, self.parts, self.keeps = source, parts, keeps
        self.names, self.n_features = source.names, source.n_features
        self.sample_rows = source.sample_rows

    @property
    def n_parts(self) -> int:  # noqa: D102
        return len(self.parts)

    def read(self, part: int, features: Sequence[int] | None = None) -> Iterator[Block]:  # noqa: D102
        for block in self.source.read(self.parts[part], features):
            kept = block if self.keeps is None else block.take(np.flatnonzero(self.keeps(block)))
            if len(kept.rows):
                yield kept

    def open_bytes(self, features: Sequence[int] | None = None) -> int:  # noqa: D102
        return self.source.open_bytes(features)

    def describe(self) -> str:  # noqa: D102
        return f"{super().describe()} {self.parts} {self.source.describe()}"


class Unweighted(Subset):
    """Another source without the rows of weight 0, the others all alike.

    Parameters
    ----------
    source : Source
    """

    def __init__(self, source: Source):
        super().__init__(source, list(range(source.n_parts)))

    def read(self, part: int, features: Sequence[int] | None = None) -> Iterator[Block]:  # noqa: D102
        for block in super().read(part, features):
            weighed = with_weight(block)
            if len(weighed.rows):
                yield replace(weighed, weight=None)


def split_source(source: Source, n_folds: int, by_key: bool, seed: int) -> list[tuple[Source, Source]]:
    """Return the rows to learn from and those to be judged by, for each fold.

    Parameters
    ----------
    source : Source
    n_folds : int
    by_key : bool
        Whether rows of the same group stay together; otherwise those of a part do.
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.sources.blocks import BlockSource
    >>> from stochgate.sources.subsets import split_source
    >>> source = BlockSource([(np.zeros((5, 2)), np.zeros(5))] * 6)
    >>> [test.n_parts for _, test in split_source(source, 3, by_key=False, seed=0)]
    [2, 2, 2]
    """
    every = list(range(source.n_parts))
    if by_key:
        folds = _deal_keys(source, n_folds, seed)
        return [
            (Subset(source, every, _Keys(folds, n, False)), Subset(source, every, _Keys(folds, n, True)))
            for n in range(n_folds)
        ]
    if source.n_parts < n_folds:
        raise ValueError(
            f"The table has {source.n_parts} part(s) that can be read on their own, too few for {n_folds} "
            "folds: write it in more row groups or files, give groups (a column whose rows stay together), "
            "or use fewer folds."
        )
    of_part = np.random.default_rng(seed).permutation(source.n_parts) % n_folds
    return [
        (
            Subset(source, np.flatnonzero(of_part != fold).tolist()),
            Subset(source, np.flatnonzero(of_part == fold).tolist()),
        )
        for fold in range(n_folds)
    ]


def _deal_keys(source: Source, n_folds: int, seed: int) -> dict[str, int]:
    """Return the fold of every key, which are dealt out in random order."""
    found: set[str] = set()
    for part in range(source.n_parts):
        for block in source.read(part, []):
            found.update(_keys_of(block)[0])
    if len(found) < n_folds:
        raise ValueError(
            f"There are {len(found)} groups, too few for {n_folds} folds: use fewer folds (cv)."
        )
    order = np.random.default_rng(seed).permutation(sorted(found)).tolist()
    return {key: number % n_folds for number, key in enumerate(order)}


def _keys_of(block: Block) -> tuple[list[str], np.ndarray]:
    """Return the keys of a block, each once, and which of them each row has; none may be missing."""
    groups = np.asarray(block.group)
    missing = first_missing(groups)
    if missing is not None:
        raise ValueError(f"The group of row {block.rows[missing]} is missing; give it a label, or drop it.")
    values, place = np.unique(groups, return_inverse=True)
    return [str(label(value)) for value in values.tolist()], place


class _Keys:
    """Tells which rows have keys of a fold, or of the others."""

    def __init__(self, folds: dict[str, int], fold: int, inside: bool):
        self.folds, self.fold, self.inside = folds, fold, inside

    def __call__(self, block: Block) -> np.ndarray:
        keys, place = _keys_of(block)
        codes = np.array([self.folds[key] for key in keys])
        return (codes[place] == self.fold) == self.inside
