"""Choose columns, explain and judge the choice, and write it down."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

import stochgate
from stochgate.cli.errors import UsageError
from stochgate.cli.notes import collect_notes
from stochgate.cli.outputs import write_csv
from stochgate.cli.progress import Watch
from stochgate.cli.request import Request
from stochgate.cli.table.data import Data
from stochgate.cli.text import quote
from stochgate.cli.work.fdr import FdrModel
from stochgate.estimators import GatedClassifier, GatedCox, GatedRegressor
from stochgate.evaluation.evaluate import Evaluation, evaluate
from stochgate.explain.summary_table import Summary
from stochgate.problem.validation import check_device

ESTIMATORS: dict[str, Any] = {
    "classification": GatedClassifier,
    "regression": GatedRegressor,
    "survival": GatedCox,
}
FEATURES, MODEL, REPORT = "features.csv", "model.safetensors", "report.html"
N_FOLDS = 5  # of the honest score
MOST_FOUND = 10  # columns named in a sentence
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
    remarks : list of str
        What a person should check.
    notes : list of str
    """

    model: Any
    X: pd.DataFrame
    summary: Summary
    features: pd.DataFrame
    evaluation: Evaluation | None
    remarks: list[str]
    notes: list[str]


def make_model(data: Data, request: Request, watch: Watch) -> Any:
    """Return the estimator that a request asks for, not fitted yet."""
    try:
        check_device(request.device)
    except ValueError as error:
        raise UsageError(str(error).replace("device=", "--device ", 1)) from error
    level = {} if request.alpha is None else {"alpha": request.alpha}
    return ESTIMATORS[data.task](
        **level,
        n_features_to_select=request.k,
        always_keep=data.keep or None,
        device=request.device,
        random_state=request.seed,
        callbacks=[watch],
    )


def choose(data: Data, request: Request, watch: Watch) -> Found:
    """Fit the model, explain its choice and, if asked for, judge it on rows it has not seen."""
    asked = make_model(data, request, watch)
    with collect_notes() as notes:
        watch.phase("Choosing columns")
        X, extra = data.X, None
        if request.fdr is None:
            model = asked.fit(X, data.y, groups=data.groups)
            remarks = model.remarks_
        else:
            asked = FdrModel(asked, request.fdr).fit(X, data.y)
            model, X, remarks = asked.model_, asked._columns(X), asked.remarks_
            extra = _error_control(asked.selector_, list(data.X.columns))
        watch.phase("Explaining the choice", n_fits=0)
        summary = model.summary()
    if extra is not None:
        summary = _with_error_control(summary, asked, extra, data.keep)
    evaluation = _evaluate(asked, data, request, watch) if request.evaluate else None
    model.callbacks = None
    features = pd.DataFrame(summary.features)
    model._summary = summary  # for the report and the model file
    return Found(
        model=model,
        X=X,
        summary=summary,
        features=features if extra is None else features.merge(extra, how="left", on="feature"),
        evaluation=evaluation,
        remarks=remarks,
        notes=[note for note in notes if note not in (*remarks, *summary.hints)],
    )


def _error_control(selector: Any, names: list[str]) -> pd.DataFrame:
    """Return what halves of the rows say of each column."""
    q_values = getattr(selector, "q_values_", [float("nan")] * len(names))
    columns = {"feature": names, "q_value": q_values, "halves": selector.selection_frequency_}
    return pd.DataFrame(columns)


def _with_error_control(summary: Summary, asked: FdrModel, extra: pd.DataFrame, keep: list[str]) -> Summary:
    """Return the summary of a model on the columns that error control found, as one of its selection.

    The model keeps all of these columns, so its frequencies and its number of kept columns say nothing.
    """
    found = [name for name in asked.found_ if name not in keep]
    features = pd.DataFrame(summary.features)
    features.loc[features["feature"].isin(found), "frequency"] = float("nan")
    hints = summary.hints if asked.found_ else ("The model predicts the base rate.",)
    return replace(
        summary,
        features=features,
        n_features_in=len(extra),
        n_kept=0,
        headline=_describe_error_control(extra, found, asked.fdr),
        hints=hints if found else (*asked.notes_, _MORE, *hints),
    )


def _describe_error_control(extra: pd.DataFrame, found: list[str], fdr: float) -> str:
    """Return which columns were found at a rate, the surest first."""
    q_values = dict(zip(extra["feature"], extra["q_value"], strict=True))
    ranked = sorted(found, key=lambda name: q_values[name])
    named = ", ".join(f"{quote(name)} (q {q_values[name]:.2g})" for name in ranked[:MOST_FOUND])
    more = f" and {len(ranked) - MOST_FOUND} more" if len(ranked) > MOST_FOUND else ""
    return f"Found at a false discovery rate of {fdr:g}: {named or 'no column'}{more}."


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
            without_selection=every,
            random_state=request.seed,
        )


def write_found(found: Found, data: Data, request: Request, folder: Path) -> list[Path]:
    """Write table, model and report into a folder; return their paths.

    A model without columns is not written: it has nothing to predict from.
    """
    written = [write_csv(found.features, folder / FEATURES)]
    if found.model.support_.any():
        stochgate.save(found.model, folder / MODEL)
        written.append(folder / MODEL)
    else:  # one of an earlier selection would be taken for this one's
        (folder / MODEL).unlink(missing_ok=True)
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
        title=f"What predicts {request.target or request.time} in {request.data.name}?",
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
    names = ("target", "time", "event", "task", "k", "alpha", "fdr", "keep", "exclude", "row_groups")
    told = {"data": request.data.name}
    for name in (*names, "categorical", "missing_values", "sep", "seed"):
        value = getattr(request, name)
        if value is not None and value != []:
            told[name.replace("_", "-")] = ", ".join(value) if isinstance(value, list) else str(value)
    return told
