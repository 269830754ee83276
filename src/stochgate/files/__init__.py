"""Model files: safetensors and JSON, nothing that can run code."""

from stochgate.files.errors import ModelFileError
from stochgate.files.model import load, save

__all__ = ["ModelFileError", "load", "save"]
