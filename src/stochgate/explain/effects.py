"""Effects of the chosen columns with intervals: slopes, odds ratios, hazard ratios."""

from typing import Any

import numpy as np
import torch
from scipy import sparse
from sklearn.utils.validation import _check_sample_weight, check_consistent_length

from stochgate.explain.refit import LinearRefit
from stochgate.objectives.base import Rows
from stochgate.problem.validation import check_groups

NO_DATA = (
    "effects() needs rows to estimate from: those of a fit with lam='auto' or n_features_to_select are "
    "neither saved, pickled nor kept by reduced() and forget_data(); give others, effects(X, y)."
)
MOST_EFFECTS = 100  # columns times outputs of which results tell effects unasked


def effects_to_tell(model: Any, X: Any = None, y: Any = None) -> list[dict[str, Any]] | None:
    """Return the effects; None where there are none, too many, or where the rows can tell none.

    X and y are the rows to estimate from where the model has none of its own.
    """
    few = 0 < model.support_.sum() <= MOST_EFFECTS
    if not few or len(model._predictor.features) * model._predictor.base.shape[-1] > MOST_EFFECTS:
        return None
    if model._choice is not None:
        X = y = None
    found = find_effects(model, X, y, None, None, 0.95)
    return found if any(not np.isnan(row["low"]) for row in found) else None


def find_effects(
    model: Any, X: Any, y: Any, sample_weight: Any, groups: Any, level: float
) -> list[dict[str, Any]]:
    """Return a row per output and chosen column of a linear model without penalty.

    Parameters
    ----------
    model : fitted estimator
    X, y, sample_weight, groups : the rows to estimate from; those of the fit where X is None
    level : float
    """
    if not model.support_.any():
        raise ValueError("No feature is selected, so there are no effects to estimate.")
    chosen = model._predictor.features
    if X is None:
        columns, rows, weights, groups = _of_fit(model)
    else:
        columns, rows, weights, groups = _of_rows(model, X, y, sample_weight, groups)
    values = columns[:, chosen].toarray() if sparse.issparse(columns) else columns[:, chosen]
    inputs, against = model._predictor.inputs, [model._table.against()[j] for j in chosen]
    units = ["one unit less"] * len(chosen)
    if inputs.encoding is None and inputs.reach is not None:
        values = inputs.drawn_in(values)
        units = [f"{units[0]}, near the middle" if np.isfinite(r) else units[0] for r in inputs.reach]
    n_outputs = model._predictor.base.shape[-1]
    refit = LinearRefit(model._objective, rows, values, weights, n_outputs, groups)
    low, middle, high = refit.intervals(level)
    spread = [sd if what is None else np.nan for sd, what in zip(refit.spread, against, strict=True)]
    ratio, found = model._objective.ratio_name, list_coefficients(model, middle)
    for i, row in enumerate(found):
        j = i % len(chosen)
        row |= {"against": against[j] or units[j], "low": float(low.flat[i]), "high": float(high.flat[i])}
        row["per_sd"] = float(row["coefficient"] * spread[j])
        if ratio is not None:
            row[ratio] = float(np.exp(row["coefficient"]))
            row |= {f"ratio_{of}": float(np.exp(row[of])) for of in ("low", "high", "per_sd")}
    return found


def _of_fit(model: Any) -> tuple[Any, Rows, np.ndarray, np.ndarray | None]:
    """Return columns, encoded y, weights and groups of the rows of the fit."""
    if model._choice is None:
        raise ValueError(NO_DATA)
    problem = model._choice.problem
    return problem.X, problem.target.rows, problem.sample_weight, model._choice.comparison.groups


def _of_rows(
    model: Any, X: Any, y: Any, sample_weight: Any, groups: Any
) -> tuple[Any, Rows, np.ndarray, np.ndarray | None]:
    """Return columns, encoded y, weights and groups of rows that are given."""
    if y is None:
        raise ValueError("effects(X, y) needs y, too.")
    columns = model._table.apply(model._read_table(X))
    rows = model._objective.encode_more(y, model._facts)
    weights = _check_sample_weight(sample_weight, columns, dtype=np.float64, ensure_non_negative=True)
    if groups is not None:
        groups = check_groups(groups)
    n_rows = len(next(iter(rows.values())))
    check_consistent_length(columns, range(n_rows), groups)
    told = np.flatnonzero(weights)
    rows = model._objective.take(rows, torch.from_numpy(told))
    return columns[told], rows, weights[told], None if groups is None else groups[told]


def list_coefficients(model: Any, values: np.ndarray) -> list[dict[str, Any]]:
    """Return a row per output and column of a linear model, shape (n_outputs, n_columns) of values."""
    if model._objective.compares_outputs(len(values)):  # of many classes against their mean
        values = values - values.mean(axis=0)
    outputs = model._objective.output_names(model._facts, len(values))
    names = np.array(model._table.column_names(model._names()), dtype=object)[model._predictor.features]
    return [
        {"column": name, "output": output, "coefficient": float(value)}
        for output, row in zip(outputs, values, strict=True)
        for name, value in zip(names, row, strict=True)
    ]
