"""Selection frequencies over halves of the rows, and the features they stand for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import false_discovery_control

from stochgate.selection.conditional import conditional_p_values
from stochgate.selection.error_control import shadow_fdr, shah_samworth_bound, smallest_threshold
from stochgate.selection.path import Cells, train_cells
from stochgate.selection.rules import TOLERANCE
from stochgate.selection.setting import Setting

MAJORITY = 0.5  # with shadows, a feature must besides be selected by more than half of the halves


@dataclass(frozen=True)
class Frequencies:
    """How often gates open on halves of the rows, along a path of penalties.

    Attributes
    ----------
    lams : ndarray, shape (n_lams,)
    share : ndarray, shape (n_lams, n_gates)
        Of the halves that open a gate.
    step : ndarray of int, shape (n_lams,)
        At which each penalty's held-out loss is lowest.
    best : int or None
        Position of the penalty with the lowest held-out loss, of ties the largest; None where no penalty
        beats the model without features.
    n_pairs : int
    """

    lams: np.ndarray
    share: np.ndarray
    step: np.ndarray
    best: int | None
    n_pairs: int

    @property
    def n_opened(self) -> np.ndarray:
        """How many gates a half opens on average, shape (n_lams,)."""
        return self.share.sum(axis=1)


@dataclass(frozen=True)
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
    """

    support: np.ndarray
    frequency: np.ndarray
    at: int
    threshold: float
    expected_false: float
    q_values: np.ndarray | None = None


def train_halves(
    settings: Sequence[Setting], lams: np.ndarray, halves: np.ndarray, n_first: int
) -> tuple[int, Frequencies]:
    """Train paths on halves of the rows; the first few choose the network, which then trains on all.

    Parameters
    ----------
    settings : sequence of Setting, one a network
    lams : ndarray, shape (n_lams,)
    halves : ndarray of bool, shape (2 * n_pairs, n_samples)
        In complementary pairs; each half is judged by the rows outside it.
    n_first : int
        Halves on which the networks are compared.

    Returns
    -------
    Position of the network, and its frequencies
    """
    first = [train_cells(setting, "path", lams, halves[:n_first]) for setting in settings]
    chosen = int(np.argmin([cells.losses.mean(axis=1).min() for cells in first]))
    parts = [first[chosen]]
    if n_first < len(halves):
        parts.append(train_cells(settings[chosen], "path", lams, halves[n_first:], first_seed=n_first))
    empty = settings[chosen].empty_losses(halves)[0].mean()
    return chosen, _join(parts, float(empty))


def _join(parts: list[Cells], empty: float) -> Frequencies:
    opened = np.concatenate([cells.opened for cells in parts], axis=1)
    loss = np.concatenate([cells.losses for cells in parts], axis=1).mean(axis=1)
    best = None
    if loss.min() < empty:
        tied = loss <= loss.min() + TOLERANCE * (empty - loss.min())
        best = int(tied.argmax())  # the largest penalty of those that tie
    return Frequencies(parts[0].lams, opened.mean(axis=1), parts[-1].step, best, opened.shape[1] // 2)


def stable_at(found: Frequencies, threshold: float) -> Stable:
    """Return the gates whose frequency reaches a threshold at the penalty of the lowest held-out loss."""
    at = 0 if found.best is None else found.best
    q, share = found.n_opened[at], found.share[at]
    bound = shah_samworth_bound(q, len(share), threshold, found.n_pairs)
    support = share >= threshold if found.best is not None else np.zeros(len(share), dtype=bool)
    return Stable(support, share, at, threshold, bound)


def stable_by_bound(found: Frequencies, max_false: float) -> Stable:
    """Return the gates that a bound on the expected number of false ones lets pass.

    At each penalty the threshold is the lowest that the bound allows; of the penalties the one is taken
    that selects most.
    """
    n_gates = found.share.shape[1]
    best: Stable | None = None
    for at, (share, q) in enumerate(zip(found.share, found.n_opened, strict=True)):
        threshold = smallest_threshold(q, n_gates, found.n_pairs, max_false)
        bound = shah_samworth_bound(q, n_gates, threshold, found.n_pairs) if threshold <= 1 else 0.0
        stable = Stable(share >= threshold, share, at, threshold, bound)
        if best is None or stable.support.sum() > best.support.sum():
            best = stable
    assert best is not None  # there is at least one penalty
    return best


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
    support = (q_values <= fdr) & (share > MAJORITY) & (found.best is not None)
    return Stable(support, share, at, MAJORITY, float("inf"), q_values)


def stable_and_telling(
    setting: Setting,
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
    setting : Setting
    found : Frequencies
    halves : ndarray of bool, shape (2 * n_pairs, n_samples)
    seed : int
    fdr : float or None
    max_false : float
        Counts when fdr is None.
    """
    if fdr is None:
        stable = stable_by_bound(found, max_false)
    else:
        stable = replace(stable_at(found, MAJORITY + 0.5 / found.n_pairs), expected_false=float("inf"))
    lam, step = float(found.lams[stable.at]), int(found.step[stable.at])
    p_values = conditional_p_values(setting, lam, step, halves, stable.support, seed)
    if fdr is None:
        return replace(stable, support=stable.support & (p_values <= max_false / len(p_values)))
    q_values = false_discovery_control(p_values)
    return replace(stable, support=stable.support & (q_values <= fdr), q_values=q_values)
