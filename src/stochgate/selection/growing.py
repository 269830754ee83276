"""Sets of every size: one model per fold under a penalty that grows during training."""

from itertools import pairwise

import numpy as np

from stochgate.engine import FREE, OPEN
from stochgate.selection.path import Cells, train_cells, with_fewer_rows
from stochgate.selection.setting import Setting, to_numpy

SMALLEST, LARGEST = 1e-5, 0.3  # penalties per gate at the first and at the last step
LONGER = 1.5  # times the steps of other models
N_SNAPSHOTS = 60
MOST = 1000  # the largest set,
MOST_SHARE = 0.4  # or this share of the gates where there are many
MANY = 100
RATIO = 1.5  # from one size to the next
PAUSES = (12, 60, 300)  # sizes after which larger ones are tried only where they may gain


def grid_of_sizes(n_gates: int) -> list[int]:
    """Return the sizes of the sets: 1, 2, 3, 4, 6, 9, ..., of many gates at most two fifths.

    Examples
    --------
    >>> from stochgate.selection.growing import grid_of_sizes
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


def grow_sets(setting: Setting, learns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a set of every size for each fold, and the penalty each size is reached at.

    The penalty grows exponentially from next to nothing, so that one model passes through every size. Its
    set of size k are the k gates furthest open at the last snapshot with at least k open. Among
    correlated columns the folds' sets have little in common, and each is a fair answer: what is judged is
    how such a set is made, and the one returned is made in the same way from all rows.

    Parameters
    ----------
    setting : Setting
    learns : ndarray, shape (n_folds, n_samples), from `make_folds`

    Returns
    -------
    sets : ndarray of bool, shape (n_sizes, n_folds, n_gates)
        Gates that are kept are in every set and are not counted.
    lams : ndarray, shape (n_sizes,)
        Mean over the folds.
    """
    weights, _ = setting.fold_weights(learns)
    fixed = setting.fixed.to(weights.device)[None]
    n_gates = setting.design.n_gates
    plan = setting.plan(SMALLEST * n_gates, setting.seed + np.arange(len(learns)), weights, fixed)
    n_steps = round(LONGER * setting.training.n_steps)
    plan.training.set_params(n_steps=n_steps, n_snapshots=min(N_SNAPSHOTS, n_steps), schedule=grow)
    trained, _ = setting.execute(with_fewer_rows(plan, learns))
    free = (trained.models.fixed == FREE).cpu().numpy()
    is_open = (setting.gate.value(trained.gate_path) > 0).cpu().numpy() & free
    mu = np.where(free, to_numpy(trained.gate_path), -np.inf)  # (n_snapshots, n_folds, n_gates)
    sizes = grid_of_sizes(int(free.sum(axis=1).min()))
    sets = np.zeros((len(sizes), *free.shape), dtype=bool)
    sets |= (trained.models.fixed == OPEN).cpu().numpy()
    lams = np.zeros((len(sizes), len(learns)))
    n_open = is_open.sum(axis=2)  # (n_snapshots, n_folds)
    steps = trained.steps.numpy()
    for i, k in enumerate(sizes):
        for fold in range(len(learns)):
            enough = np.flatnonzero(n_open[:, fold] >= k)
            at = enough[-1] if len(enough) else 0
            sets[i, fold, np.argsort(-mu[at, fold], kind="stable")[:k]] = True
            lams[i, fold] = SMALLEST * n_gates * grow(steps[at] / n_steps)
    return sets, lams.mean(axis=1)


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
