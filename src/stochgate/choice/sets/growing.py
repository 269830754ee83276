"""A ranking by growing: a few models per fold under a penalty that grows during training."""

import numpy as np
import torch

from stochgate.choice.bank import Bank
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.gate_history import GateHistory, read_history
from stochgate.choice.rows import with_fewer_rows
from stochgate.choice.sets.promising import promising, takes_few
from stochgate.choice.sets.ranking import Ranking
from stochgate.engine import CLOSED, FREE, OPEN
from stochgate.problem.problem import Problem, to_numpy


def grow_sets(
    problem: Problem,
    bank: Bank,
    folds: np.ndarray,
    n_seeds: int = DEFAULTS.n_growing,
    pairs: bool = False,
) -> tuple[Ranking, GateHistory]:
    """Rank the gates of each fold by when they close; return too how they did on the last fold.

    The penalty grows exponentially from next to nothing, so that every gate closes at its time. When is the
    mean of a few models that differ in their initial weights and noise: of a single one the order of
    correlated columns is largely luck.

    Parameters
    ----------
    problem : Problem
    bank : Bank
    folds : ndarray, shape (n_folds, n_samples), from `make_folds`
    n_seeds : int
        Models of each fold.
    pairs : bool
        As in `promising`, for a network that takes few of the features.
    """
    closing, strength, fixed, history = _closing_times(problem, bank, folds, n_seeds, pairs)
    closing = np.where(fixed == FREE, closing, np.where(fixed == OPEN, np.inf, -np.inf))
    order = np.lexsort((-strength, -closing), axis=1)
    reached = np.take_along_axis(closing, order, axis=1).clip(0, 1).mean(axis=0)
    ranking = Ranking(
        stage="growing",
        order=order,
        lams=DEFAULTS.growing_from * problem.design.n_gates * grow(1) ** reached,
        n_kept=int((fixed[0] == OPEN).sum()),
        n_free=int((fixed == FREE).sum(axis=1).min()),
    )
    return ranking, history


def _closing_times(
    problem: Problem, bank: Bank, folds: np.ndarray, n_seeds: int, pairs: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, GateHistory]:
    """Return when each gate closes, how strong it is at the end, which gates are fixed, and a history.

    The first three have shape (n_folds, n_gates); the history is the last fold's. When is a share of the
    steps, and how far a gate is open at its last snapshot counts as part of the way to the next one. It is
    a mean over models of other seeds, and so is the strength, the gate's parameter, which tells those apart
    that are open to the end.
    """
    weights, _ = problem.fold_weights(folds, n_seeds)
    n_gates = problem.design.n_gates
    n_steps = round(DEFAULTS.growing_longer * problem.training.n_steps)
    snapshots = min(DEFAULTS.growing_snapshots, n_steps)
    longer = {"n_steps": n_steps, "n_snapshots": snapshots, "schedule": grow}
    seed, lam = problem.seed + np.arange(len(weights)), DEFAULTS.growing_from * n_gates
    fixed = problem.fixed[None]
    if takes_few(problem):
        offered = (
            torch.from_numpy(promising(problem, bank, folds, pairs=pairs))
            .to(fixed.device)
            .repeat(n_seeds, 1)
        )
        fixed = torch.where(offered | (fixed == OPEN), fixed, CLOSED).to(torch.int8)
    plan = problem.plan(lam, seed, weights, fixed, training=longer, stage="growing penalty")
    trained, _ = problem.execute(with_fewer_rows(plan))
    path = trained.gate_path  # (n_snapshots, n_models, n_gates)
    reached = torch.zeros_like(path[0])
    for i, parameter in enumerate(path):
        value = problem.gate.value(parameter)
        reached = torch.where(value > 0, i + 1 + value, reached)  # a model that diverged stays where it was
    closing = to_numpy(reached.clamp(max=len(path)) / len(path))
    strength = to_numpy(torch.nan_to_num(path[-1], nan=-1e6).clamp(-1e6, 1e6))
    closing, strength = (v.reshape(n_seeds, len(folds), n_gates).mean(axis=0) for v in (closing, strength))
    history = read_history(trained, slice(len(folds) - 1, None, len(folds)))
    return closing, strength, trained.models.fixed[: len(folds)].cpu().numpy(), history


def grow(progress: float) -> float:
    """Return what the smallest penalty is multiplied by when a share of the steps is done."""
    return float((DEFAULTS.growing_to / DEFAULTS.growing_from) ** progress)
