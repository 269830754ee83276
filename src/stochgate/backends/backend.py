"""The user's choice of where fits are trained."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from numbers import Integral
from types import TracebackType
from typing import Any

from stochgate.backends.ray_runner import RayRunner
from stochgate.backends.ray_start import start_ray
from stochgate.engine.runner import Runner, current_runner, trained_by

NAMES = ("local", "ray")
_entered: ContextVar[tuple[ExitStack, ...]] = ContextVar("entered", default=())


@dataclass(frozen=True)
class Backend:
    """Where fits are trained; made by `backend`, for `with` or as the parameter of an estimator.

    Attributes
    ----------
    name, address, n_cpus, n_stacks, n_workers, storage : as in `backend`
    """

    name: str
    address: str | None = None
    n_cpus: int | None = None
    n_stacks: int | None = None
    n_workers: int | None = None
    storage: str | None = None

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise ValueError(f"Unknown backend {self.name!r}; use one of {', '.join(map(repr, NAMES))}.")
        for name in ("n_cpus", "n_stacks", "n_workers"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, Integral) or value < 1):
                raise ValueError(f"{name}={value!r} is no number of them; give a whole number from 1 on.")
        of_ray = self.address, self.n_cpus, self.n_workers, self.storage
        if self.name == "local" and any(given is not None for given in of_ray):
            raise ValueError(
                "address, n_cpus, n_workers and storage are for backend='ray'; torch.set_num_threads is "
                "for local fits."
            )
        if self.address is not None and self.n_cpus is not None:
            raise ValueError("Give address or n_cpus: a cluster that is there has the CPUs it has.")

    def make_runner(self) -> Runner:
        """Return what trains plans; Ray is started if it has to be, and left running."""
        if self.name == "local":
            return Runner(self.n_stacks)
        ray, _ = start_ray(self.address, self.n_cpus)
        return RayRunner(ray, self.n_stacks, self.n_workers, self.storage)

    def __enter__(self) -> "Backend":
        stack = ExitStack()
        with ExitStack() as failed:
            failed.push(stack)
            if self.name == "ray":
                ray, is_ours = start_ray(self.address, self.n_cpus)
                if is_ours:
                    stack.callback(ray.shutdown)
            stack.enter_context(trained_by(self.make_runner()))
            failed.pop_all()
        _entered.set((*_entered.get(), stack))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        *others, stack = _entered.get()
        _entered.set(tuple(others))
        stack.close()


def backend(
    name: str,
    *,
    address: str | None = None,
    n_cpus: int | None = None,
    n_stacks: int | None = None,
    n_workers: int | None = None,
    storage: str | None = None,
) -> Backend:
    """Say where fits are trained: ``with backend("ray"): model.fit(X, y)``.

    With Ray the models that a fit trains at the same time (penalties, folds, seeds) are cut into stacks,
    and each stack is a task for one CPU. If Ray is connected already, that connection is used and kept; if
    not, it is started on this machine, or connected to `address`, and ends with the ``with``.

    Parameters
    ----------
    name : {"local", "ray"}
    address : str, optional
        Of a Ray cluster, such as "auto" or "10.0.0.5:6379". Without one nothing listens beyond the loopback
        address.
    n_cpus : int, optional
        CPUs of a Ray that is started here; by default all of this machine.
    n_stacks : int, optional
        Into how many stacks a plan is cut at least, each trained by one thread, if it has as many models.
        The same number gives the same results to the bit, on a cluster and locally, on CPUs of one kind.
        By default the CPUs of the cluster, or locally the cores that a plan keeps busy.
    n_workers : int, optional
        Processes of Ray Train that share the rows of a table which is read block by block: each reads a
        part of it, and gradients are averaged (not for Cox models, which compare rows). By default the
        process of the fit reads all of it.
    storage : str, optional
        A folder that all machines of a cluster can reach, where `n_workers` keep their state, so that they
        go on when one is lost. On one machine a temporary folder is enough.

    Returns
    -------
    Backend
        For ``with``, or as the parameter `backend` of an estimator.

    Examples
    --------
    >>> import numpy as np
    >>> import stochgate
    >>> X = np.random.default_rng(0).normal(size=(200, 20))
    >>> with stochgate.backend("local", n_stacks=4):
    ...     model = stochgate.GatedRegressor(lam=1.0, random_state=0).fit(X, X[:, 4] - X[:, 9])
    >>> np.flatnonzero(model.support_)
    array([4, 9])
    """
    return Backend(name, address, n_cpus, n_stacks, n_workers, storage)


def check_backend(given: Any) -> Backend:
    """Return the backend that a parameter names."""
    if isinstance(given, Backend):
        return given
    if not isinstance(given, str):
        raise TypeError(
            f"backend is a {type(given).__name__}; give 'local', 'ray' or what stochgate.backend() returns."
        )
    return Backend(given)


@contextmanager
def trained_on(given: Any) -> Iterator[Runner]:
    """Train on the backend that a parameter names, None for the one around; let go of its data afterwards.

    Parameters
    ----------
    given : None, str or Backend
    """
    runner = current_runner().fresh() if given is None else check_backend(given).make_runner()
    with trained_by(runner):
        yield runner
