"""Features by name, position or mask."""

from collections.abc import Iterable
from typing import Any

import numpy as np


def refuse_not_a_list(what: str, features: Any) -> None:
    """Raise when features are not in a list, an array or the like."""
    if isinstance(features, str) or not isinstance(features, Iterable):
        raise ValueError(f"{what} is {features!r}; give a list of features.")


def named_values(values: Any) -> dict[str, Any] | None:
    """Return a pandas Series whose index holds names as a dict; None for anything else."""
    index = getattr(values, "index", None)
    if index is None or callable(index) or not all(isinstance(name, str) for name in index):
        return None
    return dict(zip(index, values, strict=True))


class FeatureIndex:
    """Finds features by name, position or mask."""

    def __init__(self, n_features: int, names: np.ndarray | None):
        self.n_features = n_features
        self.position = {} if names is None else {str(n): i for i, n in enumerate(names)}

    def find(self, what: str, feature: Any) -> int:
        """Return the position of one feature given by name or position."""
        if isinstance(feature, str):
            if feature not in self.position:
                known = list(self.position)[:5]
                hint = f"the columns are {known}..." if known else "X had no column names"
                raise ValueError(f"{what} names the feature {feature!r}, which X does not have; {hint}")
            return self.position[feature]
        if isinstance(feature, (int, np.integer)) and 0 <= feature < self.n_features:
            return int(feature)
        raise ValueError(
            f"{what} has the entry {feature!r}; expected a column name or a position from 0 to "
            f"{self.n_features - 1}."
        )

    def mask(self, what: str, features: Iterable[Any] | None) -> np.ndarray:
        """Return a boolean mask of features given as a mask, or as names or positions."""
        mask = np.zeros(self.n_features, dtype=bool)
        if features is None:
            return mask
        refuse_not_a_list(what, features)
        named = named_values(features)
        if named is not None and all(isinstance(value, (bool, np.bool_)) for value in named.values()):
            features = [name for name, value in named.items() if value]
        given = np.asarray(features)
        if given.dtype == bool:
            self.refuse_wrong_length(what, given)
            return given.copy()
        mask[[self.find(what, f) for f in features]] = True
        return mask

    def refuse_wrong_length(self, what: str, values: np.ndarray) -> None:
        """Raise unless there is one value per feature."""
        if values.shape != (self.n_features,):
            raise ValueError(
                f"{what} has shape {values.shape}, but X has {self.n_features} features; give one entry "
                "per feature."
            )
