"""Run a plan of any size: cut into stacks that fit a fixed budget, joined again."""

import torch
from torch import Tensor

from stochgate.engine.data import Design
from stochgate.engine.loop import train
from stochgate.engine.plan import Plan
from stochgate.engine.record import Callback
from stochgate.engine.trained import Trained, join
from stochgate.objectives.base import Target

BUDGET = 1 << 30  # bytes a stack may take in training


def execute(
    plan: Plan,
    design: Design,
    target: Target,
    callbacks: tuple[Callback, ...] = (),
    budget: int = BUDGET,
) -> Trained:
    """Train a plan, in several stacks when it is larger than the budget.

    How it is cut depends on its shape and the budget alone, never on the memory that is free.

    Parameters
    ----------
    plan, design, target, callbacks : as in `train`
    budget : int
        Bytes a stack may take.
    """
    size = max(1, budget // bytes_per_model(plan, design, target))
    if size >= plan.n_models:
        return train(plan, design, target, callbacks)
    pieces = torch.arange(plan.n_models, device=plan.lam.device).split(size)
    parts = [train(plan.take(piece), design, target, callbacks, piece) for piece in pieces]
    return join_results(plan, parts)


def bytes_per_model(plan: Plan, design: Design, target: Target) -> int:
    """Estimate the bytes one model takes while it is trained."""
    n_samples = design.columns.n_samples
    n_rows = min(plan.training.batch_size or n_samples, n_samples)
    weights, activations = plan.network.floats(design.n_total, n_rows, target.n_outputs)
    # weights, gradient, two moments and the gated copy; gates, scaling and snapshots; rows
    floats = 5 * weights + (8 + plan.training.n_snapshots) * design.n_gates
    n_entries = max(len(value) for value in target.rows.values())  # n_samples, or more of a tree of times
    floats += 3 * design.columns.n_columns + 3 * activations + 8 * n_entries
    return floats * plan.weights.element_size()


def join_results(plan: Plan, parts: list[Trained]) -> Trained:
    """Join the results of stacks that were trained one after another."""
    longest = max((part.steps for part in parts), key=len)
    recorded = ("train_loss", "held_out_loss", "block_loss", "gate_path")
    return Trained(
        join(plan, [part.models for part in parts]),
        torch.cat([part.step for part in parts]),
        longest,
        *(
            torch.cat([_lengthen(getattr(part, name), len(longest)) for part in parts], dim=1)
            for name in recorded
        ),
    )


def _lengthen(values: Tensor, n_snapshots: int) -> Tensor:
    """Fill up the snapshots a stack did not take because all its models stopped."""
    missing = values.new_full((n_snapshots - len(values), *values.shape[1:]), torch.nan)
    return torch.cat([values, missing])
