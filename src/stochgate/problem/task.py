"""What is to be fitted: checked parts and checked data."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stochgate.engine import FREE, OPEN, Design, Trained, Training, execute, make_plan
from stochgate.engine.record import Callback
from stochgate.gates import Gate
from stochgate.networks import Network
from stochgate.objectives import Objective, Target
from stochgate.problem.features import GateMap
from stochgate.problem.rows import Prepared, hold_out, prepare
from stochgate.problem.validation import refuse_no_weight

LARGEST_SEED = np.iinfo(np.int32).max


@dataclass(frozen=True)
class Task:
    """A data set and the parts to fit it with, all checked.

    Attributes
    ----------
    gate, objective, training : the parts
    networks : dict of Network
        The kinds to choose from, simple ones first.
    X, target, weights : the rows, none of weight 0
    gate_map : GateMap
    device : torch.device
    random_state : RandomState
    callbacks : tuple of callables
    draw_in : bool
        Whether values that lie far out in their column are drawn in (`Inputs.reach`).
    """

    gate: Gate
    networks: dict[str, Network]
    objective: Objective
    training: Training
    X: Any
    target: Target
    weights: np.ndarray
    gate_map: GateMap
    device: torch.device
    random_state: np.random.RandomState
    callbacks: tuple[Callback, ...]
    draw_in: bool = False

    def prepare(self, network: Network) -> Prepared:
        """Return the data as a network wants it."""
        return prepare(
            self.X,
            self.target,
            self.weights,
            self.gate_map,
            network,
            self.training,
            self.device,
            self.draw_in,
        )

    def draw_seed(self) -> int:
        """Draw a seed from the random state."""
        return int(self.random_state.randint(LARGEST_SEED))

    def on_device(self, weights: np.ndarray) -> Tensor:
        """Return weights in the dtype and on the device of the training."""
        return torch.from_numpy(weights).to(self.device, getattr(torch, self.training.dtype))

    def fixed(self) -> Tensor:
        """Return which gates stay open, shape (n_gates,)."""
        return torch.where(torch.from_numpy(self.gate_map.keep), OPEN, FREE).to(torch.int8)


@dataclass(frozen=True)
class Fitted:
    """A trained team of models, or a single one, and how it came about.

    Attributes
    ----------
    trained : Trained
    design : Design
        The columns it was trained on.
    data : Prepared
    lam : float
    found : Found, or None when lam was given
    shrink : float
        What the distance of its outputs from the base rate is multiplied by.
    """

    trained: Trained
    design: Design
    data: Prepared
    lam: float
    found: Any = None
    shrink: float = 1.0


def fit_single(task: Task, lam: float) -> Fitted:
    """Train one model with a given penalty, with rows held out when it may stop early."""
    (network,) = task.networks.values()
    data = task.prepare(network)
    seed, data_seed = task.draw_seed(), task.draw_seed()
    held_out = np.zeros(len(task.weights), dtype=bool)
    if task.training.patience is not None:
        strata = task.objective.strata(task.target.rows).numpy()
        held_out = hold_out(strata, task.training.validation_fraction, task.random_state)
    rows = task.on_device(np.stack([task.weights * ~held_out, task.weights * held_out]))
    refuse_no_weight(task.objective, data.target, rows[:1], "left to learn from")
    if held_out.any():
        refuse_no_weight(task.objective, data.target, rows[1:], "held out for early stopping")
    plan = make_plan(
        task.gate,
        network,
        task.objective,
        task.training,
        lam=lam,
        seed=seed,
        weights=rows[:1],
        test_weights=rows[1:] if held_out.any() else None,
        n_gates=task.gate_map.n_gates,
        costs=torch.from_numpy(task.gate_map.costs),
        fixed=task.fixed()[None],
        data_seed=data_seed,
    )
    trained = execute(plan, data.design, data.target, task.callbacks)
    return Fitted(trained, data.design, data, lam)
