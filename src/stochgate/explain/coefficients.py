"""What a linear model multiplies its columns with, on the scale of the user's table."""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from stochgate.engine import Predictor


def why_not_linear(predictor: Predictor) -> str | None:
    """Return in words why a model has no coefficients; None where it has."""
    if not predictor.network.is_linear:
        return "the model has hidden layers"
    reach = predictor.inputs.reach
    if predictor.inputs.encoding is not None or (reach is not None and np.isfinite(reach).any()):
        return "values far out are drawn in, which no coefficient tells"
    return None


def read_coefficients(predictor: Predictor) -> tuple[np.ndarray, np.ndarray]:
    """Return what each output of a linear model adds up, of every member of its team.

    A linear model is known from what it says of the columns' middle and of one step along each column; that
    is computed in double precision.

    Returns
    -------
    coefficients : ndarray, shape (n_members, n_outputs, n_columns), of the columns it reads
    intercepts : ndarray, shape (n_members, n_outputs)
        Both on the scale of y.
    """
    center, step = predictor.inputs.center, predictor.inputs.scale
    points = np.vstack([center, center + np.diag(step)])  # (1 + n_columns, n_columns)
    double = _in_double(predictor)
    columns = double.inputs.apply(points, torch.float64, double.scale.device)
    outputs = double.network.forward(double.parameters, columns, double.scale, double.shift)
    base = double.base.unsqueeze(1)
    outputs = torch.lerp(base.expand_as(outputs), outputs, predictor.shrink)
    values = predictor.objective.linear_scale(outputs, double.learned).numpy()
    coefficients = ((values[:, 1:] - values[:, :1]) / step[:, None]).transpose(0, 2, 1)
    return coefficients, values[:, 0] - coefficients @ center


def _in_double(predictor: Predictor) -> Predictor:
    def double(values: dict[str, Tensor]) -> dict[str, Tensor]:
        return {name: value.double() for name, value in values.items()}

    return replace(
        predictor,
        parameters=double(predictor.parameters),
        scale=predictor.scale.double(),
        shift=None if predictor.shift is None else predictor.shift.double(),
        base=predictor.base.double(),
        learned=double(predictor.learned),
    )
