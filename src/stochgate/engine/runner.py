"""Where plans are trained."""

from stochgate.engine.batches import RowStream
from stochgate.engine.chunks import execute
from stochgate.engine.data import Design
from stochgate.engine.plan import Plan
from stochgate.engine.record import Callback
from stochgate.engine.trained import Trained
from stochgate.objectives.base import Target


class Runner:
    """Trains plans in this process; others train them elsewhere, or keep on disk what is done."""

    def run(
        self,
        plan: Plan,
        design: Design,
        target: Target,
        callbacks: tuple[Callback, ...] = (),
        stream: RowStream | None = None,
    ) -> Trained:
        """Train a plan; all as in `execute`."""
        return execute(plan, design, target, callbacks, stream)
