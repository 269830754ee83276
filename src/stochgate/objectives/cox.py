"""The Cox partial likelihood for survival times."""

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import StrOptions
from torch import Tensor

from stochgate.objectives.base import Learned, Objective, Rows, Target
from stochgate.objectives.survival_target import read_survival_target


class Cox(Objective):
    r"""The negative log partial likelihood, divided by the weight of the events.

    .. math:: L = -\sum_{i: \delta_i = 1} w_i \Big(\eta_i -
       \log \sum_{j: t_j \ge t_i} w_j e^{\eta_j}\Big)

    for Breslow's treatment of ties. Efron's replaces the inner sum, for the r-th of d tied events, by
    :math:`S - (r / d) E` with S the sum over the risk set and E that over the tied events, and gives
    each of these d logarithms the mean weight of the d events (as R's ``survival`` does). Weights
    act inside the risk sets, and a row of weight 0 leaves them. Everything is in log space.

    Parameters
    ----------
    ties : {"breslow", "efron"}, default="breslow"

    Examples
    --------
    >>> from stochgate.objectives import Cox
    >>> Cox().encode([[1, 2.0], [0, 3.0]]).rows["event"]
    tensor([ True, False])
    """

    intercept = False  # the baseline hazard takes it up
    _parameter_constraints = {"ties": [StrOptions({"breslow", "efron"})]}

    def __init__(self, ties: str = "breslow"):
        self.ties = ties

    def encode(self, y: ArrayLike | tuple[Any, Any]) -> Target:  # noqa: D102
        event, time = read_survival_target(y)
        _, block = np.unique(-time, return_inverse=True)  # block 0 holds the latest time
        rows = {"event": torch.tensor(event), "block": torch.from_numpy(block)}
        return Target(self._sort(rows), 1, {})

    def take(self, rows: Rows, index: Tensor) -> Rows:
        """Return a mini-batch; its risk sets are those within the batch."""
        return self._sort({name: rows[name][index] for name in ("event", "block")})

    def base(self, rows: Rows, weights: Tensor, learned: Learned) -> Tensor:  # noqa: D102
        return weights.new_zeros(len(weights), 1)

    def total(self, rows: Rows, weights: Tensor, learned: Learned) -> Tensor:
        """Return the weight of the events."""
        return (weights * rows["event"]).sum(1)

    def loss(  # noqa: D102
        self, output: Tensor, rows: Rows, weights: Tensor, learned: Learned
    ) -> Tensor:
        eta = output[:, rows["order"], 0]  # (n_models, n_samples), latest time first
        weights = weights[:, rows["order"]]
        at_risk = weights.log() + eta  # -inf for a row of weight 0
        log_risk = LogCumSumExp.apply(at_risk)[:, rows["end"]]
        weighs = rows["dies"] & (weights > 0)
        losses = weights * (log_risk - eta)
        if self.ties == "efron":
            losses = losses + self._efron(weights, weighs, at_risk, log_risk, rows)
        return torch.where(weighs, losses, 0).sum(1)

    def held_out_loss(
        self, output: Tensor, rows: Rows, weights: Tensor, test_weights: Tensor, learned: Learned
    ) -> Tensor:
        """Return what the held-out rows add, l(all) - l(train) (Verweij and van Houwelingen, 1993)."""
        both = self.loss(output, rows, weights + test_weights, learned)
        added = both - self.loss(output, rows, weights, learned)
        return self._per(self.total(rows, test_weights, learned), added)

    def strata(self, rows: Rows) -> Tensor:  # noqa: D102
        return rows["event"].long()

    @staticmethod
    def _sort(rows: Rows) -> Rows:
        """Add the order of falling time and, for each position, the last one tied with it."""
        order = torch.argsort(rows["block"], stable=True)
        _, group, size = torch.unique_consecutive(
            rows["block"][order], return_inverse=True, return_counts=True
        )
        end = size.cumsum(0)[group] - 1
        return {**rows, "order": order, "group": group, "end": end, "dies": rows["event"][order]}

    @staticmethod
    def _efron(weights: Tensor, weighs: Tensor, at_risk: Tensor, log_risk: Tensor, rows: Rows) -> Tensor:
        """Return what Efron's loss adds to Breslow's; a model's own events alone count as tied."""
        group = rows["group"].expand_as(at_risk)

        def per_group(values: Tensor) -> Tensor:  # there are at most as many groups as rows
            return torch.zeros_like(values).scatter_add(1, group, values)

        counts = weighs.to(at_risk.dtype)
        tied = per_group(counts).gather(1, group).clamp_min(1)  # d
        before = torch.where(weighs, counts.cumsum(1) - counts, torch.inf)
        first = torch.full_like(tied, torch.inf)
        first = first.scatter_reduce(1, group, before, "amin").gather(1, group)
        rank = torch.where(weighs, before - first, 0)  # 0 .. d - 1
        # log E - log S from values relative to S: both are at most 0, so nothing overflows
        relative = torch.where(weighs, at_risk - torch.where(weighs, log_risk, 0), -torch.inf)
        share = per_group(relative.exp()).gather(1, group)
        mean = per_group(torch.where(weighs, weights, 0)).gather(1, group) / tied
        return mean * torch.log1p(-rank / tied * share)


class LogCumSumExp(torch.autograd.Function):
    """log(cumsum(exp(x))) along dim 1, with a gradient that neither overflows nor meets inf - inf.

    The gradient, sum over i >= j of g_i exp(x_j - L_i), is itself computed in log space, apart for the
    positive and the negative g.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:  # noqa: D102
        result = torch.logcumsumexp(x, dim=1)
        ctx.save_for_backward(x, result)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:  # noqa: D102
        x, result = ctx.saved_tensors

        def summed(size: Tensor) -> Tensor:
            terms = torch.where(size > 0, size.log() - result, -torch.inf)
            return (x + torch.logcumsumexp(terms.flip(1), dim=1).flip(1)).exp()

        return summed(grad.clamp_min(0)) - summed(grad.clamp_max(0).neg())
