"""Metrics: of a selection, of survival predictions, and how groups of rows survive."""

from stochgate.metrics.curves import (
    RiskGroups,
    SurvivalCurve,
    kaplan_meier,
    log_rank_p_value,
    survival_curves_by_risk,
)
from stochgate.metrics.selection import (
    informative_weight_ratio,
    median_rank,
    selection_scores,
    selection_stability,
    support_overlap,
)
from stochgate.metrics.survival import concordance_index, integrated_brier_score, uno_concordance

__all__ = [
    "RiskGroups",
    "SurvivalCurve",
    "concordance_index",
    "informative_weight_ratio",
    "integrated_brier_score",
    "kaplan_meier",
    "log_rank_p_value",
    "median_rank",
    "selection_scores",
    "selection_stability",
    "support_overlap",
    "survival_curves_by_risk",
    "uno_concordance",
]
