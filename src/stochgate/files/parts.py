"""Parameters and parts of an estimator as JSON; parts are looked up by name, never imported."""

from collections.abc import Callable
from typing import Any

from sklearn.base import BaseEstimator
from torch import nn

from stochgate.engine import Training
from stochgate.files.errors import Fault
from stochgate.files.reading import read_fields
from stochgate.files.values import NotPlain, from_json, to_json
from stochgate.gates import DeterministicGate, GaussianGate, HardConcreteGate
from stochgate.networks import MLP, EncodedMLP, ModuleNetwork

Factory = Callable[[int, int], nn.Module]

GATES: dict[str, type[BaseEstimator]] = {
    "GaussianGate": GaussianGate,
    "HardConcreteGate": HardConcreteGate,
    "DeterministicGate": DeterministicGate,
}
NETWORKS: dict[str, type[BaseEstimator]] = {
    "MLP": MLP,
    "EncodedMLP": EncodedMLP,
    "ModuleNetwork": ModuleNetwork,
}
PARTS: dict[str, type[BaseEstimator]] = {**GATES, **NETWORKS, "Training": Training}
_PART = ("part", "parameters")


def describe_parameters(thing: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the parameters of an estimator or a part as JSON, and the names of those it cannot hold.

    Examples
    --------
    >>> from stochgate import Training
    >>> from stochgate.files.parts import describe_parameters
    >>> values, left_out = describe_parameters(Training(n_steps=50, schedule=lambda progress: 1.0))
    >>> values["n_steps"], left_out
    (50, ['schedule'])
    """
    values, left_out = {}, []
    for name, value in thing.get_params(deep=False).items():
        try:
            values[name], inner = describe_value(value)
        except NotPlain:
            left_out.append(name)
        else:
            left_out += [f"{name}.{of_part}" for of_part in inner]
    return values, left_out


def describe_value(value: Any) -> tuple[Any, list[str]]:
    """Return a parameter as JSON, and the names of the parameters within it that JSON cannot hold."""
    name = type(value).__name__
    if PARTS.get(name) is not type(value):
        return to_json(value), []
    if isinstance(value, ModuleNetwork):  # its factory is given to `load`
        return {"part": name, "parameters": {}}, []
    values, left_out = describe_parameters(value)
    return {"part": name, "parameters": values}, left_out


def read_parameters(make: type[Any], values: Any, factory: Factory | None) -> Any:
    """Return what a class makes of parameters, checked; those that are not there have their defaults."""
    known = make._get_param_names()
    if not isinstance(values, dict) or not set(values) <= set(known):
        raise Fault(f"it holds parameters that {make.__name__} does not have")
    made = make(**{name: _read_value(value, factory) for name, value in values.items()})
    try:
        made._validate_params()
    except (ValueError, TypeError) as error:
        raise Fault(f"its parameters are no ones of {make.__name__} ({error})") from error
    return made


def read_part(value: Any, factory: Factory | None, allowed: dict[str, type[BaseEstimator]] = PARTS) -> Any:
    """Return a gate, a network or training settings."""
    name, parameters = read_fields(value, _PART, "a part of it")
    if not isinstance(name, str) or name not in allowed:
        raise Fault(f"it has a part named {str(name)[:40]!r}, which this stochgate does not know")
    if name != "ModuleNetwork":
        return read_parameters(allowed[name], parameters, None)
    if factory is None:
        raise Fault(
            "its network is a custom module, which files cannot hold",
            "say load(path, network=factory) with the function that makes it from (n_columns, n_outputs)",
        )
    return ModuleNetwork(factory)


def _read_value(value: Any, factory: Factory | None) -> Any:
    is_part = isinstance(value, dict) and "part" in value
    return read_part(value, factory) if is_part else from_json(value)
