"""Held-out losses of trained models, and where along the training they are lowest."""

import numpy as np

from stochgate.choice.defaults import DEFAULTS
from stochgate.engine import Trained
from stochgate.problem.problem import to_numpy


def held_out_losses(trained: Trained) -> np.ndarray:
    """Return the losses at all snapshots, shape (n_snapshots, n_teams, 1 + n_blocks, n_shrinks).

    The first entry along the third axis is of all held-out rows, the others are of their blocks.
    """
    return carry_on(to_numpy(trained.shrunk_loss))


def at_best(losses: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return each cell's losses at its best snapshot and shrink, and which these are.

    Parameters
    ----------
    losses : ndarray, shape (n_snapshots, n_cells, n_folds, n_shrinks)

    Returns
    -------
    losses : ndarray, shape (n_cells, n_folds)
        Infinite where a model diverged.
    snapshot, shrink : ndarray of int, shape (n_cells,)
        Where the mean over the folds is lowest.
    """
    losses = np.where(losses < DEFAULTS.diverged, losses, np.inf)  # a model that diverged has lost
    means = losses.mean(axis=2).transpose(1, 0, 2)  # (n_cells, n_snapshots, n_shrinks)
    flat = means.reshape(len(means), -1).argmin(axis=1)
    snapshot, shrink = np.unravel_index(flat, means.shape[1:])
    return losses[snapshot, np.arange(len(means)), :, shrink], snapshot, shrink


def carry_on(values: np.ndarray) -> np.ndarray:
    """Return values along snapshots, axis 0, where those after a model has stopped are its last ones.

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.choice.sets.losses import carry_on
    >>> carry_on(np.array([3.0, 2.0, np.nan, np.nan]))
    array([3., 2., 2., 2.])
    """
    last = np.where(np.isnan(values), 0, np.arange(len(values)).reshape(-1, *[1] * (values.ndim - 1)))
    return np.take_along_axis(values, np.maximum.accumulate(last, axis=0), axis=0)
