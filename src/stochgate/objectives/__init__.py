"""Objectives: what a prediction is judged by."""

from stochgate.objectives.base import Objective, Target
from stochgate.objectives.classification import Classification
from stochgate.objectives.cox import Cox
from stochgate.objectives.regression import Regression

__all__ = ["Classification", "Cox", "Objective", "Regression", "Target"]
