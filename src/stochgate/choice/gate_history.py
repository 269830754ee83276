"""The gates over training: what a picture of a selection shows."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from stochgate.engine import FREE, OPEN, Trained


@dataclass(frozen=True, eq=False)
class GateHistory:
    """Gates at each snapshot of a training.

    Attributes
    ----------
    step : ndarray of int, shape (n_snapshots,)
    lam : ndarray, shape (n_snapshots,)
        The penalty at that step.
    gates : ndarray of float32, shape (n_snapshots, n_gates)
        Deterministic gates.
    """

    step: np.ndarray
    lam: np.ndarray
    gates: np.ndarray

    def per_feature(self, spread: Callable[[np.ndarray], np.ndarray]) -> dict[str, np.ndarray]:
        """Return the fitted attribute `gate_history_`, whose gates have shape (n_snapshots, n_features).

        Parameters
        ----------
        spread : callable
            Gives every feature its gate's value.
        """
        gates = np.stack([spread(row) for row in self.gates])
        return {"step": self.step, "lam": self.lam, "gates": gates}


@torch.no_grad()
def read_history(trained: Trained, models: slice = slice(None)) -> GateHistory:
    """Return the gates over a training, mean over the models that have not diverged.

    Parameters
    ----------
    trained : Trained
    models : slice
        Models of the same penalty; all by default.
    """
    plan, fixed = trained.models.plan, trained.models.fixed[models].cpu().numpy()
    values = plan.gate.value(trained.gate_path[:, models]).float().cpu().numpy()
    # One thread is enough for what follows, and quicker than several that wait for each other.
    gates = np.stack([_mean(np.where(fixed == FREE, value, fixed == OPEN)) for value in values])
    step = trained.steps.numpy()
    factor = [plan.training.penalty_factor((s - 1) / plan.training.n_steps) for s in step.tolist()]
    lam = float(str(plan.lam[models][0].cpu().numpy()))  # 0.1, not the nearest single-precision number
    return GateHistory(step, lam * np.array(factor), gates)


def _mean(gates: np.ndarray) -> np.ndarray:
    """Return the mean over models, (n_models, n_gates) -> (n_gates,); NaN where all have diverged."""
    usable = ~np.isnan(gates).any(axis=1)
    if usable.all():
        return gates.mean(axis=0)
    return gates[usable].mean(axis=0) if usable.any() else gates[0]
