"""The journal of a fit: every plan is trained once, and what came out is kept."""

from collections.abc import Callable
from pathlib import Path

from stochgate.engine.batches import RowStream
from stochgate.engine.checkpoint import store
from stochgate.engine.checkpoint.digest import digest_plan
from stochgate.engine.checkpoint.result import from_tensors, to_tensors
from stochgate.engine.checkpoint.state import StateFile, refuse_other
from stochgate.engine.chunks import SavedStacks
from stochgate.engine.data import Design
from stochgate.engine.plan import Plan
from stochgate.engine.record import Callback
from stochgate.engine.runner import Runner, current_runner
from stochgate.engine.trained import Trained
from stochgate.objectives.base import Target


class CheckpointRunner(Runner):
    """Trains plans one after another and keeps their results, or returns those that it finds.

    A fit is a fixed sequence of plans, so a result is known by its number; a digest of the plan tells that
    it is the same one. On a CPU long trainings keep their state, too; on a GPU results alone are kept.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path):
        super().__init__()
        self.folder, self.n_plans, self.is_over = folder, 0, False

    def run(
        self,
        plan: Plan,
        design: Design,
        target: Target,
        callbacks: tuple[Callback, ...] = (),
        stream: RowStream | None = None,
        saved: SavedStacks | None = None,
    ) -> Trained:
        """Train a plan or return what it had become; callbacks see what is trained."""
        if self.is_over:  # a fitted model trains on, as for its summary
            return current_runner().run(plan, design, target, callbacks, stream)
        self.n_plans += 1
        path = self.folder / f"plan-{self.n_plans:04}"
        mark = digest_plan(plan, design)
        found = store.read(path)
        if found is not None:
            refuse_other(self.folder, found["mark"], mark)
            self._remove_states(path)
            return from_tensors(found["trained"], plan, design, target)
        states = self._states(path, mark) if plan.weights.device.type == "cpu" else None
        trained = current_runner().run(plan, design, target, callbacks, stream, states)
        store.write(path, {"mark": mark, "trained": to_tensors(trained)})
        self._remove_states(path)
        return trained

    def _states(self, path: Path, mark: str) -> Callable[[int, int], StateFile]:
        def of_stack(number: int, n_stacks: int) -> StateFile:
            return StateFile(path.with_suffix(f".state-{number}"), f"{mark} {number} of {n_stacks}")

        return of_stack

    def _remove_states(self, path: Path) -> None:
        for state in self.folder.glob(f"{path.name}.state-*"):
            state.unlink(missing_ok=True)
