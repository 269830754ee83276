"""Choose columns, explain and judge the choice, and write it down."""

import warnings
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import get_scorer, get_scorer_names

import stochgate
from stochgate.cli.errors import UsageError, about_the_file
from stochgate.cli.notes import collect_notes
from stochgate.cli.outputs import write_csv
from stochgate.cli.progress import Watch
from stochgate.cli.request import Request
from stochgate.cli.table.data import Data
from stochgate.cli.work.fdr import FdrModel
from stochgate.engine import Training
from stochgate.estimators import GatedClassifier, GatedCox, GatedRegressor
from stochgate.evaluation.evaluate import Evaluation, evaluate
from stochgate.explain.effects import effects_to_tell
from stochgate.explain.error_control import with_error_control
from stochgate.explain.summary_table import Summary
from stochgate.problem.validation import check_device
from stochgate.stability.selector import StabilitySelector

ESTIMATORS: dict[str, Any] = {
    "classification": GatedClassifier,
    "regression": GatedRegressor,
    "survival": GatedCox,
}
FEATURES, EFFECTS = "features.csv", "effects.csv"
MODEL, REPORT = "model.safetensors", "report.html"
N_FOLDS = 5  # of the honest score
_MORE = "More rows or a larger --fdr may find columns, and --k=k chooses k columns all the same."


@dataclass(frozen=True, kw_only=True)
class Found:
    """What was chosen, and what is known about it.

    Attributes
    ----------
    model : fitted estimator
    X : DataFrame
        The columns it was fitted to.
    summary : Summary
    features : DataFrame
        A row per chosen column.
    evaluation : Evaluation or None
    selector : StabilitySelector or None
        What found the columns at an error rate.
    remarks : list of str
        What a person should check.
    notes : list of str
    """

    model: Any
    X: pd.DataFrame
    summary: Summary
    features: pd.DataFrame
    evaluation: Evaluation | None
    selector: StabilitySelector | None
    remarks: list[str]
    notes: list[str]


def make_model(data: Data, request: Request, watch: Watch) -> Any:
    """Return the estimator that a request asks for, not fitted yet."""
    try:
        check_device(request.device)
    except ValueError as error:
        raise UsageError(str(error).replace("device=", "--device ", 1)) from error
    others: dict[str, Any] = {} if request.alpha is None else {"alpha": request.alpha}
    if request.class_weight is not None:
        if data.task != "classification":
            raise UsageError(f"--class-weight is for classes, and this is a {data.task}: leave it out.")
        others["class_weight"] = request.class_weight
    return ESTIMATORS[data.task](
        **others,
        n_features_to_select=request.k,
        always_keep=data.keep or None,
        device=request.device,
        random_state=request.seed,
        callbacks=[watch],
    )


def check_scoring(name: str, data: Data) -> None:
    """Raise unless a score has this name, and can judge this target.

    It is tried on a model that uses no column, before minutes of training.
    """
    if name not in get_scorer_names():
        near = get_close_matches(name, get_scorer_names(), n=3)
        meant = f"did you mean {' or '.join(near)}" if near else "such as roc_auc, balanced_accuracy or r2"
        raise UsageError(f"--scoring is '{name}', which scikit-learn has no score for; {meant}?")
    objective = ESTIMATORS[data.task]()._make_objective(Training())
    dummy, rows = objective.model_without_features(), np.zeros((len(data.y), 1))
    if dummy is None:
        raise UsageError(
            f"--scoring is not for a {data.task} study: it is judged by its {objective.metric_name}."
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            usable = np.isfinite(get_scorer(name)(dummy.fit(rows, data.y), rows, data.y))
        reason = "the score is not a number"
    except AttributeError:
        usable, reason = False, "it is for classes"
    except (ValueError, TypeError) as error:
        usable, reason = False, str(error).split("\n")[0].rstrip(".")
    if not usable:
        raise UsageError(f"--scoring {name} cannot judge this {data.task}: {reason}; choose another.")


def choose(data: Data, request: Request, watch: Watch) -> Found:
    """Fit the model, explain its choice and, if asked for, judge it on rows it has not seen."""
    asked = make_model(data, request, watch)
    if request.scoring is not None:
        check_scoring(request.scoring, data)
    with collect_notes() as notes:
        watch.phase("Choosing columns")
        X = data.X
        with about_the_file(X.index):
            if request.fdr is None:
                model = asked.fit(X, data.y, groups=data.groups)
                remarks = model.remarks_
            else:
                asked = FdrModel(asked, request.fdr).fit(X, data.y)
                model, X, remarks = asked.model_, asked._columns(X), asked.remarks_
        watch.phase("Explaining the choice", n_fits=0)
        summary = model.summary()
    if request.fdr is not None:
        base_rate = () if asked.found_ else ("The model predicts the base rate.",)
        summary = with_error_control(summary, asked.selector_, (*asked.notes_, _MORE, *base_rate))
    evaluation = _evaluate(asked, data, request, watch) if request.evaluate else None
    for each in (model, getattr(asked, "model", model)):
        each.callbacks = None
    model._summary, model.remarks_ = summary, remarks  # for the report and the model file
    return Found(
        model=model,
        X=X,
        summary=summary,
        features=pd.DataFrame(summary.features),
        evaluation=evaluation,
        selector=getattr(asked, "selector_", None),
        remarks=remarks,
        notes=[note for note in notes if note not in (*remarks, *summary.hints)],
    )


def _evaluate(asked: Any, data: Data, request: Request, watch: Watch) -> Evaluation:
    """Return the score of the whole procedure on rows that took no part in it."""
    watch.phase("Judging it on unseen rows", n_fits=N_FOLDS)
    every = None
    if request.fdr is not None:
        every = make_model(data, request, watch).set_params(always_keep=list(data.X.columns))
    with collect_notes():  # what a fold warns of is about that fold
        return evaluate(
            asked,
            data.X,
            data.y,
            cv=N_FOLDS,
            groups=data.groups,
            scoring=request.scoring,
            without_selection=every,
            random_state=request.seed,
        )


def write_found(found: Found, data: Data, request: Request, folder: Path) -> list[Path]:
    """Write tables, model and report into a folder; return their paths.

    A model without columns is not written: it has nothing to predict from.
    """
    written = [write_csv(found.features, folder / FEATURES)]
    for name in (EFFECTS, MODEL):  # those of an earlier selection would be taken for this one's
        (folder / name).unlink(missing_ok=True)
    effects = effects_to_tell(found.model)
    if effects is not None:
        written.append(write_csv(pd.DataFrame(effects), folder / EFFECTS))
    if found.model.support_.any():
        stochgate.save(found.model, folder / MODEL)
        written.append(folder / MODEL)
    return [*written, write_report(found, data, request, folder / REPORT)]


def write_report(found: Found, data: Data, request: Request, path: Path) -> Path:
    """Write the report alone."""
    from stochgate.report import write_report as write

    write(
        found.model,
        path,
        found.X,
        data.y if request.target is None else pd.Series(data.y, name=request.target),
        evaluation=found.evaluation,
        selector=found.selector,
        title=f"What predicts {request.called} in {request.data.name}?",
        settings=describe_request(request),
    )
    return path


def describe_request(request: Request) -> dict[str, Any]:
    """Return the options that were given, as a person would repeat them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from stochgate.cli.request import Request
    >>> from stochgate.cli.work.select import describe_request
    >>> describe_request(Request(data=Path("mice.csv"), target="class", exclude=["Genotype"]))
    {'data': 'mice.csv', 'target': 'class', 'exclude': 'Genotype', 'seed': '0'}
    """
    what = ("target", "time", "event", "entry", "strata", "task", "class_weight")
    how = ("k", "alpha", "fdr", "keep", "exclude", "row_groups", "categorical", "missing_values")
    told = {"data": request.data.name}
    for name in (*what, *how, "sep", "scoring", "seed"):
        value = getattr(request, name)
        if value is not None and value != []:
            told[name.replace("_", "-")] = ", ".join(value) if isinstance(value, list) else str(value)
    return told
