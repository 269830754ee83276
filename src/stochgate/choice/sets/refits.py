"""Refits: models, or teams of models, whose gates are all open or closed for good."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stochgate.choice.defaults import DEFAULTS
from stochgate.engine import Plan
from stochgate.problem.problem import Problem

_MEMBERS_SEED = 1 << 22  # from one member of a team to the next


def team_size(problem: Problem, n_members: int) -> int:
    """Return how many models a team needs: a single linear one is as good as the mean of several."""
    return 1 if problem.network.is_linear else n_members


def plan_refits(
    problem: Problem,
    seed: Any,
    weights: Tensor,
    fixed: Tensor,
    *,
    n_members: int = 1,
    test_weights: Tensor | None = None,
    last_step: int | None = None,
    **others: Any,
) -> Plan:
    """Plan refits, one team for each row of weights.

    Fewer steps suffice without the gates' noise. The members of a team have other initial weights and
    see the rows with other weights (Rubin's Bayesian bootstrap), whose mean over the team is 1.

    Parameters
    ----------
    problem : Problem
    seed, weights, fixed, test_weights, last_step, others : as in `make_plan`, for each team
    n_members : int
    """
    if n_members > 1:
        seed = np.repeat(np.broadcast_to(seed, len(weights)), n_members)
        seed = seed + _MEMBERS_SEED * np.tile(np.arange(n_members), len(weights))
        fixed = fixed.expand(len(weights), -1).repeat_interleave(n_members, 0)
        drawn = np.random.RandomState(problem.seed).exponential(size=(n_members, weights.shape[1]))
        shares = torch.from_numpy(drawn / drawn.mean(axis=0)).to(weights)
        weights = (weights.unsqueeze(1) * shares).flatten(0, 1)
        test_weights = None if test_weights is None else test_weights.repeat_interleave(n_members, 0)
    given = problem.training
    accelerated = problem.network.is_linear and given.batch_size is None and given.optimizer == "adam"
    stops = last_step is None and not accelerated and test_weights is not None
    share, whole = DEFAULTS.refit_steps
    n_steps = max(1, given.n_steps * share // whole)
    changes = {
        "n_steps": n_steps,
        "n_snapshots": min(DEFAULTS.refit_snapshots, n_steps),
        "patience": DEFAULTS.refit_patience if stops else None,
    }
    others = {"test_weights": test_weights, "last_step": last_step, "n_members": n_members, **others}
    others |= {"network": problem.network, "shrinks": DEFAULTS.shrinks}
    plan = problem.plan(0.0, seed, weights, fixed, training=changes, **others)
    return replace(plan, accelerated=accelerated)
