"""How to train: the settings all models of a plan share."""

from collections.abc import Callable
from numbers import Integral, Real

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

_POSITIVE = Interval(Real, 0, None, closed="neither")
_COUNT = Interval(Integral, 1, None, closed="left")


def constant(progress: float) -> float:
    """Return how strong the penalty is when a share of the steps is done: full throughout."""
    return 1.0


def warm_up(progress: float) -> float:
    """Return none in the first fifth of the training, the full penalty after it."""
    return float(progress >= 0.2)


def ramp(progress: float) -> float:
    """Return a penalty that grows linearly from 0 to full over the first half."""
    return min(1.0, 2 * progress)


SCHEDULES: dict[str, Callable[[float], float]] = {
    "constant": constant,
    "warm-up": warm_up,
    "ramp": ramp,
}


class Training(BaseEstimator):
    """Settings of the training, the same for all models of a stack.

    Slow gates are better than fast ones: gates that close before the network has learnt an
    interaction do not come back, so `gate_lr` is the smaller step size.

    Parameters
    ----------
    n_steps : int, default=600
        Steps of the optimiser.
    batch_size : int or None, default=None
        Rows per step; None takes all, but of an automatic choice with many rows parts of them (not of Cox
        models; docs/how-lambda-is-chosen.md). Cox risk sets are those within the batch.
    optimizer : {"adam", "sgd"}, default="adam"
    lr : float, default=1e-2
        Step size of the network. Linear models whose gates are held open, as after an automatic choice,
        find their own, unless `optimizer` or `batch_size` is set.
    gate_lr : float, default=4e-3
        Step size of the gates, constant during training.
    momentum : float, default=0.9
        Of "sgd".
    lr_decay : {"cosine", "constant"}, default="cosine"
        Whether `lr` falls to 0 as training goes on.
    n_draws : int, default=1
        Monte Carlo draws of the gates a step (K in the paper).
    schedule : {"constant", "warm-up", "ramp"} or callable, default="constant"
        Multiplies lam: by 1; by 0 in the first fifth of the steps; by a line from 0 to 1 over the
        first half; or by ``schedule(progress)`` with progress from 0 to 1.
    n_snapshots : int, default=25
        How often during training gates and losses are recorded.
    patience : int or None, default=None
        Stop a model after so many snapshots without a lower held-out loss plus penalty, and return its
        best snapshot; None trains to the end. It plays no part in an automatic choice, whose models are
        judged at every snapshot anyway.
    validation_fraction : float, default=0.1
        Share of the rows held out when `patience` is given.
    standardize : bool, default=True
        Scale every column of X (and y in regression) to mean 0 and variance 1 of the rows a model
        learns from; sparse columns are centred only where their mean exceeds their spread.
    dtype : {"float32", "float64"}, default="float32"
    tf32 : bool, default=False
        On a GPU, multiply float32 matrices with 10 instead of 23 bits behind the point, which is faster.
    max_memory : int or None, default=None
        Bytes that models in training may take; what needs more is cut into stacks trained one after
        another. None is 1 GiB, on a GPU 4 GiB. The data come on top: on a CPU twice where columns of
        closed gates are left out (and up to 64 MiB a core in refits on columns of their own), on a GPU
        three times, and as often again where a path cuts its rows.

    Examples
    --------
    >>> from stochgate import Training
    >>> Training(n_steps=100, batch_size=256)
    Training(batch_size=256, n_steps=100)
    """

    _parameter_constraints = {
        "n_steps": [_COUNT],
        "batch_size": [_COUNT, None],
        "optimizer": [StrOptions({"adam", "sgd"})],
        "lr": [_POSITIVE],
        "gate_lr": [_POSITIVE],
        "momentum": [Interval(Real, 0, 1, closed="left")],
        "lr_decay": [StrOptions({"cosine", "constant"})],
        "n_draws": [_COUNT],
        "schedule": [StrOptions(set(SCHEDULES)), callable],
        "n_snapshots": [_COUNT],
        "patience": [_COUNT, None],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "standardize": ["boolean"],
        "dtype": [StrOptions({"float32", "float64"})],
        "tf32": ["boolean"],
        "max_memory": [_COUNT, None],
    }

    def __init__(
        self,
        n_steps: int = 600,
        batch_size: int | None = None,
        optimizer: str = "adam",
        lr: float = 1e-2,
        gate_lr: float = 4e-3,
        momentum: float = 0.9,
        lr_decay: str = "cosine",
        n_draws: int = 1,
        schedule: str | Callable[[float], float] = "constant",
        n_snapshots: int = 25,
        patience: int | None = None,
        validation_fraction: float = 0.1,
        standardize: bool = True,
        dtype: str = "float32",
        tf32: bool = False,
        max_memory: int | None = None,
    ):
        self.n_steps = n_steps
        self.batch_size = batch_size
        self.optimizer = optimizer
        self.lr = lr
        self.gate_lr = gate_lr
        self.momentum = momentum
        self.lr_decay = lr_decay
        self.n_draws = n_draws
        self.schedule = schedule
        self.n_snapshots = n_snapshots
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.standardize = standardize
        self.dtype = dtype
        self.tf32 = tf32
        self.max_memory = max_memory

    def penalty_factor(self, progress: float) -> float:
        """Return what lam is multiplied by when a share `progress` of the steps is done."""
        schedule = SCHEDULES[self.schedule] if isinstance(self.schedule, str) else self.schedule
        return schedule(progress)
