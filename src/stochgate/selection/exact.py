"""Exactly k gates: one joint set from one model, not the k most frequent."""

import numpy as np
import torch

from stochgate.engine import CLOSED, OPEN
from stochgate.selection.setting import Setting, to_numpy


def joint_sets(
    setting: Setting, lams: np.ndarray, learns: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return k gates for each fold, shape (n_folds, n_gates), and the penalty they are from.

    A model's gates choose features that complement each other. Of a fold's models the one is taken that has
    the largest penalty with at least k gates open, and of its gates the k furthest open; where even the
    smallest penalty leaves fewer, those furthest from open are taken from that model.

    Parameters
    ----------
    setting : Setting
    lams : ndarray, shape (n_lams,)
    learns : ndarray, shape (n_folds, n_samples), as of `make_folds`
    k : int
        Gates that are kept count; constant columns can not be chosen.
    """
    shape = len(lams), len(learns)
    weights, _ = setting.fold_weights(learns, len(lams))
    seed = setting.seed + np.tile(np.arange(len(learns)), len(lams))
    fixed = setting.fixed.to(weights.device)[None]
    trained, _ = setting.execute(setting.plan(np.repeat(lams, len(learns)), seed, weights, fixed))
    models = trained.models
    mu = torch.where(models.fixed == OPEN, torch.inf, models.gate_parameter)
    mu = torch.where(models.fixed == CLOSED, -torch.inf, mu)
    position = to_numpy(mu).reshape(*shape, -1)  # (n_lams, n_folds, n_gates)
    n_varying = int((position[0] != -np.inf).sum(axis=1).max())
    if k > n_varying:
        raise ValueError(
            f"n_features_to_select={k}, but only {n_varying} features (or groups) have more than one value."
        )
    n_open = (to_numpy(models.gates()) > 0).reshape(position.shape).sum(axis=2)
    sets, used = np.zeros(position.shape[1:], dtype=bool), np.zeros(len(learns))
    for fold in range(len(learns)):
        enough = np.flatnonzero(n_open[:, fold] >= k)
        at = enough[lams[enough].argmax()] if len(enough) else lams.argmin()
        sets[fold, np.argsort(-position[at, fold], kind="stable")[:k]] = True
        used[fold] = lams[at]
    return sets, used
