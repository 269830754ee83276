"""Feature selection with stochastic gates: the features that matter and the model that uses them."""

from importlib.metadata import version

from stochgate.engine import Snapshot, Training
from stochgate.estimators import (
    ConstantColumnWarning,
    GatedClassifier,
    GatedCox,
    GatedRegressor,
    NoFeatureSelectedWarning,
)

__version__ = version("stochgate")

__all__ = [
    "ConstantColumnWarning",
    "GatedClassifier",
    "GatedCox",
    "GatedRegressor",
    "NoFeatureSelectedWarning",
    "Snapshot",
    "Training",
]
