"""What users would reach for otherwise, behind one interface: fit, get_support, predict, score."""

from experiments.baselines.all_columns import (
    AllColumns,
    AllColumnsBoosting,
    AllColumnsForest,
    AllColumnsLinear,
)
from experiments.baselines.base import Baseline
from experiments.baselines.boruta import BorutaSelector
from experiments.baselines.dfs import DFSSelector
from experiments.baselines.forest import ExtraTreesSelector, ForestSelector
from experiments.baselines.gated_network import GatedNetwork
from experiments.baselines.lasso import LassoSelector
from experiments.baselines.lassonet import LassoNetSelector
from experiments.baselines.sgnn import SparseGroupSelector
from experiments.baselines.stg import STGSelector
from experiments.baselines.svc import LinearSVCSelector
from experiments.baselines.xgboost import XGBoostSelector

BASELINES: dict[str, type[Baseline]] = {
    "stg": STGSelector,
    "lassonet": LassoNetSelector,
    "lasso": LassoSelector,
    "forest": ForestSelector,
    "xgboost": XGBoostSelector,
    "boruta": BorutaSelector,
    "svc": LinearSVCSelector,
    "extra-trees": ExtraTreesSelector,
    "dfs": DFSSelector,
    "sgnn": SparseGroupSelector,
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
    "DFSSelector",
    "ExtraTreesSelector",
    "ForestSelector",
    "GatedNetwork",
    "LassoNetSelector",
    "LassoSelector",
    "LinearSVCSelector",
    "STGSelector",
    "SparseGroupSelector",
    "XGBoostSelector",
]
