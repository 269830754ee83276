"""What was chosen, and how sure it is: the summary, the honest score and how stable the choice is."""

from typing import Any

import numpy as np

from stochgate.explain.direction import is_reversed
from stochgate.explain.effects import effects_to_tell
from stochgate.report.columns import Columns
from stochgate.report.plain import to_records, to_text

MOST_FEATURES = 200
MOST_FREQUENCIES = 200


def describe_choice(model: Any, columns: Columns, selector: Any = None) -> dict[str, Any]:
    """Return what `model.summary()` says, its features as places in the list of names.

    Of a selector that found them also its error rate, and of how many halves.
    """
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
        "other_scores": {to_text(name): dict(of) for name, of in summary.other_scores.items()},
        "losses": dict(summary.losses),
        "gain": summary.gain,
        "error": summary.error,
        "n_folds": summary.n_folds,
        "n_halves": summary.n_halves,
        "fdr": None if selector is None else selector.fdr,
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
        "q_value": row.get("q_value"),
        "direction": to_text(row["direction"], 200) if known else None,
        "direction_of": None if of is None or of != of else to_text(of),
        "direction_alone": to_text(alone, 200) if is_reversed(row["direction"], alone) else None,
        "stand_ins": [columns.add(other) for other in row["stand_ins"]],
    }


def describe_effects(model: Any, X: Any, y: Any) -> dict[str, Any] | None:
    """Return the effects of the chosen columns, None where there are none to tell."""
    found = effects_to_tell(model, X, y)
    if found is None:
        return None
    ratio = model._objective.ratio_name
    named = ("coefficient", "low", "high", "per_sd")
    if ratio is not None:
        named = (ratio, "ratio_low", "ratio_high", "ratio_per_sd")
    rows = [
        {
            "column": to_text(row["column"]),
            "output": None if row["output"] is None else to_text(row["output"]),
            "against": to_text(row["against"]),
            **dict(zip(("value", "low", "high", "per_sd"), (row[name] for name in named), strict=True)),
        }
        for row in found
    ]
    return {"ratio": ratio, "rows": rows}


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
        "other_scores": {to_text(name): dict(of) for name, of in evaluation.other_scores.items()},
        "scores": evaluation.scores,
        "n_selected": evaluation.n_selected,
        "overlap": evaluation.overlap,
    }


def describe_stability(
    model: Any, evaluation: Any, columns: Columns, selector: Any = None
) -> dict[str, Any] | None:
    """Return how often the folds chose each feature, the most frequent; of a selector its halves.

    With an evaluation also how many of its folds, which repeat the whole selection, chose it. None where
    the folds had no say: where lam was given, or a headline alone tells how the features were found.
    """
    chooser, summary = model if selector is None else selector, model.summary()
    frequency = getattr(chooser, "selection_frequency_", None)
    if frequency is None or (selector is None and summary.headline is not None):
        return None
    labels = columns.labels if selector is None else selector.feature_names_in_.tolist()
    ever = np.flatnonzero((frequency > 0) | chooser.support_)
    order = ever[np.lexsort((ever, ~chooser.support_[ever], -frequency[ever]))]
    q_values = getattr(chooser, "q_values_", np.full(len(frequency), np.nan))
    counts = _count_repeats(evaluation)
    names = [str(label) if columns.named else f"x{label}" for label in labels]  # as `evaluate` has them
    return {
        "n_ever": len(ever),
        "n_folds": summary.n_halves or summary.n_folds,
        "n_repeats": len(evaluation.scores) if counts else None,
        "features": [
            {
                "feature": columns.add(labels[j]),
                "frequency": float(frequency[j]),
                "q_value": float(q_values[j]),
                "is_chosen": bool(chooser.support_[j]),
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
