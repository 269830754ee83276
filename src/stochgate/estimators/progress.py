"""A progress bar that listens to snapshots."""

from types import TracebackType

from tqdm.auto import tqdm

from stochgate.engine import Snapshot


class ProgressBar:
    """Shows step, loss and number of open gates while a plan is trained; silent when `verbose` is 0.

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
        self.bar = tqdm(unit="step", desc="stochgate") if verbose else None
        self.callbacks = (self._show,) if verbose else ()

    def _show(self, snapshot: Snapshot) -> None:
        if self.bar is None:
            return
        self.bar.total = snapshot.n_steps
        self.bar.n = snapshot.step
        n_open = (snapshot.gates > 0).sum(1).double().mean().item()
        loss = snapshot.train_loss.mean().item()
        self.bar.set_postfix(loss=f"{loss:.4f}", open=f"{n_open:.1f}")

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.bar is not None:
            self.bar.close()
