"""The stable features: by a threshold, by a bound on false ones, or against shadows."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import false_discovery_control

from stochgate.problem.problem import Problem
from stochgate.stability.bounds import shah_samworth_bound, smallest_threshold
from stochgate.stability.conditional import conditional_p_values
from stochgate.stability.frequencies import Frequencies
from stochgate.stability.shadows import shadow_fdr
from stochgate.stability.why_empty import NO_SIGNAL, Reason, shadows_keep_up, tells_nothing_new, too_rare

MAJORITY = 0.5  # with shadows, a feature must besides be selected by more than half of the halves


@dataclass(frozen=True, kw_only=True)
class Stable:
    """The stable gates and why.

    Attributes
    ----------
    support : ndarray of bool, shape (n_gates,)
    frequency : ndarray, shape (n_gates,)
        At the penalty that decided.
    at : int
        Position of the penalty that decided.
    threshold : float
    expected_false : float
        Bound on the expected number of false selections; infinite where none was asked for or holds.
    q_values : ndarray, shape (n_gates,), or None when no fdr was asked for
        The lowest false discovery rate at which a gate is selected.
    reason : Reason or None
        Why error control selects nothing, where that is so.
    """

    support: np.ndarray
    frequency: np.ndarray
    at: int
    threshold: float
    expected_false: float
    q_values: np.ndarray | None = None
    reason: Reason | None = None


def stable_at(found: Frequencies, threshold: float) -> Stable:
    """Return the gates whose frequency reaches a threshold at the penalty of the lowest held-out loss."""
    at = 0 if found.best is None else found.best
    q, share = found.n_opened[at], found.share[at]
    bound = shah_samworth_bound(q, len(share), threshold, found.n_pairs)
    support = share >= threshold if found.best is not None else np.zeros(len(share), dtype=bool)
    return Stable(support=support, frequency=share, at=at, threshold=threshold, expected_false=bound)


def stable_by_bound(found: Frequencies, max_false: float) -> Stable:
    """Return the gates that a bound on the expected number of false ones lets pass.

    At each penalty the threshold is the lowest that the bound allows; of the penalties the one is taken
    that selects most, and where none selects any, the one that comes nearest.
    """
    n_gates = found.share.shape[1]
    tried = []
    for at, (share, q) in enumerate(zip(found.share, found.n_opened, strict=True)):
        threshold = smallest_threshold(q, n_gates, found.n_pairs, max_false)
        bound = shah_samworth_bound(q, n_gates, threshold, found.n_pairs) if threshold <= 1 else 0.0
        stable = Stable(
            support=share >= threshold,
            frequency=share,
            at=at,
            threshold=threshold,
            expected_false=bound,
        )
        tried.append(stable)
    best = max(tried, key=lambda stable: stable.support.sum())
    if best.support.any():
        return best
    best = max(tried, key=lambda stable: stable.frequency.max() - stable.threshold)
    return replace(best, reason=too_rare(best.frequency, *_needed(best, found)))


def _needed(stable: Stable, found: Frequencies) -> tuple[float, int]:
    """Return how many halves must open a gate, and of how many."""
    n_halves = 2 * found.n_pairs
    return float(np.ceil(n_halves * stable.threshold - 1e-9)), n_halves


def stable_by_shadows(found: Frequencies, n_gates: int, fdr: float) -> Stable:
    """Return the gates that stand out from shadow gates, at a false discovery rate.

    A gate's score is its mean frequency from the largest penalty down to that of the lowest held-out loss.
    Besides, more than half of the halves must open it there: a noise feature that stands in for a real one
    now and then beats every shadow.

    Parameters
    ----------
    found : Frequencies
        The first gates are the features', the others their shadows'.
    n_gates : int
    fdr : float
    """
    at = 0 if found.best is None else found.best
    scores = found.share[: at + 1].mean(axis=0)
    q_values = shadow_fdr(scores[:n_gates], scores[n_gates:])
    share = found.share[at, :n_gates]
    candidates = (share > MAJORITY) & (found.best is not None)
    support, reason = candidates & (q_values <= fdr), None
    n_halves = 2 * found.n_pairs
    if not candidates.any():
        reason = too_rare(share, found.n_pairs + 1, n_halves)
    elif not support.any():
        n_sets = len(scores) // n_gates - 1
        lowest = float(q_values[candidates].min())
        reason = shadows_keep_up(int(candidates.sum()), n_gates, n_sets, fdr, lowest, n_halves)
    return Stable(
        support=support,
        frequency=share,
        at=at,
        threshold=MAJORITY,
        expected_false=float("inf"),
        q_values=q_values,
        reason=reason,
    )


def stable_and_telling(
    problem: Problem,
    found: Frequencies,
    halves: np.ndarray,
    seed: int,
    *,
    fdr: float | None,
    max_false: float,
) -> Stable:
    """Return the stable gates that tell what no other column does, by p-values against shadows.

    For an fdr, the candidates are the gates that more than half of the halves open at the penalty of the
    lowest held-out loss, and Benjamini and Hochberg's rule over all gates decides. For an expected number
    of false gates, they are those that the bound on stable gates lets pass, and p must not exceed
    max_false / n_gates: the bound alone counts no noise feature that is often selected because it is
    correlated with a real one.

    Parameters
    ----------
    problem : Problem
    found : Frequencies
    halves : ndarray of bool, shape (2 * n_pairs, n_samples)
    seed : int
    fdr : float or None
    max_false : float
        Counts when fdr is None.

    Returns
    -------
    Stable
        With a reason where no gate is selected but those that are kept anyway.
    """
    if fdr is None:
        stable = stable_by_bound(found, max_false)
    else:
        stable = replace(stable_at(found, MAJORITY + 0.5 / found.n_pairs), expected_false=float("inf"))
    lam, step = float(found.lams[stable.at]), int(found.step[stable.at])

    def judge(**how: bool) -> np.ndarray:
        p_values = conditional_p_values(problem, lam, step, halves, stable.support, seed, **how)
        return p_values if fdr is None else false_discovery_control(p_values)

    values, free = judge(), ~problem.gates.keep
    level = max_false / len(values) if fdr is None else fdr
    support, reason = stable.support & (values <= level), None
    if free.any() and not (support & free).any():
        if fdr is not None and found.best is None:
            reason = Reason(NO_SIGNAL)
        else:
            kind = "p-value" if fdr is None else "q-value"
            reason = _explain(stable, found, free, values, level, judge, kind)
    return replace(stable, support=support, q_values=None if fdr is None else values, reason=reason)


def _explain(
    stable: Stable,
    found: Frequencies,
    free: np.ndarray,
    values: np.ndarray,
    level: float,
    judge: Callable[..., np.ndarray],
    kind: str,
) -> Reason:
    """Return why no free gate passes: none is stable, or what is stable tells nothing new."""
    candidates, needed = stable.support & free, _needed(stable, found)
    if not candidates.any():
        return too_rare(stable.frequency[free], *needed)
    used = judge(given_others=False) <= level
    shortfall = f"lowest {kind} {values[candidates].min():.2g}, at most {level:.2g} passes"
    return tells_nothing_new(candidates, used, *needed, shortfall)
