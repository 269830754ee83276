"""Copies: columns that are those of another gate in all but scale and sign."""

import numpy as np
import torch

from stochgate.choice.bank import Bank
from stochgate.choice.defaults import DEFAULTS
from stochgate.problem.features import GateMap

_COLUMNS_AT_ONCE = 512


def find_copies(bank: Bank, gates: GateMap) -> np.ndarray:
    """Return which gates are copies of others that stand for them, shape (n_gates,).

    A copy has a correlation of 0.99 or more, in size, with another column; of n > 100 rows 1 - 1/n, since
    so many may show that what columns differ by tells something. Of columns that are alike the cheapest
    stands, and of equally cheap ones the first; kept ones all stand. Gates of several columns are no
    copies, and so many columns that comparing them would take too long are left as they are.

    Parameters
    ----------
    bank : Bank
    gates : GateMap
    """
    n_gates, n, p = len(gates.keep), bank.n_samples, bank.n_columns
    if 2.0 * bank.n_numbers * p > DEFAULTS.most_compared:
        return np.zeros(n_gates, dtype=bool)
    first = np.lexsort((np.arange(n_gates), gates.costs, ~gates.keep))
    rank = torch.from_numpy(np.argsort(first))
    order = torch.argsort(rank.to(bank.gate_of.device)[bank.gate_of], stable=True)
    gate_of = bank.gate_of[order]
    single = torch.bincount(bank.gate_of, minlength=n_gates)[gate_of] == 1
    scale = bank.variance[order].clamp_min(torch.finfo(bank.variance.dtype).tiny).sqrt() * n
    least = max(DEFAULTS.copy, 1 - 1 / min(n, 10_000))  # single precision tells no more
    place = torch.arange(p, device=order.device)
    is_copy = torch.zeros(p, dtype=torch.bool)
    for start in range(0, p, _COLUMNS_AT_ONCE):
        block, before = slice(start, start + _COLUMNS_AT_ONCE), slice(0, start + _COLUMNS_AT_ONCE)
        told = bank.columns.project(bank.lines(order[block]))[order[before]].abs()
        alike = told >= least * scale[before, None]
        alike &= place[before, None] < place[block]
        alike &= single[before, None] & single[block]
        alike = alike.cpu()
        for column in torch.nonzero(alike.any(1))[:, 0].tolist():
            if not is_copy[column]:  # it stands
                is_copy[block] |= alike[column]
    copies = np.zeros(n_gates, dtype=bool)
    copies[gate_of.cpu()[is_copy].numpy()] = True
    return copies & ~gates.keep
