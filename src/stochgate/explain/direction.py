"""Which way each feature moves what a model says, by itself or in the model, and the words for it."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from stochgate.engine import Predictor
from stochgate.tables.encoding import TableEncoding
from stochgate.tables.levels import Levels

MOST_ROWS = 1000
MOST_LEVELS = 4  # that are told in order
MIXED = 0.25  # the share of all change that may go the other way
CLEARLY = 2.0  # standard errors from which a feature points somewhere by itself
SIGNS = ("+", "-")
MARKS = {"-+": "- then +", "+-": "+ then -"}  # in tables of text
SENTENCES = {  # what an output does as a feature grows
    "classification": {
        "+": "{of} more likely",
        "-": "{of} less likely",
        "-+": "{of} less likely, then more",
        "+-": "{of} more likely, then less",
    },
    "regression": {
        "+": "{of} rises",
        "-": "{of} falls",
        "-+": "{of} falls, then rises",
        "+-": "{of} rises, then falls",
    },
    "survival": {
        "+": "more risk",
        "-": "less risk",
        "-+": "less risk, then more",
        "+-": "more risk, then less",
    },
}
OUTPUTS = {
    "classification": "the log-odds of the class named change",
    "regression": "the prediction changes",
    "survival": "the risk (the log hazard) changes",
}


def find_directions(
    predictor: Predictor, X: Any, table: TableEncoding, *, relative: bool
) -> dict[int, tuple[str | None, int]]:
    """Return for every feature the model reads which way it moves an output, and which output.

    In at most 1000 rows a feature goes from its lower quartile to its median and on to its upper quartile,
    all others as they are; told is what happens to the output that changes most. A feature of text goes
    from level to level, and told are the levels from the highest output to the lowest.

    Parameters
    ----------
    predictor : Predictor
    X : ndarray or csr_array, shape (n_samples, n_columns)
    table : TableEncoding
        How X was made of the features.
    relative : bool
        Whether only the differences between outputs matter, as for classes.
    """
    read, n_samples, feature_of = predictor.features, X.shape[0], table.feature_of()
    columns = X[:, read]
    rows = _dense(columns[np.linspace(0, n_samples - 1, min(n_samples, MOST_ROWS)).astype(int)])
    columns = sparse.csc_array(columns) if sparse.issparse(X) else columns
    predictor = replace(predictor, features=np.arange(len(read)))
    owner = read if feature_of is None else feature_of[read]
    found = {}
    for feature in np.unique(owner).tolist():
        own, levels = np.flatnonzero(owner == feature), table.levels.get(feature)
        if levels is None:
            settings = _on_the_way(_dense(columns[:, own]), bool(table.masked[feature]))
        else:
            settings = _levels_read(levels, read[own] - np.flatnonzero(feature_of == feature)[0])
        outputs = _outputs(predictor, rows, own, settings)
        if relative:
            outputs = outputs - outputs.mean(axis=2, keepdims=True)
        steps = np.diff(outputs, axis=0)  # (n_settings - 1, n_rows, n_outputs)
        most = int(np.abs(steps).sum(axis=(0, 1)).argmax())
        if levels is None:
            found[feature] = read_direction(steps[:, :, most]), most
        else:
            found[feature] = read_order(levels.names, outputs[:, :, most].mean(axis=1)), most
    return found


def _outputs(predictor: Predictor, rows: np.ndarray, own: np.ndarray, settings: np.ndarray) -> np.ndarray:
    """Return the outputs with some columns set, shape (n_settings, n_rows, n_outputs)."""
    moved = np.stack([rows] * len(settings))  # (n_settings, n_rows, n_columns)
    moved[:, :, own] = settings[:, None, :]
    outputs = predictor.outputs(moved.reshape(-1, rows.shape[1]))[0].double().numpy()
    return outputs.reshape(len(settings), len(rows), -1)


def _on_the_way(columns: np.ndarray, masked: bool) -> np.ndarray:
    """Return the quartiles of a feature of numbers, where it is not missing, shape (3, n_own)."""
    if not masked or columns.shape[1] == 1:
        return waypoints(columns[:, 0])[:, None]
    known = columns[columns[:, 1] == 0, 0]
    return np.stack([waypoints(known), np.zeros(3)], axis=1)


def _levels_read(levels: Levels, places: np.ndarray) -> np.ndarray:
    """Return the columns of a feature of text at each of its levels, shape (n_levels, n_own)."""
    return np.vstack([np.zeros(len(levels.columns)), np.eye(len(levels.columns))])[:, places]


def waypoints(column: np.ndarray) -> np.ndarray:
    """Return the quartiles of a column, shape (3,).

    Where they are one value, as in a sparse column, the outer two are the medians of what is below and
    above it.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.explain.direction import waypoints
    >>> waypoints(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0]))
    array([0., 0., 2.])
    """
    low, middle, high = np.quantile(column, [0.25, 0.5, 0.75], method="nearest")
    if low == high:
        below, above = column[column < middle], column[column > middle]
        low = np.median(below) if len(below) else low
        high = np.median(above) if len(above) else high
    return np.array([low, middle, high])


def read_direction(steps: np.ndarray) -> str | None:
    """Return the direction of an output that a feature moves in two steps, shape (2, n_rows).

    "+" or "-"; where over a quarter of the change goes the other way "-+" or "+-" for a curve that turns,
    and "mixed" where rows differ; None without any change.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.explain.direction import read_direction
    >>> read_direction(np.array([[1.0, 2.0], [1.0, -0.5]])), read_direction(np.array([[-1.0], [2.0]]))
    ('+', '-+')
    >>> read_direction(np.array([[1.0, -1.0], [2.0, -2.0]]))
    'mixed'
    """
    whole = _sign(steps)
    if whole != "mixed":
        return whole
    turns = "".join(str(_sign(step)) for step in steps)
    return turns if turns in MARKS else "mixed"


def _sign(steps: np.ndarray) -> str | None:
    up, down = steps.clip(min=0).sum(), -steps.clip(max=0).sum()
    if up + down == 0:
        return None
    if min(up, down) > MIXED * (up + down):
        return "mixed"
    return "+" if up > down else "-"


def read_order(levels: tuple[str, ...], outputs: np.ndarray) -> str:
    """Return the levels from the highest output to the lowest; of many the ends alone.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.explain.direction import read_order
    >>> read_order(("red", "blue"), np.array([0.1, 0.7]))
    'blue > red'
    """
    named = [
        f"'{level}'" if "<" in level or ">" in level else level for level in levels
    ]  # '>2cm' > '<=2cm'
    ordered = [named[i] for i in np.argsort(-outputs, kind="stable")]
    if len(ordered) > MOST_LEVELS:
        ordered = [*ordered[: MOST_LEVELS - 1], "...", ordered[-1]]
    return " > ".join(ordered)


def find_directions_alone(
    X: Any, residual: np.ndarray, table: TableEncoding, outputs: dict[int, int]
) -> dict[int, str | None]:
    """Return which way features point by themselves, as in `find_directions`; None where that is not clear.

    A feature of numbers, or of text with two levels, is held against the residuals of the model without
    features; it must be two standard errors from telling nothing.

    Parameters
    ----------
    X : ndarray or csr_array, shape (n_samples, n_columns)
    residual : ndarray, shape (n_samples, n_outputs)
    table : TableEncoding
    outputs : dict of int to int
        The features asked for, and the output of each.
    """
    first, X = np.cumsum(table.counts()) - table.counts(), sparse.csc_array(X) if sparse.issparse(X) else X
    found: dict[int, str | None] = {}
    for feature, output in outputs.items():
        levels, column = table.levels.get(feature), first[feature]
        if levels is not None and len(levels.columns) > 1:
            found[feature] = None
            continue
        x, r = _dense(X[:, [column]])[:, 0].astype(float), residual[:, output]
        if table.masked[feature]:
            known = _dense(X[:, [column + 1]])[:, 0] == 0
            x, r = x[known], r[known]
        told = (x - x.mean()) * r
        z = told.sum() / max(np.sqrt(np.square(told).sum()), 1e-300)
        if abs(z) < CLEARLY:
            found[feature] = None
        elif levels is None:
            found[feature] = SIGNS[int(z < 0)]
        else:
            found[feature] = read_order(levels.names, np.array([0.0, z]))
    return found


def is_reversed(direction: Any, alone: Any) -> bool:
    """Return whether a feature points one way by itself, and the other way in the model.

    Examples
    --------
    >>> from stochgate.explain.direction import is_reversed
    >>> is_reversed("+", "-"), is_reversed("+", None), is_reversed("mixed", "-")
    (True, False, False)
    """
    one_way = isinstance(direction, str) and direction not in (*MARKS, "mixed")
    return one_way and isinstance(alone, str) and direction != alone


def mark_direction(direction: str, of: Any, task: str, alone: Any = None) -> str:
    """Return a direction as tables of text have it.

    Examples
    --------
    >>> from stochgate.explain.direction import mark_direction
    >>> mark_direction("+", "sick", "classification", "-"), mark_direction("b > a", None, "survival")
    ('+ for sick (alone -)', 'b > a for risk')
    """
    of = "risk" if task == "survival" else of
    text = MARKS.get(direction, direction) + ("" if of is None or of != of else f" for {of}")
    return f"{text} (alone {alone})" if is_reversed(direction, alone) else text


def say_direction(direction: str, of: Any, task: str) -> str:
    """Return a direction in words.

    Parameters
    ----------
    direction : str
    of : str
        What the output is of: a class, or what is predicted; of a survival model it is the risk.
    task : {"classification", "regression", "survival"}

    Examples
    --------
    >>> from stochgate.explain.direction import say_direction
    >>> say_direction("-", "sick", "classification"), say_direction("b > a", "survival", "survival")
    ('sick less likely', 'risk: b > a')
    """
    of = "risk" if task == "survival" else of
    if direction == "mixed":
        return f"{of}: depends on the other features"
    return SENTENCES[task].get(direction, "{of}: {order}").format(of=of, order=direction)


def explain_directions(task: str, n_outputs: int) -> str:
    """Return in a sentence what directions are of, and in another of which of several outputs."""
    named = "class" if task == "classification" else "output"
    which = f" Of {n_outputs}, the {named} named is the one that the feature moves most."
    return (
        f"how {OUTPUTS[task]} as the feature grows and the others stay as they are; of text, its values "
        f"from the highest to the lowest.{which if n_outputs > 1 else ''}"
    )


def _dense(part: Any) -> np.ndarray:
    return part.toarray() if sparse.issparse(part) else part
