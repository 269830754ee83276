"""How many rows a step sees, and how many judge."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.model_selection import TimeSeriesSplit

from plans import make
from stochgate import GatedRegressor, Training
from stochgate.choice import rows
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.folds import make_folds
from stochgate.choice.rows import limit_judges, with_fewer_rows
from stochgate.datasets import make_linear
from stochgate.engine import OPEN
from stochgate.objectives import Cox, Regression


def plan_of(folds, objective=None, *, held_open=False, judged=True, **changes):
    """Return a plan of one model per fold, whose gates are trained or held open."""
    plan = make(Regression(), "regression", Training(**changes))[0]
    weights = torch.from_numpy((folds == 1).astype(float))
    fixed = plan.fixed[:1].expand(len(folds), -1)
    return replace(
        plan,
        objective=Regression() if objective is None else objective,
        lam=torch.zeros(len(folds)),
        seed=torch.zeros(len(folds), dtype=torch.int64),
        weights=weights,
        test_weights=torch.from_numpy((folds == 0).astype(float)) if judged else None,
        fixed=torch.full_like(fixed, OPEN) if held_open else fixed,
    )


def five_folds(n_samples):
    return make_folds(5, np.zeros(n_samples), seed=0)


@pytest.mark.parametrize(
    ("n_samples", "objective", "asked", "n_turns", "batch_size"),
    [
        (690, Regression(), None, 0, None),
        (750, Regression(), None, 3, None),
        (1000, Regression(), None, 4, None),
        (1900, Regression(), None, 8, None),
        (5000, Regression(), None, 0, 239),
        (1000, Regression(), 64, 0, 64),
        (1000, Cox(), None, 0, None),
    ],
)
def test_steps_that_train_gates_see_parts_of_many_rows(n_samples, objective, asked, n_turns, batch_size):
    plan = with_fewer_rows(plan_of(five_folds(n_samples), objective, batch_size=asked))
    assert len(plan.turns) == n_turns
    assert plan.training.batch_size == batch_size
    if n_turns:
        assert np.array_equal(torch.cat(plan.turns).sort().values, np.arange(n_samples))


def test_refits_see_parts_of_fewer_rows_and_final_models_of_more():
    folds = five_folds(500)
    assert len(with_fewer_rows(plan_of(folds, held_open=True)).turns) == 2
    assert with_fewer_rows(plan_of(folds)).turns == ()
    final = plan_of(five_folds(5000), held_open=True, judged=False)
    assert len(with_fewer_rows(final, DEFAULTS.rows_per_final_step).turns) == 4


def test_a_linear_model_that_is_judged_learns_from_the_same_rows_at_each_step():
    plan = replace(plan_of(five_folds(20_000), held_open=True), accelerated=True)
    (part,) = with_fewer_rows(plan).turns
    assert len(part) == 20_000 * DEFAULTS.rows_of_linear // 16_000
    unjudged = replace(plan, test_weights=None)
    assert with_fewer_rows(unjudged).turns == ()


def test_no_fold_learns_from_too_few_rows_a_step():
    folds = make_folds(TimeSeriesSplit(5), np.zeros(3000), seed=0)  # the first learns from 500 rows
    assert with_fewer_rows(plan_of(folds)).turns == ()


def test_snapshots_are_taken_on_the_rows_that_judge():
    folds = limit_judges(five_folds(12_000), np.zeros(12_000), seed=0)
    judged = with_fewer_rows(plan_of(folds)).judged
    assert np.array_equal(judged, np.flatnonzero((folds == 0).any(axis=0)))
    assert with_fewer_rows(plan_of(five_folds(3000))).judged is None
    assert len(with_fewer_rows(plan_of(five_folds(12_000), judged=False)).judged) == DEFAULTS.most_judging


def test_rare_classes_judge_in_every_fold():
    strata = np.repeat([0, 1], [19_500, 500])
    folds = limit_judges(make_folds(5, strata, seed=0), strata, seed=0)
    assert (((folds == 0) & (strata == 1)).sum(axis=1) == DEFAULTS.fewest_judging).all()
    assert abs((folds == 0).sum() - DEFAULTS.most_judging) < 200


def test_steps_that_see_parts_find_the_features(monkeypatch):
    few = replace(DEFAULTS, rows_seen_whole=100, rows_per_gated_step=60, rows_per_refit_step=60)
    monkeypatch.setattr(rows, "DEFAULTS", few)
    problem = make_linear(200, n_features=20, n_relevant=4, random_state=0)
    training = Training(n_steps=300)
    model = GatedRegressor(network="mlp", training=training, random_state=0).fit(problem.X, problem.y)
    assert np.array_equal(model.get_support(), problem.relevant)
    assert model.score(problem.X, problem.y) > 0.9


def test_few_of_many_rows_judge_and_the_choice_is_the_same(monkeypatch):
    problem = make_linear(400, n_features=12, n_relevant=3, random_state=0)
    fit = {"network": "linear", "random_state": 0, "training": Training(n_steps=300)}
    whole = GatedRegressor(**fit).fit(problem.X, problem.y)
    few = replace(DEFAULTS, most_judging=150, rows_of_linear=200)
    monkeypatch.setattr(rows, "DEFAULTS", few)
    some = GatedRegressor(**fit).fit(problem.X, problem.y)
    assert np.array_equal(some.get_support(), whole.get_support())
    losses = (model.path_.query("stage == 'path'")["held_out_loss"].min() for model in (some, whole))
    assert not np.isclose(*losses)
    assert abs(some.score(problem.X, problem.y) - whole.score(problem.X, problem.y)) < 0.01
