"""What users would reach for otherwise, behind one interface: fit, get_support, predict, score."""

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

__all__ = [
    "BASELINES",
    "Baseline",
    "BorutaSelector",
    "DeepSurvSelector",
    "ForestSelector",
    "LassoNetSelector",
    "LassoSelector",
    "STGSelector",
    "XGBoostSelector",
]
