"""The Cox partial likelihood for survival times."""

from typing import Any

import numpy as np
import torch
from sklearn.utils._param_validation import StrOptions
from torch import Tensor

from stochgate.objectives.base import Learned, Objective, Rows, Slope, Target
from stochgate.objectives.risk_sets import LogCumSumExp, LogSumOverIntervals, cut_intervals
from stochgate.survival import SurvivalTarget, is_survival_target, read_survival_target

_AT_ONCE = 256  # events compared with all rows at once
_FAR = 1e300  # below any hazard: a model without weight has none
_LEAST_RISK = 1e-200  # relative to the largest hazard, of sums that double precision holds
_GIVEN = ("event", "block", "until", "stratum")  # of each row; all else follows


class Cox(Objective):
    r"""The negative log partial likelihood, divided by the weight of the events.

    .. math:: L = -\sum_{i: \delta_i = 1} w_i \Big(\eta_i - \log \sum_{j \in R_i} w_j e^{\eta_j}\Big)

    for Breslow's treatment of ties. The risk set :math:`R_i` holds the rows of the same stratum with
    :math:`\text{entry}_j < t_i \le t_j`. Efron's replaces the inner sum, for the r-th of d tied events, by
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
    score_name, metric_name = "C", "concordance index"
    task = "survival"
    ratio_name = "hazard_ratio"
    constant_score = 0.5
    stratifies = True
    by_row = False  # an event is compared with all rows at risk
    _parameter_constraints = {"ties": [StrOptions({"breslow", "efron"})]}

    def __init__(self, ties: str = "breslow"):
        self.ties = ties

    def encode(self, y: Any) -> Target:
        """Check y and number its times: stratum after stratum, block after block, the latest time first.

        A row is at risk from its own block on up to "until", where that is not the end of all blocks.
        """
        return self._encode(read_survival_target(y).require_event())

    def encode_more(self, y: Any, facts: dict[str, Any]) -> Rows:
        """Encode rows of their own: they are compared with each other alone, and may have no event."""
        return self._encode(read_survival_target(y)).rows

    @classmethod
    def kinds_of(cls, y: Any) -> np.ndarray:
        """Return whether there was an event."""
        return read_survival_target(y).event

    def _encode(self, target: SurvivalTarget) -> Target:
        times, block = np.unique(-target.time, return_inverse=True)
        entry = np.full(len(block), -np.inf) if target.entry is None else target.entry
        until = np.searchsorted(times, -entry)  # the first block that is not after the entry
        strata, stratum = None, np.zeros(len(block), dtype=np.int64)
        if target.stratum is not None:
            strata, stratum = np.unique(target.stratum, return_inverse=True)
        offset = stratum * (len(times) + 1)
        rows = {"event": torch.tensor(target.event), "block": torch.from_numpy(block + offset)}
        if (until + offset < len(times)).any() or stratum.any():
            rows["until"], rows["stratum"] = torch.from_numpy(until + offset), torch.from_numpy(stratum)
        return Target(self._sort(rows), 1, {"times": -times, "strata": strata})

    @classmethod
    def suits(cls, estimator: Any, y: Any) -> bool:  # noqa: D102
        return is_survival_target(y)

    @classmethod
    def as_rows(cls, y: Any) -> Any:
        """Return a tuple (event, time) as a structured array, any other y as it is."""
        return read_survival_target(y).to_array() if isinstance(y, tuple) else y

    @classmethod
    def strata_of(cls, y: Any) -> np.ndarray:
        """Return whether there was an event."""
        return read_survival_target(y).event.astype(int)

    def take(self, rows: Rows, index: Tensor) -> Rows:
        """Return a mini-batch; its risk sets are those within the batch.

        The expected gradient is then not that of all rows: it is that of a partial likelihood in which
        everyone is compared with the few others of a batch.
        """
        return self._sort({name: rows[name][index] for name in _GIVEN if name in rows})

    def answers(self, rows: Rows) -> list[tuple[np.ndarray, bool]]:
        """Return whether there was an event, and when (late blocks are early times)."""
        return [(rows["event"].cpu().numpy(), True), (rows["block"].cpu().numpy(), False)]

    def base(self, rows: Rows, weights: Tensor, learned: Learned) -> Tensor:  # noqa: D102
        return weights.new_zeros(len(weights), 1)

    def total(self, rows: Rows, weights: Tensor, learned: Learned) -> Tensor:
        """Return the weight of the events."""
        return (weights * rows["event"]).sum(1)

    def loss(  # noqa: D102
        self, output: Tensor, rows: Rows, weights: Tensor, learned: Learned
    ) -> Tensor:
        eta, weights, weighs, log_risk = self._at_risk(output, rows, weights)
        losses = weights * (log_risk - eta)
        if self.ties == "efron":
            mean, less = self._efron(eta, weights, weighs, log_risk, rows)
            losses = losses + mean * less
        return torch.where(weighs, losses, 0).sum(1)

    def slope(self, rows: Rows, weights: Tensor, learned: Learned) -> Slope:
        r"""Return the gradient of the loss as a function of the outputs, written out for Breslow's ties.

        .. math:: \frac{\partial L}{\partial \eta_j} =
            w_j e^{\eta_j} \sum_{i: j \in R_i} \frac{w_i \delta_i}{S_i} - w_j \delta_j

        with :math:`S_i` the sum over the risk set, in double precision and relative to the largest hazard.
        Hazards too far apart for that are left to autograd in log space, as are Efron's ties, entry times
        and strata.
        """
        in_log_space = super().slope(rows, weights, learned)
        if self.ties == "efron" or "until" in rows:
            return in_log_space
        order, back = rows["order"], torch.argsort(rows["order"])
        sorted_weights = weights.index_select(1, order).double()
        log_weights, events = sorted_weights.log(), sorted_weights * rows["dies"]
        at_end = torch.zeros_like(events).index_add_(1, rows["end"], events)  # of all that are tied
        none = at_end == 0

        def slope(output: Tensor) -> Tensor:
            hazard = output[..., 0].index_select(1, order) + log_weights  # -inf for a row of weight 0
            hazard = (hazard - hazard.amax(1, keepdim=True).clamp_min(-_FAR)).exp_()
            risk = hazard.cumsum(1).masked_fill_(none, 1)
            if not bool((risk > _LEAST_RISK).all()):  # NaN too
                return in_log_space(output)
            later = (at_end / risk).flip(1).cumsum(1).flip(1)
            gradient = hazard.mul_(later).sub_(events)
            return gradient.index_select(1, back).to(output.dtype).unsqueeze(2)

        return slope

    def log_jumps(self, output: Tensor, rows: Rows, weights: Tensor) -> Tensor:
        """Return the log of what each event adds to the baseline's cumulative hazard; -inf for others.

        These are Breslow's estimate and, for Efron's ties, the one that goes with them.

        Parameters
        ----------
        output, rows, weights : as in `loss`

        Returns
        -------
        Tensor, shape (n_models, n_samples)
        """
        eta, weights, weighs, log_risk = self._at_risk(output, rows, weights)
        if self.ties == "efron":
            weights, less = self._efron(eta, weights, weighs, log_risk, rows)
            log_risk = log_risk + less
        jumps = torch.where(weighs, weights.log() - log_risk, -torch.inf)
        return torch.empty_like(jumps).index_copy(1, rows["order"], jumps)

    def held_out_loss(
        self, output: Tensor, rows: Rows, weights: Tensor, test_weights: Tensor, learned: Learned
    ) -> Tensor:
        """Return what the held-out rows add, l(all) - l(train) (Verweij and van Houwelingen, 1993)."""
        return self.held_out_losses(output, rows, weights, test_weights.unsqueeze(1), learned)[:, 0]

    def held_out_losses(
        self, output: Tensor, rows: Rows, weights: Tensor, parts: Tensor, learned: Learned
    ) -> Tensor:
        """Return what each part of the held-out rows adds to the rows learnt from."""
        learnt = self.loss(output, rows, weights, learned)
        added = [
            self._per(
                self.total(rows, part, learned), self.loss(output, rows, weights + part, learned) - learnt
            )
            for part in parts.unbind(1)
        ]
        return torch.stack(added, dim=1)

    def score(self, output: Tensor, rows: Rows, weights: Tensor, learned: Learned) -> Tensor:
        """Return Harrell's C of the rows at risk together, each pair by the product of its weights."""
        found = []
        for eta, weight in zip(output[..., 0], weights, strict=True):
            there = torch.nonzero(weight)[:, 0]
            known = {name: rows[name][there] for name in _GIVEN if name in rows}
            found.append(self._count_pairs(eta[there], weight[there], known))
        points, pairs = torch.stack(found).T
        return self._per(pairs, points)

    @staticmethod
    def _count_pairs(risk: Tensor, weight: Tensor, rows: Rows) -> Tensor:
        """Return the weight of the pairs in which the row that fails has the higher risk, and of all."""
        event, block, found = rows["event"], rows["block"], weight.new_zeros(2)
        for fails in torch.nonzero(event)[:, 0].split(_AT_ONCE):
            own = block[fails, None]
            pair = (block < own) | ((block == own) & ~event)  # who lives longer
            if "until" in rows:
                pair &= (rows["until"] > own) & (rows["stratum"] == rows["stratum"][fails, None])
            share = pair * weight * weight[fails, None]
            ahead = 0.5 * ((risk[fails, None] > risk).to(share) + (risk[fails, None] >= risk).to(share))
            found += torch.stack([(share * ahead).sum(), share.sum()])
        return found

    def curvature(self, n_outputs: int) -> float:
        """Return twice what risk sets as spread as all rows would have, since some are spread wider."""
        return 2.0

    def strata(self, rows: Rows) -> Tensor:  # noqa: D102
        return rows["event"].long()

    def peers(self, rows: Rows) -> Tensor:
        """Return the stratum of each row."""
        return rows["stratum"] if "stratum" in rows else super().peers(rows)

    @staticmethod
    def _sort(rows: Rows) -> Rows:
        """Add the order of the blocks, and what finds the risk set of each position.

        That is the last position tied with it where risk sets only grow, else the pieces of a tree over
        the blocks that each row's blocks were cut into.
        """
        order = torch.argsort(rows["block"], stable=True)
        blocks, group, size = torch.unique_consecutive(
            rows["block"][order], return_inverse=True, return_counts=True
        )
        found = {**rows, "order": order, "group": group, "dies": rows["event"][order]}
        if "until" not in rows:
            return {**found, "end": size.cumsum(0)[group] - 1}
        row, node = cut_intervals(group, torch.searchsorted(blocks, rows["until"][order]))
        return {**found, "row": row, "node": node}

    @staticmethod
    def _at_risk(output: Tensor, rows: Rows, weights: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return log hazards, weights, which are events, and the log risk at each one's time, in order."""
        eta = output[..., 0].index_select(1, rows["order"])  # (n_models, n_samples), as are all of these
        weights = weights.index_select(1, rows["order"])
        hazard = weights.log() + eta  # -inf for a row of weight 0
        if "until" in rows:
            sums = LogSumOverIntervals.apply(hazard, rows["row"], rows["node"])
            log_risk = sums.index_select(1, rows["group"])
        else:
            log_risk = LogCumSumExp.apply(hazard).index_select(1, rows["end"])
        return eta, weights, rows["dies"] & (weights > 0), log_risk

    @staticmethod
    def _efron(
        eta: Tensor, weights: Tensor, weighs: Tensor, log_risk: Tensor, rows: Rows
    ) -> tuple[Tensor, Tensor]:
        """Return the mean weight of tied events, and what Efron adds to the log risk of each of them.

        A model's own events alone count as tied.
        """
        group = rows["group"].expand_as(eta)

        def per_group(values: Tensor) -> Tensor:  # there are at most as many groups as rows
            return torch.zeros_like(values).scatter_add(1, group, values)

        counts = weighs.to(eta.dtype)
        tied = per_group(counts).gather(1, group).clamp_min(1)  # d
        before = torch.where(weighs, counts.cumsum(1) - counts, torch.inf)
        first = torch.full_like(tied, torch.inf)
        first = first.scatter_reduce(1, group, before, "amin").gather(1, group)
        rank = torch.where(weighs, before - first, 0)  # 0 .. d - 1
        # log E - log S from values relative to S: both are at most 0, so nothing overflows
        hazard = weights.log() + eta
        relative = torch.where(weighs, hazard - torch.where(weighs, log_risk, 0), -torch.inf)
        share = per_group(relative.exp()).gather(1, group)
        mean = per_group(torch.where(weighs, weights, 0)).gather(1, group) / tied
        return mean, torch.log1p(-rank / tied * share)
