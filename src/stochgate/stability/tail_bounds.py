"""How much probability a distribution of selection frequencies can have in its tail."""

import numpy as np
from scipy.optimize import brentq

_LOG_SHIFTS = (-50.0, 50.0)  # from all mass at 0 to the uniform distribution


def unimodal_constant(theta: float, count: int, n_pairs: int) -> float:
    r"""Return C of Shah and Samworth (2013), Theorem 2, at the threshold tau = count / (2 n_pairs).

    .. math:: C(\tau, B) = \frac{1}{2 (2 \tau - 1 - 1 / (2 B))} \;\text{for}\; \tau \le 3/4, \quad
        \frac{4 (1 - \tau + 1 / (2 B))}{1 + 1 / B} \;\text{above}

    Infinite where the theorem is silent: theta above 1/sqrt(3), or tau too near to 1/2.

    Parameters
    ----------
    theta : float
        How probable it is at most that one half selects the feature.
    count, n_pairs : int
        How many of the 2 n_pairs halves must select it.

    Examples
    --------
    >>> from stochgate.stability.tail_bounds import unimodal_constant
    >>> unimodal_constant(0.1, 75, 50), unimodal_constant(0.1, 51, 50)
    (1.0204081632653061, inf)
    """
    tau, half_step = count / (2 * n_pairs), 1 / (2 * n_pairs)
    lowest = min(0.5 + theta**2, 0.5 + half_step + 0.75 * theta**2)
    if count < n_pairs + 2 or tau <= lowest or theta > 1 / np.sqrt(3):
        return float("inf")
    if count <= 1.5 * n_pairs:
        return 1 / (2 * (2 * tau - 1 - half_step))
    return 4 * (1 - tau + half_step) / (1 + 2 * half_step)


def r_concave_tail(mean: float, count: int, n_steps: int, r: float) -> float:
    r"""Return the largest P(X >= count / n_steps) of an r-concave X with E(X) <= mean.

    X takes the values 0, 1 / n_steps, ..., 1, and its probabilities f are r-concave (r < 0): f^r is
    convex. This is D of Shah and Samworth (2013), Section 3.4. The largest tail belongs to

    .. math:: f(x) \propto (a + x)^{1 / r} \;\text{for}\; x = 0, \dots, k, \quad 0 \;\text{beyond}\; k + 1,

    in steps, with what is left at k + 1. The mean fixes k for every a > 0, and the best a is searched for
    on a grid made finer around its best point. Up to count = ceil(2 mean n_steps) the answer is 1.

    Parameters
    ----------
    mean : float
    count, n_steps : int
    r : float

    Examples
    --------
    >>> from stochgate.stability.tail_bounds import r_concave_tail
    >>> round(r_concave_tail(mean=0.05, count=60, n_steps=100, r=-0.25), 6)
    0.002937
    """
    mean_steps = mean * n_steps
    if count <= np.ceil(2 * mean_steps):
        return 1.0
    if mean_steps <= 0:
        return 0.0
    first, last = (_log_shift(mean_steps, k, r) for k in (n_steps, count))
    best = 0.0
    for _ in range(5):
        grid = np.linspace(first, last, 400)
        tails = _tails(np.exp(grid), mean_steps, count, n_steps, r)
        at = int(tails.argmax())
        best = max(best, float(tails[at]))
        first, last = grid[max(at - 1, 0)], grid[min(at + 1, len(grid) - 1)]
    return min(best, 1.0)


def _log_shift(mean_steps: float, last: int, r: float) -> float:
    """Return log a at which f, cut off after `last` steps, has the mean."""
    x = np.arange(last + 1)

    def excess(log_shift: float) -> float:
        f = (np.exp(log_shift) + x) ** (1 / r)
        return float(x @ f / f.sum() - mean_steps)

    return float(brentq(excess, *_LOG_SHIFTS, xtol=1e-13))


def _tails(shifts: np.ndarray, mean_steps: float, count: int, n_steps: int, r: float) -> np.ndarray:
    """Return P(X >= count) for every a, k being as large as the mean allows."""
    x = np.arange(n_steps + 1)
    f = (shifts[:, None] + x) ** (1 / r)  # (n_shifts, n_steps + 1)
    total, moment = f.cumsum(axis=1), (x * f).cumsum(axis=1)
    k = (moment <= mean_steps * total).sum(axis=1) - 1  # the means grow with k
    k = np.clip(k, count, n_steps)
    at = np.arange(len(shifts)), k
    # E(k + 1 - X) is a sum over x <= k only, which gives the scale of f
    scale = (k + 1 - mean_steps) / ((k + 1) * total[at] - moment[at])
    return 1 - scale * total[:, count - 1]
