"""The steps of a fitted model as ONNX operations."""

from typing import Any

import numpy as np

from stochgate.export.formula import Formula
from stochgate.export.layers import FoldedLayers
from stochgate.export.onnx_graph import Graph
from stochgate.tables.levels import MISSING, OTHER, Levels

_ACTIVATIONS = {"relu": "Relu", "tanh": "Tanh", "sigmoid": "Sigmoid"}
_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805
MISSING_TEXT = ""  # ONNX has no other way to say it


def add_columns(graph: Graph, formula: Formula, names: list[str]) -> str:
    """Add all that leads from the inputs to the columns of the network, in double precision."""
    blocks: list[str] = []
    for j, name in enumerate(names):
        blocks += _add_feature(graph, formula, j, name)
    columns = graph.add("Concat", *blocks, axis=1)
    columns = graph.add("Gather", columns, graph.constant(formula.predictor.features), axis=1)
    inputs = formula.inputs
    encoding: Any = inputs.encoding
    if encoding is not None:
        columns = graph.add("Gather", columns, graph.constant(encoding.feature_of), axis=1)
        columns = graph.add("Sub", columns, graph.constant(encoding.lower))
        columns = graph.add("Div", columns, graph.constant(encoding.upper - encoding.lower))
        columns = graph.add("Max", columns, graph.constant(encoding.floor))
        columns = graph.add("Min", columns, graph.constant(encoding.ceiling))
    columns = graph.add("Sub", columns, graph.constant(inputs.center))
    columns = graph.add("Div", columns, graph.constant(inputs.scale))
    if inputs.reach is None:
        return columns
    share = graph.add("Div", columns, graph.constant(inputs.reach))
    root = graph.add("Sqrt", graph.add("Add", graph.constant(1.0), graph.add("Mul", share, share)))
    return graph.add("Div", columns, root)


def _add_feature(graph: Graph, formula: Formula, j: int, name: str) -> list[str]:
    """Add what makes columns of a feature: its number and where it is missing, or 0 and 1 for levels."""
    table = formula.table
    if j in table.levels:
        levels = table.levels[j]
        return [] if levels is None or not levels.columns else [_add_levels(graph, levels, name)]
    number = graph.cast(name, np.float64)
    missing = graph.add("IsNaN", number)
    if formula.columns.fill is not None:
        number = graph.add("Where", missing, graph.constant(float(table.fill[j])), number)
    return [number, graph.cast(missing, np.float64)] if table.masked[j] else [number]


def _add_levels(graph: Graph, levels: Levels, name: str) -> str:
    place = {level: i for i, level in enumerate(levels.names)}
    missing, other = place.pop(MISSING, 0), place.pop(OTHER, 0)
    place = {MISSING_TEXT: missing, **{k: i for k, i in place.items() if is_utf8(k)}}
    codes = graph.add(
        "LabelEncoder",
        name,
        keys_strings=list(place),
        values_int64s=list(place.values()),
        default_int64=other,
    )
    wanted = graph.constant(np.arange(1, len(levels.names), dtype=np.int64)[None])
    return graph.cast(graph.add("Equal", codes, wanted), np.float64)


def is_utf8(text: str) -> bool:
    """Tell whether a text can be written to an ONNX file; half a surrogate pair cannot."""
    return text.encode("utf-8", "ignore").decode() == text


def add_network(graph: Graph, formula: Formula, columns: str) -> str:
    """Add the network of every member, and the mean of what they say on the scale of y."""
    layers = FoldedLayers.fold(formula.predictor)
    x = graph.cast(columns, layers.weights[0].dtype)
    h = x
    for i, (weight, bias) in enumerate(zip(layers.weights, layers.biases, strict=True)):
        h = h if i == 0 else _add_activation(graph, layers.activation, h, weight.dtype)
        h = graph.add("MatMul", h, graph.constant(weight.swapaxes(1, 2)))  # (n_members, n_samples, n_units)
        h = graph.add("Add", h, graph.constant(bias.swapaxes(1, 2)))
    if layers.skip is not None:
        h = graph.add("Add", h, graph.add("MatMul", x, graph.constant(layers.skip.swapaxes(1, 2))))
    values = graph.add("Mul", graph.cast(h, np.float64), graph.constant(formula.value_scale[:, None]))
    values = graph.add("Add", values, graph.constant(formula.value_shift[:, None]))
    mean = graph.add("ReduceMean", values, axes=[0], keepdims=0)
    base = graph.constant(formula.base)
    away = graph.add("Mul", graph.add("Sub", mean, base), graph.constant(float(formula.predictor.shrink)))
    return graph.add("Add", base, away)


def _add_activation(graph: Graph, name: str, h: str, dtype: np.dtype) -> str:
    if name in _ACTIVATIONS:
        return graph.add(_ACTIVATIONS[name], h)
    if name == "silu":
        return graph.add("Mul", h, graph.add("Sigmoid", h))
    zero, one, alpha, scale = (graph.constant(np.array(c, dtype)) for c in (0, 1, _SELU_ALPHA, _SELU_SCALE))
    below = graph.add("Sub", graph.add("Exp", graph.add("Min", h, zero)), one)
    return graph.add(
        "Mul", scale, graph.add("Add", graph.add("Max", h, zero), graph.add("Mul", alpha, below))
    )


def add_readings(
    graph: Graph, formula: Formula, value: str, outputs: dict[str, str], dtype: np.dtype
) -> None:
    """Add the graph's outputs: label and probabilities, or the value itself."""
    if formula.classes is None:
        [name] = outputs.values()
        graph.cast(value, dtype, name)
        return
    if len(formula.base) == 1:
        value = graph.add("Concat", graph.add("Sub", value, value), value, axis=1)
    graph.cast(graph.add("Softmax", value, axis=1), dtype, outputs["probabilities"])
    best = graph.add("ArgMax", value, axis=1, keepdims=0)
    graph.add("Gather", graph.constant(read_labels(formula)), best, result=outputs["label"])


def read_labels(formula: Formula) -> np.ndarray:
    """Return the classes as ONNX can hold them: texts, whole numbers, truth values, or floats."""
    labels = np.array([] if formula.classes is None else formula.classes.tolist())
    if labels.dtype.kind == "U":
        return labels.astype(object)
    return (
        labels
        if labels.dtype.kind == "b"
        else labels.astype(np.int64 if labels.dtype.kind in "iu" else np.float64)
    )
