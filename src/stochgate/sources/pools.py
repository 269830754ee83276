"""Rows in random order: parts of a table in a new order each time, shuffled in pools."""

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from stochgate.sources.sample import with_weight
from stochgate.sources.source import Block, Source

T = TypeVar("T")
N_OPEN = 4  # parts that are read side by side, so that a pool is a mixture of several,
OPEN_BYTES = 256 << 20  # but fewer of large ones, two at least


def shuffled_blocks(
    source: Source, features: Any, seed: list[int], shard: tuple[int, int] = (0, 1)
) -> Iterator[Block]:
    """Yield all rows of weight once, some parts at a time, the parts in an order drawn from the seed.

    Parameters
    ----------
    source : Source
    features : sequence of int, or None for all
    seed : list of int
    shard : tuple of int
        Which of how many shards to read; a shard has every so many-th part.
    """
    parts = np.arange(shard[0], source.n_parts, shard[1])
    waiting = np.random.default_rng(seed).permutation(parts).tolist()[::-1]
    n_open = int(np.clip(OPEN_BYTES // max(1, source.open_bytes(features)), 2, N_OPEN))
    is_open: list[Iterator[Block]] = []
    while waiting or is_open:
        while waiting and len(is_open) < n_open:
            is_open.append(source.read(waiting.pop(), features))
        for part in list(is_open):
            block = next(part, None)
            if block is None:
                is_open.remove(part)
                continue
            block = with_weight(block)
            if len(block.rows):
                yield block


def read_ahead(make: Callable[[], Iterator[T]]) -> Iterator[T]:
    """Yield what an iterator yields, made in a thread of its own while the one before is in use."""
    ready: queue.Queue[tuple[T | None, BaseException | None]] = queue.Queue(maxsize=1)
    ended = threading.Event()

    def put(item: tuple[T | None, BaseException | None]) -> bool:
        while not ended.is_set():
            try:
                ready.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def work() -> None:
        try:
            for value in make():
                if not put((value, None)):
                    return
            put((None, StopIteration()))
        except BaseException as error:  # raised where the values are used
            put((None, error))

    thread = threading.Thread(target=work, name="stochgate-reader", daemon=True)
    thread.start()
    try:
        while True:
            value, error = ready.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            assert value is not None
            yield value
    finally:
        ended.set()
        thread.join()
