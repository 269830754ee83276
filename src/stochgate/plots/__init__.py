"""Pictures of a fitted model, in scikit-learn's Display convention (they need matplotlib).

A display holds the numbers of a picture: `from_estimator` reads them from a fitted model and draws them,
`plot` draws them again, and `ax_` and `figure_` are what was drawn on.
"""

from stochgate.plots.along_path import draw_path, draw_scores, losses_along_path, scores_along_path
from stochgate.plots.gates import GatesDisplay
from stochgate.plots.importance import ImportanceDisplay
from stochgate.plots.path import PathDisplay
from stochgate.plots.score import ScoreDisplay
from stochgate.plots.stability import StabilityDisplay
from stochgate.plots.survival import SurvivalDisplay, draw_survival_curves

__all__ = [
    "GatesDisplay",
    "ImportanceDisplay",
    "PathDisplay",
    "ScoreDisplay",
    "StabilityDisplay",
    "SurvivalDisplay",
    "draw_path",
    "draw_scores",
    "draw_survival_curves",
    "losses_along_path",
    "scores_along_path",
]
