"""Exactly k gates: one joint set from one model, not the k most frequent."""

import numpy as np
import torch

from stochgate.choice.path import LARGER
from stochgate.engine import CLOSED, OPEN, Design
from stochgate.problem.setting import Setting, to_numpy

COPY = 0.99  # the correlation, in size, from which a column tells nothing new
N_LARGER = 6  # so many larger penalties are tried at most


def joint_sets(
    setting: Setting, lams: np.ndarray, learns: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return k gates for each fold, the penalty they are from, and P(z > 0) of all gates there.

    Larger penalties are added while the largest leaves more than k gates open in any fold. Of a fold's
    models the one is taken that has the largest penalty with at least k gates open, and of its gates the k
    furthest open; where even the smallest penalty leaves fewer, that model's closed gates
    follow in the order of how far they are from open. A gate whose columns are copies of ones already
    taken does not count as open, and waits until no other is left.

    Parameters
    ----------
    setting : Setting
    lams : ndarray, shape (n_lams,)
    learns : ndarray, shape (n_folds, n_samples), as of `make_folds`
    k : int
        Gates that are kept count; constant columns can not be chosen.
    """
    lams, mu, is_open, probability = _train(setting, lams, learns)
    n_varying = int((mu[0] != -np.inf).sum(axis=1).max())
    if k > n_varying:
        raise ValueError(
            f"n_features_to_select={k}, but only {n_varying} features (or groups) have more than one value."
        )
    folds = range(len(learns))
    for _ in range(N_LARGER):
        if max(_rank(setting.design, mu[0, fold], is_open[0, fold], k)[1] for fold in folds) <= k:
            break
        larger = _train(setting, lams[:1] * LARGER, learns)
        if (larger[2] | (larger[1] == -np.inf)).all():  # the steps are too few to close any
            break
        before = lams, mu, is_open, probability
        lams, mu, is_open, probability = map(np.concatenate, zip(larger, before, strict=True))
    sets, used = np.zeros(mu.shape[1:], dtype=bool), np.zeros(len(learns), dtype=int)
    for fold in folds:
        for at in range(len(lams)):  # from the largest penalty down
            ranked, n_open = _rank(setting.design, mu[at, fold], is_open[at, fold], k)
            if n_open >= k:
                break
        sets[fold, ranked[:k]], used[fold] = True, at
    return sets, lams[used], probability[used, folds]


def _train(
    setting: Setting, lams: np.ndarray, learns: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the penalties, and of the models of each on every fold mu, whether gates are open, P(z > 0).

    mu is infinite for gates that are kept, and minus infinity for those of constant columns.
    """
    shape = len(lams), len(learns), -1
    weights, _ = setting.fold_weights(learns, len(lams))
    seed = setting.seed + np.tile(np.arange(len(learns)), len(lams))
    fixed = setting.fixed.to(weights.device)[None]
    trained, _ = setting.execute(setting.plan(np.repeat(lams, len(learns)), seed, weights, fixed))
    models = trained.models
    mu = torch.where(models.fixed == OPEN, torch.inf, models.gate_parameter)
    mu = torch.where(models.fixed == CLOSED, -torch.inf, mu)
    is_open = (models.gates() > 0).cpu().numpy()
    probability = to_numpy(models.open_probability())
    return lams, to_numpy(mu).reshape(shape), is_open.reshape(shape), probability.reshape(shape)


def _rank(design: Design, mu: np.ndarray, is_open: np.ndarray, k: int) -> tuple[list[int], int]:
    """Return the gates that vary, from the furthest open on, copies last; and how many others are open.

    A gate is a copy when each of its columns has a correlation of 0.99 or more, in size, with a column of a
    gate before it; those that are kept are none.
    """
    order = np.argsort(-mu, kind="stable")
    order = order[mu[order] != -np.inf]
    n_kept = int((mu == np.inf).sum())
    considered = order[: 2 * k + 10]  # among more than that, copies no longer crowd out what counts
    gate_of = design.gate_of_column().cpu()
    columns = torch.nonzero(torch.isin(gate_of, torch.from_numpy(considered)))[:, 0]
    X = design.columns.take(columns.to(design.columns.device)).dense().double()
    X = X - X.mean(0)
    X = X / X.square().sum(0).sqrt().clamp_min(torch.finfo(X.dtype).tiny)
    alike = ((X.T @ X).abs() >= COPY).cpu().numpy()
    owner = gate_of[columns].numpy()
    first: list[int] = []
    copies: list[int] = []
    covered = np.zeros(len(columns), dtype=bool)
    for gate in considered.tolist():
        own = owner == gate
        if covered[own].all() and len(first) >= n_kept:
            copies.append(gate)
        else:
            first.append(gate)
            covered |= alike[own].any(axis=0)
    first += order[len(considered) :].tolist()
    return first + copies, int(is_open[first].sum())
