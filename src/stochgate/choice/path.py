"""One network's path: every penalty on every fold, the survivors once more, then refits."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stochgate.engine import CLOSED, FREE, OPEN, Plan
from stochgate.engine.trained import fix
from stochgate.problem.rows import LEARNS
from stochgate.problem.setting import Setting, at_best, carry_on, or_infinity, to_numpy

N_SURVIVORS = 3  # the penalties of a path whose features are trained once more,
HARDER = (2.0, 4.0)  # under so many times their penalty
WORTH = 1.1  # a cell is refitted when its loss is below this multiple of the base rate's
RIVAL = 0.3  # the share of the best network's gain at which another goes on
CLEAR = 0.02  # the share of the base rate's loss that a clear gain exceeds
N_LARGER = 4  # so many larger penalties are tried at most, each this multiple of the one before,
LARGER = 1.8
MOST = 0.5  # while the largest leaves more than this share of the free gates open to the end
ENOUGH = 380  # rows that a step with free gates learns from, at least: the gates' noise is far larger
ENOUGH_TO_REFIT = 190  # the same of models whose gates are held open
MOST_PARTS = 8  # of the rows that are kept apart; more are gathered as mini-batches
AGREED = 0.5  # the overlap with their vote at which the folds' sets count as the same set
REFITS = ("refit", "growing", "all", "team")  # stages whose gates are held open
_SURVIVORS_SEED = 1 << 20  # survivors meet other noise than on the path


@dataclass(frozen=True)
class Cells:
    """Models of one stage: n_cells penalties (or sets of features), each on n_folds folds.

    Attributes
    ----------
    stage : {"path", "survivors", "refit", "growing", "all", "team"}
    lams : ndarray, shape (n_cells,)
    losses, train : ndarray, shape (n_cells, n_folds)
        On held-out rows, and on the rows learnt from, at each cell's best step; infinite where a model
        diverged.
    by_block : ndarray, shape (n_cells, n_folds, n_blocks)
        The held-out losses, block by block of the rows.
    step : ndarray of int, shape (n_cells,)
        The step at which a cell's mean held-out loss is lowest.
    shrink : ndarray, shape (n_cells,)
        The shrink (`Plan.shrinks`) at which it is lowest; 1 where gates are trained.
    opened, settled : ndarray of bool, shape (n_cells, n_folds, n_gates)
        The gates open at that step, and at the last one: a network that goes on to memorise has its best
        step before the gates have closed.
    support : ndarray of bool, shape (n_cells, n_gates)
        What a model on all rows uses: the gates at least half of the folds open or, of a growing penalty,
        those of a model that was trained on all rows as the folds' models were.
    probability : ndarray, shape (n_cells, n_gates)
        P(z > 0), mean over the folds.
    """

    stage: str
    lams: np.ndarray
    losses: np.ndarray
    train: np.ndarray
    by_block: np.ndarray
    step: np.ndarray
    shrink: np.ndarray
    opened: np.ndarray
    settled: np.ndarray
    support: np.ndarray
    probability: np.ndarray

    def before(self, others: "Cells") -> "Cells":
        """Return these cells and after them others of the same stage and folds."""
        names = [field.name for field in fields(self) if field.name != "stage"]
        joined = (np.concatenate([getattr(self, name), getattr(others, name)]) for name in names)
        return Cells(self.stage, *joined)


def vote(opened: np.ndarray) -> np.ndarray:
    """Return the gates that at least half of the folds open: (..., n_folds, n_gates) -> (..., n_gates)."""
    return opened.mean(axis=-2) >= 0.5


def race(
    settings: Sequence[Setting], lams: np.ndarray, learns: np.ndarray, empty: np.ndarray
) -> list[list[Cells]]:
    """Train every network's path; those that may win go on with what it leaves.

    A network goes on when its path gains at least 30 % of what the best one gains over the model without
    features; all do while none gains anything to speak of.

    Parameters
    ----------
    settings : sequence of Setting, one a network
    lams : ndarray, shape (n_lams,)
    learns : ndarray, shape (n_folds, n_samples), as of `make_folds`
    empty : ndarray, shape (n_folds,)
        Losses of the model without features.
    """
    paths = [train_path(setting, lams, learns) for setting in settings]
    return [
        [path, *go_on(setting, path, learns, empty)] if goes_on else [path]
        for setting, path, goes_on in zip(settings, paths, may_win(paths, empty), strict=True)
    ]


def may_win(paths: Sequence[Cells], empty: np.ndarray) -> np.ndarray:
    """Return which networks gain enough on their paths to go on, shape (n_networks,)."""
    gains = np.array([empty.mean() - path.losses.mean(axis=1).min() for path in paths])
    clear = gains.max() > CLEAR * empty.mean()
    return (gains >= RIVAL * gains.max()) | (not clear)


def agree(path: Cells) -> bool:
    """Return whether the folds open the same features at any penalty that leaves some but not all."""
    return any(0 < opened.sum() < opened.size and agreement(opened) >= AGREED for opened in path.settled)


def train_path(setting: Setting, lams: np.ndarray, learns: np.ndarray) -> Cells:
    """Train every penalty on every fold, and larger ones while the largest leaves most gates open.

    With few columns and much to memorise the gain from all of them together may outweigh the penalty.

    Parameters
    ----------
    setting, lams, learns : as in `race`; the penalties fall
    """
    path = train_cells(setting, "path", lams, learns)
    free = setting.fixed.numpy() == FREE
    for _ in range(N_LARGER):
        if not free.any() or path.settled[0][:, free].mean() <= MOST:
            break
        path = train_cells(setting, "path", path.lams[:1] * LARGER, learns).before(path)
    return path


def go_on(setting: Setting, path: Cells, learns: np.ndarray, empty: np.ndarray) -> list[Cells]:
    """Train what a path leaves once more, under larger penalties, and refit what is left then.

    A fold goes on with the features it opened itself. The vote of the other folds must not prune them:
    those folds have seen the rows held out here, and on noise the models would look better than the base
    rate.
    """
    n_samples = learns.shape[1]
    some = (
        _small(path.opened, max(50, n_samples // 8))
        & ~path.opened.all(axis=(1, 2))
        & path.opened.any(axis=(1, 2))
    )
    best = np.flatnonzero(some)[path.losses[some].mean(axis=1).argsort(kind="stable")[:N_SURVIVORS]]
    stages = []
    if len(best):
        harder = np.multiply.outer(path.lams[best], HARDER).ravel()
        pool = path.opened[best].repeat(len(HARDER), axis=0)
        stages.append(train_cells(setting, "survivors", harder, learns, pool))
    unique = {
        gates[i].tobytes(): (cells.lams[i], gates[i])
        for cells in (path, *stages)
        for gates in (cells.opened, cells.settled)
        for i in np.flatnonzero(_small(gates, max(50, n_samples // 2)) & _worth(cells, empty))
        if agreement(gates[i]) >= AGREED
    }
    if unique:
        of, sets = zip(*unique.values(), strict=True)
        stages.append(train_cells(setting, "refit", np.array(of), learns, np.stack(sets)))
    return stages


def train_cells(
    setting: Setting,
    stage: str,
    lams: np.ndarray,
    learns: np.ndarray,
    allowed: np.ndarray | None = None,
    first_seed: int = 0,
    *,
    support: np.ndarray | None = None,
    n_members: int = 1,
) -> Cells:
    """Train cells on folds as one plan.

    Parameters
    ----------
    setting : Setting
    stage : {"path", "survivors", "refit", "growing", "all", "team"}
        The first two train the gates, the others hold them open.
    lams : ndarray, shape (n_cells,)
    learns : ndarray, shape (n_folds, n_samples), as of `make_folds`
    allowed : ndarray of bool, shape (n_cells, n_folds, n_gates), optional
        The gates a model may open; all by default.
    first_seed : int
        Added to the seeds, for folds that go on where others ended.
    support : ndarray of bool, shape (n_cells, n_gates), optional
        What a model on all rows uses; by default the vote of the folds.
    n_members : int
        Models in each team, where gates are held open.
    """
    plan, of = _plan_cells(setting, stage, lams, learns, allowed, first_seed, n_members)
    trained, _ = setting.execute(plan)
    losses = carry_on(to_numpy(trained.shrunk_loss))  # (n_snapshots, n_models, 1 + n_blocks, n_shrinks)
    held_out, best, shrink = at_best(or_infinity(losses)[:, of, 0])
    by_block = losses[best[:, None], of, 1:, shrink[:, None]]
    member = of * n_members
    fixed = trained.models.fixed[member]
    gates, last = trained.gate_path[best[:, None], member], trained.gate_path[-1][member]
    opened, settled = ((fix(setting.gate.value(g), fixed) > 0).cpu().numpy() for g in (gates, last))
    return Cells(
        stage,
        np.asarray(lams, dtype=float),
        held_out,
        carry_on(to_numpy(trained.train_loss))[best[:, None], of],
        by_block,
        trained.steps.numpy()[best],
        np.array(plan.shrinks)[shrink],
        opened,
        settled,
        vote(opened) if support is None else support,
        to_numpy(fix(setting.gate.open_probability(gates), fixed)).mean(axis=1),
    )


def _plan_cells(
    setting: Setting,
    stage: str,
    lams: np.ndarray,
    learns: np.ndarray,
    allowed: np.ndarray | None,
    first_seed: int,
    n_members: int,
) -> tuple[Plan, np.ndarray]:
    """Plan the models of some cells; return too which of the plan each cell has on each fold.

    Refits have no penalty, so those of the same features on the same fold are planned once.
    """
    weights, test = setting.fold_weights(learns, len(lams))
    fixed = setting.fixed.to(weights.device).expand(len(weights), -1)
    refits = stage in REFITS
    if allowed is not None:
        free = torch.from_numpy(allowed.reshape(-1, allowed.shape[2])).to(weights.device)
        given = torch.where(free, OPEN if refits else FREE, CLOSED)
        fixed = torch.where(fixed == OPEN, fixed, given).to(torch.int8)
    seed = setting.seed + first_seed + np.tile(np.arange(len(learns)), len(lams))
    if refits:
        models, of = _distinct(seed, fixed)
        judged = {"test_weights": test[models], "blocks": setting.block_tensor()}
        plan = setting.refit_plan(
            seed[models], weights[models], fixed[models], n_members=n_members, **judged
        )
        return with_fewer_rows(plan, learns), of.reshape(-1, len(learns))
    seed = seed + _SURVIVORS_SEED * (stage == "survivors")
    judged = {"test_weights": test, "blocks": setting.block_tensor()}
    plan = setting.plan(np.repeat(lams, len(learns)), seed, weights, fixed, **judged)
    return with_fewer_rows(plan, learns), np.arange(plan.n_models).reshape(-1, len(learns))


def _distinct(seed: np.ndarray, fixed: Tensor) -> tuple[list[int], np.ndarray]:
    """Return the models that differ in seed (of the fold) or gates, and which of them each model equals."""
    first: dict[Any, int] = {}
    gates = (row.tobytes() for row in fixed.cpu().numpy())
    of = [first.setdefault(model, i) for i, model in enumerate(zip(seed.tolist(), gates, strict=True))]
    models, place = np.unique(of, return_inverse=True)
    return models.tolist(), place


def with_fewer_rows(plan: Plan, learns: np.ndarray) -> Plan:
    """Let the steps see parts of many rows in turn, unless the user has said how many they see.

    The gates' noise is far larger than that of so many rows. Risk sets are left whole.
    """
    n_samples = learns.shape[1]
    enough = ENOUGH if (plan.fixed == FREE).any() else ENOUGH_TO_REFIT
    n_parts = int((learns == LEARNS).sum(axis=1).min()) // enough
    if n_parts < 2 or plan.training.batch_size is not None or not plan.objective.by_row or plan.accelerated:
        return plan
    if n_parts > MOST_PARTS:
        plan.training.set_params(batch_size=int(np.ceil(n_samples / n_parts)))
        return plan
    order = torch.randperm(n_samples, generator=torch.Generator().manual_seed(plan.data_seed))
    return replace(plan, turns=order.tensor_split(n_parts))


def agreement(opened: np.ndarray, support: np.ndarray | None = None) -> float:
    """Return the mean Jaccard overlap of the folds' gates, (n_folds, n_gates), with a set or their vote."""
    support = vote(opened) if support is None else support
    both, either = (opened & support).sum(axis=1), (opened | support).sum(axis=1)
    return float((both / np.maximum(either, 1)).mean())


def _small(gates: np.ndarray, n_features: int) -> np.ndarray:
    return gates.sum(axis=2).max(axis=1) <= n_features


def _worth(cells: Cells, empty: np.ndarray) -> np.ndarray:
    return cells.losses.mean(axis=1) < WORTH * empty.mean()
