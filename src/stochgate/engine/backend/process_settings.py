"""The process's settings for the time of a training: threads, memory, the GPU's way to multiply."""

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache

import torch

# Multiplications a step that keep a thread busy: those of shorter steps wait for Python's lock instead.
_PER_THREAD = 2.5e7
# glibc's names for the largest block taken from its heap and the most free memory it keeps there,
_LARGEST_OF_HEAP, _KEPT = -3, -1
# and what a process that frees large blocks ends up with by itself.
_USUAL = {_LARGEST_OF_HEAP: 32 << 20, _KEPT: 64 << 20}
_lock = threading.Lock()
_users = 0  # trainings under way in this process
_restore = ExitStack()  # what the last of them puts back


def useful_threads(work: float) -> int:
    """Return how many of torch's threads so many multiplications per step keep busy."""
    return max(1, min(torch.get_num_threads(), int(work / _PER_THREAD)))


@contextmanager
def process_set_for(
    n_threads: int, tf32: bool, device: torch.device, keep_memory: bool = False
) -> Iterator[None]:
    """Set the process up for a training, and restore it afterwards.

    If several threads train at once, the first one changes the settings and the last one restores them.

    Parameters
    ----------
    n_threads : int
        How many threads share an operation; threads that torch starts later get the same number.
    tf32 : bool
    device : torch.device
    keep_memory : bool
        Whether to keep the memory that one step frees for the next (`freed_memory_kept`).
    """
    global _users, _restore
    with _lock:
        if _users == 0:
            _restore = ExitStack()
            _restore.enter_context(_threads(n_threads))
            if keep_memory:
                _restore.enter_context(freed_memory_kept())
            if device.type == "cuda":
                _restore.enter_context(_tf32(tf32))
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _restore.close()


@contextmanager
def _threads(n: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(min(n, before))
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def _tf32(allowed: bool) -> Iterator[None]:
    """Multiply in TF32 or not."""
    matmul = torch.backends.cuda.matmul
    name = "allow_tf32"
    try:
        before = matmul.allow_tf32
        matmul.allow_tf32 = allowed
    except RuntimeError:  # torch refuses the older name once the newer one was used
        name, before = "fp32_precision", matmul.fp32_precision
        matmul.fp32_precision = "tf32" if allowed else "ieee"
    try:
        yield
    finally:
        setattr(matmul, name, before)


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Keep the memory that one step frees for the next, instead of giving it back to the system.

    A step allocates the same large tensors as the one before. Given back in between, their pages have to be
    mapped and cleared again each time, which takes longer than the arithmetic of a small network. Whoever
    has set this by glibc's environment variables is left alone. Afterwards glibc stands as it
    would in a process that has freed large blocks, and what is free goes back.
    """
    c = _glibc()
    if c is None or {"MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"} & set(os.environ):
        yield
        return
    for name, usual in _USUAL.items():
        if not c.mallopt(name, 1 << 30):  # older ones refuse that much
            c.mallopt(name, usual)
    try:
        yield
    finally:
        for name, usual in _USUAL.items():
            c.mallopt(name, usual)
        c.malloc_trim(0)


@cache
def _glibc() -> ctypes.CDLL | None:
    """Return the C library where it is glibc."""
    try:
        c = ctypes.CDLL("libc.so.6")
        return c if hasattr(c, "mallopt") and hasattr(c, "malloc_trim") else None
    except OSError:
        return None
