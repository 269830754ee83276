"""Log-sums of exponentials over all risk sets at once: every term is added, none is taken away again."""

from typing import Any

import torch
from torch import Tensor


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


def cut_intervals(start: Tensor, stop: Tensor) -> tuple[Tensor, Tensor]:
    """Cut each row's interval of slots into nodes of a binary tree, at most two a level.

    The tree is stored as a heap: node 1 is the root, 2 i and 2 i + 1 are below i, and slot s is the leaf
    n_leaves + s.

    Parameters
    ----------
    start, stop : int64 Tensor, shape (n_samples,)
        A row has the slots start <= s < stop, of n_samples at most.

    Returns
    -------
    row, node : int64 Tensor, shape (n_pieces,)

    Examples
    --------
    >>> import torch
    >>> from stochgate.objectives.risk_sets import cut_intervals
    >>> cut_intervals(torch.tensor([0, 1, 0, 3]), torch.tensor([4, 3, 1, 3]))
    (tensor([1, 1, 2, 0]), tensor([5, 6, 4, 1]))
    """
    n_leaves = _n_leaves(len(start))
    rows = torch.arange(len(start), device=start.device)
    first, end = start + n_leaves, stop + n_leaves
    pieces = []
    for _ in range(n_leaves.bit_length()):
        odd = (first < end) & (first % 2 == 1)  # a right child whose parent reaches too far to the left
        pieces.append((rows[odd], first[odd]))
        first = first + odd.long()
        odd = (first < end) & (end % 2 == 1)
        end = end - odd.long()
        pieces.append((rows[odd], end[odd]))
        first, end = first // 2, end // 2
    row, node = zip(*pieces, strict=True)
    return torch.cat(row), torch.cat(node)


class LogSumOverIntervals(torch.autograd.Function):
    """log of the sum of exp(x) over the rows whose interval holds a slot, shape (n_models, n_samples).

    Rows are summed into the pieces their intervals were cut into, and from the root down each node adds
    its parent's sum: a slot is in exactly those pieces that lie above it. The gradient, the sum of
    g_s exp(x_j - L_s) over the slots s of row j, runs up the tree in the same way, relative to the least
    L_s below a node, which no x_j of the node's rows exceeds: nothing overflows.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, row: Tensor, node: Tensor) -> Tensor:  # noqa: D102
        n_leaves = _n_leaves(x.shape[1])
        pieces, at = x.index_select(1, row), node.expand(len(x), -1)
        none = x.new_full((len(x), 2 * n_leaves), -torch.inf)
        top = none.scatter_reduce(1, at, pieces, "amax")
        top = torch.where(top > -torch.inf, top, 0)
        sums = torch.zeros_like(top).scatter_add(1, at, (pieces - top.index_select(1, node)).exp())
        nodes = sums.log() + top
        for level in _levels(n_leaves):
            below = nodes[:, 2 * level : 4 * level].unflatten(1, (level, 2))
            below.copy_(torch.logaddexp(below, nodes[:, level : 2 * level, None]))
        result = nodes[:, n_leaves : n_leaves + x.shape[1]].clone()
        ctx.save_for_backward(x, result, row, node)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:  # noqa: D102
        x, result, row, node = ctx.saved_tensors
        n_leaves, n_slots = _n_leaves(x.shape[1]), x.shape[1]
        least = x.new_full((len(x), 2 * n_leaves), torch.finfo(x.dtype).max)
        least[:, n_leaves : n_leaves + n_slots] = torch.where(grad != 0, result, torch.finfo(x.dtype).max)
        sums = torch.zeros_like(least)
        sums[:, n_leaves : n_leaves + n_slots] = grad
        for level in reversed(_levels(n_leaves)):
            here, below = slice(level, 2 * level), slice(2 * level, 4 * level)
            pair = least[:, below].unflatten(1, (level, 2))
            least[:, here] = pair.amin(2)
            parts = sums[:, below].unflatten(1, (level, 2)) * (least[:, here, None] - pair).exp()
            sums[:, here] = parts.sum(2)
        shares = (x.index_select(1, row) - least.index_select(1, node)).exp()  # at most 1
        pieces = sums.index_select(1, node) * shares
        return torch.zeros_like(x).index_add(1, row, pieces), None, None


def _n_leaves(n_samples: int) -> int:
    """Return the power of two that has a leaf for each slot; there are at most as many slots as rows."""
    return 1 << (n_samples - 1).bit_length()


def _levels(n_leaves: int) -> list[int]:
    """Return the number of nodes of each level above the leaves, the root's first."""
    return [1 << i for i in range(n_leaves.bit_length() - 1)]
