"""The honest number: how well selection and model do on rows that took no part in either."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_features

from stochgate.backends import Backend, trained_on
from stochgate.engine.checkpoint import Checkpoint, open_checkpoint
from stochgate.engine.checkpoint.digest import as_text
from stochgate.engine.runner import Runner, trained_by
from stochgate.evaluation.outer_fold import JudgedFold, Rivals, judge_fold, takes_checkpoint
from stochgate.evaluation.splits import read_rows, split_rows
from stochgate.evaluation.streamed import judge_streamed
from stochgate.metrics import support_overlap
from stochgate.objectives import Objective
from stochgate.sources.opening import is_stream

_MOST_NAMES = 10


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` found; `print` it.

    Attributes
    ----------
    metric : str
    scores : ndarray, shape (n_folds,)
        Of the model, on rows that took no part in its selection or training; higher is better.
    all_columns : ndarray, shape (n_folds,)
        Of the same model without selection; NaN where there is none.
    base_rate : ndarray, shape (n_folds,)
        Of the prediction that uses no feature.
    supports : ndarray of bool, shape (n_folds, n_features), or None
        What each fold selected; None when the model selects nothing that could be read.
    feature_names : list of str
        What is selected from: the columns of X or, where the steps of a pipeline make others, those of all
        folds together. A column that a fold does not have is not selected there.
    predictions : ndarray, shape (n_samples, ...), or None
        What was predicted for each row by the model that had not seen it; None unless every row was left
        out once.
    mean, sd, standard_error : float
        Of `scores`. Folds share rows to learn from, so that the standard error is somewhat too small.
    n_selected : ndarray of int, shape (n_folds,), or None
    selection_counts : ndarray of int, shape (n_features,), or None
        In how many folds a feature was selected.
    overlap : float
        Mean Jaccard overlap of the folds' supports (`stochgate.metrics.support_overlap`); NaN without.
    """

    metric: str
    scores: np.ndarray
    all_columns: np.ndarray
    base_rate: np.ndarray
    supports: np.ndarray | None
    feature_names: list[str]
    predictions: np.ndarray | None = None

    @property
    def mean(self) -> float:
        """Mean score."""
        return float(self.scores.mean())

    @property
    def sd(self) -> float:
        """Standard deviation of the scores."""
        return _sd(self.scores)

    @property
    def standard_error(self) -> float:
        """Standard error of the mean score."""
        return self.sd / float(np.sqrt(len(self.scores)))

    @property
    def n_selected(self) -> np.ndarray | None:
        """How many features each fold selected."""
        return None if self.supports is None else self.supports.sum(axis=1)

    @property
    def selection_counts(self) -> np.ndarray | None:
        """How many folds selected each feature."""
        return None if self.supports is None else self.supports.sum(axis=0)

    @property
    def overlap(self) -> float:
        """Mean Jaccard overlap of the folds' supports."""
        if self.supports is None or len(self.supports) < 2:
            return float("nan")
        return support_overlap(list(self.supports))

    def to_frame(self) -> Any:
        """Return one row per fold, as a pandas DataFrame."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: install it, or read the attributes.") from error
        columns = {"score": self.scores, "all_columns": self.all_columns, "base_rate": self.base_rate}
        frame = pd.DataFrame(columns).rename_axis("fold")
        return frame if self.supports is None else frame.assign(n_selected=self.n_selected)

    def __str__(self) -> str:
        n_folds = len(self.scores)
        folds = "1 fold" if n_folds == 1 else f"{n_folds} folds"
        lines = [f"{self.metric} on held-out rows, {folds} (mean, standard deviation, standard error)"]
        rows = {"model": self.scores, "all columns": self.all_columns, "base rate": self.base_rate}
        for name, scores in rows.items():
            if not np.isnan(scores).all():
                sd = _sd(scores)
                lines.append(f"  {name:<12}{scores.mean():8.3f}{sd:8.3f}{sd / np.sqrt(n_folds):8.3f}")
        return "\n".join(lines + self._describe_selection())

    def _describe_selection(self) -> list[str]:
        """Return the lines that say what was selected."""
        if self.supports is None:
            return []
        n_folds, n_features = self.supports.shape
        sizes, counts = self.supports.sum(axis=1), self.supports.sum(axis=0)
        order = np.argsort(-counts, kind="stable")[: (counts > 0).sum()]
        lines = [
            f"selected of {n_features} features: {', '.join(map(str, sizes))} (overlap {self.overlap:.2f})"
        ]
        if n_empty := (sizes == 0).sum():
            lines.append(f"nothing selected in {n_empty} of {n_folds} folds")
        if len(order):
            names = [f"{self.feature_names[j]} ({counts[j]})" for j in order[:_MOST_NAMES]]
            more = f" and {len(order) - _MOST_NAMES} more" if len(order) > _MOST_NAMES else ""
            lines.append(f"folds that select a feature: {', '.join(names)}{more}")
        return lines


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
        the name of a column, by the values of that column; `cv` is a number then, and scores are those of
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
        One metric as scikit-learn names it; by default `model.score`. Name it where that is another than
        accuracy, R2 or the concordance index, so that the base rate is scored alike.
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
            return _join(folds, names, scoring, objective)
        rows = read_rows(model, X, y, groups, sample_weight)
        names = _name_inputs(X)
        shared = None if runner.in_this_process else "sharedmem"
        folds = Parallel(n_jobs=n_jobs, require=shared)(
            delayed(_judge_by)(runner, rivals, rows, train, test, names, _folder(saved, number))
            for number, (train, test) in enumerate(split_rows(rows, cv, seed), start=1)
        )
        return _join(folds, names, scoring, rows.objective, len(rows.strata))


def _folder(saved: Checkpoint | None, number: int) -> Path | None:
    """Return the folder of a fold within that of the checkpoint, if any."""
    return None if saved is None else saved.folder / f"fold-{number}"


def _join(
    folds: list[JudgedFold],
    names: list[str],
    scoring: Any,
    objective: type[Objective] | None,
    n_samples: int | None = None,
) -> Evaluation:
    feature_names, supports = _join_selections(folds, names)
    own = "score" if objective is None else objective.metric_name
    return Evaluation(
        metric=scoring if isinstance(scoring, str) else getattr(scoring, "__name__", own),
        scores=np.array([fold.score for fold in folds]),
        all_columns=np.array([fold.all_columns for fold in folds]),
        base_rate=np.array([fold.base_rate for fold in folds]),
        supports=supports,
        feature_names=feature_names,
        predictions=None if n_samples is None else _join_predictions(folds, n_samples),
    )


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


def _join_selections(folds: list[JudgedFold], names: list[str]) -> tuple[list[str], np.ndarray | None]:
    """Return the columns of all folds and what each fold selected of them, shape (n_folds, n_columns)."""
    supports = [fold.support for fold in folds if fold.support is not None]
    columns = [fold.columns for fold in folds]
    if len(supports) < len(folds):
        return names, None
    if all(others == columns[0] for others in columns):
        return columns[0], np.array(supports)
    joined = list(dict.fromkeys(name for own in columns for name in own))
    place = {name: j for j, name in enumerate(joined)}
    joint = np.zeros((len(folds), len(joined)), dtype=bool)
    for row, own, support in zip(joint, columns, supports, strict=True):
        row[[place[name] for name in own]] = support
    return joined, joint


def _join_predictions(folds: list[JudgedFold], n_samples: int) -> np.ndarray | None:
    """Return what was predicted for each row, None unless every row was left out once."""
    predicted = [fold.predicted for fold in folds if fold.predicted is not None]
    positions = np.concatenate([fold.rows for fold in folds])
    if len(predicted) < len(folds) or not np.array_equal(np.sort(positions), np.arange(n_samples)):
        return None
    return np.concatenate(predicted)[np.argsort(positions)]


def _check_scorer(model: Any, scoring: Any) -> Any:
    """Return the scorer; refuse what cannot be scored."""
    if isinstance(model, type):
        raise TypeError(f"model is the class {model.__name__}: give an instance, {model.__name__}(...).")
    if scoring is not None and not isinstance(scoring, str) and not callable(scoring):
        raise ValueError(f"scoring={scoring!r} is not one metric: give a name or a scorer.")
    return check_scoring(model, scoring)


def _sd(scores: np.ndarray) -> float:
    return float(scores.std(ddof=1)) if len(scores) > 1 else float("nan")
