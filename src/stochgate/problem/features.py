"""Feature groups, costs and features to keep: from the user's words to gates."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from stochgate.problem.feature_index import FeatureIndex, named_values, refuse_not_a_list
from stochgate.tables.levels import first_missing


@dataclass(frozen=True)
class GateMap:
    """Which gate serves which feature.

    Attributes
    ----------
    gate_of : ndarray of int, shape (n_features,), or None when every feature has a gate of its own
    n_gates : int
    costs : ndarray, shape (n_gates,)
    keep : ndarray of bool, shape (n_gates,)
        Gates that stay open.
    feature_of : ndarray of int, shape (n_columns,), or None when the features are the columns
        The feature of every column of numbers.
    group_names : dict of int to str
        What the gates of several features are called, where groups have names.
    """

    gate_of: np.ndarray | None
    n_gates: int
    costs: np.ndarray
    keep: np.ndarray
    feature_of: np.ndarray | None = None
    group_names: dict[int, str] = field(default_factory=dict)

    def number(self) -> np.ndarray:
        """Return the gate of every feature, shape (n_features,)."""
        return np.arange(self.n_gates) if self.gate_of is None else self.gate_of

    def of_columns(self) -> np.ndarray | None:
        """Return the gate of every column of numbers, None when every column has a gate of its own."""
        return self.gate_of if self.feature_of is None else self.number()[self.feature_of]

    def spread(self, per_gate: np.ndarray) -> np.ndarray:
        """Give every feature its gate's value."""
        return per_gate if self.gate_of is None else per_gate[self.gate_of]


def make_gate_map(
    index: FeatureIndex,
    feature_groups: Any,
    costs: Any,
    always_keep: Any,
    feature_of: np.ndarray | None = None,
) -> GateMap:
    """Read what the user said about features.

    Parameters
    ----------
    index : FeatureIndex
    feature_groups : array of labels, one per feature; or mapping of group name to features; or None
        Features outside all groups of a mapping have a gate of their own.
    costs : array, one per feature; or mapping of feature to cost (1 for the others); or None
        A group costs the mean of its features' costs.
    always_keep : list of names or positions, or mask; or None
        A group with one such feature is kept whole.
    feature_of : ndarray of int, or None
        As in `GateMap`.
    """
    groups, names = _read_groups(index, feature_groups)
    n_gates = groups.max() + 1
    size = np.bincount(groups)
    cost = np.bincount(groups, weights=_read_costs(index, costs)) / size
    keep = np.bincount(groups, weights=index.mask("always_keep", always_keep)) > 0
    names = {gate: name for gate, name in names.items() if size[gate] > 1}
    own = n_gates == index.n_features
    return GateMap(None if own else groups, n_gates, cost, keep, feature_of, names)


def _read_groups(index: FeatureIndex, feature_groups: Any) -> tuple[np.ndarray, dict[int, str]]:
    """Return the group of every feature, numbered in the order of appearance, and the groups' names."""
    labels = np.arange(index.n_features)
    if isinstance(feature_groups, Mapping):
        seen: dict[int, Any] = {}
        for number, (name, features) in enumerate(feature_groups.items()):
            refuse_not_a_list(f"feature_groups[{name!r}]", features)
            for feature in features:
                j = index.find("feature_groups", feature)
                if j in seen:
                    raise ValueError(
                        f"feature_groups lists feature {feature!r} in {seen[j]!r} and in {name!r}; a "
                        "feature belongs to one group."
                    )
                seen[j] = name
                labels[j] = index.n_features + number
    elif feature_groups is not None:
        named = named_values(feature_groups)
        if named is not None:
            places = [index.find("feature_groups", name) for name in named]
            feature_groups = np.array(list(named.values()))[np.argsort(places)]
        labels = np.asarray(feature_groups)
        index.refuse_wrong_length("feature_groups", labels)
        if first_missing(labels) is not None:
            raise ValueError(
                "feature_groups lacks the label of a feature; give one per feature, or a mapping of "
                "group names to features."
            )
    order: dict[Any, int] = {}
    numbers = np.array([order.setdefault(label, len(order)) for label in labels.tolist()])
    if feature_groups is None:
        return numbers, {}
    given = list(feature_groups) if isinstance(feature_groups, Mapping) else []
    called: dict[Any, str] = {
        label: label for label in order if isinstance(label, str)
    }  # a number is no name
    called |= {index.n_features + number: str(name) for number, name in enumerate(given)}
    return numbers, {gate: called[label] for label, gate in order.items() if label in called}


def _read_costs(index: FeatureIndex, costs: Any) -> np.ndarray:
    values = np.ones(index.n_features)
    named = named_values(costs)
    costs = costs if named is None else named
    if isinstance(costs, Mapping):
        for feature, cost in costs.items():
            values[index.find("costs", feature)] = _to_number(cost)
    elif costs is not None:
        given = np.asarray(costs, dtype=object)
        index.refuse_wrong_length("costs", given)
        values = np.array([_to_number(cost) for cost in given])
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if wrong.size:
        raise ValueError(
            f"costs holds {values[wrong[0]]} for feature {wrong[0]}; a cost is a number not below 0."
        )
    return values


def _to_number(cost: Any) -> float:
    try:
        return float(cost)
    except (TypeError, ValueError):
        raise ValueError(f"costs holds {cost!r}; a cost is a number not below 0.") from None
