"""The process's settings for the time of a training: threads, memory, the GPU's way to multiply."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch

from stochgate.engine.plan import Plan

# Multiplications a step that keep a thread busy for longer than it takes to wake it up and wait for it.
_PER_THREAD = 3e7
# glibc's names for the largest block taken from its heap and the most free memory it keeps there,
_LARGEST_OF_HEAP, _KEPT = -3, -1
# and what a process that frees large blocks ends up with by itself.
_USUAL = {_LARGEST_OF_HEAP: 32 << 20, _KEPT: 64 << 20}


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
        with freed_memory_kept():
            yield
    finally:
        torch.set_num_threads(threads)
        torch.backends.cuda.matmul.allow_tf32 = tf32


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Keep the memory that one step frees for the next, instead of giving it back to the system.

    A step allocates the same large tensors as the one before. Given back in between, their pages have to be
    mapped and cleared again each time, which takes longer than the arithmetic of a small network.
    """
    c = _glibc()
    if c is None:
        yield
        return
    for name in _USUAL:
        c.mallopt(name, 1 << 30)
    try:
        yield
    finally:
        for name, value in _USUAL.items():
            c.mallopt(name, value)
        c.malloc_trim(0)


@cache
def _glibc() -> ctypes.CDLL | None:
    """Return the C library where it is glibc."""
    try:
        c = ctypes.CDLL("libc.so.6")
        return c if hasattr(c, "mallopt") and hasattr(c, "malloc_trim") else None
    except OSError:
        return None
