"""The final model: trained on all rows by the chosen recipe, or at a given penalty."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from stochgate.choice.comparison import Comparison
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.gate_history import GateHistory, read_history
from stochgate.choice.recipe import Recipe
from stochgate.choice.rows import for_stream
from stochgate.choice.rules import Candidate
from stochgate.choice.sets.ranking import Ranking
from stochgate.choice.sets.refits import team_size
from stochgate.choice.signal import Signal
from stochgate.engine import Design, Trained
from stochgate.problem.problem import Problem
from stochgate.problem.rows import hold_out
from stochgate.problem.validation import refuse_no_weight


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What was chosen, and what was seen on the way: a summary is made of it.

    Attributes
    ----------
    network : str
    recipe : Recipe
    lam : float
        The penalty at which the chosen set was found.
    frequency, importance : ndarray, shape (n_gates,)
    table : DataFrame or list of dict
    signal : Signal
    comparison : Comparison
        With the chosen network's data; those of the others are let go.
    candidates : list of Candidate
        Those of the chosen network.
    opened : ndarray of bool, shape (n_folds, n_gates)
        The gates each fold opens where the chosen set comes from.
    losses : dict of float
        Held-out losses of the model without features ("none"), of the chosen one ("selected") and of the
        best model on all columns ("all").
    reference : tuple of str and Recipe, or None
        The network of the best model on all columns, and how that was trained.
    added : bool
        Whether the second look added features.
    ranking : Ranking, or None
        Of all rows, the chosen gates first; None where all are kept.
    gate_history : GateHistory, or None
        Of the models that made the chosen set; None where gates were not trained on the way.
    """

    network: str
    recipe: Recipe
    lam: float
    frequency: np.ndarray
    importance: np.ndarray
    table: Any
    signal: Signal
    comparison: Comparison
    candidates: list[Candidate]
    opened: np.ndarray
    losses: dict[str, float]
    reference: tuple[str, Recipe] | None = None
    added: bool = False
    ranking: Ranking | None = None
    gate_history: GateHistory | None = None

    @property
    def problem(self) -> Problem:
        """The problem as the chosen network sees it."""
        return self.comparison.problems[self.network]

    def changed(self, recipe: Recipe, lam: float, near: Candidate | None) -> "Choice":
        """Return what is known of another recipe: the frequencies are those of a candidate near to it."""
        losses = {**self.losses, "selected": float("nan")}
        changed = replace(self, recipe=recipe, lam=lam, losses=losses, gate_history=None)
        if near is None:
            return changed
        frequency = np.where(self.problem.gates.keep, 1.0, near.opened.mean(axis=0))
        return replace(changed, frequency=frequency, opened=near.opened)


@dataclass(frozen=True, kw_only=True)
class FinalModel:
    """A trained team of models, or a single one, and how it came about.

    Attributes
    ----------
    trained : Trained
    design : Design
        The columns it was trained on.
    problem : Problem
    lam : float
    choice : Choice, or None when lam was given
    shrink : float
        What the distance of its outputs from the base rate is multiplied by.
    """

    trained: Trained
    design: Design
    problem: Problem
    lam: float
    choice: Choice | None = None
    shrink: float = 1.0

    @property
    def gate_history(self) -> GateHistory:
        """The gates over the training that chose the features, or else over the model's own."""
        known = None if self.choice is None else self.choice.gate_history
        return read_history(self.trained) if known is None else known


def train_final(choice: Choice) -> FinalModel:
    """Train the chosen network by the chosen recipe on all rows."""
    problem, recipe = choice.problem, choice.recipe
    n_members = DEFAULTS.n_final if 0 < recipe.support.sum() <= DEFAULTS.one_beyond else 1
    size = team_size(problem, n_members)
    trained, design = recipe.train(problem, problem.weights[None], n_members=size)
    return FinalModel(
        trained=trained,
        design=design,
        problem=problem,
        lam=choice.lam,
        choice=choice,
        shrink=recipe.shrink if problem.stream is None else 1.0,  # all rows leave nothing to be too sure of
    )


def train_at(problem: Problem, lam: float) -> FinalModel:
    """Train one model at a given penalty, with rows held out when it may stop early."""
    seed, data_seed = problem.draw_seed(), problem.draw_seed()
    held_out = np.zeros(problem.n_samples, dtype=bool)
    if problem.training.patience is not None:
        held_out = hold_out(problem.strata, problem.training.validation_fraction, problem.random_state)
    shares = torch.from_numpy(
        np.stack([problem.sample_weight * ~held_out, problem.sample_weight * held_out])
    )
    rows = shares.to(problem.weights)
    refuse_no_weight(problem.objective, problem.target, rows[:1], "left to learn from")
    if held_out.any():
        refuse_no_weight(problem.objective, problem.target, rows[1:], "held out for early stopping")
    plan = replace(problem, seed=data_seed).plan(
        lam,
        seed,
        rows[:1],
        problem.fixed[None],
        training={"patience": problem.training.patience},
        test_weights=rows[1:] if held_out.any() else None,
    )
    stream = problem.stream
    if stream is not None:
        plan, stream = for_stream(plan, stream.n_rows), stream.without(held_out, problem.sample_weight)
    trained, design = problem.execute(plan, stream)
    return FinalModel(trained=trained, design=design, problem=problem, lam=lam)
