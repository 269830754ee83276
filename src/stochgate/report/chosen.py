"""What was chosen, and how sure it is: the summary, the honest score and how stable the choice is."""

from typing import Any

import numpy as np

from stochgate.explain.direction import is_reversed
from stochgate.report.columns import Columns
from stochgate.report.plain import to_records, to_text

MOST_FEATURES = 200
MOST_FREQUENCIES = 200


def describe_choice(model: Any, columns: Columns) -> dict[str, Any]:
    """Return what `model.summary()` says, its features as places in the list of names."""
    summary = model.summary()
    rows = to_records(summary.features)
    return {
        "n_features": summary.n_features,
        "n_columns": summary.n_features_in,
        "verdict": summary.verdict,
        "p": summary.p,
        "has_signal": summary.has_signal,
        "signal": None if summary.verdict is None else summary.signal,
        "advice": summary.advice,
        "levels": summary.levels,
        "direction_legend": summary.direction_legend,
        "headline": None if summary.headline is None else to_text(summary.headline, 2000),
        "hints": list(summary.hints),
        "remarks": [to_text(remark, 2000) for remark in getattr(model, "remarks_", [])],
        "score_name": summary.score_name,
        "scores": dict(summary.scores),
        "losses": dict(summary.losses),
        "gain": summary.gain,
        "error": summary.error,
        "n_folds": summary.n_folds,
        "network": summary.network,
        "lam": summary.lam,
        "was_asked_for": getattr(model, "n_features_to_select", None) is not None,
        "n_rows": len(rows),
        "features": [_describe_feature(row, columns) for row in rows[:MOST_FEATURES]],
    }


def _describe_feature(row: dict[str, Any], columns: Columns) -> dict[str, Any]:
    known = isinstance(row["direction"], str)
    of, alone = row["direction_of"], row.get("direction_alone")
    return {
        **{name: row[name] for name in ("gate", "frequency", "frequency_low", "frequency_high")},
        **{name: row[name] for name in ("loss_without", "loss_without_error")},
        "feature": columns.add(row["feature"]),
        "direction": to_text(row["direction"], 200) if known else None,
        "direction_of": None if of is None or of != of else to_text(of),
        "direction_alone": to_text(alone, 200) if is_reversed(row["direction"], alone) else None,
        "stand_ins": [columns.add(other) for other in row["stand_ins"]],
    }


def describe_evaluation(evaluation: Any) -> dict[str, Any] | None:
    """Return the honest scores, fold by fold; None without an evaluation."""
    if evaluation is None:
        return None
    return {
        "metric": to_text(evaluation.metric),
        "mean": evaluation.mean,
        "sd": evaluation.sd,
        "all_columns": _mean(evaluation.all_columns),
        "base_rate": _mean(evaluation.base_rate),
        "scores": evaluation.scores,
        "n_selected": evaluation.n_selected,
        "overlap": evaluation.overlap,
    }


def describe_stability(model: Any, evaluation: Any, columns: Columns) -> dict[str, Any] | None:
    """Return how often the folds chose each feature, the most frequent.

    With an evaluation also how many of its folds, which repeat the whole selection, chose it. None where
    the folds had no say: where lam was given, or a headline tells how the features were found.
    """
    frequency = getattr(model, "selection_frequency_", None)
    if frequency is None or model.summary().headline is not None:
        return None
    ever = np.flatnonzero((frequency > 0) | model.support_)
    order = ever[np.lexsort((ever, ~model.support_[ever], -frequency[ever]))]
    counts = _count_repeats(evaluation)
    names = [
        str(label) if columns.named else f"x{label}" for label in columns.labels
    ]  # as `evaluate` has them
    return {
        "n_ever": len(ever),
        "n_folds": model.summary().n_folds,
        "n_repeats": len(evaluation.scores) if counts else None,
        "features": [
            {
                "feature": columns.add_position(j),
                "frequency": float(frequency[j]),
                "is_chosen": bool(model.support_[j]),
                "n_repeats": counts.get(names[j]),
            }
            for j in order[:MOST_FREQUENCIES].tolist()
        ],
    }


def _count_repeats(evaluation: Any) -> dict[str, int]:
    """Return by name how many folds of an evaluation selected each column, nothing where none is given."""
    counts = getattr(evaluation, "selection_counts", None)
    return {} if counts is None else dict(zip(evaluation.feature_names, counts.tolist(), strict=True))


def _mean(scores: np.ndarray) -> float:
    return float(scores.mean())
