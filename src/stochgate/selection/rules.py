"""The rules that choose network, penalty and step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from stochgate.selection.path import Cells

SIGNIFICANCE = 2.5  # standard errors by which a model must beat the one without features
TOLERANCE = 0.01  # share of the gain that a simpler model may give away,
CLOSE = 0.5  # or so many standard errors of the difference,
FAR = 2.0  # or so many, where each feature it saves gains less than a feature is worth


@dataclass(frozen=True)
class Signal:
    """By how much models beat the one without features on held-out rows, and whether that is not luck.

    Attributes
    ----------
    gain, error : float
        Per row (or event), and its standard error.
    found : bool
    """

    gain: float
    error: float
    found: bool


@dataclass(frozen=True)
class Candidate:
    """One cell of one network.

    Attributes
    ----------
    network : int
        Position of the network in its list, simple ones first.
    cells : Cells
    cell : int
    losses : ndarray, shape (n_folds,)
    n_features : int
        How many gates at least half of the folds open.
    """

    network: int
    cells: Cells
    cell: int
    losses: np.ndarray
    n_features: int

    @property
    def loss(self) -> float:
        """Mean held-out loss."""
        return float(self.losses.mean())

    @property
    def support(self) -> np.ndarray:
        """The gates at least half of the folds open."""
        return self.cells.voted()[self.cell]

    @property
    def settled(self) -> np.ndarray:
        """The gates at least half of the folds have open at their last step."""
        return self.cells.voted(at_end=True)[self.cell]


def worth_of_a_feature(n_samples: int) -> float:
    """Return the gain in loss per row that the Bayesian information criterion asks of a feature."""
    return float(np.log(n_samples) / (2 * n_samples))


def list_candidates(stages: Sequence[Sequence[Cells]]) -> list[Candidate]:
    """Return every cell of every network, whatever its features."""
    return [
        Candidate(network, cells, cell, cells.losses[cell], int(size))
        for network, stage in enumerate(stages)
        for cells in stage
        for cell, size in enumerate(cells.voted().sum(axis=1))
    ]


def finds_signal(candidates: Sequence[Candidate], empty: np.ndarray, n_samples: int) -> Signal:
    """Ask whether the models beat the one without features.

    Each fold is given the cell that is best on the *other* folds, so that the gain is free of the choice
    (but for the step, which is one for all folds); its standard error comes from the blocks of held-out
    rows. The gain must exceed 2.5 standard errors and what a feature is worth. Cells of the path count only
    where nothing came after it.

    Parameters
    ----------
    candidates : sequence of Candidate
    empty : ndarray, shape (n_folds, n_blocks)
        Losses of the model without features on each block of held-out rows.
    n_samples : int
    """
    later = [c for c in candidates if c.cells.stage != "path"] or candidates
    later = [c for c in later if np.isfinite(c.losses).all()]
    if not later:
        return Signal(0.0, 0.0, False)
    losses = np.array([c.losses for c in later])  # (n_candidates, n_folds)
    by_block = np.array([c.cells.by_block[c.cell] for c in later])
    gains = []
    for fold in range(len(empty)):
        others = np.arange(len(empty)) != fold
        gains.append(empty[fold] - by_block[losses[:, others].mean(axis=1).argmin(), fold])
    gain = np.concatenate(gains)
    gain = gain[np.isfinite(gain)]  # a block without events judges nothing
    mean, error = float(gain.mean()), float(gain.std(ddof=1) / np.sqrt(len(gain)))
    asked = max(SIGNIFICANCE * error, worth_of_a_feature(n_samples))
    return Signal(mean, error, bool(mean > asked))


def best_of_ties(candidates: Sequence[Candidate], empty: np.ndarray, n_samples: int) -> Candidate:
    """Return the lowest held-out loss; ties go to fewer features, then to the simpler network.

    A candidate is within a tie when it gives away at most 1 % of the best one's gain over the model without
    features, or half a standard error of their difference. Two standard errors are a tie too where the
    best one has so many more features that each gains less than a feature is worth: hundreds of
    columns that each tell a little predict as well as the few that matter, and tell less.
    """
    best = lowest_loss(candidates, empty, n_samples)
    behind = np.array([c.losses for c in candidates]) - best.losses
    spread = behind.std(axis=1, ddof=1) / np.sqrt(len(empty))
    saved = np.array([best.n_features - c.n_features for c in candidates])
    far = np.minimum(FAR * spread, saved * worth_of_a_feature(n_samples))
    close = np.maximum(TOLERANCE * (empty - best.losses).mean(), CLOSE * spread)
    tied = behind.mean(axis=1) <= np.maximum(close, far)
    return min(
        (c for c, near in zip(candidates, tied, strict=True) if near),
        key=lambda c: (c.n_features, c.network, c.loss),
    )


def lowest_loss(candidates: Sequence[Candidate], empty: np.ndarray, n_samples: int) -> Candidate:
    """Return the candidate of the lowest mean held-out loss."""
    return min(candidates, key=lambda c: c.loss)


def one_standard_error(candidates: Sequence[Candidate], empty: np.ndarray, n_samples: int) -> Candidate:
    """Return the fewest features within one standard error of the lowest mean held-out loss."""
    best = lowest_loss(candidates, empty, n_samples)
    limit = best.loss + best.losses.std(ddof=1) / np.sqrt(len(empty))
    return min((c for c in candidates if c.loss <= limit), key=lambda c: (c.n_features, c.network, c.loss))


Rule = Callable[[Sequence[Candidate], np.ndarray, int], Candidate]
RULES: dict[str, Rule] = {"auto": best_of_ties, "best": lowest_loss, "one-se": one_standard_error}
