"""From a table that is read block by block to a problem: of a sample of its rows, beside all of them."""

from copy import deepcopy
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from stochgate.engine import Training
from stochgate.engine.record import Callback
from stochgate.objectives import Objective
from stochgate.problem.from_estimator import Given, make_problem
from stochgate.problem.problem import LARGEST_SEED, Problem, make_columns
from stochgate.problem.streamed import StreamedRows
from stochgate.sources.numbers import as_table
from stochgate.sources.opening import is_stream, open_source
from stochgate.sources.sample import draw_sample


def make_any_problem(
    estimator: Any,
    objective: Objective,
    training: Training,
    random_state: np.random.RandomState,
    given: Given,
    callbacks: tuple[Callback, ...],
) -> tuple[Problem, Any]:
    """Make the problem of a table in memory, or of a sample of one that is read block by block.

    All as in `make_problem`. Where the sample is the whole table the problem is that of a table in memory.
    """
    if not is_stream(given.X, given.y):
        return make_problem(estimator, objective, training, random_state, given, callbacks)
    _refuse_listed_splits(estimator.cv)
    source = open_source(*given[:4])
    seed = int(deepcopy(random_state).randint(LARGEST_SEED))  # as if none were drawn, for a whole table
    sample = draw_sample(source, objective.kinds_of, source.sample_rows, seed)
    if estimator.missing == "error":
        sample.survey.refuse_missing()
    drawn = sample.block
    rows = Given(as_table(drawn.X), drawn.y, drawn.weight, drawn.group, sample.survey)
    problem, groups = make_problem(estimator, objective, training, random_state, rows, callbacks)
    if sample.is_all:
        return problem, groups
    stream = StreamedRows(
        source=source,
        table=problem.table,
        objective=objective,
        facts=problem.target.facts,
        n_rows=sample.n_rows,
        mean_weight=sample.mean_weight,
        sampled=drawn.rows,
        sampled_weight=sample.given_weight,
    )
    parts = problem.gates, problem.network, training, problem.device
    return replace(problem, stream=stream, **make_columns(problem.X, *parts, rounded=True)), groups


def _refuse_listed_splits(cv: Any) -> None:
    """Raise where cv lists positions of rows: which rows are in the sample is not known beforehand."""
    if not isinstance(cv, Integral | None) and not hasattr(cv, "split"):
        raise ValueError(
            "cv lists rows, but X is read block by block: give a number of folds, or a splitter."
        )
