"""Exactly k gates: one joint set from one model, not the k most frequent."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from stochgate.choice.auto import held_out_means
from stochgate.choice.comparison import start_comparison
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.final import Choice, FinalModel, train_final
from stochgate.choice.gate_history import GateHistory, read_history
from stochgate.choice.recipe import make_recipe
from stochgate.choice.rows import with_fewer_rows
from stochgate.choice.rules import list_candidates
from stochgate.choice.sets.candidates import judge_kept
from stochgate.choice.sets.cells import train_cells
from stochgate.choice.sets.elimination import eliminate
from stochgate.choice.sets.growing import first_of
from stochgate.choice.sets.path import make_lams
from stochgate.choice.sets.promising import takes_few
from stochgate.choice.sets.refits import team_size
from stochgate.choice.signal import find_signal
from stochgate.choice.tables import path_table
from stochgate.engine import CLOSED, OPEN, Design
from stochgate.problem.problem import Problem, to_numpy


def fit_exactly(
    problem: Problem, cv: Any, groups: Any, k: int, alpha: float, names: list[Any]
) -> FinalModel:
    """Choose the network by held-out rows, and k gates by one model on all rows.

    Parameters
    ----------
    problem, cv, groups, alpha, names : as in `fit_auto`
    k : int
    """
    refuse_impossible_number(problem, k)
    comparison = start_comparison(problem, cv, groups)
    lams, folds = lams_for_k(problem), comparison.first
    with_all_rows = np.vstack([folds, np.ones_like(folds[:1])])
    on_all, stages = [], []
    problems = {name: seen for name, seen in comparison.problems.items() if not takes_few(seen)}
    comparison = replace(comparison, problems=problems or comparison.problems)
    order = eliminate(comparison.simplest, comparison.bank, with_all_rows)
    for seen in comparison.problems.values():
        sets, used, probability, history = joint_sets(seen, lams, with_all_rows, k)
        on_all.append((float(used[-1]), probability[-1], history))
        size = team_size(seen, DEFAULTS.n_judging)
        both = [sets, first_of(order, [k])[0]] if seen.inputs.encoding is None else [sets]
        stages.append(
            [
                train_cells(
                    seen, "team", used[-1:], folds, made[None, :-1], support=made[-1:], n_members=size
                )
                for made in both
            ]
        )
    candidates = list_candidates(stages)
    chosen = min(candidates, key=lambda c: (c.loss, c.network))
    network = comparison.networks[chosen.network]
    lam, probability, history = on_all[chosen.network]
    frequency = chosen.opened.mean(axis=0)
    kept, kept_blocks = judge_kept(comparison)
    return train_final(
        Choice(
            network=network,
            recipe=make_recipe(chosen, np.zeros_like(chosen.support)),
            lam=lam,
            frequency=frequency,
            importance=(frequency + probability) / 2,
            table=path_table(candidates, comparison.networks, problem.gates.spread, names),
            signal=find_signal(candidates, comparison, kept_blocks, alpha),
            comparison=comparison.only(network),
            candidates=[chosen],
            opened=chosen.opened,
            losses=held_out_means(comparison, candidates, chosen, kept),
            gate_history=history,
        )
    )


def lams_for_k(problem: Problem) -> np.ndarray:
    """Return the penalties among which one leaves k gates open, shape (n_lams,), falling."""
    return make_lams(problem.n_samples, DEFAULTS.smallest_lam_for_k) * problem.gates.n_gates


def refuse_impossible_number(problem: Problem, k: int) -> None:
    """Raise ValueError where exactly k gates cannot be open."""
    n_kept, n_gates = int(problem.gates.keep.sum()), problem.gates.n_gates
    if k > n_gates:
        raise ValueError(
            f"n_features_to_select={k}, but there are {n_gates} features (or groups) to select from."
        )
    if k < n_kept:
        raise ValueError(f"n_features_to_select={k}, but always_keep names {n_kept} features (or groups).")


def joint_sets(
    problem: Problem, lams: np.ndarray, folds: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, GateHistory]:
    """Return k gates for each fold, the penalty they are from, and P(z > 0) of all gates there.

    The history is of the model that the last fold's gates are from.

    Larger penalties are added while the largest leaves more than k gates open in any fold. Of a fold's
    models the one is taken that has the largest penalty with at least k gates open, and of its gates the k
    furthest open; where even the smallest penalty leaves fewer, that model's closed gates
    follow in the order of how far they are from open. A gate whose columns are copies of ones already
    taken does not count as open, and waits until no other is left.

    Parameters
    ----------
    problem : Problem
    lams : ndarray, shape (n_lams,)
    folds : ndarray, shape (n_folds, n_samples), from `make_folds`
    k : int
        Gates that are kept count; constant columns cannot be chosen.
    """
    lams, mu, is_open, probability, histories = _train(problem, lams, folds)
    n_varying = int((mu[0] != -np.inf).sum(axis=1).max())
    if k > n_varying:
        raise ValueError(
            f"n_features_to_select={k}, but only {n_varying} features (or groups) have more than one value."
        )
    each = range(len(folds))
    for _ in range(DEFAULTS.n_larger_for_k):
        if max(_rank(problem.design, mu[0, fold], is_open[0, fold], k)[1] for fold in each) <= k:
            break
        larger = _train(problem, lams[:1] * DEFAULTS.larger, folds)
        if (larger[2] | (larger[1] == -np.inf)).all():  # the steps are too few to close any
            break
        before = lams, mu, is_open, probability, histories
        lams, mu, is_open, probability, histories = map(np.concatenate, zip(larger, before, strict=True))
    sets, used = np.zeros(mu.shape[1:], dtype=bool), np.zeros(len(folds), dtype=int)
    for fold in each:
        for at in range(len(lams)):  # from the largest penalty down
            ranked, n_open = _rank(problem.design, mu[at, fold], is_open[at, fold], k)
            if n_open >= k:
                break
        sets[fold, ranked[:k]], used[fold] = True, at
    return sets, lams[used], probability[used, each], histories[used[-1]]


def _train(
    problem: Problem, lams: np.ndarray, folds: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the penalties, and of the models of each on every fold mu, whether gates are open, P(z > 0).

    mu is infinite for gates that are kept, and minus infinity for those of constant columns. The last are
    the last fold's gate histories, one per penalty.
    """
    shape = len(lams), len(folds), -1
    weights, _ = problem.fold_weights(folds, len(lams))
    seed = problem.seed + np.tile(np.arange(len(folds)), len(lams))
    plan = problem.plan(np.repeat(lams, len(folds)), seed, weights, problem.fixed[None], stage="path")
    trained, _ = problem.execute(with_fewer_rows(plan))
    models = trained.models
    mu = torch.where(models.fixed == OPEN, torch.inf, models.gate_parameter)
    mu = torch.where(models.fixed == CLOSED, -torch.inf, mu)
    is_open = (models.gates() > 0).cpu().numpy().reshape(shape)
    probability = to_numpy(models.open_probability()).reshape(shape)
    last = range(len(folds) - 1, plan.n_models, len(folds))
    histories = np.array([read_history(trained, slice(i, i + 1)) for i in last], dtype=object)
    return lams, to_numpy(mu).reshape(shape), is_open, probability, histories


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
    alike = ((X.T @ X).abs() >= DEFAULTS.copy).cpu().numpy()
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
