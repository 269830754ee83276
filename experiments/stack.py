"""Train a stack of models at given settings: what experiments ask of the engine beyond the estimators."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from stochgate.engine import FREE, OPEN, Design, Inputs, Trained, Training, execute, make_plan
from stochgate.gates import Gate
from stochgate.networks import Network
from stochgate.objectives import Objective


@dataclass(frozen=True)
class Stack:
    """Trained models that share their data.

    Attributes
    ----------
    trained : Trained
    inputs : Inputs
    gate : Gate
    objective : Objective
    """

    trained: Trained
    inputs: Inputs
    gate: Gate
    objective: Objective

    @property
    def gates(self) -> np.ndarray:
        """The gates after training, shape (n_models, n_features)."""
        return self.trained.models.gates().cpu().numpy().astype(np.float64)

    @property
    def supports(self) -> np.ndarray:
        """Whether each gate is open (not 0), shape (n_models, n_features); not if it diverged."""
        return np.nan_to_num(self.gates) != 0

    @property
    def gate_path(self) -> np.ndarray:
        """The gates at each snapshot, without noise, shape (n_snapshots, n_models, n_features)."""
        return self.gate.value(self.trained.gate_path).cpu().numpy().astype(np.float64)

    @property
    def steps(self) -> np.ndarray:
        """The steps of the snapshots, shape (n_snapshots,)."""
        return self.trained.steps.cpu().numpy()

    def outputs(self, X: Any, index: Sequence[int] | None = None) -> np.ndarray:
        """Return predictions (probabilities of classes), shape (n_models, n_samples, n_outputs).

        Parameters
        ----------
        X : array or csr_array, shape (n_samples, n_features)
        index : sequence of int, optional
            Some of the models; all by default.
        """
        models = self.trained.models
        if index is not None:
            models = models.take(torch.as_tensor(index, device=models.base.device))
        columns = self.inputs.apply(X, models.base.dtype, models.base.device)
        found = models.predict(Design(columns, None, X.shape[1]))
        return self.objective.read(found, models.learned).cpu().numpy()


def train_stack(
    X: Any,
    y: Any,
    *,
    objective: Objective,
    gate: Gate,
    network: Network,
    training: Training,
    lam: Any,
    seed: Any = 0,
    weights: np.ndarray | None = None,
    hold_open: bool = False,
    device: str = "auto",
) -> Stack:
    """Train one model for each lam, all at once.

    Mini-batches are made once, from a shuffle of the rows, and take turns, so that a GPU can record their
    steps; they are not drawn anew in each epoch.

    Parameters
    ----------
    X : array or csr_array, shape (n_samples, n_features)
    y : what the objective encodes
    objective, gate, network, training : parts of the plan
        With `training.standardize` each model scales its columns to mean 0 and variance 1.
    lam : float or sequence, shape (n_models,)
        As in the estimators: times the mean open probability.
    seed : int or sequence, shape (n_models,)
    weights : array, shape (n_models, n_samples), optional
        Of the rows each model learns from.
    hold_open : bool
        Whether all gates are held open instead of trained.
    device : str
        "auto" takes CUDA when it is there.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.stack import train_stack
    >>> from stochgate import Training
    >>> from stochgate.gates import GaussianGate
    >>> from stochgate.networks import MLP
    >>> from stochgate.objectives import Regression
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> stack = train_stack(X, X[:, 0], objective=Regression(), gate=GaussianGate(), network=MLP(()),
    ...                     training=Training(300), lam=[0.0, 0.5], device="cpu")
    >>> stack.supports.shape, bool(stack.supports[1, 0])
    ((2, 3), True)
    """
    where = torch.device("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
    where, dtype = torch.device(where), getattr(torch, training.dtype)
    target = objective.encode(y)
    target = replace(target, rows={name: value.to(where) for name, value in target.rows.items()})
    inputs = Inputs.learn(X, network, raw=not training.standardize)
    columns = inputs.apply(X, dtype, where)
    n_samples, n_gates = X.shape
    lam = np.atleast_1d(np.asarray(lam, dtype=np.float64))
    n_models = len(lam)
    if weights is None:
        weights = np.ones((n_models, n_samples))
    plan = make_plan(
        gate,
        network,
        objective,
        training,
        lam=torch.from_numpy(lam).to(where, dtype),
        seed=torch.as_tensor(seed, dtype=torch.int64, device=where),
        weights=torch.as_tensor(np.asarray(weights), dtype=dtype, device=where),
        n_gates=n_gates,
        fixed=torch.full((n_models, n_gates), OPEN if hold_open else FREE, dtype=torch.int8),
    )
    size = training.batch_size
    if size is not None and size < n_samples:
        order = torch.randperm(n_samples, generator=torch.Generator().manual_seed(int(np.ravel(seed)[0])))
        plan = replace(plan, turns=tuple(order.split(size)))
    trained = execute(plan, Design(columns, None, n_gates), target)
    return Stack(trained, inputs, gate, objective)
