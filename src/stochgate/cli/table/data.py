"""The table as the library takes it: X, y and groups of rows, from what the user asked for."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from stochgate.cli.errors import UsageError, UserError
from stochgate.cli.request import Request
from stochgate.cli.table.columns import find_column, find_columns, split_condition
from stochgate.cli.table.missing import mark_missing
from stochgate.cli.table.read import read_table
from stochgate.cli.table.task import (
    as_numbers,
    detect_task,
    join_labels,
    make_survival_target,
    make_target,
)
from stochgate.cli.table.text_table import MISSING_WORDS
from stochgate.cli.text import count, list_names, quote

FEWEST_ROWS = 10


@dataclass(frozen=True, kw_only=True)
class Data:
    """What a model is fitted to.

    Attributes
    ----------
    X : DataFrame
    y : ndarray
    groups : ndarray or None
        A label per row.
    task : {"classification", "regression", "survival"}
    why : str
        What the task is, and by what it was told, as a sentence.
    keep : list of str
        Columns that are always chosen.
    notes : list of str
    """

    X: pd.DataFrame
    y: np.ndarray
    groups: np.ndarray | None
    task: str
    why: str
    keep: list[str]
    notes: list[str]


def load_data(request: Request) -> Data:
    """Read the table of a request and take it apart."""
    frame, notes = read_table(request.data, request.sep)
    if request.categorical:
        kinds = find_columns(list(frame.columns), request.categorical, "--categorical")
        frame, notes = read_table(request.data, request.sep, dict.fromkeys(kinds, MISSING_WORDS))
    return take_apart(frame, request, notes)


def take_apart(frame: pd.DataFrame, request: Request, notes: list[str] | None = None) -> Data:
    """Return X, y and the groups of the rows that have a target.

    Examples
    --------
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from stochgate.cli.table.data import take_apart
    >>> from stochgate.cli.request import Request
    >>> frame = pd.DataFrame({"a": range(12), "b": range(12), "y": list("xxxxxxzzzzzz")})
    >>> data = take_apart(frame, Request(data=Path("t.csv"), target="y", exclude=["b"]))
    >>> list(data.X.columns), data.why
    (['a'], "Classification: the target 'y' has 2 classes, because it holds text, 2 different values.")
    """
    names = list(frame.columns)
    y_columns, code = _target_columns(names, request)
    frame, on_values = _with_missing(frame, request.missing_values)
    kinds = find_columns(names, request.categorical, "--categorical")
    frame = frame.astype(dict.fromkeys(kinds, "category"))
    strata = find_columns(names, request.strata, "--strata")
    _refuse_twice([*y_columns, *strata])
    frame, on_rows = _with_target(frame, [*y_columns, *strata])
    if request.target is None:
        task, (why, y) = "survival", _make_survival(frame, y_columns, code, strata)
    else:
        task, why, y = _make_y(frame, request.target, request.task)
    column, groups = _make_groups(frame, request.row_groups)
    if column in y_columns:
        raise UsageError(f"--row-groups names {quote(column)}, which is to be predicted: name another.")
    used = [*y_columns, *strata, *([] if column is None else [column])]
    X, keep = _make_features(frame, used, request)
    notes = [*(notes or []), *on_values, *on_rows]
    return Data(X=X, y=y, groups=groups, task=task, why=why, keep=keep, notes=notes)


def _with_missing(frame: pd.DataFrame, given: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return a frame in which some values are missing, and a note on each; raise where one is nowhere."""
    frame, marked = mark_missing(frame, given)
    for value, n in marked.items():
        if n == 0:
            raise UsageError(f"--missing-values names {quote(value)}, which no cell holds: leave it out.")
    notes = [f"{quote(value)} counts as missing in {count(n, 'cell')}." for value, n in marked.items()]
    return frame, notes


def _make_features(
    frame: pd.DataFrame, used: list[str], request: Request
) -> tuple[pd.DataFrame, list[str]]:
    """Return the columns to choose from, and those that are always chosen."""
    names = list(frame.columns)
    excluded = find_columns(names, request.exclude, "--exclude")
    keep = find_columns(names, request.keep, "--keep")
    for name in keep:
        if name in used or name in excluded:
            why = "excluded" if name in excluded else "the target, a stratum or the row group"
            raise UsageError(f"--keep names {quote(name)}, but that column is {why}: leave it out.")
    X = frame.drop(columns=list({*used, *excluded}))
    n_columns = X.shape[1]
    if n_columns == 0:
        raise UserError("No column is left to choose from: the table needs others than the target.")
    if request.k is not None and request.k > n_columns:
        raise UsageError(f"--k is {request.k}, but there are {count(n_columns, 'column')} to choose from.")
    if request.k is not None and request.k < len(keep):
        raise UsageError(f"--k is {request.k}, but --keep names {count(len(keep), 'column')}.")
    return X, keep


def _target_columns(names: list[str], request: Request) -> tuple[list[str], str | None]:
    """Return the target, or time, event and entry, and the event's code."""
    if request.target is not None:
        return [find_column(names, request.target, "--target")], None
    time = find_column(names, str(request.time), "--time")
    event, code = split_condition(names, str(request.event), "--event")
    entry = [] if request.entry is None else [find_column(names, request.entry, "--entry")]
    return [time, event, *entry], code


def _refuse_twice(columns: list[str]) -> None:
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        raise UsageError(
            f"Two of --time, --event, --entry and --strata name the same column {quote(twice[0])}: each "
            "must name another."
        )


def _with_target(frame: pd.DataFrame, columns: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return the rows whose target is known, and a note on the others."""
    known = frame[columns].notna().all(axis=1)
    what = " and ".join(map(quote, columns))
    n, n_missing = int(known.sum()), int((~known).sum())
    if n == 0:
        raise UserError(f"Every row lacks a value of {what}: name another column.")
    if n < FEWEST_ROWS:
        found = f"{count(n, 'row')} with a value of {what}" if n_missing else count(n, "row")
        raise UserError(f"The table has {found}, too few to learn from: at least {FEWEST_ROWS} are needed.")
    if n_missing == 0:
        return frame, []
    note = f"{count(n_missing, 'row')} without a value of {what} left out; {n:,} remain."
    return frame[known], [note]


def _make_y(frame: pd.DataFrame, name: str, task: str | None) -> tuple[str, str, np.ndarray]:
    """Return the task, a sentence on it, and y."""
    values = as_numbers(frame[name])
    detected = detect_task(values)
    because = f"because {detected.why}" if task is None else "as --task says"
    task = detected.task if task is None else task
    y = make_target(values, name, task)
    if task == "regression":
        return task, f"Regression: the target {quote(name)} is a quantity, {because}.", y
    n_classes = len(np.unique(y))
    return task, f"Classification: the target {quote(name)} has {n_classes} classes, {because}.", y


def _make_survival(
    frame: pd.DataFrame, columns: list[str], code: str | None, strata: list[str]
) -> tuple[str, np.ndarray]:
    """Return a sentence on a survival study, and y."""
    time, event, *entries = columns
    entry = frame[entries[0]] if entries else None
    labels = join_labels(frame[strata]) if strata else None
    y = make_survival_target(frame[event], frame[time], code, entry, labels)
    parts = [f"{count(int(y['event'].sum()), 'event')} in {count(len(y), 'row')}", f"time in {quote(time)}"]
    parts += [f"entry in {quote(name)}" for name in entries]
    if labels is not None:
        parts.append(f"{len(np.unique(y['stratum']))} strata by {list_names(strata)}")
    return f"Survival: {', '.join(parts)}.", y


def _make_groups(frame: pd.DataFrame, given: str | None) -> tuple[str | None, np.ndarray | None]:
    """Return the column that says which rows belong together, and a label per row."""
    if given is None:
        return None, None
    column, pattern = split_condition(list(frame.columns), given, "--row-groups")
    values: Any = frame[column]
    if values.isna().any():
        where = f"{frame.index.name or 'row'} {frame.index[values.isna()][0]}"
        raise UserError(
            f"--row-groups: {where} has no value of {quote(column)}; fill it, or remove the row."
        )
    labels = as_numbers(values).map(str)
    if pattern is not None:
        labels = _first_groups(labels, pattern, column)
    n_groups = labels.nunique()
    if n_groups == 1:
        raise UserError(
            f"--row-groups: all rows belong to {quote(labels.iloc[0])}; rows of a group stay together, so "
            "there must be several."
        )
    return column, labels.to_numpy(dtype=str)


def _first_groups(labels: pd.Series, pattern: str, column: str) -> pd.Series:
    """Return what a pattern's first group matches, or the whole match of a pattern without groups."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UsageError(
            f"--row-groups: {quote(pattern)} is not a regular expression ({error})."
        ) from error
    matches = [compiled.search(label) for label in labels]
    found = [None if match is None else match[min(1, compiled.groups)] for match in matches]
    if None in found:
        where = quote(labels.iloc[found.index(None)])
        raise UsageError(
            f"--row-groups: {quote(pattern)} does not match {where} in {quote(column)}; give a pattern "
            "that finds a label in every row."
        )
    return pd.Series(found, index=labels.index)
