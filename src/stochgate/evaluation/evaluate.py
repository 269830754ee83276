"""The honest number: how well selection and model do on rows that took no part in either."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_features

from stochgate.backends import Backend, trained_on
from stochgate.engine.checkpoint import Checkpoint, open_checkpoint
from stochgate.engine.checkpoint.digest import as_text
from stochgate.engine.runner import Runner, trained_by
from stochgate.evaluation.outer_fold import JudgedFold, Rivals, judge_fold, takes_checkpoint
from stochgate.evaluation.pipeline import list_steps
from stochgate.evaluation.result import Evaluation, join_folds
from stochgate.evaluation.splits import read_rows, split_rows
from stochgate.evaluation.streamed import judge_streamed
from stochgate.sources.opening import is_stream
from stochgate.tables.frame import in_memory


def evaluate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    cv: Any = 5,
    groups: Any = None,
    sample_weight: Any = None,
    scoring: Any = None,
    without_selection: Any = None,
    n_jobs: int | None = None,
    backend: str | Backend | None = None,
    random_state: int | np.random.RandomState | None = None,
    checkpoint: Any = None,
) -> Evaluation:
    """Repeat the whole fit, selection included, in each outer fold, and score it on the rows left out.

    Features selected on all rows have seen the rows that a later cross-validation holds out: on pure
    noise such scores are far above chance. These are not.

    Parameters
    ----------
    model : estimator
        One of this library, a pipeline that ends in one, or any of scikit-learn's kind; it is cloned, and
        not fitted itself. Groups and weights go to the last step of a pipeline.
    X, y : as `model.fit` takes them
        A table that is read block by block is split by its parts (row groups, blocks), or with `groups`,
        the name of a column, by the values of that column; `cv` is a number then, folds run one after
        another, "all columns" is known for ``lam="auto"`` alone, and scores are those of
        `model.score`.
    cv : int or splitter, default=5
        What scikit-learn's `cv` takes. A number gives shuffled folds, stratified by class or by event,
        that keep `groups` together.
    groups : array, shape (n_samples,), optional
        Rows that belong together (patients, batches): for `cv`, and for the folds inside `model.fit`
        where that takes groups (a number of folds in the model's own `cv` becomes a `GroupKFold`).
    sample_weight : array, shape (n_samples,), optional
        Weights of the rows in the fit. Held-out rows count alike, but those of weight 0 are left out.
    scoring : str or callable, optional
        One metric as scikit-learn names it; by default `model.score`, or the `scoring` of a model that has
        its own, such as a search. Name it where a model scores itself otherwise by another metric than
        accuracy, R2 or the concordance index, so that the base rate is scored alike. Of classes, what
        accuracy hides is told beside it (`Evaluation.other_scores`).
    without_selection : estimator, optional
        What "all columns" is. By default, for models of this library and pipelines that end in one, the
        model with every gate open, its network (of those that take the columns as they are) and its
        number of steps chosen on folds of the learning rows.
    n_jobs : int, optional
        Folds at a time, as joblib runs them; with Ray they are threads, whose models the workers train.
    backend : {"local", "ray"} or Backend, optional
        Where models of this library are trained that do not say so themselves; by default as the
        surrounding ``with stochgate.backend(...)`` says.
    random_state : int, RandomState or None, default=None
        Of the outer folds, when `cv` is a number; the model has its own.
    checkpoint : str or path, optional
        A folder, new or empty, that keeps what every fold trains, so that the same call goes on from
        there when the process ended early (docs/checkpoints.md). For models whose `fit` takes one, or
        pipelines that end in such a model.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate import GatedRegressor, Training, evaluate
    >>> X = np.random.default_rng(0).normal(size=(100, 20))
    >>> model = GatedRegressor(lam=3.0, network="linear", training=Training(n_steps=300), random_state=0)
    >>> found = evaluate(model, X, X[:, 3] + X[:, 8], cv=3, random_state=0)
    >>> found.n_selected, found.mean > 0.9
    (array([2, 2, 2]), True)
    """
    if checkpoint is not None and not takes_checkpoint(model):
        raise ValueError(
            f"{type(model).__name__} keeps no checkpoint of its fit: leave checkpoint out, or give a model "
            "of this library or a pipeline that ends in one."
        )
    scoring = _own_scoring(model) if scoring is None else scoring
    X, y = in_memory(X), in_memory(y)
    rivals = Rivals(model, without_selection, _check_scorer(model, scoring), scoring is None)
    with open_checkpoint(checkpoint) as saved, trained_on(backend) as runner:
        generator = check_random_state(random_state) if saved is None else saved.random_state(random_state)
        seed = int(generator.randint(np.iinfo(np.int32).max))
        if saved is not None:
            saved.belong_to({"the model": type(model).__name__, "the parameter cv": as_text(cv)})
        if is_stream(X, y):
            folds, objective, names = judge_streamed(
                rivals, X, y, sample_weight, groups, cv, seed, partial(_folder, saved)
            )
            return join_folds(folds, names, scoring, objective)
        rows = read_rows(model, X, y, groups, sample_weight)
        names = _name_inputs(X)
        shared = None if runner.in_this_process else "sharedmem"
        folds = Parallel(n_jobs=n_jobs, require=shared)(
            delayed(_judge_by)(runner, rivals, rows, train, test, names, _folder(saved, number))
            for number, (train, test) in enumerate(split_rows(rows, cv, seed), start=1)
        )
        return join_folds(folds, names, scoring, rows.objective, len(rows.strata))


def _folder(saved: Checkpoint | None, number: int) -> Path | None:
    """Return the folder of a fold within that of the checkpoint, if any."""
    return None if saved is None else saved.folder / f"fold-{number}"


def _judge_by(runner: Runner, *fold: Any) -> JudgedFold:
    """Judge a fold, maybe in another thread or process, whose models a runner trains."""
    with trained_by(runner.fresh()):
        return judge_fold(*fold)


def _name_inputs(X: Any) -> list[str]:
    """Return what the columns of X are called; nothing for texts, which have none yet."""
    if hasattr(X, "columns"):
        return [str(name) for name in X.columns]
    try:
        return [f"x{j}" for j in range(_num_features(X))]
    except TypeError:
        return []


def _own_scoring(model: Any) -> Any:
    """Return what `model.score` computes where a model, or the last step of a pipeline, is given that."""
    last = list_steps(model)[-1][1]
    score, scoring, refit = (getattr(last, name, None) for name in ("score", "scoring", "refit"))
    if getattr(score, "__func__", None) in (None, ClassifierMixin.score, RegressorMixin.score):
        return None  # of a class, or where `scoring` is for the fit alone
    if isinstance(refit, str):  # one of several
        scoring = scoring.get(refit) if isinstance(scoring, dict) else refit
    return scoring if callable(scoring) or scoring in get_scorer_names() else None


def _check_scorer(model: Any, scoring: Any) -> Any:
    """Return the scorer; refuse what cannot be scored."""
    if isinstance(model, type):
        raise TypeError(f"model is the class {model.__name__}: give an instance, {model.__name__}(...).")
    if scoring is not None and not isinstance(scoring, str) and not callable(scoring):
        raise ValueError(f"scoring={scoring!r} is not one metric: give a name or a scorer.")
    return check_scoring(model, scoring)
