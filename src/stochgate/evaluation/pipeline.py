"""Steps of a pipeline: those before the selection, fitted without y, and what they call their columns."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples

Steps = list[tuple[str, Any]]
_N_PROBED = 50  # rows that tell why a step fails


def list_steps(model: Any) -> Steps:
    """Return a pipeline's steps by name; any other model is one step with the name "".

    A pipeline at the end of a pipeline gives its own steps, named as in `set_params`. Steps that do nothing
    are left out.

    Examples
    --------
    >>> from sklearn.linear_model import Lasso
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from stochgate.evaluation.pipeline import list_steps
    >>> list_steps(make_pipeline(StandardScaler(), make_pipeline("passthrough", Lasso())))
    [('standardscaler', StandardScaler()), ('pipeline__lasso', Lasso())]
    """
    if not hasattr(model, "steps"):
        return [("", model)]
    *earlier, (name, last) = model.steps
    at_end = [(f"{name}__{inner}" if inner else name, step) for inner, step in list_steps(last)]
    return [(name, step) for name, step in earlier if step not in (None, "passthrough")] + at_end


def fit_without_y(steps: Steps, X: Any) -> Any:
    """Fit steps in place, one after the other, and return what they make of X.

    A step that needs y is refused. Tags do not tell of every such step (scikit-learn 1.9 has none for
    `SelectKBest`), so a step that fails also counts as one if labels 0 and 1 would help.
    """
    for name, step in steps:
        if get_tags(step).target_tags.required:
            raise ValueError(_needs_y(name, step))
        try:
            step.fit(X, None)
        except Exception:
            if _fails_for_lack_of_y(step, X):
                raise ValueError(_needs_y(name, step)) from None
            raise
        X = step.transform(X)
    return X


def apply_steps(steps: Steps, X: Any) -> Any:
    """Return what fitted steps make of X."""
    for _, step in steps:
        X = step.transform(X)
    return X


def undo_steps(steps: Steps, X: Any) -> Any:
    """Return what fitted steps would have made X of."""
    for _, step in reversed(steps):
        X = step.inverse_transform(X)
    return X


def name_columns(steps: Iterable[tuple[str, Any]], names: Any) -> Any:
    """Return the names of the columns that fitted steps make of named ones."""
    for name, step in steps:
        if not hasattr(step, "get_feature_names_out"):
            raise AttributeError(
                f"Step {name!r} ({type(step).__name__}) has no get_feature_names_out: the columns after it "
                "have no names."
            )
        names = step.get_feature_names_out(names)
    return names


def name_frame(made: Any, steps: Steps, X: Any) -> Any:
    """Return what steps made of a DataFrame as a DataFrame with the steps' names, if they give any."""
    if not (hasattr(X, "iloc") and isinstance(made, np.ndarray)):
        return made
    try:
        return type(X)(made, columns=name_columns(steps, None))
    except AttributeError:
        return made


def follow_selection(steps: Steps, X: Any, names: list[str]) -> tuple[list[str], np.ndarray]:
    """Return the columns that fitted steps select from, and which of them pass all selecting steps.

    The columns are those of X as long as each step keeps, reorders or drops them; a step that makes others
    starts anew with its own.

    Parameters
    ----------
    steps : list of (name, fitted transformer)
        The last one selects.
    X : a row or more that the first step can transform
    names : list of str
        Of the columns of X.

    Returns
    -------
    Names of the columns, and a boolean mask of them
    """
    columns, kept = names, list(range(len(names)))
    for i, (_, step) in enumerate(steps):
        support = step.get_support() if hasattr(step, "get_support") else None
        X = step.transform(X) if i < len(steps) - 1 else X
        if support is not None and len(support) == len(kept):
            kept = [j for j, is_open in zip(kept, support, strict=True) if is_open]
            continue
        place = {columns[j]: j for j in kept}
        made = _name_or_number(step, list(place), X)
        if set(made) <= set(place):
            kept = [place[name] for name in made]
        else:
            columns, kept = made, list(range(len(made)))
    passes = np.zeros(len(columns), dtype=bool)
    passes[kept] = True
    return columns, passes


def _name_or_number(step: Any, names: list[str], made: Any) -> list[str]:
    """Return names of the columns a step made; without any, the old ones if there are as many."""
    try:
        return [str(name) for name in name_columns([("", step)], names)]
    except AttributeError:  # from the step, or from one inside it
        if hasattr(made, "columns"):
            return [str(name) for name in made.columns]
    n_made = made.shape[1]
    return names if n_made == len(names) else [f"{type(step).__name__.lower()}{j}" for j in range(n_made)]


def _fails_for_lack_of_y(step: Any, X: Any) -> bool:
    """Return whether a step fits some rows with labels but not without."""
    rows = _safe_indexing(X, np.arange(min(_num_samples(X), _N_PROBED)))
    return _fits(step, rows, np.arange(_num_samples(rows)) % 2) and not _fits(step, rows, None)


def _fits(step: Any, X: Any, y: Any) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            clone(step).fit(X, y)
        except Exception:
            return False
    return True


def _needs_y(name: str, step: Any) -> str:
    return (
        f"Step {name!r} ({type(step).__name__}) learns from y, so its columns have seen the rows that "
        "judge them, and no error control holds: leave it out, or use a step that does not need y."
    )
