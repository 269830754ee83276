"""Selection: paths of penalties, their survivors and refits, the rules that choose, the honest number."""

from stochgate.selection.evaluation import Evaluation, evaluate
from stochgate.selection.folds import make_folds
from stochgate.selection.path import Cells, race, train_cells
from stochgate.selection.rules import RULES, Candidate, list_candidates
from stochgate.selection.setting import Recipe, Setting
from stochgate.selection.signal import finds_signal

__all__ = [
    "RULES",
    "Candidate",
    "Cells",
    "Evaluation",
    "Recipe",
    "Setting",
    "evaluate",
    "finds_signal",
    "list_candidates",
    "make_folds",
    "race",
    "train_cells",
]
