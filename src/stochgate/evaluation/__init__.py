"""The honest number: selection and model judged on rows that took no part in either."""

from stochgate.evaluation.evaluate import Evaluation, evaluate

__all__ = ["Evaluation", "evaluate"]
