"""A stream of rows that is read once for several stacks which train side by side."""

import threading
from collections import deque
from collections.abc import Iterator
from itertools import count

from stochgate.engine.batches import Average, Batch, RowStream
from stochgate.engine.data import Design
from stochgate.engine.plan import Plan

MOST_AHEAD = 8  # batches that the fastest stack may be ahead of the slowest, which are kept,
PATIENCE_S = 60.0  # unless that one has not moved for so long: it may have failed, so nobody waits on
GONE = 1 << 62  # the place of a stack that nobody waits for


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
        self.error: BaseException | None = None  # of reading, which every stack is told
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
            else:  # nobody waits for it
                self.n_stacks = max(len(self.places), self.n_stacks - 1)
                self.moved.notify_all()
        if shares:
            return self._shared(number, design, plan, start)
        return self.stream.batches(design, plan, start)

    def _shared(self, number: int, design: Design, plan: Plan, start: int) -> Iterator[Batch]:
        try:
            for step in count(start):
                with self.moved:
                    batch = self._next(number)
                if batch is None:  # the others have gone on without it
                    yield from self.stream.batches(design, plan, step)
                    return
                yield batch
        finally:
            with self.moved:
                self._give_up(number)

    def _next(self, number: int) -> Batch | None:
        """Return a stack's next batch, and let go of what all have seen; None if nobody waits for it."""
        place = self.places[number]
        if place == GONE:
            return None
        while place - self._slowest() >= MOST_AHEAD:
            slowest = self._slowest()
            if not self.moved.wait(PATIENCE_S) and self._slowest() == slowest:
                self._give_up_before(slowest + 1)
        while place >= self.first + len(self.kept):
            self.kept.append(self._read())
        batch = self.kept[place - self.first]
        self.places[number] += 1
        self._let_go()
        return batch

    def _read(self) -> Batch:
        assert self.source is not None
        if self.error is not None:
            raise self.error
        try:
            return next(self.source)
        except BaseException as error:
            self.error = error
            raise

    def _give_up(self, number: int) -> None:
        self.places[number] = GONE
        self._let_go()

    def _give_up_before(self, step: int) -> None:
        """Wait no more for the stacks that have not come to a step, nor for those that have not begun."""
        self.n_stacks = len(self.places)
        for number, place in enumerate(self.places):
            if place < step:
                self._give_up(number)

    def _slowest(self) -> int:
        """Return the step of the slowest stack; one that has not begun is where the stream began."""
        return min(self.places) if len(self.places) == self.n_stacks else self.first

    def _let_go(self) -> None:
        while self.kept and self.first < self._slowest():
            self.kept.popleft()
            self.first += 1
        self.moved.notify_all()
