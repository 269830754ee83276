"""The automatic choice."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, TimeSeriesSplit

from choices import FAST, make_candidates, read_problem
from plans import make
from problems import linear_response, normal_columns, short_training, survival_times, two_classes
from stochgate import GatedClassifier, GatedCox, GatedRegressor, NoFeatureSelectedWarning, Training
from stochgate.choice import auto
from stochgate.choice.comparison import start_comparison
from stochgate.choice.folds import make_folds
from stochgate.choice.recipe import make_recipe
from stochgate.choice.second_look import JudgedRecipe
from stochgate.choice.sets import candidates
from stochgate.datasets import make_linear, make_noise, make_xor
from stochgate.engine import CLOSED, OPEN, train
from stochgate.networks import ModuleNetwork
from stochgate.objectives import Regression


def test_interactions_are_found_without_any_setting():
    problem = make_xor(300, n_noise=10, random_state=0)
    model = GatedClassifier(random_state=0).fit(problem.X, problem.y)
    assert np.array_equal(model.get_support(), problem.relevant)
    fresh = make_xor(300, n_noise=10, random_state=1)
    assert model.score(fresh.X, fresh.y) == 1.0
    assert model.network_ != "linear"
    assert (model.selection_frequency_[problem.relevant] == 1).all()
    assert set(np.argsort(-model.feature_importances_)[:2]) == {0, 1}


def test_a_linear_problem_is_left_to_the_linear_model():
    problem = make_linear(120, n_features=30, n_relevant=5, random_state=0)
    model = GatedRegressor(**FAST).fit(problem.X, problem.y)
    assert model.network_ == "linear"
    assert np.array_equal(model.get_support(), problem.relevant)


@pytest.mark.parametrize(
    ("estimator_class", "kind"),
    [
        (GatedClassifier, "classification"),
        pytest.param(GatedRegressor, "regression", marks=pytest.mark.slow),
        pytest.param(GatedCox, "survival", marks=pytest.mark.slow),
    ],
)
def test_noise_gives_the_base_rate_and_a_warning(estimator_class, kind):
    problem = make_noise(150, 40, kind=kind, random_state=0)
    with pytest.warns(NoFeatureSelectedWarning, match="no signal shows beyond chance"):
        model = estimator_class(**FAST).fit(problem.X, problem.y)
    assert not model.get_support().any()
    predicted = model.predict(problem.X)
    assert (predicted == predicted[0]).all()


def test_same_seed_chooses_the_same():
    X, y = two_classes()
    fits = [GatedClassifier(network="linear", **FAST).fit(X, y) for _ in range(2)]
    assert np.array_equal(fits[0].predict_proba(X), fits[1].predict_proba(X))
    assert fits[0].path_.equals(fits[1].path_)


def test_kept_features_stay_and_unselected_ones_are_not_read():
    X, y = two_classes()
    model = GatedClassifier(network="linear", always_keep=[5], **FAST).fit(X, y)
    assert model.get_support()[5]
    other = np.where(model.get_support(), X, 1e6)
    assert np.array_equal(model.predict_proba(other), model.predict_proba(X))


def test_number_of_folds_changes_the_choice():
    X, y = two_classes()
    a, b = (GatedClassifier(network="linear", cv=cv, **FAST).fit(X, y) for cv in (3, 5))
    assert not set(a.path_["held_out_loss"]) & set(b.path_["held_out_loss"])


def test_groups_of_rows_stay_together():
    X, y = two_classes()
    groups = np.arange(len(X)) // 4
    model = GatedClassifier(network="linear", cv=GroupKFold(4), **FAST).fit(X, y, groups=groups)
    assert model.get_support().any()
    folds = make_folds(GroupKFold(4), y, seed=0, groups=groups)
    for fold in folds:
        assert not set(groups[fold == 1]) & set(groups[fold == 0])


@pytest.mark.parametrize(
    ("groups", "message"),
    [(["a"] * 40, "one group only"), (["a", None] * 20, "group of row 1 is missing")],
)
def test_groups_that_can_not_be_kept_apart_are_refused(groups, message):
    X, y = two_classes(40)
    with pytest.raises(ValueError, match=message):
        GatedClassifier(network="linear", **FAST).fit(X, y, groups=groups)


def test_a_number_of_folds_keeps_groups_together_and_gaps_judge_nothing():
    groups = np.arange(40) // 4
    for fold in make_folds(5, np.zeros(40, dtype=int), seed=0, groups=groups):
        assert not set(groups[fold == 1]) & set(groups[fold == 0])
    gapped = make_folds(TimeSeriesSplit(3, gap=2), np.zeros(40, dtype=int), seed=0)
    for fold in gapped:
        first = np.flatnonzero(fold == 0)[0]
        assert (fold[first - 2 : first] == -1).all()
        assert (fold[: first - 2] == 1).all()


def test_folds_without_events_are_left_out_and_too_few_refused():
    X, y = survival_times()
    y[:, 0] = np.arange(len(y)) < 1
    with pytest.raises(ValueError, match="Fewer than two folds"):
        GatedCox(network="linear", **FAST).fit(X, y)


def test_a_module_takes_part_with_all_its_columns():
    X, y = two_classes()
    widths = []

    def factory(n_columns, n_outputs):
        widths.append(n_columns)
        return torch.nn.Linear(n_columns, n_outputs)

    model = GatedClassifier(network=ModuleNetwork(factory), **FAST).fit(X, y)
    assert set(widths) == {X.shape[1]}
    assert model.get_support().any()
    assert model.score(X, y) > 0.8


def test_automatic_estimators_can_be_cloned():
    model = GatedClassifier(cv=3, lam="auto", training=short_training())
    assert clone(model).get_params()["cv"] == 3


def test_training_that_diverges_selects_nothing():
    X, y = two_classes()
    training = short_training(n_steps=20, optimizer="sgd", lr=1e200)
    with pytest.warns(NoFeatureSelectedWarning):
        model = GatedRegressor(network="linear", training=training, random_state=0).fit(X, y.astype(float))
    assert np.isfinite(model.predict(X)).all()


def test_strata_are_shared_out_evenly():
    folds = make_folds(5, np.repeat([0, 1], [40, 10]), seed=0)
    assert [int((fold == 0)[40:].sum()) for fold in folds] == [2] * 15  # few rows: three rounds
    with pytest.raises(ValueError, match="at least 2 folds"):
        make_folds(1, np.zeros(10), seed=0)


def test_leaving_out_closed_columns_changes_nothing():
    plan, design, target = make(Regression(), "regression", Training(n_steps=30))
    fixed = torch.tensor([[OPEN, CLOSED, OPEN, CLOSED, CLOSED]] * 3, dtype=torch.int8)
    plan = replace(plan, fixed=fixed)
    narrowed = design.narrow((fixed == OPEN).any(0))
    assert narrowed.columns.n_columns == 2
    whole, narrow = train(plan, design, target).models, train(plan, narrowed, target).models
    torch.testing.assert_close(narrow.gates(), whole.gates())
    torch.testing.assert_close(narrow.predict(narrowed), whole.predict(design), rtol=0, atol=1e-10)


def test_last_step_stops_the_same_run_early():
    plan, design, target = make(Regression(), "regression", Training(n_steps=40, n_snapshots=8))
    full, part = train(plan, design, target), train(replace(plan, last_step=15), design, target)
    assert part.step.tolist() == [15] * 3
    torch.testing.assert_close(part.models.gate_parameter, full.gate_path[2])


def test_a_module_predicts_from_the_columns_it_was_trained_on():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 10))
    y = 2 * X[:, 3] - X[:, 7] + 0.1 * rng.normal(size=150)
    model = GatedRegressor(network=ModuleNetwork(torch.nn.Linear), **FAST).fit(X, y)
    assert np.flatnonzero(model.get_support()).tolist() == [3, 7]
    assert model.score(X, y) > 0.95


def test_rows_of_a_group_are_no_independent_evidence():
    """Columns and y are constant within groups and unrelated: as 200 rows they would look related."""
    rng = np.random.default_rng(0)
    X, y = np.repeat(rng.normal(size=(20, 30)), 10, axis=0), np.repeat(rng.normal(size=20), 10)
    groups = np.repeat(np.arange(20), 10)
    assert GatedRegressor(network="linear", **FAST).fit(X, y).get_support().any()
    with pytest.warns(NoFeatureSelectedWarning):
        GatedRegressor(network="linear", **FAST).fit(X, y, groups=groups)


def test_splits_of_all_rows_are_refused_beside_rows_of_weight_0():
    X, y = two_classes()
    splits = [(np.arange(60), np.arange(60, 120)), (np.arange(60, 120), np.arange(60))]
    weight = np.r_[0.0, np.ones(len(X) - 1)]
    with pytest.raises(ValueError, match="weight 0"):
        GatedClassifier(network="linear", cv=splits, **FAST).fit(X, y, weight)


@pytest.mark.parametrize("folds_agree", [True, False])
def test_the_second_look_may_change_the_network(monkeypatch, folds_agree):
    X, y = linear_response(120, 6)
    look = auto.look_again

    def change(problems, *given):
        looked = look(problems, *given)
        plain = replace(looked.recipe.recipe, linear=np.zeros(6, dtype=bool), lam=None)
        return replace(looked, recipe=replace(looked.recipe, network=len(problems) - 1, recipe=plain))

    monkeypatch.setattr(auto, "look_again", change)
    monkeypatch.setattr(candidates, "agree", lambda path: folds_agree)
    model = GatedRegressor(training=Training(n_steps=60, n_snapshots=5), random_state=0).fit(X, y)
    assert model.network_ == "encoded"
    assert model.score(X, y) > 0.5
    assert model.feature_importances_.shape == (6,)
    assert "encoded" in str(model.summary())
    assert model.at(k=2).support_.sum() == 2
    assert model.at(lam=0.5).network_ == "encoded"


def ring_problem():
    """Return the comparison of networks on a ring in columns 0 and 1 of 30."""
    X = normal_columns(200, 30)
    radius = np.hypot(X[:, 0], X[:, 1])
    model = GatedClassifier(random_state=0)
    return start_comparison(read_problem(model, X, (radius > np.median(radius)).astype(int)), 5, None)


@pytest.mark.parametrize("gain", [0.01, 0.5])
def test_beside_columns_of_luck_the_second_look_starts_from_nothing_too(gain):
    """Of twenty columns no curve is asked: the ring is found from nothing, unless what was chosen gains."""
    comparison = ring_problem()
    lucky = np.arange(30) >= 10
    spread = 0.02 * np.resize([1, -1], len(comparison.empty))
    (chosen,) = make_candidates([comparison.empty - gain + spread], [lucky])
    recipe = JudgedRecipe(network=0, recipe=make_recipe(chosen, comparison.keep))
    stands, looked = auto.second_look(comparison, chosen, recipe, comparison.empty)
    final, frequency = looked.recipe, looked.frequency
    if gain == 0.5:
        assert stands is chosen
        assert np.array_equal(final.recipe.support, lucky)
    else:
        assert stands is None
        assert np.flatnonzero(final.recipe.support).tolist() == [0, 1]
        assert (frequency > 0).tolist() == final.recipe.support.tolist()
