"""Texts and digests by which two fits, or two plans, are told apart."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from torch import Tensor

from stochgate.engine.data import Design
from stochgate.engine.plan import Plan

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def digest(parts: Iterable[Any]) -> str:
    """Return the SHA-256 of texts, arrays, tensors and sparse matrices, in hexadecimal.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.engine.checkpoint.digest import digest
    >>> digest([np.zeros(3)]) == digest([np.zeros((3, 1))])
    False
    """
    found = hashlib.sha256()
    for part in parts:
        if sparse.issparse(part):
            part = digest([str(part.shape), part.data, part.indices, part.indptr])
        if isinstance(part, Tensor):
            part = part.detach().cpu().numpy()
        if isinstance(part, np.ndarray) and part.dtype != object:
            found.update(f"{part.dtype.str} {part.shape}\n".encode())
            found.update(np.ascontiguousarray(part).data)
        else:
            found.update(f"{as_text(part)}\n".encode())
    return found.hexdigest()


def digest_plan(plan: Plan, design: Design) -> str:
    """Return the digest of a plan and of the shape of its columns, whose numbers the data tell."""
    values = [getattr(plan, field.name) for field in fields(plan) if field.name != "turns"]
    columns = design.columns
    shape = f"{type(columns).__name__} {columns.n_samples} {columns.n_columns} {design.n_gates}"
    return digest([*values, *plan.turns, shape, design.gate_of, design.kept])


def as_text(value: Any) -> str:
    """Return a text that two values share if they are the same, in this process or in another.

    Functions are known by their names, and objects that say nothing about themselves by their class.

    Examples
    --------
    >>> from stochgate import Training
    >>> from stochgate.engine.checkpoint.digest import as_text
    >>> as_text({"b": [1, 2.5], "a": max})
    "{'a': builtins.max, 'b': [1, 2.5]}"
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, BaseEstimator):
        return f"{_name(type(value))}({as_text(value.get_params(deep=False))})"
    if isinstance(value, dict):
        items = sorted((as_text(key), as_text(entry)) for key, entry in value.items())
        return "{" + ", ".join(f"{key}: {entry}" for key, entry in items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(as_text, value)) + "]"
    if isinstance(value, Tensor) or sparse.issparse(value):
        return digest([value])
    if hasattr(value, "__array__") and not isinstance(value, type):
        array = np.asarray(value)
        return as_text(array.tolist()) if array.dtype == object or array.size < 10 else digest([array])
    if isinstance(value, partial):
        return as_text(["partial", value.func, value.args, value.keywords])
    if callable(value):
        return _name(value if hasattr(value, "__qualname__") else type(value))
    return _ADDRESS.sub("", repr(value))


def _name(value: Any) -> str:
    return f"{value.__module__}.{value.__qualname__}"
