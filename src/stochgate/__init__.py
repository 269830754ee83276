"""Feature selection with stochastic gates: the features that matter and the model that uses them."""

from importlib.metadata import PackageNotFoundError, version

from stochgate.backends import backend
from stochgate.engine import Snapshot, Training
from stochgate.engine.checkpoint import CheckpointError, CheckpointWriteError
from stochgate.estimators import (
    ConstantColumnWarning,
    GatedClassifier,
    GatedCox,
    GatedRegressor,
    GiveawayColumnWarning,
    LeftOutColumnWarning,
    MissingValuesWarning,
    NoFeatureSelectedWarning,
)
from stochgate.evaluation.evaluate import Evaluation, evaluate
from stochgate.explain.summary_table import Summary
from stochgate.files import ModelFileError, load, save
from stochgate.sources.opening import Stream
from stochgate.stability.selector import StabilitySelector
from stochgate.survival import survival_target

try:
    __version__ = version("stochgate")
except PackageNotFoundError:  # a source folder that is not installed
    __version__ = "0+source"

__all__ = [
    "CheckpointError",
    "CheckpointWriteError",
    "ConstantColumnWarning",
    "Evaluation",
    "GatedClassifier",
    "GatedCox",
    "GatedRegressor",
    "GiveawayColumnWarning",
    "LeftOutColumnWarning",
    "MissingValuesWarning",
    "ModelFileError",
    "NoFeatureSelectedWarning",
    "Snapshot",
    "StabilitySelector",
    "Stream",
    "Summary",
    "Training",
    "backend",
    "evaluate",
    "load",
    "save",
    "survival_target",
]
