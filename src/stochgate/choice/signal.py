"""Is there a signal? One exact test of all columns, and what only held-out rows or pairs can tell."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.stats import rankdata
from scipy.stats import t as student
from torch import Tensor

from stochgate.choice.bank import Bank
from stochgate.choice.comparison import Comparison
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.rules import Candidate, worth_of_a_feature
from stochgate.problem.problem import Problem


@dataclass(frozen=True)
class Signal:
    """Whether anything shows beyond chance, and by how much models gain on held-out rows.

    Attributes
    ----------
    gain, error : float
        Of the models over the one without features, per row (or event), and its standard error, which is
        at least a third of what a feature is worth.
    p : float
        The p-value of columns that have nothing to do with y.
    alpha : float
        The user's level.
    """

    gain: float
    error: float
    p: float
    alpha: float

    @property
    def found(self) -> bool:
        """Whether p is at most the user's level."""
        return self.p <= self.alpha

    @property
    def verdict(self) -> str:
        """The answer in two words."""
        if not self.found:
            return "no signal"
        return "clear signal" if self.p <= DEFAULTS.clear_level else "weak signal"


def find_signal(
    candidates: list[Candidate], comparison: Comparison, kept: np.ndarray, alpha: float
) -> Signal:
    """Ask all columns together, pairs of columns and held-out rows whether there is a signal.

    The p-value is that of `columns_p`, which is exact. What tells nothing column by column may show in
    products of two, or on held-out rows alone; their p-values are bounds and approximations, so each counts
    a hundred times, and both together add at most a fiftieth to the level. Pairs are not asked where rows
    are in groups: their bound takes rows for independent.

    Parameters
    ----------
    candidates : list of Candidate
    comparison : Comparison
    kept : ndarray, shape (n_folds, n_blocks)
        Held-out losses of the model on the kept features alone, or of the one without any.
    alpha : float
    """
    problem, n_folds, n_first = comparison.simplest, len(candidates[0].losses), len(comparison.first)
    gain, error = held_out_gain(candidates, kept[:n_folds], n_first)
    error = max(error, DEFAULTS.least_error * worth_of_a_feature(problem.n_samples))
    p = held_out_p(gain, error, n_first)
    if not comparison.keep.all():
        exact = columns_p(problem, comparison.bank, problem.seed, comparison.groups)
        p = p if exact is None else min(exact, DEFAULTS.rarely * p)
        if comparison.pairs is not None and not comparison.keep.any():
            p = min(p, DEFAULTS.rarely * comparison.pairs.p)
    return Signal(gain, error, p, alpha)


def columns_p(problem: Problem, bank: Bank, seed: int, groups: np.ndarray | None = None) -> float | None:
    r"""Return the p-value of all columns together, by the adaptive sum of powered scores.

    Each column has two scores (`Bank`): what it tells as a line, and as a smooth curve. Few strong columns
    show in the largest score, many weak ones in the sum: so the sums of the scores, of their squares and of
    their fourth powers and the largest are all taken, each is held against the same for residuals that are
    dealt to the rows anew, and the smallest of the eight p-values against its own distribution over the
    deals. That is exact whatever the correlation of the columns, since they stay as they are.

    Residuals are dealt within the sets of rows that the loss compares (strata of a Cox model). Of rows that
    belong together the summed residuals are dealt, among groups of about the same size, and meet the means
    of the groups' forms. What kept features tell as lines is taken off the residuals, dealt ones too.

    Parameters
    ----------
    problem : Problem
    bank : Bank
    seed : int
    groups : ndarray, shape (n_samples,), optional

    Returns
    -------
    None where a group is in several sets of rows that the loss compares
    """
    peers = problem.objective.peers(problem.target.rows).cpu().numpy()
    residual, basis = _free_residual(problem, peers)
    of_row = None
    if groups is not None:
        _, first, group, size = np.unique(
            groups, return_index=True, return_inverse=True, return_counts=True
        )
        if (peers != peers[first][group]).any():
            return None
        index = torch.from_numpy(group).to(residual.device)
        of_row = index, torch.from_numpy(size).to(residual)
        residual = residual.new_zeros(len(size), residual.shape[1]).index_add(0, index, residual)
        peers = np.unique(np.column_stack([peers[first], _alike(size)]), axis=0, return_inverse=True)[1]
        basis = None
    residual = residual / residual.square().mean().sqrt().clamp_min(1e-30)
    free = torch.from_numpy(~problem.gates.keep).to(residual.device)
    n_outputs, n_columns = residual.shape[1], bank.n_columns * (5 if bank.has_curves else 1)
    work = 2.0 * bank.n_samples * n_columns * n_outputs
    low, high = DEFAULTS.n_permutations
    n_deals = int(np.clip(DEFAULTS.most_work / 8 / work, low, high))
    rng = np.random.RandomState(seed)
    orders = [np.arange(len(residual)), *(_deal(peers.ravel(), rng) for _ in range(n_deals))]
    at_once = max(1, int(DEFAULTS.most_dealt / (max(len(residual), bank.n_columns) * n_outputs)))
    sums = []
    for start in range(0, len(orders), at_once):
        index = torch.from_numpy(np.stack(orders[start : start + at_once])).to(residual.device)
        dealt = residual[index].permute(1, 0, 2).flatten(1)  # (n_rows, n_orders * n_outputs)
        if basis is not None:
            dealt = dealt - basis @ (basis.T @ dealt)
        scores = bank.scores(dealt, of_row)[:, free].unflatten(2, (len(index), n_outputs)).sum(3).double()
        sums.append(
            torch.cat([scores.sum(1), scores.square().sum(1), scores.pow(4).sum(1), scores.amax(1)]).cpu()
        )
    p = rankdata(-torch.cat(sums, dim=1).numpy(), method="max", axis=1).min(axis=0)
    return float((p <= p[0]).mean())


def held_out_p(gain: float, error: float, n_first: int) -> float:
    """Return how rarely a gain on held-out rows is luck, roughly.

    Models of different folds share rows they learnt from, so the error is taken half as large again
    (Nadeau and Bengio), and the tail is that of Student's t.
    """
    n_blocks = n_first * DEFAULTS.n_blocks
    return float(student.sf(gain / (DEFAULTS.shared_rows * error), max(n_blocks - 1, 1)))


def held_out_gain(candidates: Sequence[Candidate], empty: np.ndarray, n_first: int) -> tuple[float, float]:
    """Return by how much the models beat the one without features, and the standard error.

    Each fold is given the cell that is best on the *other* folds of its round, so that the gain is free of
    the choice (but for step and shrink, which are one for all folds); its standard error comes from the
    blocks of held-out rows. Cells of the path count only where nothing came after it.

    Parameters
    ----------
    candidates : sequence of Candidate
    empty : ndarray, shape (n_folds, n_blocks)
        Losses of the model without features on each block of held-out rows (where features are kept, of
        the model on these alone).
    n_first : int
        As in `Standard`.
    """
    later = [c for c in candidates if c.cells.stage != "path"] or list(candidates)
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


def _free_residual(problem: Problem, peers: np.ndarray) -> tuple[Tensor, Tensor | None]:
    """Return the residuals of the model without features, free of their means and of kept features.

    With them comes a basis of what they are free of, besides the mean; None where nothing is kept.
    """
    (residual,) = problem.base_residual(problem.weights[None])
    residual = residual.to(problem.design.columns.dtype)
    _, of_set, counts = np.unique(peers, return_inverse=True, return_counts=True)
    index, size = torch.from_numpy(of_set).to(residual.device), torch.from_numpy(counts).to(residual)
    total = residual.new_zeros(len(size), residual.shape[1]).index_add(0, index, residual)
    residual = residual - (total / size[:, None])[index]
    keep = problem.gates.keep
    if not keep.any():
        return residual, None
    kept = problem.design.narrow(torch.from_numpy(keep).to(residual.device)).columns.dense()
    basis, _ = torch.linalg.qr((kept - kept.mean(0)).to(residual))
    return residual - basis @ (basis.T @ residual), basis


def _alike(size: np.ndarray) -> np.ndarray:
    """Number groups so that those of one number are of about the same size, and at least eight.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.choice.signal import _alike
    >>> _alike(np.array([3] * 9 + [4] * 8 + [5, 6]))
    array([0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    """
    sizes, of_group, counts = np.unique(size, return_inverse=True, return_counts=True)
    number, held, numbers = 0, 0, np.zeros(len(sizes), dtype=int)
    for i, count in enumerate(counts):
        numbers[i], held = number, held + count
        if held >= DEFAULTS.fewest_alike and counts[i + 1 :].sum() >= DEFAULTS.fewest_alike:
            number, held = number + 1, 0
    return numbers[of_group.ravel()]


def _deal(peers: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Return a random order of the rows that exchanges rows of the same number only."""
    order = np.empty(len(peers), dtype=np.int64)
    shuffled = rng.permutation(len(peers))
    order[np.argsort(peers, kind="stable")] = shuffled[np.argsort(peers[shuffled], kind="stable")]
    return order
