"""A stream of rows that is read once for several stacks which train side by side."""

import threading
from collections import deque
from collections.abc import Iterator

from stochgate.engine.batches import Average, Batch, RowStream
from stochgate.engine.data import Design
from stochgate.engine.plan import Plan

MOST_AHEAD = 8  # batches that the fastest stack may be ahead of the slowest, which are kept,
PATIENCE_S = 60.0  # unless that one has not moved for so long: it may have failed


class SharedStream:
    """Gives every stack the same batches; each is made once and kept until all have seen it.

    Parameters
    ----------
    stream : RowStream
    n_stacks : int
    """

    def __init__(self, stream: RowStream, n_stacks: int):
        self.stream, self.n_stacks = stream, n_stacks
        self.moved = threading.Condition()
        self.source: Iterator[Batch] | None = None
        self.kept: deque[Batch] = deque()
        self.first = 0  # the step of the first batch that is kept
        self.places: list[int] = []  # the step that each stack sees next

    @property
    def average(self) -> Average | None:
        """What averages gradients over processes."""
        return self.stream.average

    def batches(self, design: Design, plan: Plan, start: int = 0) -> Iterator[Batch]:
        """Yield what each step sees; one that begins before the others reads by itself."""
        with self.moved:
            if self.source is None:
                self.source, self.first = self.stream.batches(design, plan, start), start
            shares = start >= self.first and len(self.places) < self.n_stacks
            number = len(self.places)
            if shares:
                self.places.append(start)
        return self._shared(number) if shares else self.stream.batches(design, plan, start)

    def _shared(self, number: int) -> Iterator[Batch]:
        try:
            while True:
                with self.moved:
                    batch = self._next(number)
                yield batch
        finally:
            with self.moved:
                self.places[number] = 1 << 62
                self._let_go()

    def _next(self, number: int) -> Batch:
        """Return a stack's next batch, and let go of what all have seen."""
        assert self.source is not None
        place = self.places[number]
        while place - self._slowest() >= MOST_AHEAD and self.moved.wait(PATIENCE_S):
            pass
        while place >= self.first + len(self.kept):
            self.kept.append(next(self.source))
        batch = self.kept[place - self.first]
        self.places[number] += 1
        self._let_go()
        return batch

    def _slowest(self) -> int:
        """Return the step of the slowest stack; one that has not begun is where the stream began."""
        return min(self.places) if len(self.places) == self.n_stacks else self.first

    def _let_go(self) -> None:
        while self.kept and self.first < self._slowest():
            self.kept.popleft()
            self.first += 1
        self.moved.notify_all()
