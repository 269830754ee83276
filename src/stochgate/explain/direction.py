"""Which way each feature moves what a model says."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from stochgate.engine import Predictor

MOST_ROWS = 1000
MIXED = 0.25  # the share of all change that may go the other way


def find_directions(predictor: Predictor, X: Any, *, relative: bool) -> dict[int, tuple[str | None, int]]:
    """Return for every feature the model reads which way it moves an output, and which output.

    In at most 1000 rows a feature goes from its lower quartile to its median and on to its upper quartile,
    all others as they are; told is what happens to the output that changes most.

    Parameters
    ----------
    predictor : Predictor
    X : ndarray or csr_array, shape (n_samples, n_features)
    relative : bool
        Whether only the differences between outputs matter, as for classes.
    """
    features, n_samples = predictor.features, X.shape[0]
    columns = X[:, features]
    rows = _dense(columns[np.linspace(0, n_samples - 1, min(n_samples, MOST_ROWS)).astype(int)])
    columns = sparse.csc_array(columns) if sparse.issparse(X) else columns
    predictor = replace(predictor, features=np.arange(len(features)))
    found = {}
    for i, feature in enumerate(features):
        moved = np.stack([rows] * 3)  # (3, n_rows, n_columns)
        moved[:, :, i] = waypoints(_dense(columns[:, [i]])[:, 0])[:, None]
        outputs = predictor.outputs(moved.reshape(-1, len(features)))[0].double().numpy()
        if relative:
            outputs = outputs - outputs.mean(axis=1, keepdims=True)
        steps = np.diff(outputs.reshape(3, len(rows), -1), axis=0)  # (2, n_rows, n_outputs)
        most = int(np.abs(steps).sum(axis=(0, 1)).argmax())
        found[int(feature)] = read_direction(steps[:, :, most]), most
    return found


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
    """Return "+" or "-", "mixed" where over a quarter of the change goes the other way, None without any.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.explain.direction import read_direction
    >>> read_direction(np.array([1.0, 2.0, -0.5])), read_direction(np.array([1.0, -2.0]))
    ('+', 'mixed')
    """
    up, down = steps.clip(min=0).sum(), -steps.clip(max=0).sum()
    if up + down == 0:
        return None
    if min(up, down) > MIXED * (up + down):
        return "mixed"
    return "+" if up > down else "-"


def _dense(part: Any) -> np.ndarray:
    return part.toarray() if sparse.issparse(part) else part
