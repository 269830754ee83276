"""Halves of the rows, in complementary pairs."""

from typing import Any

import numpy as np


def complementary_pairs(
    n_samples: int, n_pairs: int, seed: int, strata: Any = None, groups: Any = None
) -> np.ndarray:
    """Return pairs of disjoint halves, a boolean array of shape (2 * n_pairs, n_samples).

    Rows 2 i and 2 i + 1 of the answer are a pair of floor(n_samples / 2) rows each, as in Shah and
    Samworth (2013); of an odd number of rows a random one is left out.

    Parameters
    ----------
    n_samples, n_pairs, seed : int
    strata : array, shape (n_samples,), optional
        Classes, or whether there was an event: both halves get the same number of each, but for one.
    groups : array, shape (n_samples,), optional
        Rows that belong together (patients, batches) go to the same half. Groups are dealt out in random
        order, each to the half that it leaves more even in size and strata, so that the halves' sizes
        differ by about a group, and no row is left out.

    Examples
    --------
    >>> from stochgate.stability.halves import complementary_pairs
    >>> halves = complementary_pairs(11, n_pairs=3, seed=0)
    >>> halves.sum(axis=1), (halves[::2] & halves[1::2]).any()
    (array([5, 5, 5, 5, 5, 5]), np.False_)
    """
    if n_samples < 2 or n_pairs < 1:
        raise ValueError(
            f"n_samples={n_samples!r} and n_pairs={n_pairs!r} make no pair of halves: use at least 2 rows "
            "and 1 pair."
        )
    strata = np.zeros(n_samples, dtype=int) if strata is None else _codes("strata", strata, n_samples)
    rng = np.random.default_rng(seed)
    if groups is None:
        halves = [_halve_rows(strata, rng) for _ in range(n_pairs)]
    else:
        codes = _codes("groups", groups, n_samples)
        if codes.max() == 0:
            raise ValueError("groups holds one group only, which cannot be halved: use at least 2 groups.")
        halves = [_halve_groups(codes, strata, rng) for _ in range(n_pairs)]
    return np.concatenate(halves)


def _codes(name: str, labels: Any, n_samples: int) -> np.ndarray:
    """Return labels as numbers from 0."""
    labels = np.asarray(labels)
    if labels.shape != (n_samples,):
        raise ValueError(f"{name} has shape {labels.shape}; expected one label per row, ({n_samples},).")
    return np.unique(labels, return_inverse=True)[1]


def _halve_rows(strata: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Deal the rows out in turns, stratum after stratum; shape (2, n_samples)."""
    rank = rng.permutation(strata.max() + 1)[strata]  # which stratum comes last, and may lose a row
    order = np.lexsort((rng.permutation(len(strata)), rank))
    size, first = len(strata) // 2, rng.integers(2)
    halves = np.zeros((2, len(strata)), dtype=bool)
    halves[first, order[0 : 2 * size : 2]] = True
    halves[1 - first, order[1 : 2 * size : 2]] = True
    return halves


def _halve_groups(groups: np.ndarray, strata: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Deal whole groups out, each to where it evens out size and strata; shape (2, n_samples)."""
    counts = np.zeros((groups.max() + 1, strata.max() + 2))
    np.add.at(counts, (groups, strata), 1)
    counts[:, -1] = np.bincount(groups)
    shares = counts / counts.sum(axis=0)  # of each stratum, and of all rows: (n_groups, n_strata + 1)
    side = np.empty(len(shares), dtype=bool)
    ahead = np.zeros(shares.shape[1])  # how much more the first half has
    for group in rng.permutation(len(shares)):
        lean = ahead @ shares[group]
        side[group] = lean < 0 if lean != 0 else rng.integers(2) == 0
        ahead += shares[group] if side[group] else -shares[group]
    first = side[groups]
    return np.stack([first, ~first])
