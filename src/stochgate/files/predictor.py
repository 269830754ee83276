"""The trained team of models as part of a file."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from stochgate.engine import Predictor
from stochgate.engine.inputs import Inputs
from stochgate.files.errors import Fault, ModelFileError
from stochgate.files.module import describe_module, read_module
from stochgate.files.parts import NETWORKS, Factory, describe_parameters, read_part
from stochgate.files.reading import FLOATS, Reading, expect
from stochgate.files.targets import KnownTarget
from stochgate.networks import MLP, ModuleNetwork
from stochgate.networks.encoded import PiecewiseLinear
from stochgate.objectives import Objective

_EDGES = ("lower", "upper", "floor", "ceiling")


def describe_predictor(predictor: Predictor) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the section and the arrays of a predictor."""
    network, inputs = predictor.network, predictor.inputs
    name = type(network).__name__
    if NETWORKS.get(name) is not type(network):
        raise ModelFileError(
            f"The network is a {name}, and files hold linear, mlp and encoded networks and ModuleNetwork; "
            "make it a torch module in a ModuleNetwork, and fit again."
        )
    is_module = isinstance(network, ModuleNetwork)
    parameters = {} if is_module else describe_parameters(network)[0]
    tensors: dict[str, Any] = {"scale": predictor.scale, "base": predictor.base, "shift": predictor.shift}
    tensors |= {f"parameters.{key}": value for key, value in predictor.parameters.items()}
    tensors |= {f"learned.{key}": value for key, value in predictor.learned.items()}
    arrays = {f"inputs.{key}": getattr(inputs, key) for key in ("center", "scale", "reach")}
    if inputs.encoding is not None:
        arrays |= {f"encoding.{key}": getattr(inputs.encoding, key) for key in ("feature_of", *_EDGES)}
    arrays |= {key: value.numpy() for key, value in tensors.items() if value is not None}
    arrays["features"] = predictor.features.astype(np.int64)
    section = {"network": {"part": name, "parameters": parameters}, "shrink": float(predictor.shrink)}
    found = describe_module(predictor) if is_module else ({}, {})
    module, constants = found
    return section | {"module": module or None}, {
        k: v for k, v in arrays.items() if v is not None
    } | constants


def read_predictor(
    reading: Reading, n_columns: int, objective: Objective, target: KnownTarget, factory: Factory | None
) -> Predictor:
    """Return the predictor; shapes are checked against each other before anything is built.

    Parameters
    ----------
    reading : Reading
    n_columns : int
        How many columns of numbers the table becomes.
    objective : Objective
    target : KnownTarget
    factory : callable or None
        Makes the module of a custom network.
    """
    part, shrink, module = reading.section("predictor", ["network", "shrink", "module"])
    network = read_part(part, factory, NETWORKS)
    expect(type(shrink) is float and abs(shrink) < 1e6, "its shrink is no number")
    features = reading.index("features", (None,), n_columns)
    expect(bool((np.diff(features) > 0).all()), "the columns it reads are not in order")
    scale = reading.array("scale", FLOATS, (None, None), finite=True)
    n_members, width = scale.shape
    expect(n_members > 0, "it has no model")
    same = [scale.dtype.name]
    base = reading.array("base", same, (n_members, target.n_outputs), finite=True)
    shift = reading.optional("shift", same, scale.shape)
    inputs = _read_inputs(reading, len(features), width)
    parameters = {
        name: reading.array(
            f"parameters.{name}", same, _any(reading.arrays[f"parameters.{name}"]), finite=True
        )
        for name in reading.names("parameters.")
    }
    n_outputs = base.shape[1]
    if isinstance(network, MLP):
        _check_layers(network, parameters, (n_members, width, n_outputs), objective.intercept)
        expect(module is None, "it holds a module besides its network")
    made = Predictor(
        network=network,
        parameters=_tensors(parameters),
        features=features,
        scale=torch.from_numpy(scale),
        shift=None if shift is None else torch.from_numpy(shift),
        inputs=inputs,
        base=torch.from_numpy(base),
        objective=objective,
        learned=_tensors(_read_learned(reading, target, n_members, n_outputs)),
        shrink=shrink,
    )
    return read_module(reading, made, module) if isinstance(network, ModuleNetwork) else made


def _any(array: np.ndarray) -> tuple[None, ...]:
    return (None,) * array.ndim


def _tensors(arrays: dict[str, np.ndarray]) -> dict[str, Tensor]:
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _read_inputs(reading: Reading, n_features: int, width: int) -> Inputs:
    """Return how raw columns become those of the network."""
    center, scale = (
        reading.array(f"inputs.{name}", ["float64"], (width,), finite=True) for name in ("center", "scale")
    )
    expect(bool((scale > 0).all()), "the scale of its columns is not above 0")
    reach = reading.optional("inputs.reach", ["float64"], (width,))
    expect(reach is None or bool((reach > 0).all()), "the reach of its columns is not above 0")
    if not reading.names("encoding."):
        expect(width == n_features, "its network has other columns than it reads")
        return Inputs(None, center, scale, reach)
    feature_of = reading.index("encoding.feature_of", (width,), n_features)
    edges = [reading.array(f"encoding.{name}", ["float64"], (width,)) for name in _EDGES]
    expect(bool((edges[1] > edges[0]).all()), "the pieces of its columns have no width")
    expect(bool((edges[3] >= edges[2]).all()), "the pieces of its columns have no range")
    return Inputs(PiecewiseLinear(feature_of, *edges), center, scale, reach)


def _check_layers(
    network: MLP, parameters: dict[str, np.ndarray], sizes: tuple[int, int, int], intercept: bool
) -> None:
    """Raise unless the parameters are those of the network."""
    n_members, width, n_outputs = sizes
    widths = [width, *network.hidden, n_outputs]
    wanted: dict[str, tuple[int, ...]] = {}
    for i in range(len(widths) - 1):
        wanted[f"weight_{i}"] = (n_members, widths[i + 1], widths[i])
        wanted[f"bias_{i}"] = (n_members, widths[i + 1])
    if not intercept:
        del wanted[f"bias_{len(widths) - 2}"]
    if network.hidden and (network.skip or len(network.linear)):
        wanted["skip"] = (n_members, n_outputs, width)
    fits = all(type(column) is int and 0 <= column < width for column in network.linear)
    expect(fits, "its network lets columns pass that it does not have")
    found = {name: array.shape for name, array in parameters.items()}
    for name in sorted({*found, *wanted}):
        if found.get(name) != wanted.get(name):
            raise Fault(
                f"the tensor 'parameters.{name}' has shape {found.get(name)}, but its network needs "
                f"{wanted.get(name)}"
            )


def _read_learned(
    reading: Reading, target: KnownTarget, n_members: int, n_outputs: int
) -> dict[str, np.ndarray]:
    """Return what the objective learnt from y."""
    learned = {}
    for name, (must_be, width) in target.learned.items():
        if must_be or f"learned.{name}" in reading.arrays:
            shape = n_members, n_outputs if width is None else width
            learned[name] = reading.array(f"learned.{name}", FLOATS, shape, finite=True)
    return learned
