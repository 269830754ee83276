"""A live bar for each phase of a command, with its stage and the number of open gates."""

from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from stochgate.engine import Snapshot
from stochgate.estimators.progress import FitProgress


class Watch:
    """Shows how far the trainings are; an estimator calls it with each snapshot.

    Nothing is shown where nobody watches: the console is no terminal, as in a log file.

    Parameters
    ----------
    console : Console
    quiet : bool

    Examples
    --------
    >>> from rich.console import Console
    >>> from stochgate.cli.progress import Watch
    >>> with Watch(Console(file=None), quiet=True) as watch:
    ...     watch.phase("Choosing features")
    """

    def __init__(self, console: Console, quiet: bool = False):
        self.bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[done]:>4}", markup=False),
            TimeElapsedColumn(),
            TextColumn("{task.fields[stage]}", markup=False),
            console=console,
            disable=quiet or not console.is_terminal,
        )
        self.task: TaskID | None = None
        self.phase_parts = 1, 0  # how many fits a phase has, and how many of them are done
        self.fit, self.stage = FitProgress(), ""

    def phase(self, title: str, n_fits: int = 1) -> None:
        """Finish the bar of the phase before, and begin a new one.

        Parameters
        ----------
        title : str
        n_fits : int
            How many automatic choices it consists of; 0 where nothing tells how far it is.
        """
        self._finish()
        self.task = self.bars.add_task(title, total=100 if n_fits else None, stage="", done="")
        self.phase_parts, self.fit, self.stage = (n_fits, 0), FitProgress(), ""

    def __call__(self, snapshot: Snapshot) -> None:
        """Take note of a snapshot."""
        n_fits, n_done = self.phase_parts
        if snapshot.stage == "path" and self.stage not in ("", "path") and n_done < n_fits - 1:
            self.phase_parts, self.fit = (n_fits, n_done + 1), FitProgress()  # each fit begins with a path
        if self.task is None or n_fits == 0 or not self.fit.update(snapshot):
            return
        self.stage = snapshot.stage
        percent = (100 * self.phase_parts[1] + self.fit.percent) / n_fits
        stage = f"{self.stage}, {self.fit.n_open:.0f} gates open"
        self.bars.update(self.task, completed=percent, stage=stage, done=f"{percent:.0f}%")

    def _finish(self) -> None:
        if self.task is not None:
            self.bars.update(self.task, total=100, completed=100, stage="", done="100%")

    def __enter__(self) -> "Watch":
        self.bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._finish()
        self.bars.stop()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Watch":
        """Return itself: `clone` copies an estimator's parameters, but there is one screen only."""
        return self
