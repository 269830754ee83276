"""An MLP with gates and standardisation multiplied into its first layer."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from stochgate.engine import Predictor
from stochgate.networks import MLP


@dataclass(frozen=True)
class FoldedLayers:
    """The layers of every member, whose input are the columns themselves.

    Attributes
    ----------
    weights : list of ndarray, each of shape (n_members, n_out, n_in)
    biases : list of ndarray, each of shape (n_members, n_out, 1)
    skip : ndarray, shape (n_members, n_outputs, n_columns), or None
        A linear map past the hidden layers; its constant is part of the last bias.
    activation : str
    """

    weights: list[np.ndarray]
    biases: list[np.ndarray]
    skip: np.ndarray | None
    activation: str

    @classmethod
    def fold(cls, predictor: Predictor) -> "FoldedLayers":
        """Multiply gates and standardisation into the weights, in double precision."""
        network, parameters = predictor.network, predictor.parameters
        if not isinstance(network, MLP):
            raise TypeError(f"{type(network).__name__} is no network of layers.")
        numbers = range(len(network.hidden) + 1)
        weights = [parameters[f"weight_{i}"].double() for i in numbers]
        biases = [_bias(parameters.get(f"bias_{i}"), weight) for i, weight in enumerate(weights)]
        skip = parameters["skip"].double() if "skip" in parameters else None
        if skip is not None and len(network.linear):
            past = torch.zeros(skip.shape[2], dtype=torch.bool)
            past[list(network.linear)] = True
            weights[0] = weights[0].masked_fill(past, 0)
            skip = skip if network.skip else skip.masked_fill(~past, 0)
        weights[0], biases[0] = _fold(weights[0], biases[0], predictor)
        if skip is not None:
            skip, biases[-1] = _fold(skip, biases[-1], predictor)
        dtype = predictor.scale.dtype
        return cls(
            [weight.to(dtype).numpy() for weight in weights],
            [bias.to(dtype).numpy() for bias in biases],
            None if skip is None else skip.to(dtype).numpy(),
            network.activation,
        )


def _bias(bias: Tensor | None, weight: Tensor) -> Tensor:
    return weight.new_zeros(*weight.shape[:2], 1) if bias is None else bias.double().unsqueeze(2)


def _fold(weight: Tensor, bias: Tensor, predictor: Predictor) -> tuple[Tensor, Tensor]:
    """Return weight and bias of a layer whose input was ``scale * (x - shift)``, for x itself."""
    weight = weight * predictor.scale.double().unsqueeze(1)
    if predictor.shift is None:
        return weight, bias
    return weight, bias - weight @ predictor.shift.double().unsqueeze(2)
