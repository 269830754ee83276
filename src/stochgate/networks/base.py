"""What every network answers, and what it is given."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from sklearn.base import BaseEstimator
from torch import Tensor

from stochgate.streams import WEIGHTS, distinct, fold, normal

Parameters = Mapping[str, Tensor]


class Columns(Protocol):
    """The input columns, shared by all models, dense or sparse."""

    n_samples: int

    def affine(self, weight: Tensor, scale: Tensor, shift: Tensor | None, bias: Tensor | None) -> Tensor:
        """Return a first layer, weight (n_models, n_units, n_columns) -> (n_models, n_units, n_rows).

        The input of model m is ``scale[m] * (X - shift[m])``. Where `scale` is 0 its gradient may be left
        out: a closed gate has none. There may be more rows than samples, whose outputs mean nothing.
        """

    def dense(self) -> Tensor:
        """Return the columns themselves, shape (n_samples, n_columns)."""


class Encoding(Protocol):
    """How raw features become the columns a network trains on."""

    @property
    def feature_of(self) -> np.ndarray:
        """The feature each column is made of, shape (n_columns,)."""

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Encode X, shape (n_samples, n_columns)."""

    def take(self, columns: np.ndarray) -> tuple[np.ndarray, "Encoding"]:
        """Return the features some columns need, and the encoding of those features into the columns."""


@dataclass(frozen=True)
class Layers:
    """A chain of layers, each a product and a bias, with the same activation between them.

    Attributes
    ----------
    weights : list of Tensor, each of shape (n_models, n_out, n_in)
    biases : list of Tensor, each of shape (n_models, n_out), or None for no bias
    activation : str
    """

    weights: list[Tensor]
    biases: list[Tensor | None]
    activation: str


class Network(BaseEstimator, ABC):
    """A network: what comes out for gated input, for all models at once.

    The input of model m is ``scale[m] * (X - shift[m])``: its gates and its own standardisation,
    folded into one factor and one offset per column, so that X is never copied per model.

    `recordable` says that a step never waits for the GPU or asks for a number's value, so that it can be
    recorded there and replayed.
    """

    recordable = True
    #: whether the automatic choice tries it where the user names no network
    races = False
    #: of more features than this the automatic choice offers it the most promising half as many;
    #: None for any number
    most_features: int | None = None
    #: whether it takes sparse X
    takes_sparse = True

    @property
    def is_linear(self) -> bool:
        """Whether the output is a weighted sum of the gated columns."""
        return False

    def encoding(self, X: Any) -> Encoding | None:
        """Learn how the features of X become columns; None when they are the columns."""
        return None

    @property
    def encodes(self) -> bool:
        """Whether features become columns by an encoding."""
        return type(self).encoding is not Network.encoding

    @abstractmethod
    def initial(self, seeds: Tensor, n_columns: int, base: Tensor, intercept: bool) -> dict[str, Tensor]:
        """Return the parameters before the first step, each of shape (n_models, ...).

        Parameters
        ----------
        seeds : int64 Tensor, shape (n_models,)
        n_columns : int
        base : Tensor, shape (n_models, n_outputs)
            Output of a model that sees no feature; it also carries dtype and device.
        intercept : bool
            Whether to train a constant in the output; without it a Cox model's would drift.
        """

    @abstractmethod
    def forward(
        self, parameters: Parameters, columns: Columns, scale: Tensor, shift: Tensor | None
    ) -> Tensor:
        """Return the outputs, shape (n_models, n_samples, n_outputs).

        Parameters
        ----------
        parameters : as made by `initial`
        columns : Columns
        scale : Tensor, shape (n_models, n_columns)
        shift : Tensor, shape (n_models, n_columns), or None for no shift
        """

    def penalty(self, parameters: Parameters) -> Tensor | None:
        """Return a penalty of the network's own, shape (n_models,), or None."""
        return None

    def for_gates(self) -> "Network":
        """Return the network that looks for features in its place where networks race; as a rule itself."""
        return self

    def layers(self, parameters: Parameters) -> "Layers | None":
        """Return the network as a chain of layers, whose step can be written out; None if it is not one."""
        return None

    def with_linear(self, columns: list[int]) -> "Network | None":
        """Return the network with some columns past its hidden layers; None when it can not do that."""
        return None

    @abstractmethod
    def floats(self, n_columns: int, n_rows: int, n_outputs: int) -> tuple[int, int]:
        """Estimate how many numbers one model's weights and its activations take."""

    @abstractmethod
    def narrow(self, parameters: Parameters, columns: Tensor) -> tuple["Network", dict[str, Tensor]]:
        """Return network and parameters that compute from some columns alone, the others being 0."""


def draw_weights(seeds: Tensor, layer: int, shape: tuple[int, ...], base: Tensor) -> Tensor:
    """Draw standard normal initial weights, shape (n_models, *shape), from each model's stream."""
    once, place = distinct(seeds)
    key = fold(fold(once, WEIGHTS), layer)
    index = torch.arange(int(torch.Size(shape).numel()), device=seeds.device)
    drawn = normal(key, index, base.dtype)
    return (drawn if len(once) == len(seeds) else drawn[place]).reshape(-1, *shape)
