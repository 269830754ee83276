"""Exactly k gates: one joint set from one model, not the k most frequent."""

import numpy as np
import torch

from stochgate.engine import CLOSED, OPEN, Design
from stochgate.selection.setting import Setting, to_numpy

COPY = 0.99  # the correlation, in size, from which a column tells nothing new
N_LARGER, LARGER = 6, 1.8  # so many larger penalties at most, each this multiple of the one before


def joint_sets(
    setting: Setting, lams: np.ndarray, learns: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return k gates for each fold, the penalty they are from, and P(z > 0) of all gates there.

    Larger penalties are added while the largest leaves more than k gates open in any fold. Of a fold's
    models the one is taken that has the largest penalty with at least k gates open, and of its gates the k
    furthest open; where even the smallest penalty leaves fewer, that model's closed gates
    follow in the order of how far they are from open. A gate whose columns are copies of ones already
    taken waits until no other is left.

    Parameters
    ----------
    setting : Setting
    lams : ndarray, shape (n_lams,)
    learns : ndarray, shape (n_folds, n_samples), as of `make_folds`
    k : int
        Gates that are kept count; constant columns can not be chosen.
    """
    lams, position, n_open, probabilities = _train(setting, lams, learns)
    for _ in range(N_LARGER):
        if n_open[0].max() <= k:
            break
        larger = _train(setting, lams[:1] * LARGER, learns)
        before = lams, position, n_open, probabilities
        lams, position, n_open, probabilities = map(np.concatenate, zip(larger, before, strict=True))
    n_varying = int((position[0] != -np.inf).sum(axis=1).max())
    if k > n_varying:
        raise ValueError(
            f"n_features_to_select={k}, but only {n_varying} features (or groups) have more than one value."
        )
    sets, used = np.zeros(position.shape[1:], dtype=bool), np.zeros(len(learns))
    probability = np.zeros(sets.shape)
    for fold in range(len(learns)):
        enough = np.flatnonzero(n_open[:, fold] >= k)
        at = enough[lams[enough].argmax()] if len(enough) else lams.argmin()
        order = np.argsort(-position[at, fold], kind="stable")
        varying = order[position[at, fold, order] != -np.inf]
        n_kept = int((position[at, fold] == np.inf).sum())
        sets[fold, _without_copies(setting.design, varying, k, n_kept)] = True
        used[fold], probability[fold] = lams[at], probabilities[at, fold]
    return sets, used, probability


def _train(
    setting: Setting, lams: np.ndarray, learns: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the penalties, and of the models of each on every fold mu, how many gates are open, P(z > 0).

    mu is infinite for gates that are kept, and minus infinity for those of constant columns.
    """
    shape = len(lams), len(learns)
    weights, _ = setting.fold_weights(learns, len(lams))
    seed = setting.seed + np.tile(np.arange(len(learns)), len(lams))
    fixed = setting.fixed.to(weights.device)[None]
    trained, _ = setting.execute(setting.plan(np.repeat(lams, len(learns)), seed, weights, fixed))
    models = trained.models
    mu = torch.where(models.fixed == OPEN, torch.inf, models.gate_parameter)
    mu = torch.where(models.fixed == CLOSED, -torch.inf, mu)
    n_open = (models.gates() > 0).sum(1).cpu().numpy().reshape(shape)
    probability = to_numpy(models.open_probability()).reshape(*shape, -1)
    return lams, to_numpy(mu).reshape(*shape, -1), n_open, probability


def _without_copies(design: Design, order: np.ndarray, k: int, n_kept: int) -> list[int]:
    """Return the first k gates of an order; copies of earlier ones come last, but for the first n_kept.

    A gate is a copy when each of its columns has a correlation of 0.99 or more, in size, with a column of a
    gate already taken.
    """
    considered = order[: 2 * k + 10]  # among more than that, copies no longer crowd out what counts
    gate_of = design.gate_of_column().cpu()
    columns = torch.nonzero(torch.isin(gate_of, torch.from_numpy(considered)))[:, 0]
    X = design.columns.take(columns.to(design.columns.device)).dense().double()
    X = X - X.mean(0)
    X = X / X.square().sum(0).sqrt().clamp_min(torch.finfo(X.dtype).tiny)
    alike = ((X.T @ X).abs() >= COPY).cpu().numpy()
    owner = gate_of[columns].numpy()
    taken: list[int] = []
    waiting: list[int] = []
    covered = np.zeros(len(columns), dtype=bool)
    for gate in considered:
        own = owner == gate
        if covered[own].all() and len(taken) >= n_kept:
            waiting.append(int(gate))
        else:
            taken.append(int(gate))
            covered |= alike[own].any(axis=0)
    rest = [int(gate) for gate in order[len(considered) :]]
    return [*taken, *rest, *waiting][:k]
