"""From a table that is read block by block to a problem: of a sample of its rows, beside all of them."""

from copy import deepcopy
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from stochgate.engine import Training
from stochgate.engine.record import Callback
from stochgate.objectives import Objective
from stochgate.problem.from_estimator import make_problem
from stochgate.problem.problem import LARGEST_SEED, Problem, make_columns
from stochgate.problem.streamed import StreamedRows
from stochgate.sources.numbers import as_table
from stochgate.sources.opening import open_source
from stochgate.sources.sample import draw_sample


def make_streamed_problem(
    estimator: Any,
    objective: Objective,
    training: Training,
    random_state: np.random.RandomState,
    X: Any,
    y: Any,
    sample_weight: Any,
    groups: Any,
    callbacks: tuple[Callback, ...],
) -> tuple[Problem, Any]:
    """Draw a sample of the rows and make a problem of it; all as in `make_problem`.

    Where the sample is the whole table the problem is that of a table in memory.
    """
    _refuse_listed_splits(estimator.cv)
    source = open_source(X, y, sample_weight, groups)
    seed = int(deepcopy(random_state).randint(LARGEST_SEED))  # as if none were drawn, for a whole table
    sample = draw_sample(source, objective.kinds_of, source.sample_rows, seed)
    drawn = sample.block
    data = as_table(drawn.X), drawn.y, drawn.weight, drawn.group
    problem, groups = make_problem(
        estimator, objective, training, random_state, *data, callbacks, sample.survey
    )
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
    )
    parts = problem.gates, problem.network, training, problem.device
    return replace(problem, stream=stream, **make_columns(problem.X, *parts, rounded=True)), groups


def _refuse_listed_splits(cv: Any) -> None:
    """Raise where cv lists positions of rows: which rows are in the sample is not known beforehand."""
    if not isinstance(cv, Integral | None) and not hasattr(cv, "split"):
        raise ValueError(
            "cv lists rows, but X is read block by block: give a number of folds, or a splitter."
        )
