"""The automatic choice."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, StratifiedKFold, TimeSeriesSplit

from choices import EMPTY, FAST, FEW, GOOD, MANY, make_candidates
from plans import make
from problems import linear_response, short_training, survival_times, two_classes
from stochgate import GatedClassifier, GatedCox, GatedRegressor, NoFeatureSelectedWarning, Training
from stochgate.choice import auto, candidates, cells
from stochgate.choice.cells import Cells, vote, with_fewer_rows
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.folds import make_folds
from stochgate.choice.path import make_lams
from stochgate.choice.rules import RULES, Standard
from stochgate.datasets import make_linear, make_noise, make_xor
from stochgate.engine import CLOSED, OPEN, train
from stochgate.networks import ModuleNetwork
from stochgate.objectives import Cox, Regression


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


def test_path_has_a_row_for_every_network_and_penalty():
    X, y = two_classes()
    model = GatedClassifier(**FAST).fit(X, y)
    assert set(model.path_["network"]) == {"linear", "mlp", "encoded"}
    path = model.path_[model.path_["stage"] == "path"]
    for _, rows in path.groupby("network"):
        assert set(make_lams(len(X)) * X.shape[1]) <= set(rows["lam"])
        assert rows["lam"].is_monotonic_decreasing
        assert rows["n_features"].iloc[0] <= rows["n_features"].iloc[-1]
    assert model.lam_ in set(model.path_["lam"])
    assert {"held_out_loss", "held_out_sd", "train_loss", "n_by_fold"} <= set(path.columns)
    assert model.n_steps_ == model.history_["step"][-1]


def test_larger_penalties_are_tried_while_most_gates_stay_open(monkeypatch):
    X, y = two_classes()
    smallest = np.array([1e-9, 1e-10])
    monkeypatch.setattr("stochgate.choice.auto.make_lams", lambda n_samples: smallest)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)  # a number would give few rows several rounds
    path = (
        GatedClassifier(network="linear", **{**FAST, "cv": folds}).fit(X, y).path_.query("stage == 'path'")
    )
    larger = smallest[0] * DEFAULTS.larger ** np.arange(DEFAULTS.n_larger, 0, -1)
    np.testing.assert_allclose(path["lam"], X.shape[1] * np.concatenate([larger, smallest]))


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


# ---- the parts


STANDARD = Standard(empty=EMPTY, reference=None, n_samples=1000, n_first=5)


def test_ties_go_to_fewer_features_then_to_the_simpler_network():
    assert RULES["auto"](make_candidates([GOOD, GOOD + 0.001], [MANY, FEW]), STANDARD).cell == 1
    both = make_candidates([GOOD], [FEW], network=1) + make_candidates([GOOD], [FEW], network=0)
    assert RULES["auto"](both, STANDARD).network == 0


def test_a_clearly_better_model_wins_with_more_features():
    candidates = make_candidates([GOOD, GOOD + 0.2], [MANY, FEW])
    assert [RULES[rule](candidates, STANDARD).cell for rule in ("auto", "best", "one-se")] == [0, 0, 0]


def test_rules_differ_in_what_they_give_away_for_fewer_features():
    candidates = make_candidates([GOOD, GOOD + np.array([0.004, -0.004, 0.004, 0.004, 0.004])], [MANY, FEW])
    assert [RULES[rule](candidates, STANDARD).cell for rule in ("auto", "best", "one-se")] == [1, 0, 1]
    worse = make_candidates([GOOD, GOOD + 0.0045], [MANY, FEW])  # within one standard error
    assert [RULES[rule](worse, STANDARD).cell for rule in ("best", "one-se")] == [0, 1]


def test_many_features_that_gain_little_each_lose_a_tie_of_a_standard_error():
    behind = np.array([0.05, -0.03, 0.04, -0.01, 0.02])  # 0.014 on average, 0.9 standard errors
    few = np.arange(40) < 2
    for n_many, cell in ((40, 1), (5, 0)):  # a feature is worth 0.0035: 38 of them more than 0.014, 3 less
        candidates = make_candidates([GOOD, GOOD + behind], [np.arange(40) < n_many, few])
        assert RULES["auto"](candidates, STANDARD).cell == cell
    sure = make_candidates([GOOD, GOOD + 0.03], [np.ones(40), few])  # the same in every fold
    assert RULES["auto"](sure, STANDARD).cell == 0


def test_a_weak_signal_is_not_given_away():
    """A standard error is most of what is gained: the tie ends at 2 % of the gain."""
    spread = np.array([0.05, -0.05, 0.04, -0.04, 0.0])
    for share, cell in ((0.03, 0), (0.015, 1)):
        behind = spread + share * 0.02
        candidates = make_candidates(
            [EMPTY - 0.02, EMPTY - 0.02 + behind], [np.ones(40), np.arange(40) < 2]
        )
        assert RULES["auto"](candidates, STANDARD).cell == cell


def test_as_good_as_all_columns_is_what_is_asked_for():
    """Both sets tie with each other, but only the larger one ties with the model on all columns."""
    small = GOOD + np.array([0.004, -0.004, 0.004, 0.004, 0.004])
    candidates = make_candidates([GOOD, small], [MANY, FEW])
    reference = small - 0.0125
    assert RULES["auto"](candidates, STANDARD).cell == 1
    assert RULES["auto"](candidates, replace(STANDARD, reference=reference + 1)).cell == 1
    assert RULES["auto"](candidates, replace(STANDARD, reference=reference)).cell == 0


def test_where_nothing_is_as_good_as_all_columns_the_best_set_is_returned():
    candidates = make_candidates([GOOD, GOOD + 0.001], [MANY, FEW])
    assert RULES["auto"](candidates, replace(STANDARD, reference=GOOD - 0.08)).cell == 0


def test_joint_sets_are_found_where_the_folds_open_different_equals():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(220, 4))
    X = np.repeat(factors, 40, axis=1) + 0.7 * rng.normal(size=(220, 160))
    y = factors @ [1.0, -1.0, 0.8, 0.6] + 0.5 * rng.normal(size=220)
    model = GatedRegressor(network="linear", **FAST).fit(X, y)
    assert {"growing", "team", "all"} <= set(model.path_["stage"])
    assert 4 <= model.get_support().sum() <= 64  # 40 % of 160
    losses = model.summary().losses
    assert losses["selected"] < 1.5 * losses["all"] < 0.5 * losses["none"]
    assert "all columns" in str(model.summary())


def test_only_what_was_judged_counts_as_a_selection():
    opened = np.zeros((1, 5, 200), dtype=bool)
    opened[0, np.arange(5), np.arange(5)] = True  # each fold another feature
    opened[0, :, 9] = True
    (candidate,) = make_candidates([GOOD], [np.arange(200) < 2])

    def of(**changes):
        return replace(candidate, cells=replace(candidate.cells, **changes))

    assert candidate.is_selection
    assert of(opened=opened, settled=opened, support=vote(opened)).is_selection  # half of each is shared
    opened[0, np.arange(5), 20 + np.arange(5)] = True
    assert not of(opened=opened, settled=opened, support=vote(opened)).is_selection
    assert of(stage="growing", opened=opened, settled=opened).is_selection  # made anew from all rows
    assert not of(opened=np.ones_like(opened)).is_selection  # nothing had closed yet
    most = replace(candidate, n_features=81)
    assert not most.is_selection
    assert not replace(candidate, losses=GOOD * np.inf).is_selection


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

    def change(problems, chosen, folds):
        looked, frequency = look(problems, chosen, folds)
        plain = replace(looked.recipe, linear=np.zeros(6, dtype=bool), lam=None)
        return replace(looked, network=len(problems) - 1, recipe=plain), frequency

    monkeypatch.setattr(auto, "look_again", change)
    monkeypatch.setattr(candidates, "agree", lambda path: folds_agree)
    model = GatedRegressor(training=Training(n_steps=60, n_snapshots=5), random_state=0).fit(X, y)
    assert model.network_ == "encoded"
    assert model.score(X, y) > 0.5
    assert model.feature_importances_.shape == (6,)
    assert "encoded" in str(model.summary())
    assert model.at(k=2).support_.sum() == 2
    assert model.at(lam=0.5).network_ == "encoded"


def make_path(*losses):
    """Return paths of one cell each, with these losses on the folds."""
    n = len(losses[0])
    none, gates = np.zeros(1), np.zeros((1, n, 3), dtype=bool)
    return [
        Cells(
            stage="path",
            lams=none,
            losses=v[None],
            train=v[None],
            by_block=v[None, :, None],
            step=none,
            shrink=none,
            opened=gates,
            settled=gates,
            support=gates[0],
            probability=none,
        )
        for v in map(np.array, losses)
    ]


@pytest.mark.parametrize(
    ("losses", "grower"),
    [
        ([[0.5, 0.52, 0.48], [0.49, 0.50, 0.50], [0.3, 0.3, 0.3]], 0),  # as good as the second
        ([[0.6, 0.62, 0.58], [0.49, 0.50, 0.50], [0.3, 0.3, 0.3]], 1),
        ([[1.0, 1.0, 1.0], [0.99, 1.0, 1.0], [0.3, 0.3, 0.3]], 2),  # no other may win
        ([[np.inf, 1.0, 1.0], [0.5, 0.5, 0.5], [0.6, 0.6, 0.6]], 1),
        ([[1e300, 1.0, 1.0], [1e300, 1.0, 1.0], [1e300, 1.0, 1.0]], 0),
    ],
)
def test_the_simplest_of_the_best_networks_makes_the_joint_sets(losses, grower):
    assert candidates._grower(make_path(*losses), np.ones(3), [0, 1], 3) == grower
