"""How many rows a step sees, and how many judge: of very many, more would change no decision."""

from dataclasses import replace

import numpy as np
import torch
from sklearn.base import clone

from stochgate.choice.defaults import DEFAULTS
from stochgate.engine import CLOSED, FREE, Plan
from stochgate.problem.rows import IDLE, JUDGES


def limit_judges(folds: np.ndarray, strata: np.ndarray, seed: int) -> np.ndarray:
    """Let about 5,000 rows judge; the others that a fold holds out do nothing there.

    They are drawn from every fold and stratum alike, but 50 of each at least.

    Parameters
    ----------
    folds : ndarray, shape (n_folds, n_samples), from `make_folds`
    strata : ndarray of int, shape (n_samples,)
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> from stochgate.choice.rows import limit_judges
    >>> folds = np.arange(20_000) % 5 != np.arange(5)[:, None]
    >>> limited = limit_judges(folds.astype(np.int8), np.zeros(20_000, dtype=int), seed=0)
    >>> (limited == 0).sum(axis=1), int((limited == 1).sum())
    (array([1000, 1000, 1000, 1000, 1000]), 80000)
    """
    held_out = folds == JUDGES
    n_judging = int(held_out.any(axis=0).sum())
    if n_judging <= DEFAULTS.most_judging:
        return folds
    rng, keeps = np.random.RandomState(seed), np.zeros(folds.shape[1], dtype=bool)
    _, kind = np.unique(np.column_stack([held_out.argmax(axis=0), strata]), axis=0, return_inverse=True)
    for number in range(kind.max() + 1):
        rows = rng.permutation(np.flatnonzero((kind.ravel() == number) & held_out.any(axis=0)))
        share = round(len(rows) * DEFAULTS.most_judging / n_judging)
        keeps[rows[: max(share, DEFAULTS.fewest_judging)]] = True
    return np.where(held_out & ~keeps, np.int8(IDLE), folds)


def with_fewer_rows(plan: Plan, enough: int | None = None) -> Plan:
    """Let steps see parts of many rows in turn, and snapshots only the rows that judge.

    Risk sets are left whole, and what the user has said of mini-batches holds. A linear model that is
    judged sees the same part at every step, since it follows its exact gradient.

    Parameters
    ----------
    plan : Plan
    enough : int, optional
        Rows to learn from that each step sees at least; by default as gates are trained or held open.
    """
    if not plan.objective.by_row:
        return plan
    plan = replace(plan, judged=_judged(plan))
    if plan.training.batch_size is not None:
        return plan
    n_samples = plan.weights.shape[1]
    n_learning = int((plan.weights > 0).sum(1).min())
    if enough is None:
        enough = DEFAULTS.rows_per_refit_step
        if (plan.fixed == FREE).any():
            enough = n_learning if n_learning < DEFAULTS.rows_seen_whole else DEFAULTS.rows_per_gated_step
    order = torch.randperm(n_samples, generator=torch.Generator().manual_seed(plan.data_seed))
    if plan.accelerated:
        if plan.test_weights is None or n_learning <= DEFAULTS.rows_of_linear:
            return plan
        return replace(plan, turns=(order[: n_samples * DEFAULTS.rows_of_linear // n_learning],))
    n_parts = n_learning // enough
    if n_parts < 2:
        return plan
    if n_parts > DEFAULTS.most_parts:
        batch_size = int(np.ceil(n_samples / n_parts))
        return replace(plan, training=clone(plan.training).set_params(batch_size=batch_size))
    return replace(plan, turns=order.tensor_split(n_parts))


def for_stream(plan: Plan, n_rows: int) -> Plan:
    """Let the steps of a plan see every row of a stream, in mini-batches.

    What the user has said of mini-batches holds, and then the number of steps does too. Otherwise there are
    at least as many steps as it takes to see every row once.

    Parameters
    ----------
    plan : Plan
    n_rows : int
        Of the stream.
    """
    given = plan.training
    size, n_steps = given.batch_size, given.n_steps
    if size is None:
        n_columns = int((plan.fixed != CLOSED).any(0).sum())
        most = min(DEFAULTS.most_streamed, max(1, DEFAULTS.most_streamed_numbers // max(1, n_columns)))
        few = min(DEFAULTS.rows_per_final_step, most)
        size = int(np.clip(n_rows // DEFAULTS.streamed_steps, few, most))
        n_steps = max(n_steps, -(-n_rows // size))
    training = clone(given).set_params(batch_size=size, n_steps=n_steps)
    judged = _judged(plan) if plan.objective.by_row else None
    return replace(plan, training=training, judged=judged, last_step=None, accelerated=False)


def _judged(plan: Plan) -> torch.Tensor | None:
    """Return the rows on which snapshots are taken, None for all: those that judge, or some of many."""
    n_samples, device = plan.weights.shape[1], plan.weights.device
    if n_samples <= DEFAULTS.most_judging:
        return None
    if plan.test_weights is not None:
        judging = torch.nonzero((plan.test_weights > 0).any(0))[:, 0]
        return judging if len(judging) < n_samples else None
    order = torch.randperm(n_samples, generator=torch.Generator().manual_seed(plan.data_seed))
    return order[: DEFAULTS.most_judging].sort().values.to(device)
