"""One trained model, cut down to the columns it uses."""

from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from stochgate.engine.data import Design
from stochgate.engine.inputs import Inputs
from stochgate.engine.trained import Models
from stochgate.networks import Network

_BLOCK = 8192  # rows predicted at once


@dataclass(frozen=True)
class Predictor:
    """A single model ready to predict from raw X; columns without an open gate are never read.

    Attributes
    ----------
    network : Network
    parameters : dict of Tensor, each of shape (1, ...)
    features : ndarray of int, the columns of X that are read
    scale, shift : Tensor, shape (1, n_columns); gates and standardisation in one
    inputs : Inputs
    base : Tensor, shape (1, n_outputs)
        What is predicted when no gate is open.
    """

    network: Network
    parameters: dict[str, Tensor]
    features: np.ndarray
    scale: Tensor
    shift: Tensor | None
    inputs: Inputs
    base: Tensor

    @classmethod
    def make(cls, models: Models, design: Design, inputs: Inputs, gates: Tensor) -> "Predictor":
        """Cut a stack of one model down to the columns whose gate, shape (1, n_gates), is not 0."""
        scale = design.spread(gates) * models.scaling.scale
        columns = torch.nonzero(design.spread(gates)[0])[:, 0]
        network, parameters = models.plan.network.narrow(models.parameters, columns)
        of_all = columns if design.kept is None else design.kept[columns]
        features, narrowed = inputs.take(of_all.cpu().numpy())
        shift = models.scaling.shift
        return cls(
            network,
            {name: p.detach().cpu() for name, p in parameters.items()},
            features,
            scale[:, columns].cpu(),
            None if shift is None else shift[:, columns].cpu(),
            narrowed,
            models.base.cpu(),
        )

    @torch.no_grad()
    def outputs(self, X: np.ndarray | sparse.csr_array) -> Tensor:
        """Return the network's outputs, shape (1, n_samples, n_outputs)."""
        if not self.scale.any():
            return self.base.unsqueeze(1).expand(1, X.shape[0], -1)
        blocks = []
        for start in range(0, X.shape[0], _BLOCK):
            block = X[start : start + _BLOCK][:, self.features]
            columns = self.inputs.apply(block, self.scale.dtype, self.scale.device)
            blocks.append(self.network.forward(self.parameters, columns, self.scale, self.shift))
        return torch.cat(blocks, dim=1)
