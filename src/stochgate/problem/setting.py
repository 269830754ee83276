"""What all models of an automatic choice share, and the plans made of it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from sklearn.base import clone
from torch import Tensor

from stochgate.engine import CLOSED, FREE, OPEN, Design, Plan, Trained, Training, execute, make_plan
from stochgate.engine.record import Callback
from stochgate.gates import Gate
from stochgate.networks import Network
from stochgate.objectives import Objective, Target
from stochgate.objectives.base import Learned
from stochgate.problem.rows import JUDGES, LEARNS

SHRINKS = (0.03, 0.1, 0.2, 0.35, 0.6, 0.8, 1.0)  # how sure of itself a refit is made: see `Plan.shrinks`
REFIT_SNAPSHOTS = 20
REFIT_PATIENCE = 6  # of them without a lower held-out loss end a refit: it goes on to memorise
DIVERGED = 1e100  # a loss from which on it counts as infinite: its square would overflow
_MEMBERS_SEED = 1 << 22  # from one member of a team to the next


@dataclass(frozen=True)
class Setting:
    """What models are trained with, whatever their penalty and fold.

    Attributes
    ----------
    gate, network, objective, training : the parts
    design, target : the data
    weights : Tensor, shape (n_samples,)
    costs : Tensor, shape (n_gates,)
    fixed : int8 Tensor, shape (n_gates,)
    blocks : ndarray of int, shape (n_samples,)
        Parts of the rows, each of which judges the models of the folds that hold it out.
    seed : int
    callbacks : tuple of callables
    """

    gate: Gate
    network: Network
    objective: Objective
    training: Training
    design: Design
    target: Target
    weights: Tensor
    costs: Tensor
    fixed: Tensor
    blocks: np.ndarray
    seed: int
    callbacks: tuple[Callback, ...] = ()

    def plan(self, lam: Any, seed: Any, weights: Tensor, fixed: Tensor, **others: Any) -> Plan:
        """Plan gated models; without early stopping, since they are judged at every snapshot."""
        return make_plan(
            self.gate,
            self.network,
            self.objective,
            clone(self.training).set_params(patience=None),
            lam=lam,
            seed=seed,
            weights=weights,
            n_gates=self.design.n_gates,
            costs=self.costs,
            fixed=fixed,
            data_seed=self.seed,
            **others,
        )

    def team_size(self, n_members: int) -> int:
        """Return how many models a team needs: of linear ones a single one is as good as their mean."""
        return 1 if self.network.is_linear else n_members

    def refit_plan(
        self, seed: Any, weights: Tensor, fixed: Tensor, *, n_members: int = 1, **others: Any
    ) -> Plan:
        """Plan models whose gates are all open or closed for good, or teams of such models.

        Fewer steps suffice without the gates' noise. The members of a team have other initial weights and
        see the rows with other weights (Rubin's Bayesian bootstrap), whose mean over the team is 1.
        """
        n_steps = max(1, self.training.n_steps * 2 // 3)
        if n_members > 1:
            seed = np.repeat(np.broadcast_to(seed, len(weights)), n_members)
            seed = seed + _MEMBERS_SEED * np.tile(np.arange(n_members), len(weights))
            fixed = fixed.expand(len(weights), -1).repeat_interleave(n_members, 0)
            drawn = np.random.RandomState(self.seed).exponential(size=(n_members, weights.shape[1]))
            shares = torch.from_numpy(drawn / drawn.mean(axis=0)).to(weights)
            weights = (weights.unsqueeze(1) * shares).flatten(0, 1)
            if others.get("test_weights") is not None:
                others["test_weights"] = others["test_weights"].repeat_interleave(n_members, 0)
        plan = self.plan(0.0, seed, weights, fixed, n_members=n_members, shrinks=SHRINKS, **others)
        whole = self.training.batch_size is None and self.training.optimizer == "adam"
        plan = replace(plan, accelerated=self.network.is_linear and whole)
        n_snapshots = min(REFIT_SNAPSHOTS, n_steps)
        plan.training.set_params(n_steps=n_steps, n_snapshots=n_snapshots)
        if (
            others.get("last_step") is None
            and not plan.accelerated
            and others.get("test_weights") is not None
        ):
            plan.training.set_params(patience=REFIT_PATIENCE)
        return plan

    def execute(self, plan: Plan) -> tuple[Trained, Design]:
        """Train a plan on the columns that some of its models may use; return these too."""
        used = (plan.fixed != CLOSED).any(0)
        narrow = bool(used.any()) and not bool(used.all())
        design = self.design.narrow(used) if narrow else self.design
        return execute(plan, design, self.target, self.callbacks), design

    def fold_weights(self, learns: np.ndarray, n_cells: int = 1) -> tuple[Tensor, Tensor]:
        """Return the weights models learn from and are judged by, shape (n_cells * n_folds, n_samples)."""
        roles = torch.from_numpy(learns).to(self.weights.device).repeat(n_cells, 1)
        return self.weights * (roles == LEARNS), self.weights * (roles == JUDGES)

    def with_linear(self, gates: np.ndarray) -> "Setting":
        """Return the setting whose network takes the columns of some gates past its hidden layers."""
        if not gates.any():
            return self
        of_column = self.design.spread(torch.from_numpy(gates).to(self.weights.device)[None])[0]
        network = self.network.with_linear(torch.nonzero(of_column)[:, 0].tolist())
        assert network is not None  # only such networks are given linear features
        return replace(self, network=network)

    def block_tensor(self) -> Tensor:
        """Return the block of every row."""
        return torch.from_numpy(self.blocks).to(self.weights.device)

    def base_output(self, weights: Tensor) -> tuple[Tensor, Learned]:
        """Return the outputs of models without features, and what is learnt from y with each one's weights.

        Parameters
        ----------
        weights : Tensor, shape (n_models, n_samples)

        Returns
        -------
        output : Tensor, shape (n_models, n_samples, n_outputs)
        learned : as returned by `Objective.learn`
        """
        learned = self.objective.learn(self.target.rows, weights)
        base = self.objective.base(self.target.rows, weights, learned)
        return base.unsqueeze(1).expand(-1, weights.shape[1], -1), learned

    def empty_losses(self, learns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the held-out loss of the model without features: (n_folds,) and (n_folds, n_blocks)."""
        weights, test = self.fold_weights(learns)
        rows, objective = self.target.rows, self.objective
        base, learned = self.base_output(weights)
        parts = [test] + [test * (self.block_tensor() == b) for b in range(self.blocks.max() + 1)]
        losses = to_numpy(
            objective.held_out_losses(base, rows, weights, torch.stack(parts, dim=1), learned)
        )
        return losses[:, 0], losses[:, 1:]


@dataclass(frozen=True)
class Recipe:
    """How a model of given features is trained.

    Attributes
    ----------
    support : ndarray of bool, shape (n_gates,)
    linear : ndarray of bool, shape (n_gates,)
        Those of the support that enter the output linearly, past the hidden layers; their gates are held
        open.
    lam : float or None
        The penalty on the other gates; None when they are held open.
    last_step : int or None for all steps
    shrink : float
        What the distance of its outputs from the base rate is multiplied by.
    """

    support: np.ndarray
    linear: np.ndarray
    lam: float | None
    last_step: int | None
    shrink: float = 1.0

    def train(
        self, setting: Setting, weights: Tensor, test: Tensor | None = None, n_members: int = 1
    ) -> tuple[Trained, Design]:
        """Train it once for every row of weights, shape (n_models, n_samples).

        Where gates are held open it may be a team of several models instead of one.
        """
        support = torch.from_numpy(self.support).to(weights.device)
        linear = torch.from_numpy(self.linear).to(weights.device)
        setting = setting.with_linear(self.linear)
        is_open = support if self.lam is None else linear | (setting.fixed.to(weights.device) == OPEN)
        fixed = torch.where(is_open, OPEN, torch.where(support, FREE, CLOSED)).to(torch.int8)[None]
        seed = setting.seed + np.arange(len(weights))
        others: dict[str, Any] = {"test_weights": test, "last_step": self.last_step}
        if self.lam is None:
            return setting.execute(setting.refit_plan(seed, weights, fixed, n_members=n_members, **others))
        return setting.execute(setting.plan(self.lam, seed, weights, fixed, **others))


def at_best(losses: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each cell's losses at its best snapshot and shrink, and which these are.

    Parameters
    ----------
    losses : ndarray, shape (n_snapshots, n_cells, n_folds, n_shrinks)

    Returns
    -------
    losses : ndarray, shape (n_cells, n_folds)
    snapshot, shrink : ndarray of int, shape (n_cells,)
        Where the mean over the folds is lowest.
    """
    means = losses.mean(axis=2).transpose(1, 0, 2)  # (n_cells, n_snapshots, n_shrinks)
    flat = means.reshape(len(means), -1).argmin(axis=1)
    snapshot, shrink = np.unravel_index(flat, means.shape[1:])
    return losses[snapshot, np.arange(len(means)), :, shrink], snapshot, shrink


def carry_on(values: np.ndarray) -> np.ndarray:
    """Return values along snapshots, axis 0, where those after a model has stopped are its last ones.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.problem.setting import carry_on
    >>> carry_on(np.array([3.0, 2.0, np.nan, np.nan]))
    array([3., 2., 2., 2.])
    """
    last = np.where(np.isnan(values), 0, np.arange(len(values)).reshape(-1, *[1] * (values.ndim - 1)))
    return np.take_along_axis(values, np.maximum.accumulate(last, axis=0), axis=0)


def to_numpy(values: Tensor) -> np.ndarray:
    """Return a tensor as an array of doubles."""
    return values.detach().double().cpu().numpy()


def or_infinity(losses: np.ndarray) -> np.ndarray:
    """Return losses; a model that diverged has lost."""
    return np.where(losses < DIVERGED, losses, np.inf)
