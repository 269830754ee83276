"""Copies: gates whose columns are those of another gate in all but scale and sign."""

import numpy as np
import torch

from stochgate.choice.bank import Bank
from stochgate.choice.defaults import DEFAULTS
from stochgate.problem.features import GateMap

_COLUMNS_AT_ONCE = 512


def find_copies(bank: Bank, gates: GateMap) -> np.ndarray:
    """Return which gates are copies of others that stand for them, shape (n_gates,).

    Each column of a copy has a correlation of 0.99 or more, in size, with one of a gate of as many columns;
    of n > 100 rows 1 - 1/n, since so many may show that what columns differ by tells something. Of gates
    that are alike the cheapest stands, and of equally cheap ones the first; kept ones all stand. So many
    columns that comparing them would take too long are left as they are.

    Parameters
    ----------
    bank : Bank
    gates : GateMap
    """
    n_gates, n, p = len(gates.keep), bank.n_samples, bank.n_columns
    if 2.0 * bank.n_numbers * p > DEFAULTS.most_compared:
        return np.zeros(n_gates, dtype=bool)
    first = np.lexsort((np.arange(n_gates), gates.costs, ~gates.keep))
    rank, width = torch.from_numpy(np.argsort(first)), torch.bincount(bank.gate_of, minlength=n_gates)
    order = torch.argsort(rank.to(bank.gate_of.device)[bank.gate_of], stable=True)
    gate_of = bank.gate_of[order]
    scale = bank.variance[order].clamp_min(torch.finfo(bank.variance.dtype).tiny).sqrt() * n
    least = max(DEFAULTS.copy, 1 - 1 / min(n, 10_000))  # single precision tells no more
    place = torch.arange(p, device=order.device)
    is_copy = torch.zeros(p, dtype=torch.bool)
    for start in range(0, p, _COLUMNS_AT_ONCE):
        block, before = slice(start, start + _COLUMNS_AT_ONCE), slice(0, start + _COLUMNS_AT_ONCE)
        told = bank.columns.project(bank.lines(order[block]))[order[before]].abs()
        alike = told >= least * scale[before, None]
        alike &= place[before, None] < place[block]
        alike &= gate_of[before, None] != gate_of[block]
        alike &= width[gate_of[before], None] == width[gate_of[block]]
        alike = alike.cpu()
        for column in torch.nonzero(alike.any(1))[:, 0].tolist():
            if not is_copy[column]:  # it stands
                is_copy[block] |= alike[column]
    n_copies = np.bincount(gate_of.cpu().numpy(), weights=is_copy.numpy(), minlength=n_gates)
    return (n_copies == width.cpu().numpy()) & (n_copies > 0) & ~gates.keep
