"""The path: for each number of features the best set that was judged on held-out rows."""

from typing import Any

import numpy as np

from stochgate.report.columns import Columns
from stochgate.report.plain import to_records

MOST_LISTED = 200
MOST_LEFT = 100
MOST_SIZES = 40
AGREED = 0.75  # how near the folds' numbers of features must be to that of the set, as a mean ratio
JOINT = ("growing", "team")  # stages that judge one set, whatever the folds opened


def describe_path(model: Any, columns: Columns) -> dict[str, Any] | None:
    """Return the best set of each size, from no feature to the largest set; None where lam was given.

    Parameters
    ----------
    model : fitted estimator
    columns : Columns

    Returns
    -------
    dict
        "points" (by number of features: loss, spread, network, features, and which of them entered and
        which left since the point before), "chosen" (the position of the model's own set) and the losses
        of "all" columns and of "none".
    """
    table = getattr(model, "path_", None)
    if table is None:
        return None
    summary, labels = model.summary(), np.array(columns.labels, dtype=object)
    selected = labels[model.support_].tolist()
    none, every = (_finite(summary.losses.get(of)) for of in ("none", "all"))
    best = best_by_size(to_records(table), model.n_features_in_)
    best[len(selected)] = _chosen_set(model, summary, to_records(table), selected)
    if none is not None and 0 not in best:
        best[0] = {"features": [], "held_out_loss": none, "held_out_sd": None, "network": None}
    sizes = _keep_sizes(sorted(best), len(selected))
    rank = dict(zip(columns.labels, (-model.feature_importances_).tolist(), strict=True))
    befores = [None, *sizes[:-1]]
    points = [
        _describe_point(best, at, before, rank, columns) for before, at in zip(befores, sizes, strict=True)
    ]
    has_gain = summary.verdict != "no signal found"  # or a share of it says nothing
    for point in points:
        point["share"] = _share(point["loss"], none, every) if has_gain else None
    return {"points": points, "chosen": sizes.index(len(selected)), "none": none, "all": every}


def best_by_size(rows: list[dict[str, Any]], n_columns: int) -> dict[int, dict[str, Any]]:
    """Return for each number of features the row of the table with the lowest held-out loss.

    Left out are models on all columns, and sets that were not judged as they are: the vote of folds that
    opened far more features, or far fewer, than the vote has.

    Parameters
    ----------
    rows : list of dict
        From `model.path_`.
    n_columns : int

    Examples
    --------
    >>> from stochgate.report.along_path import best_by_size
    >>> row = {"stage": "refit", "n_features": 2, "n_by_fold": [2, 3], "held_out_loss": 0.5}
    >>> best = best_by_size([row, {**row, "held_out_loss": 0.4}, {**row, "n_by_fold": [9, 9]}], 10)
    >>> {size: found["held_out_loss"] for size, found in best.items()}
    {2: 0.4}
    """
    best: dict[int, dict[str, Any]] = {}
    for row in rows:
        size = row["n_features"]
        if not 0 < size < n_columns or row["stage"] == "all" or not np.isfinite(row["held_out_loss"]):
            continue
        if row["stage"] not in JOINT and _agreement(size, row["n_by_fold"]) < AGREED:
            continue
        if size not in best or row["held_out_loss"] < best[size]["held_out_loss"]:
            best[size] = row
    return best


def _agreement(size: int, n_by_fold: list[int]) -> float:
    """Return how near the folds' numbers of features are to the vote's: 1 where they are the same."""
    return float(np.mean([min(size, n) / max(size, n) for n in n_by_fold]))


def _chosen_set(
    model: Any, summary: Any, rows: list[dict[str, Any]], selected: list[Any]
) -> dict[str, Any]:
    """Return the row the model comes from; where none has its features, what is known of them."""
    loss = summary.losses.get("selected", np.nan)
    same = [
        row for row in rows if set(row["features"]) == set(selected) and row["network"] == model.network_
    ]
    own = {"features": selected, "held_out_loss": loss, "held_out_sd": None, "network": model.network_}
    if not same:
        return own
    if np.isnan(loss):
        return min(same, key=lambda row: row["held_out_loss"])
    nearest = min(same, key=lambda row: abs(row["held_out_loss"] - loss))
    return nearest if np.isclose(nearest["held_out_loss"], loss) else own


def _keep_sizes(sizes: list[int], chosen: int) -> list[int]:
    """Return at most 40 or so of the sizes, the chosen one among them."""
    if len(sizes) <= MOST_SIZES:
        return sizes
    spread = np.linspace(0, len(sizes) - 1, MOST_SIZES).round().astype(int)
    return sorted({*(sizes[i] for i in spread), chosen})


def _describe_point(
    best: dict[int, dict[str, Any]],
    at: int,
    before: int | None,
    rank: dict[Any, float],
    columns: Columns,
) -> dict[str, Any]:
    """Return what is known of the set of a size, its features by importance, long lists cut."""
    row = best[at]
    now, then = set(row["features"]), set() if before is None else set(best[before]["features"])

    def ordered(labels: set[Any]) -> list[Any]:
        return sorted(labels, key=lambda label: (rank.get(label, 0.0), str(label)))

    listed = ordered(now)[:MOST_LISTED]
    return {
        "n": at,
        "loss": row["held_out_loss"],
        "sd": row["held_out_sd"],
        "network": row["network"],
        "stage": row.get("stage"),
        "features": [columns.add(label) for label in listed],
        "entered": [columns.add(label) for label in listed if label not in then],
        "left": [columns.add(label) for label in ordered(then - now)[:MOST_LEFT]],
        "n_entered": len(now - then),
        "n_left": len(then - now),
    }


def _share(loss: float, none: float | None, every: float | None) -> float | None:
    """Return which share of the gain of all columns over none a loss reaches."""
    if none is None or every is None or none <= every:
        return None
    return (none - loss) / (none - every)


def _finite(loss: float | None) -> float | None:
    return None if loss is None or not np.isfinite(loss) else float(loss)
