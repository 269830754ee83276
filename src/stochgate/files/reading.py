"""What a file holds, handed out piece by piece and checked on the way."""

from collections.abc import Collection
from typing import Any

import numpy as np

from stochgate.files.errors import Fault

FLOATS = ("float32", "float64")


class Reading:
    """The sections and arrays of a file; each is taken once, and nothing may be left at the end.

    Parameters
    ----------
    sections : dict
    arrays : dict of ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.files.reading import Reading
    >>> reading = Reading({"size": {"n": 2}}, {"gates": np.ones(2)})
    >>> [n] = reading.section("size", ["n"])
    >>> reading.array("gates", ["float64"], (n,))
    array([1., 1.])
    >>> reading.finish()
    """

    def __init__(self, sections: dict[str, Any], arrays: dict[str, np.ndarray]):
        self.sections, self.arrays = dict(sections), dict(arrays)

    def text(self, name: str) -> Any:
        """Take a section, whatever it holds."""
        if name not in self.sections:
            raise Fault(f"its section {name!r} is missing")
        return self.sections.pop(name)

    def section(self, name: str, keys: Collection[str]) -> list[Any]:
        """Take a section that has exactly these keys, and return their values."""
        return read_fields(self.text(name), keys, f"its section {name!r}")

    def array(
        self, name: str, dtypes: Collection[str], shape: tuple[int | None, ...], *, finite: bool = False
    ) -> np.ndarray:
        """Take an array of some dtype and shape; None stands for any length."""
        if name not in self.arrays:
            raise Fault(f"the tensor {name!r} is missing")
        found = self.arrays.pop(name)
        if found.dtype.name not in dtypes:
            raise Fault(f"the tensor {name!r} is of type {found.dtype.name}, not {' or '.join(dtypes)}")
        fits = found.ndim == len(shape) and all(
            wanted in (None, n) for wanted, n in zip(shape, found.shape, strict=True)
        )
        if not fits:
            wanted = ", ".join("any" if n is None else str(n) for n in shape)
            raise Fault(f"the tensor {name!r} has shape {found.shape}, not ({wanted})")
        if finite and not np.isfinite(found).all():
            raise Fault(f"the tensor {name!r} holds numbers that are not finite")
        return found

    def optional(self, name: str, dtypes: Collection[str], shape: tuple[int | None, ...]) -> Any:
        """Take an array if it is there, else None."""
        return self.array(name, dtypes, shape) if name in self.arrays else None

    def index(self, name: str, shape: tuple[int | None, ...], below: int) -> np.ndarray:
        """Take an array of positions from 0 on."""
        found = self.array(name, ["int64"], shape)
        if found.size and not (found.min() >= 0 and found.max() < below):
            raise Fault(f"the tensor {name!r} points outside its {below} columns")
        return found

    def names(self, prefix: str) -> list[str]:
        """Return what stands behind a prefix in the names of the arrays that are left."""
        return sorted(name[len(prefix) :] for name in self.arrays if name.startswith(prefix))

    def finish(self) -> None:
        """Raise if something was not taken."""
        for what, left in (("section", self.sections), ("tensor", self.arrays)):
            if left:
                raise Fault(f"it has an unknown {what} {min(left)!r}")


def read_fields(value: Any, keys: Collection[str], what: str) -> list[Any]:
    """Return the values of a mapping that has exactly these keys."""
    if not isinstance(value, dict) or set(value) != set(keys):
        raise Fault(f"{what} does not have exactly the keys {', '.join(keys)}")
    return [value[key] for key in keys]


def expect(condition: bool, what: str) -> None:
    """Raise a fault, in words, unless a condition holds."""
    if not condition:
        raise Fault(what)


def is_count(value: Any) -> bool:
    """Tell whether a value is a whole number from 0 on (that numpy can hold)."""
    return type(value) is int and 0 <= value < 2**62


def is_list_of(kind: type, value: Any) -> bool:
    """Tell whether a value is a list of values of exactly one type."""
    return isinstance(value, list) and all(type(item) is kind for item in value)
