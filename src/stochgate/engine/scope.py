"""torch's global settings for the time of a training: threads and the GPU's way to multiply."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from stochgate.engine.plan import Plan

# Multiplications a step that keep a thread busy for longer than it takes to wake it up and wait for it.
_PER_THREAD = 3e7


@contextmanager
def torch_set_for(plan: Plan, n_columns: int, n_rows: int, n_outputs: int) -> Iterator[None]:
    """Set torch up for training a plan, and put everything back.

    A step of little work gets few threads: on small tensors threads wait for each other, and on a busy
    machine for very long. No more are used than torch was allowed before, so that a worker of a pool keeps
    its share.
    """
    weights, _ = plan.network.floats(n_columns, n_rows, n_outputs)
    work = 3.0 * plan.n_models * plan.training.n_draws * weights * n_rows
    threads, tf32 = torch.get_num_threads(), torch.backends.cuda.matmul.allow_tf32
    torch.set_num_threads(max(1, min(threads, int(work / _PER_THREAD))))
    torch.backends.cuda.matmul.allow_tf32 = plan.training.tf32
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.backends.cuda.matmul.allow_tf32 = tf32
