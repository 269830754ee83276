"""The state of one stack in training, in a file of its own."""

import time
from collections.abc import Callable
from pathlib import Path

from stochgate.engine.checkpoint import store
from stochgate.engine.checkpoint.errors import CheckpointError
from stochgate.engine.in_training import State

SECONDS = 30.0  # of training that are lost at most, besides those up to the next snapshot


class StateFile:
    """Keeps the state of a stack at snapshots, when enough time has passed since it was kept last.

    Parameters
    ----------
    path : Path
    mark : str
        Tells of what plan and stack the state is.
    """

    def __init__(self, path: Path, mark: str):
        self.path, self.mark = path, mark
        self.kept_at = time.monotonic()

    def load(self) -> State | None:
        """Return the state that was kept last, None where there is none or it is damaged."""
        found = store.read(self.path)
        if found is None:
            return None
        refuse_other(self.path.parent, found["mark"], self.mark)
        state: State = found["state"]
        return state

    def keep(self, state: Callable[[], State]) -> None:
        """Keep a state, unless one was kept a moment ago."""
        if time.monotonic() - self.kept_at >= SECONDS:
            store.write(self.path, {"mark": self.mark, "state": state()})
            self.kept_at = time.monotonic()


def refuse_other(folder: Path, found: str, expected: str) -> None:
    """Raise where what was saved is of another plan than the one that is now to be trained."""
    if found != expected:
        raise CheckpointError(
            f"The checkpoint in {str(folder)!r} does not go together with this fit, though data and "
            "parameters are the same: the code has changed since (the library's, or that of a function "
            "among the parameters), or a splitter or a function draws random numbers of its own. Give "
            "another folder, or delete this one."
        )
