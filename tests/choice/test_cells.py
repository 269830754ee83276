"""Cells, and the rows that their steps see."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.model_selection import TimeSeriesSplit

from choices import FAST
from plans import make
from stochgate import GatedRegressor, Training
from stochgate.choice import cells
from stochgate.choice.cells import with_fewer_rows
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.folds import make_folds
from stochgate.datasets import make_linear
from stochgate.objectives import Cox, Regression


@pytest.mark.parametrize(
    ("n_samples", "objective", "asked", "n_turns", "batch_size"),
    [
        (900, Regression(), None, 0, None),
        (1000, Regression(), None, 2, None),
        (4000, Regression(), None, 8, None),
        (5000, Regression(), None, 0, 500),
        (1000, Regression(), 64, 0, 64),
        (1000, Cox(), None, 0, None),
    ],
)
def test_a_step_of_a_path_sees_a_part_of_many_rows(n_samples, objective, asked, n_turns, batch_size):
    plan = make(Regression(), "regression", Training(batch_size=asked))[0]
    folds = make_folds(5, np.zeros(n_samples), seed=0)
    plan = with_fewer_rows(replace(plan, objective=objective), folds)
    assert len(plan.turns) == n_turns
    assert plan.training.batch_size == batch_size
    if n_turns:
        assert np.array_equal(torch.cat(plan.turns).sort().values, np.arange(n_samples))


def test_no_fold_learns_from_too_few_rows_a_step():
    plan = make(Regression(), "regression", Training())[0]
    folds = make_folds(TimeSeriesSplit(5), np.zeros(4000), seed=0)  # the first learns from 670 rows
    assert with_fewer_rows(plan, folds).turns == ()


def test_steps_that_see_parts_find_the_features(monkeypatch):
    monkeypatch.setattr(cells, "DEFAULTS", replace(DEFAULTS, rows_per_gated_step=60))
    problem = make_linear(200, n_features=20, n_relevant=4, random_state=0)
    model = GatedRegressor(network="mlp", **FAST).fit(problem.X, problem.y)
    assert np.array_equal(model.get_support(), problem.relevant)
    assert model.score(problem.X, problem.y) > 0.9
