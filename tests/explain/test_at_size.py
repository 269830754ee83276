"""What a model can be asked besides its predictions: its path, its model elsewhere, and by which rule."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold
from sklearn.utils.validation import check_is_fitted

from problems import ESTIMATORS, as_frame, linear_response, make_problem, predictions, two_classes
from stochgate import GatedClassifier, GatedRegressor, NoFeatureSelectedWarning, Training
from stochgate.choice.sets.path import make_lams

QUICK = {"training": Training(n_steps=60, n_snapshots=5), "random_state": 0}
FAST = {"network": "linear", "cv": 3, "training": Training(n_steps=200, n_snapshots=5), "random_state": 0}
COLUMNS = {
    "network",
    "stage",
    "lam",
    "step",
    "n_features",
    "n_by_fold",
    "n_at_end",
    "train_loss",
    "held_out_loss",
    "held_out_sd",
    "features",
}


def several_effects(n_samples=120, n_features=8, seed=0):
    """Return X and a y to which columns 0 to 3 add less and less."""
    X, y = linear_response(n_samples, n_features, seed)
    return X, y + 0.4 * X[:, 2] - 0.2 * X[:, 3]


@pytest.fixture(scope="module")
def fitted():
    """Return a model of several effects, which no test may change."""
    return GatedRegressor(**FAST).fit(*several_effects())


@pytest.fixture(scope="module", params=ESTIMATORS)
def of_each_kind(request):
    """Return a fitted estimator of each kind, and its data."""
    X, y = make_problem(request.param)
    return request.param(**FAST).fit(X, y), X, y


def reads_only_selected(model, X):
    """Return whether predictions stay what they are, to the last bit, when the other columns change."""
    other = np.where(model.get_support(), X, 1e6)
    return np.array_equal(predictions(model, other), predictions(model, X))


# ---- at


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
def test_a_model_at_k_has_k_features(fitted, k):
    X, _ = several_effects()
    model = fitted.at(k=k)
    assert model.get_support().sum() == k
    assert model.get_support()[: min(k, 3)].all()  # the strongest come first
    assert reads_only_selected(model, X)
    own = k == fitted.get_support().sum()
    assert model.source_ == "this fit's model" if own else model.source_.startswith(f"refit on the {k} ")


def test_sets_of_all_sizes_are_nested_and_pass_through_the_chosen_one(fitted):
    sets = [fitted.at(k=k).get_support() for k in range(1, 9)]
    assert all((larger >= smaller).all() for smaller, larger in pairwise(sets))
    assert np.array_equal(sets[fitted.get_support().sum() - 1], fitted.get_support())


def test_a_group_counts_once_at_k():
    X, y = several_effects()
    groups = np.arange(8) // 2
    model = GatedRegressor(feature_groups=groups, always_keep=[7], **FAST).fit(X, y)
    for k in (1, 3):
        support = model.at(k=k).get_support()
        assert len(np.unique(groups[support])) == k
        assert support.sum() == 2 * k
        assert support[[6, 7]].all()
    with pytest.raises(ValueError, match="there are 4 features \\(or groups\\)"):
        model.at(k=5)
    with pytest.raises(ValueError, match="'n_features_to_select' parameter"):
        model.at(k=0)


def test_always_keep_bounds_k_from_below():
    X, y = linear_response()
    model = GatedRegressor(always_keep=[4, 5], **FAST).fit(X, y)
    with pytest.raises(ValueError, match="always_keep names 2 features"):
        model.at(k=1)


def test_a_penalty_of_the_path_gives_what_its_folds_agree_on(fitted):
    path = fitted.path_[fitted.path_["stage"] == "path"]
    for lam, features in zip(path["lam"], path["features"], strict=True):
        model = fitted.at(lam=lam)
        selected = set(np.flatnonzero(model.get_support()))
        assert {0, 1} <= selected <= set(features)  # under lam a weak one may close yet
        assert model.lam_ == lam
        assert ("this fit's" if lam == fitted.lam_ else "folds agree on") in model.source_
        assert reads_only_selected(model, several_effects()[0])


def test_another_penalty_gives_one_new_model(fitted):
    X, _ = several_effects()
    models = [fitted.at(lam=lam) for lam in (0.0, 0.05, 5.0)]
    assert [model.lam_ for model in models] == [0.0, 0.05, 5.0]
    sizes = [model.get_support().sum() for model in models]
    assert sizes[0] == 8
    assert sizes[0] > sizes[1] > sizes[2] > 0
    for model in models:
        assert "off the path" in model.source_
        assert reads_only_selected(model, X)


def test_a_huge_penalty_leaves_no_feature_and_says_why(fitted):
    with pytest.warns(NoFeatureSelectedWarning, match="at lam=100 .* smaller lam"):
        model = fitted.at(lam=100)
    assert not model.get_support().any()


def test_the_own_penalty_and_size_give_this_fits_model(fitted):
    X, _ = several_effects()
    for model in (fitted.at(lam=fitted.lam_), fitted.at(k=int(fitted.get_support().sum()))):
        assert model is not fitted
        assert model.source_ == "this fit's model"
        np.testing.assert_array_equal(model.get_support(), fitted.get_support())
        np.testing.assert_array_equal(model.predict(X), fitted.predict(X))
        assert model.at(k=1).get_support().sum() == 1  # and can be asked again


def test_a_model_elsewhere_is_a_whole_estimator(of_each_kind):
    fitted, X, y = of_each_kind
    off_path = {"lam": 1.01 * fitted.lam_}
    for asked in ({"k": 4}, {"lam": fitted.path_["lam"][0]}, off_path):
        model = fitted.at(**asked)
        assert type(model) is type(fitted)
        if model.source_ != "this fit's model":  # its parameters ask for what it is
            assert (model.lam, model.n_features_to_select) == (asked.get("lam", "auto"), asked.get("k"))
        assert np.isfinite(model.score(X, y))
        assert model.transform(X).shape == (len(X), model.get_support().sum())
        assert reads_only_selected(model, X)
        assert not hasattr(clone(model), "source_")
        loaded = pickle.loads(pickle.dumps(model))
        assert loaded.source_ == model.source_
        np.testing.assert_array_equal(predictions(loaded, X), predictions(model, X))


def test_asking_leaves_the_model_as_it_was(of_each_kind):
    fitted, X, _ = of_each_kind
    support, lam, before = fitted.get_support().copy(), fitted.lam_, predictions(fitted, X)
    path = fitted.path_.copy()
    for asked in ({"k": 5}, {"lam": lam}, {"lam": 0.01}, {"lam": path["lam"][1]}):
        fitted.at(**asked)
    np.testing.assert_array_equal(fitted.get_support(), support)
    np.testing.assert_array_equal(predictions(fitted, X), before)
    assert fitted.lam_ == lam
    assert not hasattr(fitted, "source_")
    assert fitted.path_.equals(path)


def test_the_same_question_has_the_same_answer(fitted):
    X, _ = several_effects()
    for asked in ({"k": 2}, {"lam": 0.05}):
        np.testing.assert_array_equal(fitted.at(**asked).predict(X), fitted.at(**asked).predict(X))


def test_a_fit_of_k_features_can_be_asked_for_another_k():
    X, y = several_effects()
    model = GatedRegressor(n_features_to_select=3, **FAST).fit(X, y)
    assert model.at(k=3).source_ == "this fit's model"
    assert [model.at(k=k).get_support().sum() for k in (1, 3, 6)] == [1, 3, 6]


def test_a_new_fit_forgets_where_a_model_came_from(fitted):
    model = fitted.at(k=1).set_params(n_features_to_select=None).fit(*several_effects())
    assert not hasattr(model, "source_")
    np.testing.assert_array_equal(model.get_support(), fitted.get_support())


# asked, message
BAD_QUESTIONS = [
    ({}, "either k .* or lam"),
    ({"k": 2, "lam": 0.1}, "either k .* or lam"),
    ({"k": 9}, "n_features_to_select=9, but there are 8 features"),
    ({"k": 0}, "'n_features_to_select' parameter .* Got 0"),
    ({"k": -1}, "'n_features_to_select' parameter .* Got -1"),
    ({"k": 2.5}, "'n_features_to_select' parameter .* Got 2.5"),
    ({"k": "2"}, "'n_features_to_select' parameter .* Got '2'"),
    ({"lam": -0.1}, "'lam' parameter .* Got -0.1"),
    ({"lam": np.nan}, "'lam' parameter .* Got nan"),
    ({"lam": np.inf}, "'lam' parameter .* Got inf"),
    ({"lam": "much"}, "'lam' parameter .* Got 'much'"),
]


@pytest.mark.parametrize(("asked", "message"), BAD_QUESTIONS)
def test_a_bad_question_is_refused(fitted, asked, message):
    with pytest.raises(ValueError, match=message):
        fitted.at(**asked)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_only_an_automatic_fit_that_has_its_data_can_be_asked(estimator_class):
    X, y = make_problem(estimator_class)
    model = estimator_class(**{**FAST, **QUICK})
    with pytest.raises(NotFittedError):
        model.at(k=1)
    loaded = pickle.loads(pickle.dumps(model.set_params(n_features_to_select=2).fit(X, y)))
    with pytest.raises(ValueError, match="neither pickled nor copied"):
        loaded.at(k=1)
    with pytest.raises(ValueError, match="lam='auto'"):
        model.set_params(n_features_to_select=None, lam=0.1).fit(X, y).at(k=1)


# ---- path


def test_path_chooses_nothing_and_leaves_the_estimator_unfitted():
    X, y = several_effects()
    model = GatedRegressor(**FAST)
    before = set(vars(model))
    table = model.path(X, y)
    assert set(vars(model)) == before
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    assert set(table.columns) == COLUMNS
    assert set(table["stage"]) == {"path"}
    np.testing.assert_allclose(table["lam"], make_lams(len(X)) * X.shape[1])
    assert (table["n_features"] == table["features"].map(len)).all()


def test_path_leaves_a_fitted_model_as_it_was(fitted):
    X, y = several_effects()
    before = fitted.predict(X)
    fitted.path(X, -y, lams=[0.1])
    np.testing.assert_array_equal(fitted.predict(X), before)


def test_path_equals_that_of_a_fit(fitted):
    X, y = several_effects()
    of_fit = fitted.path_[fitted.path_["stage"] == "path"]
    table = GatedRegressor(**FAST).path(X, y)
    assert table.equals(of_fit)


@pytest.mark.parametrize("lams", [[0.1, 0.5, 0.0, 0.3], np.array([0.3, 0.5, 0.1, 0.0])])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_given_penalties_are_trained_from_the_largest_down(estimator_class, lams):
    X, y = make_problem(estimator_class)
    table = estimator_class(network="linear", **QUICK).path(X, y, lams=lams)
    assert table["lam"].tolist() == [0.5, 0.3, 0.1, 0.0]


def test_every_network_has_its_path():
    X, y = two_classes()
    table = GatedClassifier(**QUICK).path(X, y, lams=[0.3, 0.1])
    assert table["network"].tolist() == ["linear"] * 2 + ["mlp"] * 2 + ["encoded"] * 2
    assert table["lam"].tolist() == [0.3, 0.1] * 3


@pytest.mark.parametrize("lams", [[], [-0.1], [0.1, np.nan], [np.inf]])
def test_bad_penalties_are_refused(lams):
    X, y = linear_response()
    with pytest.raises(ValueError, match="lams must be numbers not below 0, at least one"):
        GatedRegressor(network="linear", **QUICK).path(X, y, lams=lams)


def test_path_needs_no_automatic_penalty():
    X, y = linear_response()
    automatic, given = (
        GatedRegressor(network="linear", lam=lam, **QUICK).path(X, y) for lam in ("auto", 0.1)
    )
    assert given["held_out_loss"].equals(automatic["held_out_loss"])


def test_path_names_features():
    X, y = several_effects()
    named, plain = (GatedRegressor(**FAST).path(data, y, lams=[0.5, 0.1]) for data in (as_frame(X), X))
    assert {"a", "b"} <= set(named["features"][1]) <= set("abcdefgh")
    positions = [[list("abcdefgh").index(name) for name in names] for names in named["features"]]
    assert positions == plain["features"].tolist()


def test_path_weighs_rows_and_keeps_groups_together():
    X, y = linear_response()
    model = GatedRegressor(network="linear", **QUICK)
    plain = model.path(X, y, lams=[0.1])
    weighted = model.path(X, y, sample_weight=np.linspace(0.1, 2, len(y)), lams=[0.1])
    grouped = model.path(X, y, groups=np.arange(len(y)) // 10, lams=[0.1])
    assert len({float(table["held_out_loss"][0]) for table in (plain, weighted, grouped)}) == 3


# ---- rules


def test_a_rule_of_ones_own_is_given_the_table():
    X, y = several_effects()
    seen = []

    def fewest(table):
        seen.append(table)
        return table["n_features"].idxmin()

    model = GatedRegressor(rule=fewest, **FAST).fit(as_frame(X), y)
    assert len(seen) == 1
    assert seen[0] is model.path_
    assert set(seen[0].columns) == COLUMNS


def test_a_rule_of_ones_own_chooses_the_row():
    X, y = several_effects()
    table = GatedRegressor(**FAST).fit(as_frame(X), y).path_
    refits = table.index[table["stage"] == "refit"]  # whose gates are held open
    for row in {refits[-1], table["n_features"][refits].idxmax()}:
        model = GatedRegressor(rule=lambda table, row=row: row, **FAST).fit(as_frame(X), y)
        assert model.get_feature_names_out().tolist() == table["features"][row]
        assert model.lam_ == table["lam"][row]
        assert model.n_steps_ == table["step"][row]


@pytest.mark.parametrize("network", ["linear", "mlp", "encoded"])
def test_a_rule_of_ones_own_chooses_the_network(network):
    X, y = two_classes(n_samples=210)  # of fewer rows the encoded network is out where the folds disagree

    def last_of_network(table):
        return table.index[table["network"] == network][-1]

    model = GatedClassifier(rule=last_of_network, cv=3, **QUICK).fit(X, y)
    assert model.network_ == network


def test_a_rule_that_chooses_nothing_selects_nothing():
    X, y = linear_response()
    with pytest.warns(NoFeatureSelectedWarning, match="the rule chose none"):
        model = GatedRegressor(rule=lambda table: None, **FAST).fit(X, y)
    assert not model.get_support().any()
    np.testing.assert_allclose(model.predict(X), y.mean())


def test_a_rule_that_chooses_nothing_leaves_the_kept_features():
    X, y = linear_response()
    model = GatedRegressor(rule=lambda table: None, always_keep=[1], **FAST).fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(model.get_support()), [1])


@pytest.mark.parametrize("row", [-1, 10_000, 1.0, "best"])
def test_a_rule_that_returns_no_row_is_refused(row):
    X, y = linear_response()
    model = GatedRegressor(network="linear", rule=lambda table: row, **QUICK)
    with pytest.raises(ValueError, match=f"rule returned {row!r}; expected a row of the path, 0 to"):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize("rule", ["lowest", 3, None])
def test_an_unknown_rule_is_refused(rule):
    X, y = linear_response()
    with pytest.raises(ValueError, match=f"'rule' parameter .*'one-se'.* Got {rule!r}"):
        GatedRegressor(network="linear", rule=rule, **QUICK).fit(X, y)


@pytest.mark.parametrize("seed", [1, 2])
def test_one_standard_error_never_selects_more_features(seed):
    X, y = several_effects(n_samples=80, seed=seed)
    y = y + 2 * np.random.default_rng(seed + 100).normal(size=len(y))
    fits = {rule: GatedRegressor(rule=rule, **FAST).fit(X, y) for rule in ("best", "one-se")}
    assert 0 < fits["one-se"].get_support().sum() <= fits["best"].get_support().sum()
    assert fits["one-se"].path_["held_out_loss"].equals(fits["best"].path_["held_out_loss"])


# ---- one fit after another


def test_a_fit_with_a_given_penalty_leaves_nothing_of_an_automatic_one():
    X, y = linear_response()
    model = GatedRegressor(**FAST).fit(X, y)
    assert {"network_", "path_", "selection_frequency_"} <= set(vars(model))
    model.set_params(lam=0.1).fit(X, y)
    assert not {"network_", "path_", "selection_frequency_", "source_"} & set(vars(model))
    fresh = GatedRegressor(**FAST).set_params(lam=0.1).fit(X, y)
    assert set(vars(model)) == set(vars(fresh))
    np.testing.assert_array_equal(model.feature_importances_, fresh.feature_importances_)


def test_a_clone_of_another_size_asks_for_that_size():
    X, y = linear_response()
    model = GatedRegressor(
        network="linear", training=Training(n_steps=60, n_snapshots=5), cv=KFold(3), random_state=0
    ).fit(X, y)
    other = model.at(k=4)
    assert clone(other).fit(X, y).get_support().sum() == 4
    lam = float(model.path_["lam"].iloc[1])
    assert clone(model.at(lam=lam)).get_params()["lam"] == lam


def test_at_a_penalty_of_the_path_the_features_are_those_of_the_last_step():
    X, y = linear_response(200, 9)
    X[:, 8] = X[:, 0] + 0.2 * X[:, 8]
    model = GatedRegressor(network="linear", random_state=0).fit(X, y)
    path = model.path_[model.path_["stage"] == "path"]
    early = path[path["n_at_end"] < path["n_features"]]
    assert len(early)  # where the lowest loss came before the gates had closed
    for lam, n_at_end in zip(early["lam"], early["n_at_end"], strict=True):
        assert 0 < model.at(lam=lam).get_support().sum() <= n_at_end
