"""Selection: the path of penalties, the refits that judge it, and the rule that chooses."""

from stochgate.selection.folds import make_folds
from stochgate.selection.path import Path, Setting, empty_losses, train_path
from stochgate.selection.rules import Candidate, Choice, choose

__all__ = ["Candidate", "Choice", "Path", "Setting", "choose", "empty_losses", "make_folds", "train_path"]
