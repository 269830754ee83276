"""Is there a signal? Several tests, and their p-values combined."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.stats import chi2, norm

from stochgate.choice.comparison import Comparison
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.global_test import global_p
from stochgate.choice.recipe import make_recipe
from stochgate.choice.rules import Candidate, worth_of_a_feature
from stochgate.choice.second_look import smallest_p


@dataclass(frozen=True)
class Signal:
    """By how much models beat the one without features on held-out rows, and whether there is a signal.

    Attributes
    ----------
    gain, error : float
        Per row (or event), and its standard error, which is at least a third of what a feature is worth.
    found : bool
    """

    gain: float
    error: float
    found: bool


def find_signal(candidates: list[Candidate], comparison: Comparison, kept: np.ndarray) -> Signal:
    """Ask the held-out rows, all columns together and each of them whether there is a signal.

    Where features are kept it must be one beside them, and all columns together are not asked. Single
    columns are not where rows are in groups: that test takes rows for independent.

    Parameters
    ----------
    candidates : list of Candidate
    comparison : Comparison
    kept : ndarray, shape (n_folds, n_blocks)
        Held-out losses of the model on the kept features alone, or of the one without any.
    """
    problem, keep, groups = comparison.simplest, comparison.keep, comparison.groups
    n_folds, first = len(candidates[0].losses), comparison.first
    tests: list[Callable[[], float | None]] = []
    if not keep.any():
        tests.append(partial(global_p, problem, problem.seed, groups))
    if not keep.all() and groups is None:
        tests.append(partial(smallest_p, problem, make_recipe(None, keep), first))
    return finds_signal(candidates, kept[:n_folds], problem.n_samples, len(first), tests)


def finds_signal(
    candidates: Sequence[Candidate],
    empty: np.ndarray,
    n_samples: int,
    n_first: int | None = None,
    tests: Sequence[Callable[[], float | None]] = (),
) -> Signal:
    """Ask whether the models beat the one without features, or the columns tell of y in another way.

    Where a signal is weak each test is, and noise passes some test now and then: so their
    p-values are combined.

    Parameters
    ----------
    candidates : sequence of Candidate
    empty : ndarray, shape (n_folds, n_blocks)
        Losses of the model without features on each block of held-out rows (where features are kept, of
        the model on these alone).
    n_samples : int
    n_first : int, optional
        As in `Standard`; all folds by default.
    tests : sequence of callable
        Further tests, which return a p-value, or None where they cannot be made. They are made only where
        the held-out rows alone do not decide.
    """
    gain, error = held_out_gain(candidates, empty, n_first or len(empty))
    error = max(error, DEFAULTS.least_error * worth_of_a_feature(n_samples))
    p = [float(norm.sf(gain / error))]
    if combine(p + [1.0] * len(tests)) > DEFAULTS.signal_level:
        p += [value for test in tests if (value := test()) is not None]
    return Signal(gain, error, combine(p) <= DEFAULTS.signal_level)


def held_out_gain(candidates: Sequence[Candidate], empty: np.ndarray, n_first: int) -> tuple[float, float]:
    """Return by how much the models beat the one without features, and the standard error.

    Each fold is given the cell that is best on the *other* folds of its round, so that the gain is free of
    the choice (but for step and shrink, which are one for all folds); its standard error comes from the
    blocks of held-out rows. Cells of the path count only where nothing came after it.

    Parameters
    ----------
    candidates, empty, n_first : as in `finds_signal`
    """
    later = [c for c in candidates if c.cells.stage != "path"] or candidates
    later = [c for c in later if np.isfinite(c.losses).all()]
    if not later:
        return 0.0, 0.0
    losses = np.array([c.losses for c in later])  # (n_candidates, n_folds)
    by_block = np.array([c.cells.by_block[c.cell] for c in later])
    gains, folds = [], np.arange(len(empty))
    for fold in folds:
        others = (folds // n_first == fold // n_first) & (folds != fold)
        others = others if others.any() else folds != fold  # a round of one fold
        gains.append(empty[fold] - by_block[losses[:, others].mean(axis=1).argmin(), fold])
    gain = np.concatenate(gains)
    gain = gain[np.isfinite(gain)]  # a block without events judges nothing
    if len(gain) < 2:
        return 0.0, 0.0
    n_blocks = len(gain) * n_first / len(empty)
    return float(gain.mean()), float(gain.std(ddof=1) / np.sqrt(n_blocks))


def combine(p_values: Sequence[float]) -> float:
    r"""Return the p-value of several ones together, by Fisher's method.

    If nothing is there :math:`-2 \sum \log p` is chi-squared with two degrees of freedom for each.

    Examples
    --------
    >>> from stochgate.choice.signal import combine
    >>> round(combine([0.03, 0.01, 0.05]), 4), round(combine([0.01, 1.0, 1.0]), 4)
    (0.0011, 0.1621)
    """
    return float(chi2.sf(-2 * np.log(np.maximum(p_values, 1e-300)).sum(), 2 * len(p_values)))
