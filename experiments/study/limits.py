"""A limit on the time that a cell may take."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_AGAIN = 5.0  # seconds until it rings again, since an exception inside a destructor is lost


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError inside the block once it has run so long.

    The limit is kept by SIGALRM: it works on POSIX, in the main thread of a process (as the cells of
    `run_study` are run), and strikes when a long call into compiled code has returned.

    Parameters
    ----------
    seconds : float

    Examples
    --------
    >>> from experiments.study import time_limit
    >>> with time_limit(60):
    ...     print("done")
    done
    """

    def ring(*_: Any) -> None:
        raise TimeoutError(f"not finished in {_in_words(seconds)}")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _in_words(seconds: float) -> str:
    return f"{seconds / 60:g} minutes" if seconds >= 60 else f"{seconds:g} seconds"
