"""Sets of every size: a few models per fold under a penalty that grows during training."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch

from stochgate.choice.bank import Bank
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.gate_history import GateHistory, read_history
from stochgate.choice.rows import with_fewer_rows
from stochgate.choice.sets.cells import Cells, train_cells
from stochgate.choice.sets.promising import promising, takes_few
from stochgate.engine import CLOSED, FREE, OPEN
from stochgate.problem.problem import Problem, to_numpy


def grid_of_sizes(n_gates: int, n_samples: int) -> list[int]:
    """Return the sizes of the sets: 1, 2, 3, 4, 6, 9, ..., of many gates no more than there are rows.

    Examples
    --------
    >>> from stochgate.choice.sets.growing import grid_of_sizes
    >>> grid_of_sizes(13, 60), grid_of_sizes(200, 500)[-2:], grid_of_sizes(9000, 57)[-2:]
    ([1, 2, 3, 4, 6, 9, 13], [72, 80], [48, 57])
    """
    most = most_gates(n_gates)
    if n_gates > DEFAULTS.many_gates:
        most = min(most, max(n_samples, DEFAULTS.most_of_few_rows))
    sizes = [1] if most else []
    while sizes and sizes[-1] < most:
        sizes.append(min(most, max(sizes[-1] + 1, round(DEFAULTS.size_ratio * sizes[-1]))))
    return sizes


def most_gates(n_gates: int) -> int:
    """Return how many gates a set may have: all of few, a share of many."""
    return (
        n_gates
        if n_gates <= DEFAULTS.many_gates
        else min(DEFAULTS.most_gates, int(DEFAULTS.most_share * n_gates))
    )


def grow_sets(
    problem: Problem,
    bank: Bank,
    folds: np.ndarray,
    n_seeds: int = DEFAULTS.n_growing,
    pairs: bool = False,
) -> tuple[np.ndarray, np.ndarray, GateHistory]:
    """Return a set of every size for each fold, the penalty each size is reached at, and a history.

    The penalty grows exponentially from next to nothing, so that every gate closes at its time. A fold's
    set of size k are the k gates that close last, in the mean of a few models that differ in their initial
    weights and noise: of a single one the order of correlated columns is largely luck. Among such columns
    the folds' sets have little in common, and each is a fair answer: what is judged is how such a set is
    made, and the one returned is made in the same way from all rows.

    Parameters
    ----------
    problem : Problem
    bank : Bank
    folds : ndarray, shape (n_folds, n_samples), from `make_folds`
    n_seeds : int
        Models of each fold.
    pairs : bool
        As in `promising`, for a network that takes few of the features.

    Returns
    -------
    sets : ndarray of bool, shape (n_sizes, n_folds, n_gates)
        Gates that are kept are in every set and are not counted.
    lams : ndarray, shape (n_sizes,)
        Mean over the folds.
    history : GateHistory
        Of the last fold, mean over its models.
    """
    closing, strength, fixed, history = _closing_times(problem, bank, folds, n_seeds, pairs)
    first = np.where(fixed == FREE, -closing, np.inf)
    order = np.lexsort((-strength, first), axis=1)
    sizes = grid_of_sizes(int((fixed == FREE).sum(axis=1).min()), folds.shape[1])
    sets = first_of(order, sizes) | (fixed == OPEN)
    last = np.take_along_axis(closing, order[:, np.array(sizes, dtype=int) - 1], axis=1)
    lams = (
        DEFAULTS.growing_from
        * problem.design.n_gates
        * (DEFAULTS.growing_to / DEFAULTS.growing_from) ** last
    )
    return sets, lams.mean(axis=0), history


def first_of(order: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Return the first gates of each fold's order, a mask of shape (n_sizes, n_folds, n_gates)."""
    sets = np.zeros((len(sizes), *order.shape), dtype=bool)
    for chosen, k in zip(sets, sizes, strict=True):
        np.put_along_axis(chosen, order[:, :k], True, axis=1)
    return sets


def _closing_times(
    problem: Problem, bank: Bank, folds: np.ndarray, n_seeds: int, pairs: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, GateHistory]:
    """Return when each gate closes, how strong it is at the end, which gates are fixed, and a history.

    The first three have shape (n_folds, n_gates); the history is the last fold's. When is a share of the
    steps, and how far a gate is open at its last snapshot counts as part of the way to the next one. It is
    a mean over models of other seeds, and so is the strength, the gate's parameter, which tells those apart
    that are open to the end.
    """
    weights, _ = problem.fold_weights(folds, n_seeds)
    n_gates = problem.design.n_gates
    n_steps = round(DEFAULTS.growing_longer * problem.training.n_steps)
    snapshots = min(DEFAULTS.growing_snapshots, n_steps)
    longer = {"n_steps": n_steps, "n_snapshots": snapshots, "schedule": grow}
    seed, lam = problem.seed + np.arange(len(weights)), DEFAULTS.growing_from * n_gates
    fixed = problem.fixed[None]
    if takes_few(problem):
        offered = (
            torch.from_numpy(promising(problem, bank, folds, pairs=pairs))
            .to(fixed.device)
            .repeat(n_seeds, 1)
        )
        fixed = torch.where(offered | (fixed == OPEN), fixed, CLOSED).to(torch.int8)
    plan = problem.plan(lam, seed, weights, fixed, training=longer, stage="growing penalty")
    trained, _ = problem.execute(with_fewer_rows(plan))
    path = trained.gate_path  # (n_snapshots, n_models, n_gates)
    reached = torch.zeros_like(path[0])
    for i, parameter in enumerate(path):
        value = problem.gate.value(parameter)
        reached = torch.where(value > 0, i + 1 + value, reached)  # a model that diverged stays where it was
    closing = to_numpy(reached.clamp(max=len(path)) / len(path))
    strength = to_numpy(torch.nan_to_num(path[-1], nan=-1e6).clamp(-1e6, 1e6))
    closing, strength = (v.reshape(n_seeds, len(folds), n_gates).mean(axis=0) for v in (closing, strength))
    history = read_history(trained, slice(len(folds) - 1, None, len(folds)))
    return closing, strength, trained.models.fixed[: len(folds)].cpu().numpy(), history


def judge_sizes(
    problem: Problem, stage: str, sets: np.ndarray, lams: np.ndarray, folds: np.ndarray
) -> Cells | None:
    """Refit sets of every size on each fold, from small ones on, while larger ones may gain.

    A network with hidden layers is given no more than 300 features, or as many as there are rows.

    Where a fold has no column that varies there are no sets, and None is returned.

    Parameters
    ----------
    problem : Problem
        Of the network that is refitted, which need not have made the sets.
    stage : str
        How they were made: "growing" or "elimination".
    sets, lams : as from `grow_sets`
        The last of the sets of each size is the one made from all rows.
    folds : ndarray, shape (n_folds, n_samples), from `make_folds`
    """
    sizes, largest = sets[:, -1].sum(axis=1), sets.shape[2]
    if not problem.network.is_linear:
        largest = min(largest, max(DEFAULTS.pauses[-1], folds.shape[1]))
    found: Cells | None = None
    for low, high in pairwise((0, *(size for size in DEFAULTS.pauses if size < largest), largest)):
        some = (sizes > low) & (sizes <= high)
        if not some.any():
            continue
        cells = train_cells(problem, stage, lams[some], folds, sets[some, :-1], support=sets[some, -1])
        found = cells if found is None else found.before(cells)
        if _past_best(found.losses):
            break
    return found


def _past_best(losses: np.ndarray) -> bool:
    """Return whether the last of several sizes is clearly worse than the best, shape (n_sizes, n_folds)."""
    best = int(losses.mean(axis=1).argmin())
    if best >= len(losses) - 2 or not np.isfinite(losses[-1]).all():
        return not np.isfinite(losses[-1]).all()  # a network that diverged
    behind = losses[-1] - losses[best]
    return bool(behind.mean() > behind.std(ddof=1) / np.sqrt(len(behind)))


def grow(progress: float) -> float:
    """Return what the smallest penalty is multiplied by when a share of the steps is done."""
    return float((DEFAULTS.growing_to / DEFAULTS.growing_from) ** progress)
