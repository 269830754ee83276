"""What users would reach for otherwise, behind one interface: fit, get_support, predict, score."""

from stochgate.baselines.all_columns import (
    AllColumns,
    AllColumnsBoosting,
    AllColumnsForest,
    AllColumnsLinear,
)
from stochgate.baselines.base import Baseline
from stochgate.baselines.boruta import BorutaSelector
from stochgate.baselines.deepsurv import DeepSurvSelector
from stochgate.baselines.forest import ForestSelector, XGBoostSelector
from stochgate.baselines.lasso import LassoSelector
from stochgate.baselines.lassonet import LassoNetSelector
from stochgate.baselines.stg import STGSelector

BASELINES: dict[str, type[Baseline]] = {
    "stg": STGSelector,
    "lassonet": LassoNetSelector,
    "lasso": LassoSelector,
    "forest": ForestSelector,
    "xgboost": XGBoostSelector,
    "boruta": BorutaSelector,
    "deepsurv": DeepSurvSelector,
}
# what selects nothing
ALL_COLUMNS: dict[str, type[AllColumns]] = {
    "all-forest": AllColumnsForest,
    "all-boosting": AllColumnsBoosting,
    "all-linear": AllColumnsLinear,
}

__all__ = [
    "ALL_COLUMNS",
    "BASELINES",
    "AllColumns",
    "AllColumnsBoosting",
    "AllColumnsForest",
    "AllColumnsLinear",
    "Baseline",
    "BorutaSelector",
    "DeepSurvSelector",
    "ForestSelector",
    "LassoNetSelector",
    "LassoSelector",
    "STGSelector",
    "XGBoostSelector",
]
