"""Random numbers that depend on what they are for, never on who is drawn beside them.

A stream is a counter-based generator (splitmix64): the number at `index` is a hash of a key and the
index, so a model draws the same numbers whether it trains alone or in a stack, on CPU or on GPU.
"""

import torch
from torch import Tensor

# Purposes: each first folds its own tag into the seed, so their streams never meet.
GATES, WEIGHTS = 0, 1

_GOLDEN = 0x9E3779B97F4A7C15 - (1 << 64)  # the odd constants of splitmix64, as signed integers
_MULTIPLY_1 = 0xBF58476D1CE4E5B9 - (1 << 64)
_MULTIPLY_2 = 0x94D049BB133111EB - (1 << 64)
_DIGITS = {torch.float32: 23, torch.float64: 52}


def fold(key: Tensor, value: Tensor | int) -> Tensor:
    """Derive the key of a sub-stream, e.g. of one step of one model.

    Parameters
    ----------
    key : int64 Tensor, any shape
    value : int or int64 Tensor that broadcasts with `key`

    Examples
    --------
    >>> import torch
    >>> from stochgate.streams import fold
    >>> bool(fold(torch.tensor(1), 2) == fold(torch.tensor(1), 3))
    False
    """
    advance = (value + 1) * _GOLDEN
    if isinstance(advance, int):  # wrap as int64 does
        advance = (advance + (1 << 63)) % (1 << 64) - (1 << 63)
    return _mix(key + advance)


def distinct(seeds: Tensor) -> tuple[Tensor, Tensor]:
    """Return every seed once, and where each of the given ones is found among them.

    The penalties of one fold share a seed, so their numbers are drawn once. Seeds that all differ are
    returned in their order.

    Examples
    --------
    >>> import torch
    >>> from stochgate.streams import distinct
    >>> distinct(torch.tensor([3, 5, 3]))
    (tensor([3, 5]), tensor([0, 1, 0]))
    """
    once, place = seeds.unique(return_inverse=True)
    if len(once) == len(seeds):
        return seeds, torch.arange(len(seeds), device=seeds.device)
    return once, place


def uniform(key: Tensor, index: Tensor, dtype: torch.dtype) -> Tensor:
    """Uniform numbers in the open interval (0, 1).

    Parameters
    ----------
    key : int64 Tensor, shape (...)
    index : int64 Tensor, shape (n,)
    dtype : torch.float32 or torch.float64

    Returns
    -------
    Tensor, shape (..., n)
    """
    digits = _DIGITS[dtype]
    bits = _shift_right(fold(key.unsqueeze(-1), index), 64 - digits)
    return bits.to(dtype).add_(0.5).mul_(2.0**-digits)


def normal(key: Tensor, index: Tensor, dtype: torch.dtype) -> Tensor:
    """Standard normal numbers, shape (..., n); see `uniform`."""
    return to_normal(uniform(key, index, dtype))


def to_normal(u: Tensor) -> Tensor:
    """Turn uniform numbers into standard normal ones by the inverse distribution function."""
    return torch.erfinv(u.mul(2).sub_(1)).mul_(2**0.5)


def _mix(x: Tensor) -> Tensor:
    """Scramble in place."""
    x.bitwise_xor_(_shift_right(x, 30)).mul_(_MULTIPLY_1)
    x.bitwise_xor_(_shift_right(x, 27)).mul_(_MULTIPLY_2)
    return x.bitwise_xor_(_shift_right(x, 31))


def _shift_right(x: Tensor, n: int) -> Tensor:
    """Shift without copying the sign bit: torch only shifts signed integers."""
    return (x >> n).bitwise_and_((1 << (64 - n)) - 1)
