"""Multi-layer perceptrons; a linear model is one without hidden layers."""

import math
from collections.abc import Callable
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import torch
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions
from torch import Tensor
from torch.nn import functional as F

from stochgate.networks.base import Columns, Layers, Network, Parameters, draw_weights

# in place where the gradient can be read off the result: the layers are what a step moves most
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu_,
    "tanh": torch.tanh_,
    "sigmoid": torch.sigmoid_,
    "selu": F.selu,
    "silu": F.silu,
}
_HALF_LINEAR = {"relu", "silu"}  # they halve the variance, so weights start sqrt(2) larger


def _layer(weight: Tensor, bias: Tensor | None, h: Tensor) -> Tensor:
    """Return a layer of every model, h (n_models, n_in, n_rows) -> (n_models, n_out, n_rows)."""
    if bias is None:
        return weight @ h
    if h.is_cuda:  # to start a product from copies of the bias takes a GPU longer than to add it afterwards
        return (weight @ h).add_(bias.unsqueeze(2))
    return torch.baddbmm(bias.unsqueeze(2), weight, h)


class MLP(Network):
    r"""A multi-layer perceptron whose gates are folded into the first layer.

    .. math:: f(x) = W_L\, a(\dots a(W_1 (x \odot z) + b_1) \dots) + b_L,
       \quad W_1 (x \odot z) = (W_1 \text{diag}(z)) x

    Parameters
    ----------
    hidden : tuple of int, default=(64, 32)
        Widths of the hidden layers; ``()`` is a linear model.
    activation : {"relu", "tanh", "sigmoid", "selu", "silu"}, default="relu"
    skip : bool, default=False
        Add a linear map from the gated input to the output.
    init_std : float or None, default=None
        Standard deviation of the initial weights; None scales it with each layer's input (He et al.
        for relu and silu, LeCun otherwise) and lets linear maps to the output start at 0.
        The paper uses 0.1.
    linear : tuple of int, default=()
        Columns that go past the hidden layers, straight to the output.

    Examples
    --------
    >>> from stochgate.networks import MLP
    >>> MLP(hidden=(476, 490, 14), activation="tanh", init_std=0.1)
    MLP(activation='tanh', hidden=(476, 490, 14), init_std=0.1)
    """

    races = True
    _most_features = 2000  # of more those that tell nothing alone are not found anyway
    _parameter_constraints = {
        "hidden": [tuple, list],
        "activation": [StrOptions(set(ACTIVATIONS))],
        "skip": ["boolean"],
        "init_std": [Interval(Real, 0, None, closed="neither"), None],
        "linear": [tuple, list],
    }

    def __init__(
        self,
        hidden: tuple[int, ...] = (64, 32),
        activation: str = "relu",
        skip: bool = False,
        init_std: float | None = None,
        linear: tuple[int, ...] = (),
    ):
        self.hidden = hidden
        self.activation = activation
        self.skip = skip
        self.init_std = init_std
        self.linear = linear

    @property
    def most_features(self) -> int | None:  # type: ignore[override]
        """Of more features than this a network with hidden layers is offered the promising ones."""
        return self._most_features if self.hidden else None

    @property
    def is_linear(self) -> bool:
        """Whether there are no hidden layers."""
        return not self.hidden

    def _validate_params(self) -> None:
        super()._validate_params()
        wrong = [width for width in self.hidden if not isinstance(width, Integral) or width < 1]
        if wrong:
            raise ValueError(
                f"hidden={self.hidden!r} has the width {wrong[0]!r}; expected whole numbers from 1 on."
            )

    def initial(  # noqa: D102
        self, seeds: Tensor, n_columns: int, base: Tensor, intercept: bool
    ) -> dict[str, Tensor]:
        widths = [n_columns, *self.hidden, base.shape[1]]
        parameters = {}
        for layer, (n_in, n_out) in enumerate(pairwise(widths)):
            weight = draw_weights(seeds, layer, (n_out, n_in), base)
            weight *= self._std(n_in, to_output=n_columns == n_in and not self.hidden)
            parameters[f"weight_{layer}"] = weight
            parameters[f"bias_{layer}"] = base.new_zeros(len(base), n_out)
        last = f"bias_{len(self.hidden)}"
        if intercept:
            parameters[last] = base.clone()
        else:
            del parameters[last]
        if (self.skip or len(self.linear)) and self.hidden:
            skip = draw_weights(seeds, len(widths), (base.shape[1], n_columns), base)
            parameters["skip"] = skip * self._std(n_columns, to_output=True)
        return parameters

    def with_linear(self, columns: list[int]) -> "MLP | None":  # noqa: D102
        return clone(self).set_params(linear=tuple(columns)) if self.hidden else None

    def forward(  # noqa: D102
        self, parameters: Parameters, columns: Columns, scale: Tensor, shift: Tensor | None
    ) -> Tensor:
        first, bias = parameters["weight_0"], parameters.get("bias_0")  # (n_models, n_units, n_columns)
        n_units = first.shape[1]
        if "skip" in parameters:  # the skip's rows ride along in the one large product
            skip = parameters["skip"]
            if len(self.linear):
                past = self._past_hidden(first)
                first = first.masked_fill(past, 0)
                skip = skip if self.skip else skip.masked_fill(~past, 0)
            first = torch.cat([first, skip], dim=1)
            bias = F.pad(parameters["bias_0"], (0, skip.shape[1]))
        h = columns.affine(first, scale, shift, bias)  # (n_models, n_units, n_samples)
        if "skip" in parameters:
            h, skipped = h[:, :n_units].clone(), h[:, n_units:]
        for layer in range(1, len(self.hidden) + 1):
            h, weight = ACTIVATIONS[self.activation](h), parameters[f"weight_{layer}"]
            bias = parameters.get(f"bias_{layer}")
            h = _layer(weight, bias, h)
        if "skip" in parameters:
            h = h + skipped
        return h[:, :, : columns.n_samples].transpose(1, 2)

    def layers(self, parameters: Parameters) -> Layers | None:  # noqa: D102
        if "skip" in parameters or type(self).forward is not MLP.forward:
            return None
        numbers = range(len(self.hidden) + 1)
        weights = [parameters[f"weight_{i}"] for i in numbers]
        return Layers(weights, [parameters.get(f"bias_{i}") for i in numbers], self.activation)

    def floats(self, n_columns: int, n_rows: int, n_outputs: int) -> tuple[int, int]:  # noqa: D102
        widths = [n_columns, *self.hidden, n_outputs]
        weights = sum((a + 1) * b for a, b in pairwise(widths))
        skipping = self.skip or len(self.linear) > 0
        return weights + skipping * n_columns * n_outputs, n_rows * sum(widths[1:])

    def narrow(  # noqa: D102
        self, parameters: Parameters, columns: Tensor
    ) -> tuple[Network, dict[str, Tensor]]:
        narrowed = dict(parameters)
        for name in {"weight_0", "skip"} & set(parameters):
            narrowed[name] = parameters[name][:, :, columns]
        if not len(self.linear):
            return self, narrowed
        place = {column: i for i, column in enumerate(columns.tolist())}
        linear = tuple(place[column] for column in self.linear if column in place)
        if not linear and not self.skip:
            narrowed.pop("skip", None)
        return clone(self).set_params(linear=linear), narrowed

    def _past_hidden(self, like: Tensor) -> Tensor:
        """Return which columns are linear, shape (n_columns,); made once, since a GPU would wait for it."""
        asked = tuple(self.linear), like.device, like.shape[2]
        made: tuple[Any, Tensor] | None = self.__dict__.get("_past")
        if made is None or made[0] != asked:
            past = torch.zeros(like.shape[2], dtype=torch.bool)
            past[list(self.linear)] = True
            made = self._past = asked, past.to(like.device)
        return made[1]

    def _std(self, n_in: int, *, to_output: bool) -> float:
        """Standard deviation of a layer's initial weights; input-to-output maps may start at 0."""
        if self.init_std is not None:
            return self.init_std
        if to_output:
            return 0.0
        return math.sqrt((2 if self.activation in _HALF_LINEAR else 1) / n_in)
