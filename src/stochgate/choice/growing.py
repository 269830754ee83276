"""Sets of every size: a few models per fold under a penalty that grows during training."""

from itertools import pairwise

import numpy as np
import torch

from stochgate.choice.path import Cells, train_cells, with_fewer_rows
from stochgate.engine import FREE, OPEN
from stochgate.problem.setting import Setting, to_numpy

SMALLEST, LARGEST = 1e-5, 0.3  # penalties per gate at the first and at the last step
LONGER = 1.5  # times the steps of other models
N_SNAPSHOTS = 60
N_SEEDS = 4  # models whose gates' times to close are averaged
MOST = 1000  # the largest set,
MOST_SHARE = 0.4  # or this share of the gates where there are many
MANY = 100
RATIO = 1.5  # from one size to the next
PAUSES = (12, 60, 300)  # sizes after which larger ones are tried only where they may gain


def grid_of_sizes(n_gates: int) -> list[int]:
    """Return the sizes of the sets: 1, 2, 3, 4, 6, 9, ..., of many gates at most two fifths.

    Examples
    --------
    >>> from stochgate.choice.growing import grid_of_sizes
    >>> grid_of_sizes(13), grid_of_sizes(200)[-2:]
    ([1, 2, 3, 4, 6, 9, 13], [72, 80])
    """
    most = most_gates(n_gates)
    sizes = [1] if most else []
    while sizes and sizes[-1] < most:
        sizes.append(min(most, max(sizes[-1] + 1, round(RATIO * sizes[-1]))))
    return sizes


def most_gates(n_gates: int) -> int:
    """Return how many gates a set may have: all of few, a share of many."""
    return n_gates if n_gates <= MANY else min(MOST, int(MOST_SHARE * n_gates))


def grow_sets(
    setting: Setting, learns: np.ndarray, n_seeds: int = N_SEEDS
) -> tuple[np.ndarray, np.ndarray]:
    """Return a set of every size for each fold, and the penalty each size is reached at.

    The penalty grows exponentially from next to nothing, so that every gate closes at its time. A fold's
    set of size k are the k gates that close last, in the mean of a few models that differ in their initial
    weights and noise: of a single one the order of correlated columns is largely luck. Among such columns
    the folds' sets have little in common, and each is a fair answer: what is judged is how such a set is
    made, and the one returned is made in the same way from all rows.

    Parameters
    ----------
    setting : Setting
    learns : ndarray, shape (n_folds, n_samples), from `make_folds`
    n_seeds : int
        Models of each fold.

    Returns
    -------
    sets : ndarray of bool, shape (n_sizes, n_folds, n_gates)
        Gates that are kept are in every set and are not counted.
    lams : ndarray, shape (n_sizes,)
        Mean over the folds.
    """
    closing, strength, fixed = _closing_times(setting, learns, n_seeds)
    first = np.where(fixed == FREE, -closing, np.inf)
    order = np.lexsort((-strength, first), axis=1)
    sizes = grid_of_sizes(int((fixed == FREE).sum(axis=1).min()))
    sets = np.zeros((len(sizes), *closing.shape), dtype=bool)
    sets |= fixed == OPEN
    for chosen, k in zip(sets, sizes, strict=True):
        np.put_along_axis(chosen, order[:, :k], True, axis=1)
    last = np.take_along_axis(closing, order[:, np.array(sizes, dtype=int) - 1], axis=1)
    lams = SMALLEST * setting.design.n_gates * (LARGEST / SMALLEST) ** last
    return sets, lams.mean(axis=0)


def _closing_times(
    setting: Setting, learns: np.ndarray, n_seeds: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return when each gate closes, how strong it is at the end, and which gates are fixed.

    All have shape (n_folds, n_gates). When is a share of the steps, and how far a gate is open at its last
    snapshot counts as part of the way to the next one. It is a mean over models of other seeds, and so is
    the strength, the gate's parameter, which tells those apart that are open to the end.
    """
    weights, _ = setting.fold_weights(learns, n_seeds)
    fixed = setting.fixed.to(weights.device)[None]
    n_gates = setting.design.n_gates
    plan = setting.plan(SMALLEST * n_gates, setting.seed + np.arange(len(weights)), weights, fixed)
    n_steps = round(LONGER * setting.training.n_steps)
    plan.training.set_params(n_steps=n_steps, n_snapshots=min(N_SNAPSHOTS, n_steps), schedule=grow)
    trained, _ = setting.execute(with_fewer_rows(plan, learns))
    path = trained.gate_path  # (n_snapshots, n_models, n_gates)
    reached = torch.zeros_like(path[0])
    for i, parameter in enumerate(path):
        value = setting.gate.value(parameter)
        reached = torch.where(value > 0, i + 1 + value, reached)  # a model that diverged stays where it was
    closing = to_numpy(reached.clamp(max=len(path)) / len(path))
    strength = to_numpy(torch.nan_to_num(path[-1], nan=-1e6).clamp(-1e6, 1e6))
    closing, strength = (v.reshape(n_seeds, len(learns), n_gates).mean(axis=0) for v in (closing, strength))
    return closing, strength, trained.models.fixed[: len(learns)].cpu().numpy()


def judge_sizes(setting: Setting, sets: np.ndarray, lams: np.ndarray, learns: np.ndarray) -> Cells | None:
    """Refit sets of every size on each fold, from small ones on, while larger ones may gain.

    Where a fold has no column that varies there are no sets, and None is returned.

    Parameters
    ----------
    setting : Setting
        Of the network that is refitted, which need not have made the sets.
    sets, lams : as from `grow_sets`
        The last of the sets of each size is the one made from all rows.
    learns : ndarray, shape (n_folds, n_samples), from `make_folds`
    """
    sizes = sets[:, -1].sum(axis=1)
    found: Cells | None = None
    for low, high in pairwise((0, *PAUSES, sets.shape[2])):
        some = (sizes > low) & (sizes <= high)
        if not some.any():
            continue
        cells = train_cells(setting, "growing", lams[some], learns, sets[some, :-1], support=sets[some, -1])
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
    return float((LARGEST / SMALLEST) ** progress)
