"""A report on a fitted model: one HTML file to look at, send around and print."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from stochgate.atomic import write_atomically
from stochgate.report.collect import collect
from stochgate.report.page import render

__all__ = ["collect", "render", "write_report"]


def write_report(
    model: Any,
    path: str | PathLike[str],
    X: Any,
    y: Any,
    *,
    evaluation: Any = None,
    selector: Any = None,
    title: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Path:
    """Write a report on a fitted model: one HTML file that needs no network and no other file.

    Parameters
    ----------
    model : fitted GatedClassifier, GatedRegressor or GatedCox
    path : where to write it, such as "report.html"
    X, y : as in `model.fit`
    evaluation : Evaluation, optional
        From `evaluate(model, X, y)`: the honest score, and predictions for rows the model had not seen.
    selector : StabilitySelector, optional
        With an fdr and fitted to a DataFrame: what found the columns that the model was fitted to, all of
        which it keeps (`always_keep`). The page tells what this selector did.
    title : str, optional
    settings : mapping, optional
        Whatever else should be on record, such as the name of the file: name and value.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from stochgate import GatedRegressor
    >>> from stochgate.report import write_report
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> y = X[:, 3] + X[:, 1]
    >>> model = GatedRegressor(lam=1.0, network="linear", random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = write_report(model, Path(folder) / "report.html", X, y)
    ...     written.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    given = {"evaluation": evaluation, "selector": selector, "title": title, "settings": settings}
    write_atomically(path, render(collect(model, X, y, **given)).encode())
    return Path(path)
