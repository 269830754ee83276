"""Selection by weights that a penalty makes small but, by gradient descent, not 0."""

from dataclasses import replace

import numpy as np
import torch

from experiments.baselines.base import Selection
from experiments.baselines.gated_network import OneOf
from experiments.stack import Stack
from stochgate.engine.plan import CLOSED

SHARE = 0.01  # of the largest strength: a feature below it is not selected


def prune(stack: Stack, strengths: np.ndarray, weight_sums: np.ndarray, kind: str) -> list[Selection]:
    """Return the models of a stack with their strong features alone.

    A feature is selected if its strength is above 1 % of the largest one. The gates of the others are
    closed after training: what is selected is what is used.

    Parameters
    ----------
    stack : Stack
    strengths : ndarray, shape (n_models, n_features)
        From 0 on; the importances.
    weight_sums : ndarray, shape (n_models, n_features)
        The attribute `weight_sums_` of the fitted baseline.
    kind : str
        Of the problem.
    """
    strengths = np.nan_to_num(strengths)  # of a network that diverged
    supports = strengths > SHARE * strengths.max(axis=1, keepdims=True)
    models = stack.trained.models
    closed = torch.from_numpy(~supports).to(models.fixed.device)
    models = replace(models, fixed=models.fixed.masked_fill(closed, CLOSED))
    pruned = replace(stack, trained=replace(stack.trained, models=models))
    return [
        Selection(support, strength, OneOf(pruned, i, kind), {"weight_sums_": sums})
        for i, (support, strength, sums) in enumerate(zip(supports, strengths, weight_sums, strict=True))
    ]
