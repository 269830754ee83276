"""Estimators: what users call."""

from stochgate.estimators.classifier import GatedClassifier
from stochgate.estimators.cox import GatedCox
from stochgate.estimators.regressor import GatedRegressor
from stochgate.estimators.warnings import (
    ConstantColumnWarning,
    GiveawayColumnWarning,
    LeftOutColumnWarning,
    MissingValuesWarning,
    NoFeatureSelectedWarning,
)

__all__ = [
    "ConstantColumnWarning",
    "GatedClassifier",
    "GatedCox",
    "GatedRegressor",
    "GiveawayColumnWarning",
    "LeftOutColumnWarning",
    "MissingValuesWarning",
    "NoFeatureSelectedWarning",
]
