"""One outer fold: the whole fit on its rows, judged on the others, beside what it must beat."""

import copy
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from stochgate.evaluation.pipeline import follow_selection, list_steps
from stochgate.evaluation.splits import Rows

Scorer = Callable[[Any, Any, Any], float]
SAID_ONCE = "Values are missing far more often"  # of a fold's rows, which are predicted from several times


@dataclass(frozen=True)
class Rivals:
    """What competes in every fold, and how it is scored.

    Attributes
    ----------
    model : estimator
    without_selection : estimator or None
        The competitor with all columns; None for the model with every gate open, if it or the last step of
        a pipeline has gates.
    scorer : callable
        ``scorer(estimator, X, y)``
    scores_itself : bool
        Whether the scorer is `model.score`.
    """

    model: Any
    without_selection: Any
    scorer: Scorer
    scores_itself: bool


@dataclass(frozen=True)
class JudgedFold:
    """Scores of one fold, and what it selected.

    Attributes
    ----------
    score, all_columns, base_rate : float
    other_scores : dict of dict of float
        What is told beside these, by the names of the three and then by its own.
    columns : list of str
        What the model selects from: the columns of X, or those that a pipeline makes of them.
    support : ndarray of bool, shape (n_columns,), or None
    rows : ndarray of int
        Positions of the rows left out.
    predicted : ndarray or None
        What the model predicts for them; None where it predicts nothing.
    """

    score: float
    all_columns: float
    base_rate: float
    other_scores: dict[str, dict[str, float]]
    columns: list[str]
    support: np.ndarray | None
    rows: np.ndarray
    predicted: np.ndarray | None


def judge_fold(
    rivals: Rivals,
    rows: Rows,
    train: np.ndarray,
    test: np.ndarray,
    names: list[str],
    checkpoint: Path | None = None,
) -> JudgedFold:
    """Fit on the rows `train`, score on the rows `test`; what is fitted is kept in a folder, if any."""
    learn, judge = rows.take(train), rows.take(test)
    with quiet_about_nothing():
        fitted = _fit(rivals.model, learn, checkpoint)
        score = float(rivals.scorer(fitted, judge.X, judge.y))
        warnings.filterwarnings("ignore", message=SAID_ONCE)
        other = _without_selection(rivals, fitted, learn, len(names), checkpoint)
        dummy = _without_features(learn)
        models = {"score": fitted, "all_columns": other, "base_rate": dummy}
        scores = {"score": score} | {
            name: float("nan") if model is None else float(rivals.scorer(model, judge.X, judge.y))
            for name, model in models.items()
            if model is not fitted
        }
        constant = getattr(judge.objective, "constant_score", None)
        if constant is not None and rivals.scores_itself:
            scores["base_rate"] = constant
        columns, support = _selection(fitted, judge.X, names)
        return JudgedFold(
            **scores,
            other_scores={
                name: judge.other_scores(model) for name, model in models.items() if model is not None
            },
            columns=columns,
            support=support,
            rows=test,
            predicted=np.asarray(fitted.predict(judge.X)) if hasattr(fitted, "predict") else None,
        )


@contextmanager
def quiet_about_nothing() -> Iterator[None]:
    """Do not warn where nothing is selected: that is an answer here, and it is reported."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="No features? (was|were) selected")
        yield


def _fit(model: Any, rows: Rows, checkpoint: Path | None = None) -> Any:
    """Return a fitted clone, whose own folds keep groups together where it takes them.

    Of a pipeline it is the last step that takes groups, weights and the folder of a checkpoint.
    """
    model, others = clone(model), dict[str, Any]()
    step, last = list_steps(model)[-1]
    prefix = f"{step}__" if step else ""
    if rows.weights is not None:
        others[f"{prefix}sample_weight"] = rows.weights
    if rows.groups is not None and has_fit_parameter(last, "groups"):
        others[f"{prefix}groups"] = rows.groups
    if checkpoint is not None:
        others[f"{prefix}checkpoint"] = checkpoint
    return model.fit(rows.X, rows.y, **others)


def takes_checkpoint(model: Any) -> bool:
    """Tell whether a model, or the last step of a pipeline, can keep a checkpoint of its fit."""
    return has_fit_parameter(list_steps(model)[-1][1], "checkpoint")


def _without_selection(
    rivals: Rivals, fitted: Any, learn: Rows, n_columns: int, checkpoint: Path | None
) -> Any:
    """Return the fitted competitor with all columns, None where there is none.

    An automatic choice has judged such models on the way; the best of them needs to be trained only.
    """
    other = rivals.without_selection
    if other is None:
        made = _on_all_columns(fitted)
        if made is not None:
            return made
        # steps of a pipeline may make other columns in each fold
        other = _open_all(rivals.model, getattr(list_steps(fitted)[-1][1], "n_features_in_", n_columns))
    if other is None:
        return None
    if checkpoint is not None and takes_checkpoint(other):
        checkpoint = checkpoint.with_name(f"{checkpoint.name}-all-columns")
        return _fit(other, learn, checkpoint)
    return _fit(other, learn)


def _on_all_columns(fitted: Any) -> Any:
    """Return the best model on all columns that the automatic choice (of a last step) has judged."""
    if not hasattr(fitted, "steps"):
        return fitted._on_all_columns() if hasattr(fitted, "_on_all_columns") else None
    *earlier, (name, last) = fitted.steps
    made = _on_all_columns(last)
    if made is None:
        return None
    pipeline = copy.copy(fitted)
    pipeline.steps = [*earlier, (name, made)]
    return pipeline


def _open_all(model: Any, n_columns: int) -> Any:
    """Return the model with every gate open, or None for a model without gates.

    Of a pipeline it is the last step that has gates, for as many columns as the steps before make.
    """
    step, last = list_steps(model)[-1]
    if not (hasattr(last, "always_keep") and hasattr(last, "lam")):
        return None
    keep = np.ones(n_columns, dtype=bool)
    changes = {"lam": "auto", "rule": "auto", "n_features_to_select": None, "always_keep": keep}
    prefix = f"{step}__" if step else ""
    return clone(model).set_params(**{prefix + name: value for name, value in changes.items()})


def _without_features(learn: Rows) -> Any:
    """Return the fitted prediction that uses no feature, None where there is none."""
    dummy = None if learn.objective is None else learn.objective.model_without_features()
    return None if dummy is None else dummy.fit(learn.X, learn.y, sample_weight=learn.weights)


def _selection(fitted: Any, X: Any, names: list[str]) -> tuple[list[str], np.ndarray | None]:
    """Return the columns, and what a model, its best candidate or a pipeline's steps selected of them."""
    steps = list_steps(getattr(fitted, "best_estimator_", fitted))
    last = max((i for i, (_, step) in enumerate(steps) if hasattr(step, "get_support")), default=None)
    if last is None:
        return names, None
    return follow_selection(steps[: last + 1], _safe_indexing(X, [0]), names)
