"""What was asked: the parameters, and all that it takes to ask again."""

import inspect
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from stochgate.report.plain import to_text

PACKAGES = ("stochgate", "torch", "numpy", "scipy", "scikit-learn")
MOST_OF_A_VALUE = 300


def changed_parameters(model: Any) -> list[dict[str, str]]:
    """Return the parameters that differ from their defaults: name, value and default as text.

    Examples
    --------
    >>> from stochgate import GatedClassifier
    >>> from stochgate.report.asked import changed_parameters
    >>> changed_parameters(GatedClassifier(cv=3))
    [{'name': 'cv', 'value': '3', 'default': '5'}]
    """
    defaults = inspect.signature(type(model).__init__).parameters
    return [
        {"name": name, "value": _show(value), "default": _show_default(defaults[name])}
        for name, value in model.get_params(deep=False).items()
        if not _same(value, defaults[name].default)
    ]


def how_to_repeat(model: Any, settings: Mapping[str, Any] | None, selector: Any = None) -> dict[str, Any]:
    """Return the call, settings and versions that make the same model again.

    With a selector its call comes first, and alone where it found no column.
    """
    name = type(model).__name__
    code, changed = f"model = {_call(model)}.fit(X, y)", changed_parameters(model)
    if selector is not None:
        name = f"{name}, StabilitySelector"
        first = f"selector = {_call(selector)}.fit(X, y)"
        if model.support_.any():
            code = (
                f"{first}\nfound = X.loc[:, selector.get_support()]\n{code.replace('(X, y)', '(found, y)')}"
            )
        else:
            code, changed = first, []
        own = [{**each, "name": f"selector: {each['name']}"} for each in changed_parameters(selector)]
        changed = [*own, *changed]
    return {
        "code": f"from stochgate import {name}\n\n{code}",
        "parameters": changed,
        "settings": [
            {"name": to_text(key), "value": to_text(value, MOST_OF_A_VALUE)}
            for key, value in (settings or {}).items()
        ],
        "random_state": None if model.random_state is None else _show(model.random_state),
        "fitted": _fitted(selector if selector is not None and not model.support_.any() else model),
        "versions": [{"name": "Python", "value": platform.python_version()}, *_versions()],
    }


def _call(estimator: Any) -> str:
    """Return the code that makes an estimator."""
    call = ", ".join(f"{each['name']}={each['value']}" for each in changed_parameters(estimator))
    return f"{type(estimator).__name__}({call})"


def _fitted(model: Any) -> list[dict[str, str]]:
    """Return what the fit itself settled."""
    known = {
        "penalty (lam)": f"{float(model.lam_):.4g}",
        "network": getattr(model, "network_", None),
        "steps of the final training": getattr(model, "n_steps_", None),
        "how it was made": getattr(model, "source_", None),
    }
    return [{"name": name, "value": to_text(value)} for name, value in known.items() if value is not None]


def _versions() -> list[dict[str, str]]:
    found = []
    for package in PACKAGES:
        try:
            found.append({"name": package, "value": version(package)})
        except PackageNotFoundError:  # a source folder that is not installed
            found.append({"name": package, "value": "from source"})
    return found


def _show_default(parameter: inspect.Parameter) -> str:
    return "\N{EN DASH}" if parameter.default is inspect.Parameter.empty else _show(parameter.default)


def _show(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > 20:
        return f"<array of shape {value.shape}>"
    shown = _call(value) if isinstance(value, BaseEstimator) and hasattr(value, "lam") else repr(value)
    if len(shown) > MOST_OF_A_VALUE and hasattr(value, "__len__"):  # code that is cut does not run
        return f"<{type(value).__name__} of {len(value)}>"
    return to_text(shown, MOST_OF_A_VALUE)


def _same(value: Any, default: Any) -> bool:
    if value is default:
        return True
    return type(value) is type(default) and not isinstance(value, np.ndarray) and bool(value == default)
