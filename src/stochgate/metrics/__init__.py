"""Metrics: of a selection, and of survival predictions."""

from stochgate.metrics.selection import (
    informative_weight_ratio,
    median_rank,
    selection_scores,
    support_overlap,
)
from stochgate.metrics.survival import concordance_index, integrated_brier_score, uno_concordance

__all__ = [
    "concordance_index",
    "informative_weight_ratio",
    "integrated_brier_score",
    "median_rank",
    "selection_scores",
    "support_overlap",
    "uno_concordance",
]
