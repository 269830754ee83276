"""Where plans are trained."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from stochgate.engine.batches import RowStream
from stochgate.engine.chunks import SavedStacks, execute
from stochgate.engine.data import Design
from stochgate.engine.plan import Plan
from stochgate.engine.record import Callback
from stochgate.engine.trained import Trained
from stochgate.objectives.base import Target


class Runner:
    """Trains plans in this process; others train them elsewhere, or keep on disk what is done.

    Parameters
    ----------
    n_stacks : int, optional
        Into how many stacks a plan is cut at least, each trained by one thread, if it has as many models;
        by default as many as the cores that its steps keep busy. With the same number the results are the
        same to the bit, wherever the stacks are trained on CPUs of one kind.
    """

    in_this_process = True  # whether it trains here; if not, threads of this process may wait for it

    def __init__(self, n_stacks: int | None = None):
        self.n_stacks = n_stacks

    def run(
        self,
        plan: Plan,
        design: Design,
        target: Target,
        callbacks: tuple[Callback, ...] = (),
        stream: RowStream | None = None,
        saved: SavedStacks | None = None,
    ) -> Trained:
        """Train a plan; all as in `execute`."""
        return execute(plan, design, target, callbacks, stream, saved, self.n_stacks)

    def fresh(self) -> "Runner":
        """Return a runner of the same kind for one fit, with nothing kept from others."""
        return self

    def close(self) -> None:
        """Let go of what is kept for further plans."""


_current: ContextVar[Runner] = ContextVar("runner", default=Runner())  # noqa: B039 (it holds no state)


def current_runner() -> Runner:
    """Return the runner of the innermost `trained_by`, else one that trains in this process."""
    return _current.get()


@contextmanager
def trained_by(runner: Runner) -> Iterator[Runner]:
    """Let a runner train the plans of problems that have none of their own; close it at the end."""
    token = _current.set(runner)
    try:
        yield runner
    finally:
        _current.reset(token)
        runner.close()
