"""A fitted model as an ONNX file."""

import os
from typing import Any

import numpy as np

from stochgate.atomic import write_atomically
from stochgate.export.formula import Formula
from stochgate.export.onnx_graph import Graph
from stochgate.export.onnx_steps import add_columns, add_network, add_readings, is_utf8, read_labels
from stochgate.networks import MLP
from stochgate.objectives import Cox

DTYPES = ("float32", "float64")


def to_onnx(model: Any, path: str | os.PathLike[str], *, dtype: str = "float32") -> None:
    """Write the model of the selected columns as an ONNX file, with the columns as named inputs.

    Every selected column is an input of shape (n_samples, 1) under its own name ("column_0", "column_1",
    ... where it has none): numbers, NaN where one is missing, or strings, empty where one is missing.
    A classifier has the outputs "label", shape (n_samples,), and "probabilities", shape (n_samples,
    n_classes); a regressor has "value" and a Cox model "log_hazard", shape (n_samples, n_outputs). Where a
    column has the name of an output, an underscore is added to the output's. Survival curves are left out.
    Custom modules are refused: `torch.onnx` exports them from `model.to_module()`. So are models whose
    objective reads the network's outputs in a way of its own.

    Parameters
    ----------
    model : fitted GatedClassifier, GatedRegressor or GatedCox
    path : str or path
    dtype : {"float32", "float64"}, default="float32"
        Of inputs and outputs. Columns are brought to a common scale in double precision either way; single
        precision keeps seven digits of a column as it is.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import onnxruntime
    >>> from stochgate import GatedRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 20))
    >>> model = GatedRegressor(lam=1.0, random_state=0).fit(X, X[:, 4] ** 2 + X[:, 9])
    >>> path = tempfile.mkdtemp() + "/model.onnx"
    >>> model.to_onnx(path)
    >>> session = onnxruntime.InferenceSession(path)
    >>> [given.name for given in session.get_inputs()]
    ['column_0', 'column_1']
    >>> columns = X[:, model.support_].astype(np.float32)
    >>> [found] = session.run(None, {"column_0": columns[:, :1], "column_1": columns[:, 1:]})
    >>> bool(np.allclose(found[:, 0], model.predict(X), rtol=1e-4, atol=1e-4))
    True
    """
    if dtype not in DTYPES:
        raise ValueError(f"dtype is {dtype!r}; give one of {', '.join(map(repr, DTYPES))}.")
    formula = Formula.of(model)
    network = formula.predictor.network
    if not isinstance(network, MLP):
        raise ValueError(
            f"The network is a {type(network).__name__}, and ONNX files are written of linear, mlp and "
            "encoded networks; export model.to_module() with torch.onnx instead."
        )
    if not formula.features:
        raise ValueError("No feature is selected, so an ONNX model would have no input.")
    write_atomically(path, make_onnx(formula, np.dtype(dtype)).SerializeToString())


def make_onnx(formula: Formula, dtype: np.dtype) -> Any:
    """Return the ONNX model of a formula."""
    names = name_inputs(formula.features)
    outputs = {name: _free(name, set(names)) for name in _output_names(formula)}
    graph = Graph({*names, *outputs.values()})
    if formula.is_constant:
        n_rows = graph.add("Shape", names[0], end=1)
        shape = graph.add("Concat", n_rows, graph.constant(np.array([len(formula.base)])), axis=0)
        value = graph.add("Expand", graph.constant(formula.base[None]), shape)
    else:
        value = add_network(graph, formula, add_columns(graph, formula, names))
    add_readings(graph, formula, value, outputs, dtype)
    return graph.model(
        [_declare_input(graph, formula, j, name, dtype) for j, name in enumerate(names)],
        [_declare_output(graph, formula, *pair, dtype) for pair in outputs.items()],
        formula.estimator,
        {"estimator": formula.estimator, "columns": "\n".join(names)},
    )


def name_inputs(features: list[Any]) -> list[str]:
    """Return a distinct name for each feature, which ONNX can hold.

    Examples
    --------
    >>> from stochgate.export.onnx_model import name_inputs
    >>> name_inputs(["age", ""]), name_inputs([0, 1])
    (['age', 'column_1'], ['column_0', 'column_1'])
    """
    kept = {feature for feature in features if isinstance(feature, str) and feature and is_utf8(feature)}
    taken, names = set(kept), []
    for j, feature in enumerate(features):
        name = feature if feature in kept else _free(f"column_{j}", taken)
        taken.add(name)
        names.append(name)
    return names


def _free(name: str, taken: set[str]) -> str:
    """Return a name that is not taken, with underscores at its end if need be."""
    while name in taken:
        name += "_"
    return name


def _output_names(formula: Formula) -> list[str]:
    if formula.classes is not None:
        return ["label", "probabilities"]
    return ["log_hazard" if isinstance(formula.predictor.objective, Cox) else "value"]


def _declare_input(graph: Graph, formula: Formula, j: int, name: str, dtype: np.dtype) -> Any:
    is_text = j in formula.table.levels
    kind = "text, empty where missing" if is_text else "number, NaN where missing"
    type_of = graph.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(object) if is_text else dtype)
    return graph.onnx.helper.make_tensor_value_info(name, type_of, ["n_samples", 1], kind)


def _declare_output(graph: Graph, formula: Formula, role: str, name: str, dtype: np.dtype) -> Any:
    shape: list[Any] = ["n_samples"]
    made = dtype
    if role == "label":
        made = read_labels(formula).dtype
    else:
        shape += [len(formula.base) if formula.classes is None else len(formula.classes)]
    type_of = graph.onnx.helper.np_dtype_to_tensor_dtype(made)
    return graph.onnx.helper.make_tensor_value_info(name, type_of, shape)
