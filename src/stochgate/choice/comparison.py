"""The networks that are raced, the penalties of their paths and the folds that judge them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from stochgate.choice.folds import count_first, make_blocks, make_folds
from stochgate.choice.path import train_cells
from stochgate.choice.rules import Candidate, Standard, worth_of_a_feature
from stochgate.engine.inputs import reach_of
from stochgate.networks import linear
from stochgate.problem.rows import LEARNS, Prepared
from stochgate.problem.setting import Setting
from stochgate.problem.task import Task

SMALLEST_FOR_K = 0.0002  # the path for a given number of features must reach many
N_BLOCKS = 4  # parts of each fold's held-out rows
LARGEST, RATIO = 0.06, 60 ** (1 / 7)  # penalties per gate: the largest, and from one to the next


def make_lams(n_samples: int, smallest: float = 0.0033) -> np.ndarray:
    """Return penalties per gate, falling: down to `smallest`, or to log(n) / 2n where that is less.

    At log(n) / 2n a feature must gain what the Bayesian information criterion asks for.

    Examples
    --------
    >>> from stochgate.choice.comparison import make_lams
    >>> make_lams(500).round(4)
    array([0.06  , 0.0334, 0.0186, 0.0104, 0.0058, 0.0032])
    """
    lowest = min(smallest, worth_of_a_feature(n_samples))
    return LARGEST / RATIO ** np.arange(1 + int(np.ceil(np.log(LARGEST / lowest) / np.log(RATIO))))


@dataclass(frozen=True)
class Contest:
    """The networks' settings and the folds they are judged on.

    Attributes
    ----------
    settings : dict of (Setting, Prepared)
        One a network, simple ones first.
    learns : ndarray, shape (n_folds, n_samples), as of `make_folds`
    empty, empty_blocks : ndarray, shape (n_folds,) and (n_folds, n_blocks)
        Held-out losses of the model without features.
    groups : ndarray, shape (n_samples,), or None
        Which rows belong together.
    draw_in : bool
        Whether values that lie far out are drawn in.
    first : ndarray, shape (n_first, n_samples)
        The folds of the first round, in which no row is held out twice.
    """

    settings: dict[str, tuple[Setting, Prepared]]
    learns: np.ndarray
    empty: np.ndarray
    empty_blocks: np.ndarray
    groups: np.ndarray | None
    draw_in: bool = False

    @property
    def first(self) -> np.ndarray:
        """The folds of the first round."""
        return self.learns[: count_first(self.learns)]

    def standard(self, candidates: list[Candidate]) -> Standard:
        """Return what candidates are held against."""
        best = self.reference(candidates)
        losses = None if best is None else best.losses
        return Standard(self.empty, losses, self.learns.shape[1], len(self.first))

    @staticmethod
    def reference(candidates: list[Candidate]) -> Candidate | None:
        """Return the best model on all columns."""
        models = [c for c in candidates if c.cells.stage == "all" and np.isfinite(c.losses).all()]
        return min(models, key=lambda c: c.loss, default=None)

    def setting(self, task: Task, network: str) -> Setting:
        """Return a network's setting, made anew where its data were let go."""
        if network in self.settings:
            return self.settings[network][0]
        like, _ = next(iter(self.settings.values()))
        return _setting(replace(task, draw_in=self.draw_in), network, like.seed, like.blocks)[0]

    def only(self, network: str) -> "Contest":
        """Return the contest with one network's data alone."""
        return replace(self, settings={network: self.settings[network]})


def start_contest(task: Task, cv: Any, groups: Any) -> Contest:
    """Prepare the data for every network, and make the folds."""
    fold_seed = task.draw_seed()
    strata = task.objective.strata(task.target.rows).numpy()
    blocks = make_blocks(N_BLOCKS, strata, fold_seed, groups)
    seed = task.draw_seed()
    settings = make_settings(task, blocks, seed)
    first, _ = next(iter(settings.values()))
    learns = _judgeable(first, make_folds(cv, strata, fold_seed, groups))
    empty = first.empty_losses(learns)
    plain = any(data.inputs.encoding is None for _, data in settings.values())
    draw_in = plain and gains_drawn_in(task, blocks, seed, learns[: count_first(learns)])
    if draw_in:
        del first, settings  # the data are made anew
        settings = make_settings(replace(task, draw_in=True), blocks, seed)
    return Contest(settings, learns, *empty, groups, draw_in)


def gains_drawn_in(task: Task, blocks: np.ndarray, seed: int, learns: np.ndarray) -> bool:
    """Return whether held-out rows are predicted better once far values are drawn in.

    That is asked of linear models on all columns, and only where some column has values far out. The
    gain must be larger than its standard error.
    """
    if not task.training.standardize or not np.isfinite(reach_of(task.X)).any():
        return False
    losses = []
    for draw_in in (False, True):
        probe = replace(task, networks={"linear": linear()}, draw_in=draw_in, callbacks=())
        setting, _ = _setting(probe, "linear", seed, blocks)
        every = np.ones((1, len(learns), setting.design.n_gates), dtype=bool)
        losses.append(train_cells(setting, "all", np.zeros(1), learns, every).losses[0])
    gain = losses[0] - losses[1]
    return bool(gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)))


def make_settings(
    task: Task, blocks: np.ndarray, seed: int | None = None
) -> dict[str, tuple[Setting, Prepared]]:
    """Prepare the data for every network; blocks are the parts of the rows that judge."""
    seed = task.draw_seed() if seed is None else seed
    settings = {name: _setting(task, name, seed, blocks) for name in task.networks}
    if len(settings) > 1:  # an encoding that cuts nothing, as of binary columns, adds nothing to the others
        settings = {name: made for name, made in settings.items() if not made[1].inputs.cuts_nothing}
    return settings


def _setting(task: Task, name: str, seed: int, blocks: np.ndarray) -> tuple[Setting, Prepared]:
    data = task.prepare(task.networks[name])
    setting = Setting(
        task.gate,
        task.networks[name],
        task.objective,
        task.training,
        data.design,
        data.target,
        task.on_device(task.weights),
        torch.from_numpy(task.gate_map.costs),
        task.fixed(),
        blocks,
        seed,
        task.callbacks,
    )
    return setting, data


def _judgeable(setting: Setting, learns: np.ndarray) -> np.ndarray:
    """Keep the folds that can be learnt from and judged (a Cox model needs an event on both sides)."""
    weights = setting.weights.cpu() * torch.from_numpy(learns == LEARNS)
    rows = {name: value.cpu() for name, value in setting.target.rows.items()}
    total = setting.objective.total(rows, weights, setting.objective.learn(rows, weights))
    learns = learns[(total > 0).numpy()]
    usable = np.isfinite(setting.empty_losses(learns)[0]) if len(learns) else np.array([])
    if usable.sum() < 2:
        raise ValueError(
            "Fewer than two folds have rows with weight (or events) both to learn from and to be judged "
            "by: use more rows, fewer folds (cv), or give lam as a number."
        )
    return learns[usable]
