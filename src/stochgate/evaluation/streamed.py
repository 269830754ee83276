"""Folds of a table that is read block by block."""

import warnings
from collections.abc import Callable, Iterator
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from stochgate.evaluation.outer_fold import SAID_ONCE, JudgedFold, Rivals, quiet_about_nothing
from stochgate.objectives import OBJECTIVES, Objective
from stochgate.sources.opening import open_source
from stochgate.sources.source import Source
from stochgate.sources.subsets import Unweighted, split_source
from stochgate.sources.targets import read_target


def judge_streamed(
    rivals: Rivals,
    X: Any,
    y: Any,
    sample_weight: Any,
    groups: Any,
    cv: Any,
    seed: int,
    folder_of: Callable[[int], Path | None],
) -> tuple[list[JudgedFold], type[Objective] | None, list[str]]:
    """Fit and score a model on folds of parts of a table, or of the keys of its groups.

    Parameters
    ----------
    rivals : Rivals
    X, y, sample_weight, groups, cv : as in `evaluate`
    seed : int
        Of the folds.
    folder_of : callable
        Returns where the checkpoint of a fold is kept, given its number.

    Returns
    -------
    The folds, what the model does with y, and the names of the columns
    """
    if not hasattr(rivals.model, "_outputs_of_blocks") or rivals.without_selection is not None:
        raise ValueError("Only the estimators of this library can be fitted to a table block by block.")
    if not rivals.scores_itself:
        raise ValueError("A table that is read block by block is scored by model.score: leave scoring out.")
    if not isinstance(cv, Integral) or cv < 2:
        raise ValueError(f"cv={cv!r}: a table that is read block by block is split into a number of folds.")
    source = open_source(X, y, sample_weight, groups)
    names = source.names or [f"x{j}" for j in range(source.n_features)]
    folds = [
        (learn, Unweighted(test)) for learn, test in split_source(source, int(cv), groups is not None, seed)
    ]
    objective = _objective(rivals.model, folds[0][1])
    return list(_judge(rivals.model, objective, folds, names, folder_of)), objective, names


def _judge(
    model: Any,
    objective: type[Objective] | None,
    folds: list[tuple[Source, Unweighted]],
    names: list[str],
    folder_of: Callable[[int], Path | None],
) -> Iterator[JudgedFold]:
    for number, (learn, test) in enumerate(folds, start=1):
        with quiet_about_nothing():
            fitted = clone(model).fit(learn, checkpoint=folder_of(number))
            other = fitted._on_all_columns()
            score = float(fitted.score(test))
            warnings.filterwarnings("ignore", message=SAID_ONCE)
            yield JudgedFold(
                score=score,
                all_columns=float("nan") if other is None else float(other.score(test)),
                base_rate=_base_rate(objective, learn, test),
                other_scores={},
                columns=names,
                support=fitted.get_support(),
                rows=np.empty(0, dtype=int),
                predicted=None,
            )


def _base_rate(objective: type[Objective] | None, learn: Source, test: Source) -> float:
    """Return the score of the prediction that uses no feature."""
    if objective is None:
        return float("nan")
    if objective.constant_score is not None:
        return objective.constant_score
    dummy = objective.model_without_features()
    y, weight = read_target(learn)
    dummy.fit(np.empty((len(y), 0)), y, sample_weight=weight)
    y, _ = read_target(test)
    return float(dummy.score(np.empty((len(y), 0)), y))


def _objective(model: Any, source: Source) -> type[Objective] | None:
    y = read_target(source)[0]
    return next((each for each in OBJECTIVES if each.suits(model, y)), None)
