"""The automatic choice."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

from problems import short_training, survival_times, two_classes
from stochgate import GatedClassifier, GatedCox, GatedRegressor, NoFeatureSelectedWarning, Training
from stochgate.datasets import make_linear, make_noise, make_xor
from stochgate.engine import CLOSED, OPEN, train
from stochgate.networks import ModuleNetwork
from stochgate.objectives import Regression
from stochgate.selection import Path, choose, make_folds
from test_engine import make

FAST = {"training": Training(n_steps=200, n_snapshots=10), "random_state": 0}


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
    [(GatedClassifier, "classification"), (GatedRegressor, "regression"), (GatedCox, "survival")],
)
def test_noise_gives_the_base_rate_and_a_warning(estimator_class, kind):
    problem = make_noise(150, 40, kind=kind, random_state=0)
    with pytest.warns(NoFeatureSelectedWarning, match="no model beats the base rate"):
        model = estimator_class(**FAST).fit(problem.X, problem.y)
    assert not model.get_support().any()
    predicted = model.predict(problem.X)
    assert (predicted == predicted[0]).all()


def test_same_seed_chooses_the_same():
    X, y = two_classes()
    fits = [GatedClassifier(network="linear", **FAST).fit(X, y) for _ in range(2)]
    assert np.array_equal(fits[0].predict_proba(X), fits[1].predict_proba(X))
    assert fits[0].path_.equals(fits[1].path_)


def test_path_has_a_row_for_every_network_and_penalty():
    X, y = two_classes()
    model = GatedClassifier(**FAST).fit(X, y)
    assert set(model.path_["network"]) == {"linear", "mlp", "encoded"}
    assert len(model.path_) == 3 * 8
    n_features = model.path_["n_features"].to_numpy().reshape(3, 8)
    assert (n_features[:, 0] >= n_features[:, -1]).all()
    assert model.lam_ in set(model.path_["lam"])
    assert model.n_steps_ == model.history_["step"][-1]


def test_kept_features_stay_and_unselected_ones_are_not_read():
    X, y = two_classes()
    model = GatedClassifier(network="linear", always_keep=[5], **FAST).fit(X, y)
    assert model.get_support()[5]
    other = np.where(model.get_support(), X, 1e6)
    assert np.array_equal(model.predict_proba(other), model.predict_proba(X))


def test_number_of_folds_changes_the_choice():
    X, y = two_classes()
    a, b = (GatedClassifier(network="linear", cv=cv, **FAST).fit(X, y) for cv in (3, 5))
    assert not np.allclose(a.path_["held_out_loss"], b.path_["held_out_loss"])


def test_groups_of_rows_stay_together():
    X, y = two_classes()
    groups = np.arange(len(X)) // 4
    model = GatedClassifier(network="linear", cv=GroupKFold(4), **FAST).fit(X, y, groups=groups)
    assert model.get_support().any()
    learns = make_folds(GroupKFold(4), y, seed=0, groups=groups)
    for fold in learns:
        assert not set(groups[fold]) & set(groups[~fold])


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


# ---- the parts


def make_path(refit, opened, held_out):
    """Return a path of len(refit) penalties with one step each."""
    refit, opened = np.asarray(refit, dtype=float), np.asarray(opened, dtype=bool)
    n_lams, n_folds = refit.shape
    opened = np.repeat(opened[:, None], n_folds, axis=1)
    return Path(
        lams=np.arange(n_lams, dtype=float),
        held_out=np.asarray(held_out, dtype=float)[None],
        step=np.zeros(n_lams, dtype=int),
        train=refit,
        opened=opened,
        probability=opened.mean(axis=1),
        refit_steps=np.array([1]),
        refit=refit[None],
    )


EMPTY = np.array([1.0, 1.1, 0.9, 1.0, 1.05])
GOOD = np.array([0.10, 0.12, 0.09, 0.11, 0.10])


def test_ties_go_to_fewer_features_then_to_the_simpler_network():
    many, few = [1, 1, 1], [1, 0, 0]
    path = make_path([GOOD, GOOD + 0.001], [many, few], [GOOD, GOOD])
    assert choose([path], EMPTY).candidate.lam == 1
    simple, deep = (make_path([GOOD], [few], [GOOD]) for _ in range(2))
    assert choose([simple, deep], EMPTY).candidate.network == 0


def test_a_clearly_better_model_wins_with_more_features():
    path = make_path([GOOD, GOOD + 0.2], [[1, 1, 1], [1, 0, 0]], [GOOD, GOOD + 0.2])
    assert choose([path], EMPTY).candidate.lam == 0


def test_the_model_without_features_wins_over_luck():
    luck = EMPTY - np.array([0.3, -0.2, 0.1, -0.25, 0.1])
    assert choose([make_path([luck], [[1, 0, 0]], [luck])], EMPTY).candidate is None


def test_strata_are_shared_out_evenly():
    learns = make_folds(5, np.repeat([0, 1], [40, 10]), seed=0)
    assert [int((~fold)[40:].sum()) for fold in learns] == [2] * 5
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
