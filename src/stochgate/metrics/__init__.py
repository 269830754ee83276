"""Metrics: of a selection, and of survival predictions."""

from stochgate.metrics.selection import (
    informative_weight_ratio,
    median_rank,
    selection_scores,
    support_overlap,
)
from stochgate.metrics.survival import concordance_index

__all__ = [
    "concordance_index",
    "informative_weight_ratio",
    "median_rank",
    "selection_scores",
    "support_overlap",
]
