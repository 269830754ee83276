"""The engine: trains stacks of models."""

from stochgate.engine.chunks import execute
from stochgate.engine.data import Columns, DenseColumns, Design, SparseColumns
from stochgate.engine.inputs import Inputs
from stochgate.engine.loop import train
from stochgate.engine.plan import CLOSED, FREE, OPEN, Plan, make_plan
from stochgate.engine.predictor import Predictor
from stochgate.engine.record import Snapshot
from stochgate.engine.trained import Models, Trained
from stochgate.engine.training import SCHEDULES, Training

__all__ = [
    "CLOSED",
    "FREE",
    "OPEN",
    "SCHEDULES",
    "Columns",
    "DenseColumns",
    "Design",
    "Inputs",
    "Models",
    "Plan",
    "Predictor",
    "Snapshot",
    "SparseColumns",
    "Trained",
    "Training",
    "execute",
    "make_plan",
    "train",
]
