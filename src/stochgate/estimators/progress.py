"""A progress bar that listens to snapshots."""

import sys
from types import TracebackType
from typing import Any

from tqdm import tqdm

from stochgate.engine import Snapshot

# Where each stage of an automatic choice ends, in per cent of an ordinary fit. How many trainings it takes
# is not known before, so each of them goes half of the way that is left.
_ENDS = {
    "path": 50,
    "survivors": 60,
    "refit": 70,
    "all": 75,
    "growing penalty": 90,
    "growing": 94,
    "elimination": 95,
    "team": 97,
}
_END = 99.0  # of other stages


class FitProgress:
    """How far a fit is, as its snapshots tell.

    Attributes
    ----------
    percent : float
    n_open : float
        Mean number of open gates.

    Examples
    --------
    >>> import torch
    >>> from stochgate import Snapshot
    >>> from stochgate.estimators.progress import FitProgress
    >>> progress, gates = FitProgress(), torch.tensor([[1.0, 0.5, 0.0]])
    >>> progress.update(Snapshot(300, 600, torch.tensor([0]), gates, gates, gates, "path"))
    True
    >>> progress.percent, progress.n_open
    (12.5, 2.0)
    """

    def __init__(self) -> None:
        self.percent, self.n_open = 0.0, float("nan")
        self.start, self.step = 0.0, 0  # where the training began, and its last step

    def update(self, snapshot: Snapshot) -> bool:
        """Take a snapshot into account; return whether it is of the models that are shown."""
        if int(snapshot.models[0]) != 0:  # of several stacks that train side by side the first is shown
            return False
        if snapshot.step < self.step:  # another training has begun
            self.start = self.percent
        self.step = snapshot.step
        end = max(self.start, _ENDS.get(snapshot.stage, _END))
        done = self.start + (end - self.start) / 2 * snapshot.step / snapshot.n_steps
        self.percent = max(self.percent, done)
        self.n_open = (snapshot.gates > 0).sum(1).double().mean().item()
        return True


def is_notebook() -> bool:
    """Tell whether the code runs in a kernel of Jupyter."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and "IPKernelApp" in shell.config


class NotebookLine:
    """A file whose last line is one output of a notebook cell; needs no ipywidgets."""

    encoding = "utf-8"

    def __init__(self) -> None:
        from IPython.display import display

        self.output = display({"text/plain": ""}, raw=True, display_id=True)

    def write(self, text: str) -> None:
        """Put a text in the place of the one before."""
        if line := text.strip():
            self.output.update({"text/plain": line}, raw=True)

    def flush(self) -> None:
        """Do nothing: what is written is shown."""


class ProgressBar:
    """One bar for the whole fit, with its stage, the loss and the number of open gates.

    A notebook has it as one output, which is updated. It is silent when `verbose` is 0, and where nobody
    watches: stderr is no terminal, as in a log file.

    Parameters
    ----------
    verbose : int

    Examples
    --------
    >>> from stochgate.estimators.progress import ProgressBar
    >>> with ProgressBar(0) as bar:
    ...     bar.callbacks
    ()
    """

    def __init__(self, verbose: int):
        self.bar: tqdm | None = None
        in_notebook = bool(verbose) and is_notebook()
        if in_notebook or (verbose and sys.stderr.isatty()):
            shape = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}{postfix}"
            file = NotebookLine() if in_notebook else None
            self.bar = tqdm(total=100.0, desc="stochgate", bar_format=shape, file=file)
        self.callbacks = () if self.bar is None else (self._show,)
        self.progress = FitProgress()

    def _show(self, snapshot: Snapshot) -> None:
        assert self.bar is not None
        if not self.progress.update(snapshot):
            return
        self.bar.n = self.progress.percent
        self.bar.set_description_str(f"stochgate, {snapshot.stage}", refresh=False)
        loss = snapshot.train_loss.mean().item()
        self.bar.set_postfix(loss=f"{loss:.4f}", open=f"{self.progress.n_open:.1f}")

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.bar is not None:
            if error is None:
                self.bar.n = 100.0
                self.bar.refresh()
            self.bar.close()
