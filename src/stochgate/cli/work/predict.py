"""Predictions of a model file for a table."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import stochgate
from stochgate.cli.errors import UsageError, UserError, about_the_file
from stochgate.cli.table.columns import find_columns
from stochgate.cli.table.task import join_labels
from stochgate.cli.table.text_table import MISSING_WORDS
from stochgate.cli.text import count, list_names
from stochgate.tables.levels import MISSING


def load_model(path: Path) -> Any:
    """Load a model file; the errors of `stochgate.load` are sentences."""
    if path.is_dir():
        raise UserError(f"{path} is a folder: give the model file in it.")
    if not path.exists():
        raise UserError(
            f"There is no file {path}: give the model.safetensors that `stochgate select` wrote."
        )
    return stochgate.load(path)


def read_times(given: str | None) -> list[float] | None:
    """Return the times of "12,24,60".

    Examples
    --------
    >>> from stochgate.cli.work.predict import read_times
    >>> read_times("12, 24,60.5")
    [12.0, 24.0, 60.5]
    """
    if given is None:
        return None
    try:
        times = [float(part) for part in given.split(",") if part.strip()]
    except ValueError:
        times = []
    if not times or not all(0 <= time < np.inf for time in times):
        raise UsageError(
            f"--times is '{given}': give times not below 0 with commas between, such as 12,24,60."
        )
    return times


def predict_table(
    model: Any,
    frame: pd.DataFrame,
    times: list[float] | None = None,
    ids: list[str] | None = None,
    strata: list[str] | None = None,
) -> pd.DataFrame:
    """Return a row of predictions per row of a table.

    Parameters
    ----------
    model : fitted estimator
        With the names of its columns.
    frame : DataFrame
        With these columns, and perhaps more.
    times : list of float, optional
        At which to predict survival, for a Cox model.
    ids : list of str, optional
        Columns to copy, so that rows can be told apart.
    strata : list of str, optional
        Columns of the stratum, for survival of a Cox model that has strata.

    Returns
    -------
    DataFrame with "prediction" and the probability of each class; with "prediction" alone; or with
    "log_hazard" and survival at each time
    """
    if not hasattr(model, "feature_names_in_"):
        raise UserError(
            "The model was fitted to an array, whose columns have no names: predict with it in Python."
        )
    lacking = [name for name in model.feature_names_in_ if name not in frame.columns]
    if lacking:
        of = count(len(model.feature_names_in_), "column")
        raise UserError(
            f"The table lacks {len(lacking)} of the {of} the model uses: {list_names(lacking, 10)}."
        )
    X = frame[list(model.feature_names_in_)]
    names = list(frame.columns)
    copied = frame[find_columns(names, ids or [], "--id")].reset_index(drop=True)
    by = find_columns(names, strata or [], "--strata")
    labels = join_labels(frame[by]) if by else None
    with about_the_file(frame.index, can_exclude=False):
        predicted = _predict(model, X, times, labels)
    return pd.concat([copied, pd.DataFrame(predicted)], axis=1)


def _predict(
    model: Any, X: pd.DataFrame, times: list[float] | None, strata: np.ndarray | None
) -> dict[str, np.ndarray]:
    if times is None and strata is not None:
        raise UsageError("--strata goes with --times, which alone needs it: leave it out.")
    if hasattr(model, "predict_survival_function"):
        made = {"log_hazard": model.predict(X)}
        if times is not None:
            _check_strata(list(model.baseline_.log_cumulative_hazard), strata)
            survival = model.predict_survival_function(X, times=times, strata=strata)
            made |= {f"survival_{time:g}": survival[:, i] for i, time in enumerate(times)}
        return made
    if times is not None:
        raise UsageError("--times is for survival models, and this one predicts no survival: leave it out.")
    if not hasattr(model, "predict_proba"):
        predicted = model.predict(X)
        if predicted.ndim == 1:
            return {"prediction": predicted}
        return {f"prediction_{i}": values for i, values in enumerate(predicted.T)}
    shares = model.predict_proba(X)
    by_class = {f"probability_{name}": shares[:, i] for i, name in enumerate(model.classes_)}
    return {"prediction": model.classes_[shares.argmax(axis=1)], **by_class}


def _check_strata(known: list[str | None], strata: np.ndarray | None) -> None:
    """Raise where a model needs strata that are not given, or is given what it does not need."""
    if len(known) > 1 and strata is None:
        raise UsageError(
            f"The model has the strata {list_names(known)}, each with its own survival: name their column "
            "with --strata."
        )
    if strata is not None and known == [None]:
        raise UsageError("The model was fitted without strata: leave --strata out.")


def text_columns(model: Any) -> dict[str, set[str]]:
    """Return the columns that held text in the fit, and which words for missing values are text there.

    In these columns "01" is no number, nor "TRUE" a truth value. A word such as "None" is one that is
    missing if the fit has seen missing values, and not this word.
    """
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return {}
    seen = {str(names[j]): found for j, found in model._table.levels.items()}
    return {
        name: MISSING_WORDS & set(found.names)
        if found is not None and MISSING in found.names
        else MISSING_WORDS
        for name, found in seen.items()
    }
