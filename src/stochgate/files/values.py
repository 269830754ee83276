"""Python values as JSON and back, with their types."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from stochgate.files.errors import Fault

_PLAIN = (str, int, bool, type(None))
_ODD_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_DEEPEST = 20


class NotPlain(TypeError):
    """A value is none that JSON can hold."""


def to_json(value: Any) -> Any:
    """Return a value as JSON can hold it; tuples, mappings and numbers that are not finite are tagged.

    Raises `NotPlain` for anything but numbers, texts, truth values, None, and lists, tuples and mappings of
    them.

    Examples
    --------
    >>> from stochgate.files.values import from_json, to_json
    >>> to_json((1, float("inf")))
    {'tuple': [1, {'float': 'inf'}]}
    >>> from_json(to_json({0: "a", True: (None,)}))
    {0: 'a', True: (None,)}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) in _PLAIN:
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": str(value)}
    if type(value) is list:
        return [to_json(item) for item in value]
    if type(value) is tuple:
        return {"tuple": [to_json(item) for item in value]}
    if isinstance(value, Mapping):
        return {"dict": [[to_json(key), to_json(item)] for key, item in value.items()]}
    raise NotPlain(f"{type(value).__name__} cannot be written as JSON")


def from_json(value: Any, depth: int = 0) -> Any:
    """Return the value that `to_json` was given."""
    if depth > _DEEPEST:
        raise Fault("it holds values nested too deep")
    if isinstance(value, list):
        return [from_json(item, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    [(tag, inner)] = value.items() if len(value) == 1 else [(None, None)]
    if tag == "float" and isinstance(inner, str) and inner in _ODD_FLOATS:
        return _ODD_FLOATS[inner]
    if tag == "tuple" and isinstance(inner, list):
        return tuple(from_json(item, depth + 1) for item in inner)
    if tag == "dict" and isinstance(inner, list):
        return dict(_read_pair(pair, depth + 1) for pair in inner)
    raise Fault(f"it holds the value {str(value)[:60]!r}, which has no meaning")


def _read_pair(pair: Any, depth: int) -> tuple[Any, Any]:
    if not isinstance(pair, list) or len(pair) != 2:
        raise Fault("it holds a mapping whose entries are no pairs")
    key = from_json(pair[0], depth)
    if type(key) not in (*_PLAIN, float):
        raise Fault("it holds a mapping whose keys are no numbers or texts")
    return key, from_json(pair[1], depth)
