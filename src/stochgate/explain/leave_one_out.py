"""What a selected feature is worth: the rise of the held-out loss when it alone is left out."""

from dataclasses import replace

import numpy as np
import torch

from stochgate.choice.final import Choice
from stochgate.choice.rows import with_fewer_rows
from stochgate.choice.sets.losses import at_best, held_out_losses
from stochgate.choice.sets.refits import plan_refits
from stochgate.engine import CLOSED, FREE, OPEN
from stochgate.problem.features import GateMap
from stochgate.problem.problem import Problem

MOST_REFITS = 100  # gates that are left out in turn


def rises_without(choice: Choice, gates: np.ndarray, lam: float | None) -> np.ndarray:
    """Return by how much the held-out loss rises without each gate, shape (n_gates, n_folds).

    The network is trained on every fold with the given gates, and with all of them but one, each at its
    best step; all of that is one training run. Only the first 100 gates are left out, the others get NaN.

    Parameters
    ----------
    choice : Choice
    gates : ndarray of int
        The selected gates, the most important first.
    lam : float or None
        The penalty under which gates are trained; None when they are held open.
    """
    problem, folds, n_gates = _of_gates(choice, gates), choice.comparison.first, len(gates)
    allowed = np.vstack([np.ones((1, n_gates), dtype=bool), ~np.eye(n_gates, dtype=bool)[:MOST_REFITS]])
    held = (choice.problem.gates.keep | choice.recipe.linear)[gates] | (lam is None)
    fixed = np.where(allowed, np.where(held, OPEN, FREE), CLOSED).repeat(len(folds), axis=0)
    weights, test = problem.fold_weights(folds, len(allowed))
    seed = problem.seed + np.tile(np.arange(len(folds)), len(allowed))
    fixed_gates = torch.from_numpy(fixed.astype(np.int8)).to(weights.device)
    if lam is None:
        plan = plan_refits(problem, seed, weights, fixed_gates, test_weights=test)
    else:  # the penalty is a mean over gates, of which there are fewer now
        lam = lam * n_gates / choice.problem.design.n_gates
        plan = problem.plan(lam, seed, weights, fixed_gates, test_weights=test)
    losses = held_out_losses(problem.execute(with_fewer_rows(plan))[0])[:, :, 0]
    losses, _, _ = at_best(losses.reshape(len(losses), len(allowed), len(folds), -1))
    rises = np.full((n_gates, len(folds)), np.nan)
    with np.errstate(invalid="ignore"):  # where both diverged
        rises[:MOST_REFITS] = (losses - losses[0])[1:]
    return rises


def _of_gates(choice: Choice, gates: np.ndarray) -> Problem:
    """Return the problem as the chosen network sees it with some of the gates alone, numbered anew."""
    problem = choice.problem.with_linear(choice.recipe.linear)
    number = torch.full((problem.design.n_gates,), -1, device=problem.device)
    number[torch.from_numpy(gates).to(problem.device)] = torch.arange(len(gates), device=problem.device)
    design = problem.design.narrow(number >= 0)
    assert design.gate_of is not None  # a narrowed design numbers its gates
    some = GateMap(None, len(gates), problem.gates.costs[gates], problem.gates.keep[gates])
    design = replace(design, gate_of=number[design.gate_of], n_gates=len(gates))
    return replace(problem, design=design, gates=some, callbacks=())
