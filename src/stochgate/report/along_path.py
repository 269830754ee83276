"""The path: for each number of features the best set that was judged on held-out rows."""

from typing import Any

import numpy as np

from stochgate.explain.by_size import best_by_size
from stochgate.report.columns import Columns
from stochgate.report.plain import to_records

MOST_LISTED = 200
MOST_LEFT = 100
MOST_SIZES = 40


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
    of_all = "all" if len(selected) < summary.n_features_in else "selected"
    none, every = (_finite(summary.losses.get(of)) for of in ("none", of_all))
    every_size = best_by_size(to_records(table))
    best = {size: row for size, row in every_size.items() if size < summary.n_features_in}
    best[len(selected)] = _chosen_set(model, summary, to_records(table), selected)
    if none is not None and 0 not in best:
        best[0] = {"features": [], "held_out_loss": none, "held_out_sd": None, "network": None}
    sizes = _keep_sizes(sorted(best), len(selected))
    rank = dict(zip(columns.labels, (-model.feature_importances_).tolist(), strict=True))
    befores = [None, *sizes[:-1]]
    points = [
        _describe_point(best, at, before, rank, columns) for before, at in zip(befores, sizes, strict=True)
    ]
    for point in points:  # of no gain beyond chance a share says nothing
        point["share"] = _share(point["loss"], none, every) if summary.has_signal else None
    return {"points": points, "chosen": sizes.index(len(selected)), "none": none, "all": every}


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
