"""The rule that chooses network, penalty and step."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stochgate.selection.path import Path

SIGNIFICANCE = 2.5  # standard errors by which a model must beat the one without features
TOLERANCE = 0.01  # share of the gain that a simpler model may give away


@dataclass(frozen=True)
class Candidate:
    """One point of one path.

    Attributes
    ----------
    network, lam, step : int
        Positions: of the network in its list (simple ones first), of lam and of the refit's step.
    losses : ndarray, shape (n_folds,)
    n_features : int
    """

    network: int
    lam: int
    step: int
    losses: np.ndarray
    n_features: int


@dataclass(frozen=True)
class Choice:
    """What the rule chose.

    Attributes
    ----------
    candidate : Candidate, or None for the model without features
    gain, error : float
        By how much the choice beats the model without features on rows that took no part in it, and the
        standard error of that.
    """

    candidate: Candidate | None
    gain: float
    error: float


def list_candidates(paths: Sequence[Path]) -> list[Candidate]:
    """Return every (network, lam, step) whose refit could be trained."""
    candidates = []
    for network, path in enumerate(paths):
        size = path.voted().sum(axis=1)
        for step, lam in np.argwhere(np.isfinite(path.refit).all(axis=2)):
            losses = path.refit[step, lam]
            candidates.append(Candidate(network, int(lam), int(step), losses, int(size[lam])))
    return candidates


def choose(paths: Sequence[Path], empty: np.ndarray) -> Choice:
    """Choose by the refits' held-out loss; ties go to fewer features, then to the simpler network.

    A candidate is within a tie when it gives away at most 1 % of the best one's gain over the model without
    features, or less than half a standard error of their difference. The model without features wins
    unless the gated models beat it: each fold is given the (network, lam, step) that is best on the
    others, and over the folds their gain must exceed 2.5 standard errors.

    Parameters
    ----------
    paths : sequence of Path, simple networks first
    empty : ndarray, shape (n_folds,)
        Held-out losses of the model without features.
    """
    gated = np.concatenate([path.held_out.reshape(-1, len(empty)) for path in paths])
    gated = gated[np.isfinite(gated).all(axis=1)]
    candidates = [c for c in list_candidates(paths) if c.n_features > 0]
    if len(gated) == 0 or not candidates:
        return Choice(None, 0.0, 0.0)
    gain, error = cross_fitted_gain(gated, empty)
    if not gain > SIGNIFICANCE * error:
        return Choice(None, gain, error)
    losses = np.array([c.losses for c in candidates])  # (n_candidates, n_folds)
    best = losses[losses.mean(axis=1).argmin()]
    behind = losses - best
    spread = behind.std(axis=1, ddof=1) / np.sqrt(len(empty))
    allowed = np.maximum(TOLERANCE * (empty - best).mean(), 0.5 * spread)
    tied = [c for c, near in zip(candidates, behind.mean(axis=1) <= allowed, strict=True) if near]
    chosen = min(tied, key=lambda c: (c.n_features, c.network, c.losses.mean()))
    return Choice(chosen, gain, error)


def cross_fitted_gain(losses: np.ndarray, empty: np.ndarray) -> tuple[float, float]:
    """Return mean and standard error of the gain when each fold's candidate is chosen on the others."""
    n_folds = len(empty)
    gains = np.empty(n_folds)
    for fold in range(n_folds):
        others = np.arange(n_folds) != fold
        gains[fold] = empty[fold] - losses[losses[:, others].mean(axis=1).argmin(), fold]
    return float(gains.mean()), float(gains.std(ddof=1) / np.sqrt(n_folds))
