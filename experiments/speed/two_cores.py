"""Fair clocks: two cores for all, turns for rivals, a process of its own where memory is measured."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

import torch

Fits = Mapping[str, Callable[[], Any]]


@contextmanager
def two_cores() -> Iterator[None]:
    """Leave this process two cores and two threads, where the system can say which cores it may use."""
    threads = torch.get_num_threads()
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    torch.set_num_threads(2)
    if cores:
        os.sched_setaffinity(0, sorted(cores)[:2])
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        if cores:
            os.sched_setaffinity(0, cores)


def in_turns(fits: Fits, n_turns: int) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Run actions in turns, so that all meet the same machine.

    Returns
    -------
    dict
        The seconds of each action, one per turn.
    dict
        What each returned last.

    Examples
    --------
    >>> from experiments.speed.two_cores import in_turns
    >>> seconds, found = in_turns({"ours": lambda: 1, "peer": lambda: 2}, n_turns=3)
    >>> len(seconds["peer"]), found
    (3, {'ours': 1, 'peer': 2})
    """
    seconds: dict[str, list[float]] = {name: [] for name in fits}
    found = {}
    for _ in range(n_turns):
        for name, fit in fits.items():
            start = time.perf_counter()
            found[name] = fit()
            seconds[name].append(time.perf_counter() - start)
    return seconds, found


@contextmanager
def busy_neighbour() -> Iterator[None]:
    """Keep one core busy in another process."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def in_own_process(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns in a fresh process, so that its peak memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()
