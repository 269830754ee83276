"""Objectives: what a prediction is judged by."""

from stochgate.objectives.base import Objective, Target
from stochgate.objectives.classification import Classification
from stochgate.objectives.cox import Cox
from stochgate.objectives.regression import Regression

OBJECTIVES: tuple[type[Objective], ...] = (Classification, Regression, Cox)  # the first that suits counts

__all__ = ["OBJECTIVES", "Classification", "Cox", "Objective", "Regression", "Target"]
