"""Cells: penalties, or sets of features, trained and judged on every fold as one plan."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from stochgate.choice.gate_history import read_history
from stochgate.choice.rows import with_fewer_rows
from stochgate.choice.sets.losses import at_best, carry_on, held_out_losses
from stochgate.choice.sets.refits import plan_refits
from stochgate.engine import CLOSED, FREE, OPEN, Plan
from stochgate.engine.trained import fix
from stochgate.problem.problem import Problem, to_numpy

JOINT = ("growing", "elimination")  # stages that make sets of every size
REFITS = ("refit", *JOINT, "all", "team")  # stages whose gates are held open
_SURVIVORS_SEED = 1 << 20  # survivors meet other noise than on the path


@dataclass(frozen=True, kw_only=True)
class Cells:
    """Models of one stage: n_cells penalties (or sets of features), each on n_folds folds.

    Attributes
    ----------
    stage : {"path", "survivors", "refit", "growing", "elimination", "all", "team"}
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
        What a model on all rows uses: the gates at least half of the folds open or, of a set of given
        size, those that all rows give as the folds' rows gave theirs.
    probability : ndarray, shape (n_cells, n_gates)
        P(z > 0), mean over the folds.
    histories : ndarray of GateHistory, shape (n_cells,), or None
        Gates over training, mean over the folds; None where they are held open.
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
    histories: np.ndarray | None = None

    def before(self, others: "Cells") -> "Cells":
        """Return these cells and after them others of the same stage and folds."""
        names = [field.name for field in fields(self) if isinstance(getattr(self, field.name), np.ndarray)]
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(others, name)]) for name in names
        }
        return replace(self, **joined)


def vote(opened: np.ndarray) -> np.ndarray:
    """Return the gates that at least half of the folds open: (..., n_folds, n_gates) -> (..., n_gates)."""
    return opened.mean(axis=-2) >= 0.5


def train_cells(
    problem: Problem,
    stage: str,
    lams: np.ndarray,
    folds: np.ndarray,
    allowed: np.ndarray | None = None,
    first_seed: int = 0,
    *,
    support: np.ndarray | None = None,
    n_members: int = 1,
) -> Cells:
    """Train cells on folds as one plan.

    Parameters
    ----------
    problem : Problem
    stage : {"path", "survivors", "refit", "growing", "elimination", "all", "team"}
        The first two train the gates, the others hold them open.
    lams : ndarray, shape (n_cells,)
    folds : ndarray, shape (n_folds, n_samples), from `make_folds`
    allowed : ndarray of bool, shape (n_cells, n_folds, n_gates), optional
        The gates a model may open; all by default.
    first_seed : int
        Added to the seeds, for folds that go on where others ended.
    support : ndarray of bool, shape (n_cells, n_gates), optional
        What a model on all rows uses; by default the vote of the folds.
    n_members : int
        Models in each team, where gates are held open.
    """
    plan, of = _plan_cells(problem, stage, lams, folds, allowed, first_seed, n_members)
    trained, _ = problem.execute(plan)
    losses = held_out_losses(trained)  # (n_snapshots, n_models, 1 + n_blocks, n_shrinks)
    held_out, best, shrink = at_best(losses[:, of, 0])
    by_block = losses[best[:, None], of, 1:, shrink[:, None]]
    member = of * n_members
    fixed = trained.models.fixed[member]
    gates, last = trained.gate_path[best[:, None], member], trained.gate_path[-1][member]
    opened, settled = ((fix(problem.gate.value(g), fixed) > 0).cpu().numpy() for g in (gates, last))
    histories = None
    if stage not in REFITS:
        histories = np.array([read_history(trained, slice(i[0], i[-1] + 1)) for i in of], dtype=object)
    return Cells(
        stage=stage,
        lams=np.asarray(lams, dtype=float),
        losses=held_out,
        train=carry_on(to_numpy(trained.train_loss))[best[:, None], of],
        by_block=by_block,
        step=trained.steps.numpy()[best],
        shrink=np.array(plan.shrinks)[shrink],
        opened=opened,
        settled=settled,
        support=vote(opened) if support is None else support,
        probability=to_numpy(fix(problem.gate.open_probability(gates), fixed)).mean(axis=1),
        histories=histories,
    )


def _plan_cells(
    problem: Problem,
    stage: str,
    lams: np.ndarray,
    folds: np.ndarray,
    allowed: np.ndarray | None,
    first_seed: int,
    n_members: int,
) -> tuple[Plan, np.ndarray]:
    """Plan the models of some cells; return too which of the plan each cell has on each fold.

    Refits have no penalty, so those of the same features on the same fold are planned once.
    """
    weights, test = problem.fold_weights(folds, len(lams))
    fixed = problem.fixed.expand(len(weights), -1)
    refits = stage in REFITS
    if allowed is not None:
        free = torch.from_numpy(allowed.reshape(-1, allowed.shape[2])).to(weights.device)
        given = torch.where(free, OPEN if refits else FREE, CLOSED)
        fixed = torch.where(fixed == OPEN, fixed, given).to(torch.int8)
    seed = problem.seed + first_seed + np.tile(np.arange(len(folds)), len(lams))
    others: dict[str, Any] = {"test_weights": test, "blocks": problem.block_tensor(), "stage": stage}
    if refits:
        models, of = _distinct(seed, fixed)
        others |= {"test_weights": test[models], "n_members": n_members}
        plan = plan_refits(problem, seed[models], weights[models], fixed[models], **others)
        return with_fewer_rows(plan), of.reshape(-1, len(folds))
    seed = seed + _SURVIVORS_SEED * (stage == "survivors")
    plan = problem.plan(np.repeat(lams, len(folds)), seed, weights, fixed, **others)
    return with_fewer_rows(plan), np.arange(plan.n_models).reshape(-1, len(folds))


def _distinct(seed: np.ndarray, fixed: Tensor) -> tuple[list[int], np.ndarray]:
    """Return the models that differ in seed (of the fold) or gates, and which of them each model equals."""
    first: dict[Any, int] = {}
    gates = (row.tobytes() for row in fixed.cpu().numpy())
    of = [first.setdefault(model, i) for i, model in enumerate(zip(seed.tolist(), gates, strict=True))]
    models, place = np.unique(of, return_inverse=True)
    return models.tolist(), place


def agreement(opened: np.ndarray, support: np.ndarray | None = None) -> float:
    """Return the mean Jaccard overlap of the folds' gates, (n_folds, n_gates), with a set or their vote."""
    support = vote(opened) if support is None else support
    both, either = (opened & support).sum(axis=1), (opened | support).sum(axis=1)
    return float((both / np.maximum(either, 1)).mean())
