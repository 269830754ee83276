"""Estimators: what users call."""

from stochgate.estimators.classifier import GatedClassifier
from stochgate.estimators.cox import GatedCox
from stochgate.estimators.regressor import GatedRegressor
from stochgate.estimators.warnings import (
    ConstantColumnWarning,
    GiveawayColumnWarning,
    LeftOutColumnWarning,
    NoFeatureSelectedWarning,
)

__all__ = [
    "ConstantColumnWarning",
    "GatedClassifier",
    "GatedCox",
    "GatedRegressor",
    "GiveawayColumnWarning",
    "LeftOutColumnWarning",
    "NoFeatureSelectedWarning",
]
