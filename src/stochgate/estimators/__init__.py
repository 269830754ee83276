"""Estimators: what users call."""

from stochgate.estimators.base import ConstantColumnWarning, NoFeatureSelectedWarning
from stochgate.estimators.classifier import GatedClassifier
from stochgate.estimators.cox import GatedCox
from stochgate.estimators.regressor import GatedRegressor

__all__ = [
    "ConstantColumnWarning",
    "GatedClassifier",
    "GatedCox",
    "GatedRegressor",
    "NoFeatureSelectedWarning",
]
