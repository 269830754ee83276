"""Fitted models for other programs: a plain torch module, and ONNX."""

from stochgate.export.onnx_model import to_onnx
from stochgate.export.torch_module import module_input, to_module

__all__ = ["module_input", "to_module", "to_onnx"]
