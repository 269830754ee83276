"""The best set of each number of features, of all that were judged."""

from typing import Any

import numpy as np

from stochgate.choice.sets.cells import JOINT

AGREED = 0.75  # how near the folds' numbers of features must be to that of the set, as a mean ratio


def best_by_size(rows: list[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """Return for each number of features the row with the lowest held-out loss, sizes rising.

    Left out are models on all columns, and sets that were not judged as they are: the vote of folds that
    opened far more features, or far fewer, than the vote has.

    Parameters
    ----------
    rows : list of dict
        From `model.path_`.

    Examples
    --------
    >>> from stochgate.explain.by_size import best_by_size
    >>> row = {"stage": "refit", "n_features": 2, "n_by_fold": [2, 3], "held_out_loss": 0.5}
    >>> best = best_by_size([row, {**row, "held_out_loss": 0.4}, {**row, "n_by_fold": [9, 9]}])
    >>> {size: found["held_out_loss"] for size, found in best.items()}
    {2: 0.4}
    """
    best: dict[int, dict[str, Any]] = {}
    for row in rows:
        size = row["n_features"]
        if size == 0 or row["stage"] == "all" or not np.isfinite(row["held_out_loss"]):
            continue
        if row["stage"] not in (*JOINT, "team") and _agreement(size, row["n_by_fold"]) < AGREED:
            continue
        if size not in best or row["held_out_loss"] < best[size]["held_out_loss"]:
            best[size] = row
    return dict(sorted(best.items()))


def _agreement(size: int, n_by_fold: list[int]) -> float:
    """Return how near the folds' numbers of features are to the vote's: 1 where they are the same."""
    return float(np.mean([min(size, n) / max(size, n) for n in n_by_fold]))
