"""What to train: one network kind, one row a model."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from stochgate.engine.training import Training
from stochgate.gates import Gate
from stochgate.networks import Network
from stochgate.objectives import Objective

FREE, CLOSED, OPEN = -1, 0, 1


@dataclass(frozen=True)
class Plan:
    """A stack of models to train together; none depends on its neighbours.

    Attributes
    ----------
    gate, network, objective, training : the same for all models
    lam : Tensor, shape (n_models,)
    seed : int64 Tensor, shape (n_models,)
    weights : Tensor, shape (n_models, n_samples)
        Of the rows each model learns from; its dtype and device are those of the training.
    test_weights : Tensor, shape (n_models, n_samples), or None
        Of the rows each model is judged on.
    blocks : int64 Tensor, shape (n_samples,), or None
        Parts of the rows on which the models are judged one by one, besides.
    judged : int64 Tensor, or None for all
        The rows on which snapshots are taken: of very many, some tell the loss as well.
    stage : str
        What the models are trained for, for who watches.
    costs : Tensor, shape (n_gates,)
    fixed : int8 Tensor, shape (n_models, n_gates)
        FREE gates are trained, CLOSED and OPEN ones are not and cost nothing.
    data_seed : int
        Orders the rows of mini-batches, for all models alike, so that X is gathered once.
    last_step : int or None
        Where to stop, when that is before the end the schedules are made for.
    turns : tuple of int64 Tensor
        Rows that the steps see in turn, instead of all or of new mini-batches; a GPU records each.
    n_members : int
        How many models in a row are judged as one team, by their mean output; each is trained alone.
    shrinks : tuple of float, the last of them 1
        Outputs are judged after their distance from the base rate was multiplied by each of these: a model
        that is too sure of itself may still tell much.
    accelerated : bool
        Whether weights follow their gradient by accelerated descent, each model at its own step size,
        whatever the optimiser of `training`: of linear networks without free gates.
    """

    gate: Gate
    network: Network
    objective: Objective
    training: Training
    lam: Tensor
    seed: Tensor
    weights: Tensor
    test_weights: Tensor | None
    blocks: Tensor | None
    costs: Tensor
    fixed: Tensor
    data_seed: int = 0
    last_step: int | None = None
    turns: tuple[Tensor, ...] = ()
    n_members: int = 1
    shrinks: tuple[float, ...] = (1.0,)
    accelerated: bool = False
    judged: Tensor | None = None
    stage: str = "training"

    @property
    def n_models(self) -> int:
        """Number of models."""
        return len(self.lam)

    def take(self, index: Tensor) -> "Plan":
        """Return the plan of some of the models."""
        test = None if self.test_weights is None else self.test_weights[index]
        return replace(
            self,
            lam=self.lam[index],
            seed=self.seed[index],
            weights=self.weights[index],
            test_weights=test,
            fixed=self.fixed[index],
        )


def make_plan(
    gate: Gate,
    network: Network,
    objective: Objective,
    training: Training,
    *,
    lam: Any,
    seed: Any,
    weights: Tensor,
    n_gates: int,
    test_weights: Tensor | None = None,
    blocks: Tensor | None = None,
    costs: Tensor | None = None,
    fixed: Tensor | None = None,
    data_seed: int = 0,
    last_step: int | None = None,
    n_members: int = 1,
    shrinks: tuple[float, ...] = (1.0,),
    stage: str = "training",
) -> Plan:
    """Make a plan, filling in what is not given: unit costs and free gates."""
    if training.patience is not None and test_weights is None:
        raise ValueError("Early stopping (patience) needs held-out rows: give test_weights.")
    like: dict[str, Any] = {"dtype": weights.dtype, "device": weights.device}
    n_models = len(weights)
    if fixed is None:
        fixed = torch.full((n_models, n_gates), FREE, dtype=torch.int8)
    return Plan(
        gate,
        network,
        objective,
        training,
        lam=torch.as_tensor(lam, **like).expand(n_models),
        seed=torch.as_tensor(seed, dtype=torch.int64, device=weights.device).expand(n_models),
        weights=weights,
        test_weights=test_weights,
        blocks=blocks,
        costs=torch.ones(n_gates, **like) if costs is None else costs.to(**like),
        fixed=fixed.to(weights.device).expand(n_models, n_gates),
        data_seed=data_seed,
        last_step=last_step,
        n_members=n_members,
        shrinks=shrinks,
        stage=stage,
    )
