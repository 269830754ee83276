"""A small writer of ONNX graphs: one call per operation."""

from typing import Any

import numpy as np

from stochgate.optional import require

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8  # what runtimes from 2022 on read


class Graph:
    """An ONNX graph in the making; operations return the name of their result.

    Parameters
    ----------
    taken : set of str
        Names that results must not have: those of the inputs and outputs.
    """

    def __init__(self, taken: set[str]):
        self.onnx = require("onnx", package="onnx", needed_by="Writing ONNX", extra="onnx")
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.prefix = "/"
        while any(name.startswith(self.prefix) for name in taken):
            self.prefix += "/"

    def constant(self, value: Any) -> str:
        """Add numbers or texts, and return their name."""
        name = f"{self.prefix}constant_{len(self.constants)}"
        array = np.asarray(value)
        array = array.astype(object) if array.dtype.kind == "U" else array
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def add(self, operation: str, *inputs: str, result: str | None = None, **attributes: Any) -> str:
        """Add an operation, and return the name of its result.

        Parameters
        ----------
        operation : str
            Of the ONNX standard, such as "MatMul".
        inputs : str
            Names of what it is given.
        result : str, optional
            The name of the result, if it is one of the graph's outputs.
        attributes : the operation's
        """
        result = result or f"{self.prefix}{operation}_{len(self.nodes)}"
        domain = "ai.onnx.ml" if operation == "LabelEncoder" else ""
        node = self.onnx.helper.make_node(
            operation, list(inputs), [result], result, domain=domain, **attributes
        )
        self.nodes.append(node)
        return result

    def cast(self, name: str, dtype: Any, result: str | None = None) -> str:
        """Add a cast to a numpy dtype."""
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.add("Cast", name, result=result, to=kind)

    def model(self, inputs: list[Any], outputs: list[Any], name: str, facts: dict[str, str]) -> Any:
        """Return the finished model, checked."""
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        made = helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="stochgate"
        )
        helper.set_model_props(made, facts)
        self.onnx.checker.check_model(made)
        return made
