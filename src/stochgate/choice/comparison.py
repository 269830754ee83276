"""What is compared: the problem as each network sees it, on folds that are the same for all."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from stochgate.choice.bank import Bank, Pairs
from stochgate.choice.copies import find_copies
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.folds import count_first, make_blocks, make_folds
from stochgate.choice.rows import limit_judges
from stochgate.choice.rules import Candidate, Standard
from stochgate.choice.sets.cells import train_cells
from stochgate.engine.inputs import reach_of
from stochgate.networks import linear
from stochgate.problem.problem import Problem
from stochgate.problem.rows import LEARNS


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The problem as each network sees it, and the folds that judge.

    Attributes
    ----------
    problems : dict of Problem
        By the network's name, simple ones first.
    folds : ndarray, shape (n_folds, n_samples), from `make_folds`
    empty, empty_blocks : ndarray, shape (n_folds,) and (n_folds, n_blocks)
        Held-out losses of the model without features.
    groups : ndarray, shape (n_samples,), or None
        Which rows belong together.
    """

    problems: dict[str, Problem]
    folds: np.ndarray
    empty: np.ndarray
    empty_blocks: np.ndarray
    groups: np.ndarray | None

    @cached_property
    def bank(self) -> Bank:
        """The scores of the columns as the first network takes them."""
        return Bank(self.simplest.design)

    @cached_property
    def pairs(self) -> Pairs | None:
        """The strongest pairs of columns on all rows; None where they cannot be asked."""
        if self.groups is not None:
            return None
        (residual,) = self.simplest.base_residual(self.simplest.weights[None])
        return self.bank.pairs(residual - residual.mean(0), DEFAULTS.n_pairs_asked)

    @property
    def has_pairs(self) -> bool:
        """Whether columns clearly tell together what none of them tells alone: folds ask for theirs."""
        return self.pairs is not None and bool(self.pairs.clear.any())

    @property
    def first(self) -> np.ndarray:
        """The folds of the first round, in which no row is held out twice."""
        return self.folds[: count_first(self.folds)]

    @property
    def networks(self) -> list[str]:
        """The names of the networks."""
        return list(self.problems)

    @property
    def simplest(self) -> Problem:
        """The problem as the first network sees it."""
        return next(iter(self.problems.values()))

    @property
    def keep(self) -> np.ndarray:
        """The gates that stay open, shape (n_gates,)."""
        return self.simplest.gates.keep

    @cached_property
    def varies(self) -> np.ndarray:
        """The gates with a column of more than one value that is no copy, shape (n_gates,)."""
        return ~self.simplest.constant_gates()

    @property
    def plain(self) -> list[int]:
        """Positions of the networks that take the features as they are, not encoded."""
        return [i for i, p in enumerate(self.problems.values()) if p.inputs.encoding is None]

    def standard(self, candidates: list[Candidate]) -> Standard:
        """Return what candidates are held against."""
        best = best_on_all_columns(candidates)
        return Standard(
            empty=self.empty,
            reference=None if best is None else best.losses,
            n_first=len(self.first),
        )

    def problem(self, network: str) -> Problem:
        """Return the problem as a network sees it, made anew where its data were let go."""
        if network in self.problems:
            return self.problems[network]
        like = self.simplest
        return like.seen_by(like.networks[network], draw_in=like.draw_in)

    def only(self, network: str) -> "Comparison":
        """Return the comparison with one network's data alone."""
        return replace(self, problems={network: self.problems[network]})


def best_on_all_columns(candidates: list[Candidate]) -> Candidate | None:
    """Return the best model on all columns."""
    models = [c for c in candidates if c.cells.stage == "all" and np.isfinite(c.losses).all()]
    return min(models, key=lambda c: c.loss, default=None)


def start_comparison(problem: Problem, cv: Any, groups: Any, fewest: int = 0) -> Comparison:
    """Make the folds, decide on far values, and make the data for every network.

    Copies are closed for good, unless too few gates would be left.

    Parameters
    ----------
    problem : Problem
    cv, groups : as in `make_folds`
    fewest : int
        Gates that must be left to choose from.
    """
    fold_seed, strata = problem.draw_seed(), problem.strata
    blocks = make_blocks(DEFAULTS.n_blocks, strata, fold_seed, groups)
    problem = replace(problem, blocks=blocks, seed=problem.draw_seed())
    folds = make_folds(cv, strata, fold_seed, groups)
    if problem.objective.by_row:
        folds = limit_judges(folds, strata, fold_seed)
    folds = _judgeable(problem, folds)
    first = folds[: count_first(folds)]
    empty, empty_blocks = problem.empty_losses(folds)
    problems = seen_by_each(problem)
    if any(p.inputs.encoding is None for p in problems.values()) and gains_drawn_in(problem, first):
        del problems  # the data are made anew
        problems = seen_by_each(problem, draw_in=True)
    simplest = next(iter(problems.values()))
    plain = simplest if simplest.inputs.encoding is None else problem.seen_by(linear())
    copies = find_copies(Bank(plain.design), problem.gates)
    if copies.any() and (~simplest.constant_gates() & ~copies).sum() >= fewest:
        distinct = {id(seen.design.columns): seen for seen in problems.values()}  # networks share columns
        blank = {own: seen.without(copies).design for own, seen in distinct.items()}
        problems = {
            name: replace(seen, design=blank[id(seen.design.columns)]) for name, seen in problems.items()
        }
    return Comparison(problems=problems, folds=folds, empty=empty, empty_blocks=empty_blocks, groups=groups)


def seen_by_each(problem: Problem, *, draw_in: bool = False) -> dict[str, Problem]:
    """Return the problem as each of its networks sees it."""
    problems = {
        name: problem.seen_by(network, draw_in=draw_in) for name, network in problem.networks.items()
    }
    if len(problems) > 1:  # an encoding that cuts nothing (binary columns) adds nothing to the others
        problems = {name: made for name, made in problems.items() if not made.inputs.cuts_nothing}
    return problems


def gains_drawn_in(problem: Problem, folds: np.ndarray) -> bool:
    """Return whether held-out rows are predicted better once far values are drawn in.

    That is asked of linear models on all columns, and only where some column has values far out. The
    gain must be larger than its standard error.
    """
    if not problem.training.standardize or not np.isfinite(reach_of(problem.X)).any():
        return False
    losses = []
    for draw_in in (False, True):
        probe = replace(problem, callbacks=()).seen_by(linear(), draw_in=draw_in)
        every = np.ones((1, len(folds), probe.design.n_gates), dtype=bool)
        losses.append(train_cells(probe, "all", np.zeros(1), folds, every).losses[0])
    gain = losses[0] - losses[1]
    return bool(gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain)))


def _judgeable(problem: Problem, folds: np.ndarray) -> np.ndarray:
    """Keep the folds that can be learnt from and judged (a Cox model needs an event on both sides)."""
    weights = problem.weights.cpu() * torch.from_numpy(folds == LEARNS)
    rows = {name: value.cpu() for name, value in problem.target.rows.items()}
    total = problem.objective.total(rows, weights, problem.objective.learn(rows, weights))
    folds = folds[(total > 0).numpy()]
    usable = np.isfinite(problem.empty_losses(folds)[0]) if len(folds) else np.array([])
    if usable.sum() < 2:
        raise ValueError(
            "Fewer than two folds have rows with weight (or events) both to learn from and to be judged "
            "by: use more rows, fewer folds (cv), or give lam as a number."
        )
    return folds[usable]
