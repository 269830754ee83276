"""A fitted model for other programs."""

import os
from typing import Any

from torch import nn


class ExportMixin:
    """Hands a model on as a torch module or as an ONNX file."""

    def to_module(self: Any) -> nn.Module:
        """Return the model of the selected columns as a plain torch module; see `stochgate.export`.

        Returns
        -------
        nn.Module
            In eval mode: (n_samples, n_columns) -> (n_samples, n_outputs), of log-odds, values or log
            hazards.

        Examples
        --------
        >>> import numpy as np
        >>> import torch
        >>> from stochgate import GatedRegressor
        >>> X = np.random.default_rng(0).normal(size=(200, 5))
        >>> model = GatedRegressor(lam=1.0, random_state=0).fit(X, 2 * X[:, 3] + X[:, 1] ** 2)
        >>> model.to_module()(torch.from_numpy(X[:, model.support_])).shape
        torch.Size([200, 1])
        """
        from stochgate.export import to_module

        return to_module(self)

    def to_onnx(self: Any, path: str | os.PathLike[str], *, dtype: str = "float32") -> None:
        """Write the model of the selected columns as an ONNX file; see `stochgate.export.to_onnx`.

        Parameters
        ----------
        path : str or path
        dtype : {"float32", "float64"}, default="float32"
            Of inputs and outputs.

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> from stochgate import GatedRegressor
        >>> X = np.random.default_rng(0).normal(size=(200, 5))
        >>> model = GatedRegressor(lam=1.0, random_state=0).fit(X, 2 * X[:, 3] + X[:, 1] ** 2)
        >>> model.to_onnx(tempfile.mkdtemp() + "/model.onnx")
        """
        from stochgate.export import to_onnx

        to_onnx(self, path, dtype=dtype)
