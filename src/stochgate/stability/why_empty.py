"""Why error control ends with nothing selected, in words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_MOST_NAMES = 5
NO_SIGNAL = "on the rows outside the halves no penalty beats the base rate, so no column seems to tell of y"


@dataclass(frozen=True)
class Reason:
    """Why nothing was selected.

    Attributes
    ----------
    text : str
        What happened and what to do, to follow "No feature was selected: ".
    redundant : ndarray of bool, shape (n_gates,), or None
        The gates that others stand in for, where that is the reason.
    """

    text: str
    redundant: np.ndarray | None = None

    def with_names(self, spread: Callable[[np.ndarray], np.ndarray], names: Sequence[Any]) -> "Reason":
        """Add the names of the redundant features; `spread` gives every feature its gate's value."""
        if self.redundant is None:
            return self
        at = np.flatnonzero(spread(self.redundant))
        more = f" and {len(at) - _MOST_NAMES} more" if len(at) > _MOST_NAMES else ""
        listed = ", ".join(str(names[j]) for j in at[:_MOST_NAMES])
        return Reason(f"{self.text} (redundant: {listed}{more})", self.redundant)


def too_rare(frequency: np.ndarray, needed: float, n_halves: int) -> Reason:
    """No gate is open in as many halves as it takes.

    Parameters
    ----------
    frequency : ndarray, shape (n_gates,)
        Share of the halves that open each gate.
    needed : float
        Number of halves; infinite where no number is enough.
    n_halves : int

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.stability.why_empty import too_rare
    >>> too_rare(np.array([0.1, 0.3]), 26, 50).text
    'the most frequent one is selected by 15 of 50 halves, and it takes 26'
    """
    if np.isinf(needed):
        return Reason(
            f"a half selects {frequency.sum():.3g} of {len(frequency)} columns on average, so many that "
            f"not even a feature that all {n_halves} halves select is within max_false; use a larger "
            "max_false, more halves (n_pairs) or a larger lam"
        )
    most = round(frequency.max() * n_halves)
    return Reason(
        f"the most frequent one is selected by {most} of {n_halves} halves, and it takes {needed:.0f}"
    )


def tells_nothing_new(
    candidates: np.ndarray, redundant: np.ndarray, needed: float, n_halves: int, shortfall: str
) -> Reason:
    """The stable gates add nothing to the others, or too little.

    Parameters
    ----------
    candidates : ndarray of bool, shape (n_gates,)
        Those open in enough halves.
    redundant : ndarray of bool, shape (n_gates,)
        Candidates that would pass if no other column told of them.
    needed : float
        Number of halves that a candidate takes.
    n_halves : int
    shortfall : str
        By how much the best candidate fails, in numbers.
    """
    stable, both = _describe_stable(candidates.sum(), needed, n_halves), candidates & redundant
    if both.any():
        which = "but" if both.sum() == candidates.sum() else f"but {both.sum()} of them"
        are = "is" if both.sum() == 1 else "are"
        return Reason(
            f"{stable} {which} {are} redundant: other columns stand in for each, so leaving any one out "
            f"costs nothing that shows ({shortfall}); use feature_groups to select such features together",
            both,
        )
    return Reason(
        f"{stable} but held-out rows do not tell what they add from chance, at {len(candidates)} columns "
        f"({shortfall}); more rows or fewer columns would help"
    )


def shadows_keep_up(
    n_candidates: int, n_features: int, n_sets: int, fdr: float, lowest: float, n_halves: int
) -> Reason:
    """The stable features are too few to stand out from shadows, or do not.

    Parameters
    ----------
    n_candidates, n_features : int
    n_sets : int
        Sets of shadows, each as many as there are features.
    fdr : float
    lowest : float
        The candidates' lowest q-value.
    n_halves : int
    """
    stable = _describe_stable(n_candidates, n_halves // 2 + 1, n_halves)
    if (smallest := n_features / (n_sets * n_features + 1)) > fdr * n_candidates:
        sets = "1 set" if n_sets == 1 else f"{n_sets} sets"
        return Reason(
            f"{stable} but with {sets} of shadows this rate takes {np.ceil(smallest / fdr):.0f} or more "
            f"features; use n_shadows={np.ceil(1 / (fdr * n_candidates)):.0f}"
        )
    return Reason(
        f"{stable} but shadow columns are selected nearly as often (lowest q-value {lowest:.2g}, at most "
        f"{fdr:.2g} passes)"
    )


def _describe_stable(n_stable: int, needed: float, n_halves: int) -> str:
    subject = "1 feature is" if n_stable == 1 else f"{n_stable} features are"
    return f"{subject} selected by at least {needed:.0f} of {n_halves} halves,"
