"""All numbers of the report, as plain data."""

from collections.abc import Mapping
from copy import copy
from datetime import date
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples, check_is_fitted

from stochgate.explain.error_control import with_error_control
from stochgate.report.along_path import describe_path
from stochgate.report.asked import how_to_repeat
from stochgate.report.chosen import (
    describe_choice,
    describe_effects,
    describe_evaluation,
    describe_stability,
)
from stochgate.report.columns import Columns
from stochgate.report.over_training import describe_gates
from stochgate.report.plain import to_plain, to_text
from stochgate.report.targets import find_target, name_target


def collect(
    model: Any,
    X: Any,
    y: Any,
    *,
    evaluation: Any = None,
    selector: Any = None,
    title: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return all numbers of the report as plain data, which JSON can hold; NaN becomes None.

    Parameters
    ----------
    model : fitted GatedClassifier, GatedRegressor or GatedCox
    X, y : as in `model.fit`
    evaluation : Evaluation, optional
        From `evaluate(model, X, y)`: the honest score, and predictions for rows the model had not seen.
    selector : StabilitySelector, optional
        With an fdr: what found the columns that the model was fitted to.
    title : str, optional
    settings : mapping, optional
        Whatever else should be on record, such as the name of the file: name and value.

    Returns
    -------
    dict
        "names" lists the columns that are mentioned, "selected" which of them the model uses; wherever else
        a feature is meant it is a place in that list.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate import GatedRegressor
    >>> from stochgate.report.collect import collect
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> y = X[:, 3] + X[:, 1]
    >>> model = GatedRegressor(lam=1.0, network="linear", random_state=0).fit(X, y)
    >>> data = collect(model, X, y)
    >>> [data["names"][row["feature"]] for row in data["chosen"]["features"]]
    ['column 1', 'column 3']
    """
    _refuse_what_has_no_summary(model)
    if selector is not None and model.summary().headline is None:
        found = with_error_control(model.summary(), selector)
        model = copy(model)
        model._summary = found
    target, columns = find_target(model), Columns(model)
    name = name_target(y)
    called = target.called or name or "y"
    data: dict[str, Any] = {
        "title": to_text(title if title else f"What predicts {called}?"),
        "made_on": date.today().isoformat(),
        "asked": {
            "task": target.task,
            "base": target.base,
            "target": name,
            "called": called,
            "n_rows": _count_rows(y),
            "n_columns": int(model.summary().n_features_in),
            "named": columns.named,
            **target.describe(model, y),
        },
        "chosen": describe_choice(model, columns, selector),
        "effects": describe_effects(model, X, y),
        "honest": describe_evaluation(evaluation),
        "path": describe_path(model, columns),
        "gates": describe_gates(model, columns),
        "stability": describe_stability(model, evaluation, columns, selector),
        "outcome": _describe_outcome(model, target, X, y, evaluation),
        "repeat": how_to_repeat(model, settings, selector),
    }
    data["names"] = columns.names  # of all that was mentioned above
    data["selected"] = columns.places(np.flatnonzero(model.support_))
    return to_plain(data)


def _count_rows(y: Any) -> int:
    return int(_num_samples(y[0] if isinstance(y, tuple) else y))  # a tuple is (event, time)


def _describe_outcome(model: Any, target: Any, X: Any, y: Any, evaluation: Any) -> dict[str, Any] | None:
    """Return predictions against the truth, of rows the model had not seen where an evaluation has them."""
    n_rows = _count_rows(y)
    predicted, is_honest = getattr(evaluation, "predictions", None), True
    if predicted is None or len(predicted) != n_rows:  # or of other rows
        predicted, is_honest = model.predict(X), False
    found = target.judge(model, y, np.asarray(predicted))
    return None if found is None else {**found, "is_honest": is_honest}


def _refuse_what_has_no_summary(model: Any) -> None:
    if not hasattr(model, "summary") or isinstance(model, type):
        kind = model.__name__ if isinstance(model, type) else type(model).__name__
        raise TypeError(
            f"A report cannot be made of {kind}: give a fitted GatedClassifier, GatedRegressor or GatedCox "
            "(of a pipeline its last step, with the X that step was given)."
        )
    check_is_fitted(model)
