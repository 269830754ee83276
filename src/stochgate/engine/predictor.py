"""A trained model, or the mean of a team, cut down to the columns it uses."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from stochgate.engine.data import Design
from stochgate.engine.inputs import Inputs
from stochgate.engine.trained import Models
from stochgate.networks import Network
from stochgate.objectives import Objective
from stochgate.objectives.base import Learned

_BLOCK = 8192  # rows predicted at once


@dataclass(frozen=True)
class Predictor:
    """A team of models ready to predict from raw X; columns without an open gate are never read.

    Attributes
    ----------
    network : Network
    parameters : dict of Tensor, each of shape (n_members, ...)
    features : ndarray of int, the columns of X that are read
    scale, shift : Tensor, shape (n_members, n_columns); gates and standardisation in one
    inputs : Inputs
    base : Tensor, shape (n_members, n_outputs)
        What is predicted when no gate is open.
    objective : Objective
    learned : dict of Tensor, each of shape (n_members, ...)
        What the objective averages the members with.
    shrink : float
        What the distance of the mean output from the base rate is multiplied by.
    """

    network: Network
    parameters: dict[str, Tensor]
    features: np.ndarray
    scale: Tensor
    shift: Tensor | None
    inputs: Inputs
    base: Tensor
    objective: Objective
    learned: Learned
    shrink: float

    @classmethod
    def make(
        cls, models: Models, design: Design, inputs: Inputs, gates: Tensor, shrink: float = 1.0
    ) -> "Predictor":
        """Cut one team down to the columns whose gate, shape (1, n_gates), is not 0."""
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
            models.plan.objective,
            {name: value.cpu() for name, value in models.learned.items()},
            shrink,
        )

    @torch.no_grad()
    def outputs(self, X: np.ndarray | sparse.csr_array) -> Tensor:
        """Return the network's outputs, shape (1, n_samples, n_outputs)."""
        if not self.scale.any():
            return self._mean(self.base.unsqueeze(1).expand(-1, X.shape[0], -1))
        blocks = []
        for start in range(0, X.shape[0], _BLOCK):
            block: Any = X[start : start + _BLOCK][:, self.features]
            if sparse.issparse(block) and self.inputs.is_of_dense:
                block = block.toarray()
            columns = self.inputs.apply(block, self.scale.dtype, self.scale.device)
            members = self.network.forward(self.parameters, columns, self.scale, self.shift)
            blocks.append(self._mean(members))
        return torch.cat(blocks, dim=1)

    def common(self) -> Learned:
        """Return what the objective reads the outputs with, each of shape (1, ...)."""
        if len(self.base) == 1:
            return self.learned
        return self.objective.average(self.base.unsqueeze(1), self.learned, len(self.base))[1]

    def _mean(self, members: Tensor) -> Tensor:
        """Return the mean output of the members, (n_members, ...) -> (1, ...)."""
        if len(members) > 1:
            members, _ = self.objective.average(members, self.learned, len(members))
        if self.shrink == 1:
            return members
        base, _ = self.objective.average(self.base.unsqueeze(1), self.learned, len(self.base))
        return torch.lerp(base, members, self.shrink)
