"""The rules that choose network, penalty, features and step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.sets.cells import JOINT, REFITS, Cells, agreement, vote
from stochgate.choice.sets.ranking import most_gates


@dataclass(frozen=True, kw_only=True)
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
        How many gates a model on all rows would use.
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
        """The gates a model on all rows would use."""
        return self.cells.support[self.cell]

    @property
    def settled(self) -> np.ndarray:
        """The gates at least half of the folds have open at their last step."""
        return vote(self.cells.settled[self.cell])

    @property
    def opened(self) -> np.ndarray:
        """The gates each fold has open, shape (n_folds, n_gates)."""
        return self.cells.opened[self.cell]

    def without_history(self) -> "Candidate":
        """Return the candidate without the gates over training, which take much memory."""
        return replace(self, cells=replace(self.cells, histories=None))

    @property
    def is_selection(self) -> bool:
        """Whether it is a set of features, the same one where it was judged and where it would be used.

        A vote of the folds is not what was judged where the folds have little in common; before the gates
        have closed nothing is selected; nor is it where most of many columns are left.
        """
        if self.n_features == 0 or not np.isfinite(self.losses).all() or self.cells.stage == "all":
            return False
        if self.cells.stage in (*JOINT, "team"):
            return True
        n_opened, n_settled = self.opened.sum(1).mean(), self.cells.settled[self.cell].sum(1).mean()
        return bool(
            n_opened <= max(DEFAULTS.unsettled * n_settled, n_settled + 2)
            and self.n_features <= most_gates(len(self.support))
            and agreement(self.opened, self.support) >= DEFAULTS.agreed
        )


@dataclass(frozen=True, kw_only=True)
class Standard:
    """What candidates are held against.

    Attributes
    ----------
    empty : ndarray, shape (n_folds,)
        Losses of the model without features.
    reference : ndarray, shape (n_folds,), or None
        Losses of the best model on all columns.
    n_first : int
        Folds in which no row is held out twice. Further rounds of folds make means surer, but how sure
        is not known: standard errors are those of so many folds.
    """

    empty: np.ndarray
    reference: np.ndarray | None
    n_first: int


def worth_of_a_feature(n_samples: int) -> float:
    """Return the gain in loss per row that the Bayesian information criterion asks of a feature."""
    return float(np.log(n_samples) / (2 * n_samples))


def list_candidates(stages: Sequence[Sequence[Cells]]) -> list[Candidate]:
    """Return every cell of every network, whatever its features."""
    return [
        Candidate(network=network, cells=cells, cell=cell, losses=cells.losses[cell], n_features=int(size))
        for network, stage in enumerate(stages)
        for cells in stage
        for cell, size in enumerate(cells.support.sum(axis=1))
    ]


def for_teams(candidates: Sequence[Candidate], n_first: int) -> list[Candidate]:
    """Return the refitted sets worth another look: no smaller one is better, and none is far behind.

    Of more than eight some sizes between the smallest and the best are left out.
    """
    refits = [c for c in candidates if c.cells.stage in REFITS and c.is_selection]
    if not refits:
        return []
    best = lowest_loss(refits)
    behind = np.array([c.losses for c in refits]) - best.losses
    spread = behind.std(axis=1, ddof=1) / np.sqrt(n_first)
    near = [
        c for c, ok in zip(refits, behind.mean(axis=1) <= DEFAULTS.team_errors * spread, strict=True) if ok
    ]
    front: list[Candidate] = []
    for c in sorted(near, key=lambda c: (c.n_features, c.loss)):
        if not front or c.loss < front[-1].loss:
            front.append(c)
    kept = np.linspace(0, len(front) - 1, min(DEFAULTS.n_team_sets, len(front))).round().astype(int)
    return [front[i] for i in kept]


def best_of_ties(candidates: Sequence[Candidate], standard: Standard) -> Candidate:
    """Return the fewest features that predict as well as the best model, the one on all columns included.

    A candidate is as good when it gives away no more than the folds can tell, a standard error and a half
    of their difference, and at most 1.25 % of the best one's gain over the model without features. A
    quarter of a percent counts for nothing. Of equal numbers the simpler network is taken, then the lower
    loss. Where none is as good as the model on all columns the best is returned.
    """
    best = lowest_loss(candidates)
    losses = best.losses
    if standard.reference is not None and standard.reference.mean() < losses.mean():
        losses = standard.reference
    behind = np.array([c.losses for c in candidates]) - losses
    error = DEFAULTS.shared_rows * behind.std(axis=1, ddof=1) / np.sqrt(standard.n_first)
    gain = (standard.empty - losses).mean()
    most = np.minimum(np.maximum(error, DEFAULTS.negligible * gain), DEFAULTS.most_given * gain)
    tied = behind.mean(axis=1) <= most
    return min(
        (c for c, near in zip(candidates, tied, strict=True) if near),
        key=lambda c: (c.n_features, c.network, c.loss),
        default=best,
    )


def lowest_loss(candidates: Sequence[Candidate], standard: Standard | None = None) -> Candidate:
    """Return the candidate of the lowest mean held-out loss."""
    return min(candidates, key=lambda c: c.loss)


def one_standard_error(candidates: Sequence[Candidate], standard: Standard) -> Candidate:
    """Return the fewest features within one standard error of the lowest mean held-out loss."""
    best = lowest_loss(candidates)
    limit = best.loss + best.losses.std(ddof=1) / np.sqrt(standard.n_first)
    return min((c for c in candidates if c.loss <= limit), key=lambda c: (c.n_features, c.network, c.loss))


Rule = Callable[[Sequence[Candidate], Standard], Candidate]
RULES: dict[str, Rule] = {"auto": best_of_ties, "best": lowest_loss, "one-se": one_standard_error}


def choose_set(
    rule: str, candidates: list[Candidate], standard: Standard, keep: np.ndarray, kept: np.ndarray
) -> Candidate | None:
    """Apply a rule to the sets that gain anything on held-out rows; None where none does.

    Where teams judged sets, what a single model says of them no longer counts.

    Parameters
    ----------
    rule : str
        A key of `RULES`.
    candidates : list of Candidate
    standard : Standard
    keep : ndarray of bool, shape (n_gates,)
        The gates that stay open.
    kept : ndarray, shape (n_folds,)
        Held-out losses of the model on these alone.
    """
    if keep.all():  # only network and steps are chosen
        usable = [c for c in candidates if np.isfinite(c.losses).all()]
    else:
        teams = any(c.cells.stage == "team" for c in candidates)
        single = [stage for stage in REFITS if stage != "team"] if teams else []
        usable = [c for c in candidates if c.is_selection and c.cells.stage not in single]
        usable = [c for c in usable if c.loss < kept.mean()]
    return RULES[rule](usable, standard) if usable else None


def ask_user(rule: Callable[[Any], Any], table: Any, candidates: list[Candidate]) -> Candidate | None:
    """Return what a user's function chooses."""
    row = rule(table)
    if row is None:
        return None
    if not isinstance(row, (int, np.integer)) or not 0 <= row < len(candidates):
        raise ValueError(
            f"rule returned {row!r}; expected a row of the path, 0 to {len(candidates) - 1}, or None."
        )
    return candidates[row]
