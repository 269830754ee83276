"""One network's path: every penalty on every fold, the survivors once more, then refits."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch

from stochgate.engine import CLOSED, FREE, OPEN, Plan
from stochgate.engine.trained import fix
from stochgate.selection.folds import LEARNS
from stochgate.selection.setting import Setting, or_infinity, to_numpy

N_SURVIVORS = 3  # the penalties of a path whose features are trained once more,
HARDER = (2.0, 4.0)  # under so many times their penalty
WORTH = 1.1  # a cell is refitted when its loss is below this multiple of the base rate's
RIVAL = 0.3  # the share of the best network's gain at which another goes on
CLEAR = 0.02  # the share of the base rate's loss that a clear gain exceeds
N_LARGER = 4  # so many larger penalties are tried at most, each this multiple of the one before,
LARGER = 1.8
MOST = 0.5  # while the largest leaves more than this share of the free gates open to the end
ENOUGH = 380  # rows that one step of a path learns from, at least
MOST_PARTS = 8  # of the rows that are kept apart; more are gathered as mini-batches
_SURVIVORS_SEED = 1 << 20  # survivors meet other noise than on the path


@dataclass(frozen=True)
class Cells:
    """Models of one stage: n_cells penalties (or sets of features), each on n_folds folds.

    Attributes
    ----------
    stage : {"path", "survivors", "refit"}
    lams : ndarray, shape (n_cells,)
    losses, train : ndarray, shape (n_cells, n_folds)
        On held-out rows, and on the rows learnt from, at each cell's best step; infinite where a model
        diverged.
    by_block : ndarray, shape (n_cells, n_folds, n_blocks)
        The held-out losses, block by block of the rows.
    step : ndarray of int, shape (n_cells,)
        The step at which a cell's mean held-out loss is lowest.
    opened, settled : ndarray of bool, shape (n_cells, n_folds, n_gates)
        The gates open at that step, and at the last one: a network that goes on to memorise has its best
        step before the gates have closed.
    probability : ndarray, shape (n_cells, n_gates)
        P(z > 0), mean over the folds.
    """

    stage: str
    lams: np.ndarray
    losses: np.ndarray
    train: np.ndarray
    by_block: np.ndarray
    step: np.ndarray
    opened: np.ndarray
    settled: np.ndarray
    probability: np.ndarray

    def before(self, others: "Cells") -> "Cells":
        """Return these cells and after them others of the same stage and folds."""
        names = [field.name for field in fields(self) if field.name != "stage"]
        joined = (np.concatenate([getattr(self, name), getattr(others, name)]) for name in names)
        return Cells(self.stage, *joined)

    def voted(self, *, at_end: bool = False) -> np.ndarray:
        """Return the gates at least half of the folds open, or have open at the end: (n_cells, n_gates)."""
        return (self.settled if at_end else self.opened).mean(axis=1) >= 0.5


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
    gains = np.array([empty.mean() - path.losses.mean(axis=1).min() for path in paths])
    clear = gains.max() > CLEAR * empty.mean()
    return [
        [path] if clear and gain < RIVAL * gains.max() else [path, *go_on(setting, path, learns, empty)]
        for setting, path, gain in zip(settings, paths, gains, strict=True)
    ]


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
) -> Cells:
    """Train cells on folds as one plan.

    Parameters
    ----------
    setting : Setting
    stage : {"path", "survivors", "refit"}
        Refits hold the gates open that the others train.
    lams : ndarray, shape (n_cells,)
    learns : ndarray, shape (n_folds, n_samples), as of `make_folds`
    allowed : ndarray of bool, shape (n_cells, n_folds, n_gates), optional
        The gates a model may open; all by default.
    first_seed : int
        Added to the seeds, for folds that go on where others ended.
    """
    plan = _plan_cells(setting, stage, lams, learns, allowed, first_seed)
    models, of = _distinct(plan, len(learns))
    if len(models) < plan.n_models:
        plan = plan.take(torch.tensor(models))
    trained, _ = setting.execute(plan)
    losses = or_infinity(trained.held_out_loss)  # (n_snapshots, n_distinct)
    best = losses[:, of].mean(axis=2).argmin(axis=0)  # (n_cells,)
    at = best[:, None], of
    fixed = trained.models.fixed[of]
    gates, last = trained.gate_path[at], trained.gate_path[-1][of]  # (n_cells, n_folds, n_gates)
    opened, settled = (fix(setting.gate.value(g), fixed) > 0 for g in (gates, last))
    return Cells(
        stage,
        np.asarray(lams, dtype=float),
        losses[at],
        to_numpy(trained.train_loss)[at],
        to_numpy(trained.block_loss)[at],
        trained.steps.numpy()[best],
        opened.cpu().numpy(),
        settled.cpu().numpy(),
        to_numpy(fix(setting.gate.open_probability(gates), fixed)).mean(axis=1),
    )


def _plan_cells(
    setting: Setting,
    stage: str,
    lams: np.ndarray,
    learns: np.ndarray,
    allowed: np.ndarray | None,
    first_seed: int,
) -> Plan:
    """Plan the models of some cells, all folds of one penalty after another."""
    weights, test = setting.fold_weights(learns, len(lams))
    fixed = setting.fixed.to(weights.device)[None]
    if allowed is not None:
        free = torch.from_numpy(allowed.reshape(-1, allowed.shape[2])).to(weights.device)
        given = torch.where(free, OPEN if stage == "refit" else FREE, CLOSED)
        fixed = torch.where(fixed == OPEN, fixed, given).to(torch.int8)
    seed = setting.seed + first_seed + np.tile(np.arange(len(learns)), len(lams))
    judged = {"test_weights": test, "blocks": setting.block_tensor()}
    if stage == "refit":
        return setting.refit_plan(seed, weights, fixed, **judged)
    seed = seed + _SURVIVORS_SEED * (stage == "survivors")
    plan = setting.plan(np.repeat(lams, len(learns)), seed, weights, fixed, **judged)
    return with_fewer_rows(plan, learns) if stage == "path" else plan


def _distinct(plan: Plan, n_folds: int) -> tuple[list[int], np.ndarray]:
    """Return the models that differ, and which of them each cell has on each fold: (n_cells, n_folds).

    Refits have no penalty, so those of the same features on the same fold are one model.
    """
    fixed = (row.tobytes() for row in plan.fixed.cpu().numpy())
    first: dict[Any, int] = {}
    of = [
        first.setdefault(model, i)
        for i, model in enumerate(zip(plan.seed.tolist(), plan.lam.tolist(), fixed, strict=True))
    ]
    models, place = np.unique(of, return_inverse=True)
    return models.tolist(), place.reshape(-1, n_folds)


def with_fewer_rows(plan: Plan, learns: np.ndarray) -> Plan:
    """Let the steps see parts of many rows in turn, unless the user has said how many they see.

    The gates' noise is far larger than that of so many rows. Risk sets are left whole.
    """
    n_samples = learns.shape[1]
    n_parts = int((learns == LEARNS).sum(axis=1).min()) // ENOUGH
    if n_parts < 2 or plan.training.batch_size is not None or not plan.objective.by_row:
        return plan
    if n_parts > MOST_PARTS:
        plan.training.set_params(batch_size=int(np.ceil(n_samples / n_parts)))
        return plan
    order = torch.randperm(n_samples, generator=torch.Generator().manual_seed(plan.data_seed))
    return replace(plan, turns=order.tensor_split(n_parts))


def _small(gates: np.ndarray, n_features: int) -> np.ndarray:
    return gates.sum(axis=2).max(axis=1) <= n_features


def _worth(cells: Cells, empty: np.ndarray) -> np.ndarray:
    return cells.losses.mean(axis=1) < WORTH * empty.mean()
