"""One network's path: every penalty on every fold in one training run, then judged by refits."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.base import clone
from torch import Tensor

from stochgate.engine import CLOSED, OPEN, Design, Plan, Training, execute, make_plan
from stochgate.engine.record import Callback
from stochgate.gates import Gate
from stochgate.networks import Network
from stochgate.objectives import Objective, Target


@dataclass(frozen=True)
class Setting:
    """What a path is trained with, whatever its penalty and fold.

    Attributes
    ----------
    gate, network, objective, training : the parts
    design, target : the data
    weights : Tensor, shape (n_samples,)
    costs : Tensor, shape (n_gates,)
    fixed : int8 Tensor, shape (n_gates,)
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
    seed: int
    callbacks: tuple[Callback, ...] = ()


@dataclass(frozen=True)
class Path:
    """A trained path of n_lams penalties on n_folds folds.

    Attributes
    ----------
    lams : ndarray, shape (n_lams,)
    held_out : ndarray, shape (n_snapshots, n_lams, n_folds)
        Losses of the gated models on rows that took no part in them.
    step : ndarray of int, shape (n_lams,)
        The step at which each penalty's mean held-out loss is lowest; the next three are of that step.
    train : ndarray, shape (n_lams, n_folds)
    opened : ndarray of bool, shape (n_lams, n_folds, n_gates)
    probability : ndarray, shape (n_lams, n_gates)
        P(z > 0), mean over the folds.
    refit_steps : ndarray of int, shape (n_steps,)
    refit : ndarray, shape (n_steps, n_lams, n_folds)
        Held-out losses of models refitted on the features each fold opened itself, their gates open;
        infinite where there were too many features to refit.
    """

    lams: np.ndarray
    held_out: np.ndarray
    step: np.ndarray
    train: np.ndarray
    opened: np.ndarray
    probability: np.ndarray
    refit_steps: np.ndarray
    refit: np.ndarray

    def voted(self) -> np.ndarray:
        """Return which gates at least half of the folds open, shape (n_lams, n_gates)."""
        return self.opened.mean(axis=1) >= 0.5


def empty_losses(setting: Setting, learns: np.ndarray) -> np.ndarray:
    """Return the held-out loss of the model without features on each fold, shape (n_folds,)."""
    weights, test = fold_weights(setting, learns, 1)
    rows, objective = setting.target.rows, setting.objective
    learned = objective.learn(rows, weights)
    base = objective.base(rows, weights, learned).unsqueeze(1).expand(-1, weights.shape[1], -1)
    return objective.held_out_loss(base, rows, weights, test, learned).double().cpu().numpy()


def train_path(setting: Setting, lams: np.ndarray, learns: np.ndarray) -> Path:
    """Train all penalties on all folds as one plan, then refit what they found.

    Parameters
    ----------
    setting : Setting
    lams : ndarray, shape (n_lams,)
    learns : ndarray of bool, shape (n_folds, n_samples)
        Which rows each fold learns from; it is judged on the others.
    """
    shape = len(lams), len(learns)
    weights, test = fold_weights(setting, learns, len(lams))
    plan = make_plan(
        setting.gate,
        setting.network,
        setting.objective,
        clone(setting.training).set_params(patience=None),
        lam=np.repeat(lams, len(learns)),
        seed=setting.seed + np.tile(np.arange(len(learns)), len(lams)),
        weights=weights,
        test_weights=test,
        n_gates=setting.design.n_gates,
        costs=setting.costs,
        fixed=setting.fixed[None],
    )
    trained = execute(plan, setting.design, setting.target, setting.callbacks)
    held_out = _or_infinity(trained.held_out_loss).reshape(-1, *shape)
    step = held_out.mean(axis=2).argmin(axis=0)  # (n_lams,)
    at = step, np.arange(len(lams))
    gates = trained.gate_path.unflatten(1, shape)[at]  # (n_lams, n_folds, n_gates)
    fixed = trained.models.fixed.unflatten(0, shape)
    is_open = (fixed == OPEN) | (setting.gate.value(gates) > 0) & (fixed != CLOSED)
    opened = is_open.cpu().numpy()
    refit_steps, refit = _refit(setting, opened, learns)
    return Path(
        lams,
        held_out,
        trained.steps.numpy()[step],
        _numpy(trained.train_loss).reshape(-1, *shape)[at],
        opened,
        _numpy(setting.gate.open_probability(gates)).mean(axis=1),
        refit_steps,
        refit,
    )


def refit_plan(setting: Setting, gates: Tensor, seed: Any, weights: Tensor, **others: Any) -> Plan:
    """Plan models whose gates are open or closed for good, given which are open: (n_models, n_gates).

    Fewer steps suffice without the gates' noise, and they are judged more often.
    """
    n_steps = max(1, setting.training.n_steps * 2 // 3)
    training = clone(setting.training)
    training.set_params(patience=None, n_steps=n_steps, n_snapshots=min(40, n_steps))
    return make_plan(
        setting.gate,
        setting.network,
        setting.objective,
        training,
        lam=0.0,
        seed=seed,
        weights=weights,
        n_gates=gates.shape[1],
        fixed=torch.where(gates, OPEN, CLOSED).to(torch.int8),
        **others,
    )


def fold_weights(setting: Setting, learns: np.ndarray, n_lams: int) -> tuple[Tensor, Tensor]:
    """Return the weights each model learns from and is judged by, shape (n_lams * n_folds, n_samples)."""
    learn = torch.from_numpy(learns).to(setting.weights.device).repeat(n_lams, 1)
    return setting.weights * learn, setting.weights * ~learn


def _refit(setting: Setting, opened: np.ndarray, learns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Refit every penalty's models on the features their fold opened itself.

    The vote of the other folds must not prune them: those folds have seen the rows held out here, and on
    noise the refits would look better than the base rate.
    """
    n_lams, n_folds, n_gates = opened.shape
    feasible = opened.sum(axis=2).max(axis=1) <= max(50, learns.shape[1] // 2)  # (n_lams,)
    core = opened & feasible[:, None, None]
    if not core.any():
        return np.zeros(1, dtype=int), np.full((1, n_lams, n_folds), np.inf)
    weights, test = fold_weights(setting, learns, n_lams)
    gates = torch.from_numpy(core.reshape(-1, n_gates)).to(weights.device)
    seeds = setting.seed + np.tile(np.arange(n_folds), n_lams)
    plan = refit_plan(setting, gates, seeds, weights, test_weights=test)
    trained = execute(plan, setting.design.narrow(gates.any(0)), setting.target, setting.callbacks)
    losses = _or_infinity(trained.held_out_loss).reshape(-1, n_lams, n_folds)
    losses[:, ~feasible] = np.inf
    return trained.steps.numpy(), losses


def _or_infinity(losses: Tensor) -> np.ndarray:
    """Return losses as an array; a model that diverged has lost."""
    values = _numpy(losses)
    return np.where(np.isfinite(values), values, np.inf)


def _numpy(values: Tensor) -> np.ndarray:
    return values.detach().double().cpu().numpy()
