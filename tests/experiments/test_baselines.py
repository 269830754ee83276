"""The baselines find an easy feature, keep one interface, and leave nothing behind."""

import collections
import pickle
import subprocess
import sys
import warnings
from functools import cache

import numpy as np
import pytest
import torch
from lifelines import CoxPHFitter
from sklearn.base import clone
from sklearn.linear_model import Lasso, LogisticRegression

from experiments.baselines import (
    ALL_COLUMNS,
    BASELINES,
    AllColumnsBoosting,
    AllColumnsForest,
    AllColumnsLinear,
    BorutaSelector,
    DFSSelector,
    ExtraTreesSelector,
    ForestSelector,
    GatedNetwork,
    LassoNetSelector,
    LassoSelector,
    LinearSVCSelector,
    SparseGroupSelector,
    STGSelector,
    XGBoostSelector,
)
from experiments.baselines.forest import feature_counts
from experiments.baselines.kinds import KINDS, order_in_time, rmse
from experiments.baselines.lasso import log_partial_likelihood
from experiments.baselines.survival_forest import coarsen, permutation_importances
from stochgate import survival_target

PACKAGES = {
    BorutaSelector: "boruta",
    LassoNetSelector: "lassonet",
    STGSelector: "stg",
    XGBoostSelector: "xgboost",
}
# enough for a problem that one column decides
SMALL = {
    BorutaSelector: {"max_iter": 15, "n_estimators": 10},
    DFSSelector: {"n_epochs": 300, "hidden": (4,), "lams": (0.01, 0.03), "device": "cpu"},
    ExtraTreesSelector: {"n_estimators": 10},
    ForestSelector: {"n_estimators": 10},
    GatedNetwork: {"n_epochs": 300, "hidden": (4,), "lams": (0.1, 0.3), "device": "cpu"},
    LinearSVCSelector: {},
    SparseGroupSelector: {"n_epochs": 300, "hidden": (4,), "lams": (0.003, 0.01), "device": "cpu"},
    LassoNetSelector: {
        "lambda_start": 1.0,
        "path_multiplier": 1.5,
        "hidden_dims": (4,),
        "n_iters": (400, 20),
    },
    LassoSelector: {},
    STGSelector: {"n_epochs": 150, "lams": (0.3, 1.0), "hidden_dims": (4,)},
    XGBoostSelector: {"n_estimators": 10},
    AllColumnsBoosting: {"n_estimators": 20},
    AllColumnsForest: {"n_estimators": 20},
    AllColumnsLinear: {},
}
SELECTING = [*BASELINES.values(), GatedNetwork]
CASES = [(baseline, kind) for baseline in SELECTING for kind in baseline.kinds()]
REFUSED = [(baseline, kind) for baseline in SELECTING for kind in baseline._refused]
ALL_CASES = [(baseline, kind) for baseline in ALL_COLUMNS.values() for kind in baseline.kinds()]


def easy_problem(kind, n_samples=120, n_features=5, seed=0):
    """Return X and a y that column 1 decides."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    if kind == "classification":
        return X, np.where(X[:, 1] + 0.1 * rng.normal(size=n_samples) > 0, "yes", "no")
    if kind == "regression":
        return X, 50 + 20 * X[:, 1] + rng.normal(size=n_samples)
    y = np.empty(n_samples, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = rng.random(n_samples) > 0.2, rng.exponential(np.exp(-3 * X[:, 1]))
    return X, y


def make(baseline, kind, **changes):
    if baseline in PACKAGES:
        pytest.importorskip(PACKAGES[baseline])
    return baseline(kind, **{"random_state": 0, **SMALL[baseline], **changes})


@cache
def fitted(baseline, kind):
    """Return a baseline fitted to the easy problem, shared by the tests."""
    return make(baseline, kind).fit(*easy_problem(kind))


@cache
def fitted_path(baseline, kind):
    """Return the path of a baseline on the easy problem, shared by the tests."""
    return make(baseline, kind).path(*easy_problem(kind))


@pytest.mark.parametrize(("baseline", "kind"), CASES)
def test_the_relevant_feature_is_found_and_predicts(baseline, kind):
    X, _ = easy_problem(kind)
    model = fitted(baseline, kind)
    assert model.get_support().shape == (5,)
    assert model.get_support().dtype == bool
    assert model.get_support()[1]
    assert model.feature_importances_.argmax() == 1
    assert model.transform(X).shape == (120, model.get_support().sum())
    X_new, y_new = easy_problem(kind, seed=1)
    assert model.predict(X_new).shape == (120,)
    assert model.score(X_new, y_new) > {"classification": 0.85, "regression": 0.7, "survival": 0.8}[kind]


@pytest.mark.parametrize(("baseline", "kind"), CASES)
def test_columns_outside_the_support_change_no_prediction(baseline, kind):
    X, _ = easy_problem(kind)
    model = fitted(baseline, kind)
    shuffled = np.where(model.get_support(), X, X[::-1])
    np.testing.assert_array_equal(model.predict(X), model.predict(shuffled))


@pytest.mark.parametrize(("baseline", "kind"), CASES)
def test_the_same_seed_gives_the_same_answer_and_global_state_is_left_alone(baseline, kind):
    X, y = easy_problem(kind)
    first = fitted(baseline, kind)
    torch.manual_seed(1)  # a fit must not depend on it
    state, names, filters = torch.get_rng_state(), set(vars(collections)), list(warnings.filters)
    second = clone(first).fit(X, y)
    np.testing.assert_array_equal(first.get_support(), second.get_support())
    np.testing.assert_array_equal(first.feature_importances_, second.feature_importances_)
    np.testing.assert_array_equal(first.predict(X), second.predict(X))
    assert torch.equal(torch.get_rng_state(), state)
    assert set(vars(collections)) == names
    assert warnings.filters == filters


@pytest.mark.parametrize("baseline", [LassoSelector, ForestSelector])
def test_a_fitted_baseline_can_be_pickled(baseline):
    X, _ = easy_problem("classification")
    model = fitted(baseline, "classification")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


@pytest.mark.parametrize(("baseline", "kind"), REFUSED)
def test_what_a_baseline_can_not_do_is_refused_with_the_reason(baseline, kind):
    with pytest.raises(ValueError, match=f"cannot do {kind}: .*; use one of"):
        baseline(kind).fit(*easy_problem(kind))


def test_a_network_without_gates_keeps_every_feature():
    X, y = easy_problem("survival")
    model = make(GatedNetwork, "survival", gate=None, lams=(0.0,)).fit(X, y)
    assert model.get_support().all()
    assert model.score(X, y) > 0.8


def test_a_forest_that_does_not_select_keeps_every_feature():
    model = make(ForestSelector, "survival", select=False).fit(*easy_problem("survival"))
    assert model.get_support().all()
    assert model.feature_importances_.argmax() == 1


@pytest.mark.parametrize(("baseline", "kind"), ALL_CASES)
def test_what_selects_nothing_keeps_every_column_and_predicts(baseline, kind):
    model = fitted(baseline, kind)
    assert model.get_support().all()
    assert (model.feature_importances_ == 1).all()
    X_new, y_new = easy_problem(kind, seed=1)
    assert model.score(X_new, y_new) > {"classification": 0.85, "regression": 0.7, "survival": 0.8}[kind]
    again = clone(model).fit(*easy_problem(kind))
    np.testing.assert_array_equal(model.predict(X_new), again.predict(X_new))


@pytest.mark.parametrize(
    ("baseline", "parameter", "value"),
    [
        (AllColumnsForest, "n_estimators", 3),
        (AllColumnsForest, "random_state", 1),
        (AllColumnsBoosting, "n_estimators", 3),
        (AllColumnsLinear, "n_splits", 2),
        (AllColumnsLinear, "random_state", 5),
    ],
)
def test_every_parameter_of_a_model_on_all_columns_changes_the_result(baseline, parameter, value):
    X, y = easy_problem("regression", n_samples=40, n_features=20)
    X = X + 3 * np.random.default_rng(1).normal(size=X.shape)  # so that the penalty is hard to choose
    usual, changed = (make(baseline, "regression", **c).fit(X, y) for c in ({}, {parameter: value}))
    assert not np.array_equal(usual.predict(X), changed.predict(X))


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="Unknown kind 'cox'; use one of"):
        LassoSelector("cox").fit(*easy_problem("regression"))


def test_lasso_ranks_features_of_several_classes():
    X, _ = easy_problem("classification", n_samples=200)
    model = LassoSelector(random_state=0).fit(X, np.digitize(X[:, 1] + X[:, 3], [-1, 1]))
    assert set(np.argsort(-model.feature_importances_)[:2]) == {1, 3}


def test_both_solvers_of_the_logistic_lasso_find_the_features():
    X, _ = easy_problem("classification", n_samples=200)
    y = np.digitize(X[:, 1] + X[:, 3], [-1, 1])
    saga, liblinear = (LassoSelector(solver=s, random_state=0).fit(X, y) for s in ("saga", "liblinear"))
    assert set(np.argsort(-liblinear.feature_importances_)[:2]) == {1, 3}
    assert liblinear.score(X, y) > 0.85
    assert not np.array_equal(saga.feature_importances_, liblinear.feature_importances_)
    with pytest.raises(ValueError, match="Unknown solver 'lbfgs'; use one of"):
        LassoSelector(solver="lbfgs").fit(X, y)


@pytest.mark.parametrize("baseline", [LassoSelector, ForestSelector, AllColumnsLinear])
def test_a_class_with_a_single_row_is_no_obstacle(baseline):
    X, y = easy_problem("classification")
    y[0] = "unique"
    settings = {"solver": "liblinear"} if baseline is LassoSelector else {}
    model = make(baseline, "classification", **settings).fit(X, y)
    assert model.score(X, y) > 0.85


def test_the_lasso_of_noise_may_be_empty():
    X, y = easy_problem("survival")
    model = LassoSelector("survival", random_state=0).fit(X[::-1], y)
    assert not model.get_support().any()
    assert model.score(X, y) == 0.5


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_boruta_without_confirmed_features_predicts_the_base_rate(kind):
    X, y = easy_problem(kind, n_samples=60)
    model = make(BorutaSelector, kind, max_iter=2).fit(X, y)
    assert not model.get_support().any()
    assert len(np.unique(model.predict(X))) == 1


@pytest.mark.parametrize(
    ("baseline", "parameter", "value"),
    [
        (LassoSelector, "n_splits", 2),
        (LassoSelector, "alpha", 0.3),
        (LinearSVCSelector, "C", 0.01),
        (GatedNetwork, "gate", "hard-concrete"),
        (GatedNetwork, "penalty", "sum"),
        *(
            (network, parameter, value)
            for network in (GatedNetwork, DFSSelector, SparseGroupSelector)
            for parameter, value in {
                "lams": (0.0,),
                "hidden": (2,),
                "activation": "relu",
                "optimizer": "adam",
                "lr": 0.01,
                "n_epochs": 5,
                "max_steps": 5,
                "batch_size": 50,
                "init_std": None,
                "standardize": False,
            }.items()
        ),
        (SparseGroupSelector, "alpha", 10.0),
        (ForestSelector, "n_estimators", 3),
        (ForestSelector, "select", False),
        (ForestSelector, "threshold", 0.0),
        (ExtraTreesSelector, "n_estimators", 3),
        (ExtraTreesSelector, "threshold", 0.0),
        (XGBoostSelector, "n_estimators", 2),
        (XGBoostSelector, "max_depth", 1),
        (XGBoostSelector, "threshold", 0.0),
        (BorutaSelector, "max_iter", 2),
        (BorutaSelector, "n_estimators", 1),
        (LassoNetSelector, "hidden_dims", (2,)),
        (LassoNetSelector, "lambda_start", 20.0),
        (LassoNetSelector, "path_multiplier", 4.0),
        (LassoNetSelector, "n_iters", (20, 5)),
        (STGSelector, "lams", (0.0,)),
        (STGSelector, "hidden_dims", (2,)),
        (STGSelector, "n_epochs", 5),
    ],
)
def test_every_parameter_changes_the_result(baseline, parameter, value):
    kind = "regression" if "regression" in baseline.kinds() else "classification"
    X, y = easy_problem(kind)
    usual = fitted(baseline, kind)
    changed = make(baseline, kind, **{parameter: value}).fit(X, y)
    X_new, _ = easy_problem(kind, seed=1)
    assert not np.array_equal(usual.predict(X_new), changed.predict(X_new))


def test_the_scaled_step_moves_hard_concrete_gates_farther():
    X, y = easy_problem("regression")
    settings = {"gate": "hard-concrete", "lams": (1.0,)}
    same, scaled = (
        make(GatedNetwork, "regression", gate_step=step, **settings).fit(X, y).feature_importances_
        for step in ("same", "scaled")
    )
    assert (np.delete(scaled, 1) < np.delete(same, 1)).all()


@pytest.mark.parametrize("network", [GatedNetwork, DFSSelector])
def test_gates_are_recorded_as_often_as_asked(network):
    model = make(network, "regression", n_snapshots=4).fit(*easy_problem("regression"))
    assert model.stack_.steps.tolist() == [75, 150, 225, 300]
    np.testing.assert_array_equal(model.stack_.gate_path[-1], model.stack_.gates)


def test_the_threshold_of_a_forest_may_be_cross_validated():
    X, y = easy_problem("regression")
    usual, changed = (make(ForestSelector, "regression", n_splits=n).fit(X, y) for n in (None, 3))
    assert changed.get_support()[1]
    assert not np.array_equal(usual.feature_importances_, changed.feature_importances_)


@pytest.mark.parametrize(("baseline", "kind"), CASES)
def test_every_point_of_a_path_predicts_on_its_own(baseline, kind):
    X, y = easy_problem(kind)
    points = fitted_path(baseline, kind)
    first = [point.predict(X) for point in points]
    assert all(point.get_support().shape == point.feature_importances_.shape == (5,) for point in points)
    assert max(point.score(X, y) for point in points) > 0.7
    for point, prediction in reversed(list(zip(points, first, strict=True))):
        np.testing.assert_array_equal(point.predict(X), prediction)
        shuffled = np.where(point.get_support(), X, X[::-1])
        np.testing.assert_array_equal(point.predict(shuffled), prediction)


@pytest.mark.parametrize(("baseline", "kind"), CASES)
def test_validation_rows_choose_the_best_of_the_path_with_the_fewest_features(baseline, kind):
    X, y = easy_problem(kind)
    valid = easy_problem(kind, seed=1)
    chosen = make(baseline, kind).fit(X, y, validation=valid)
    ranks = [(point.score(*valid), -point.support_.sum()) for point in fitted_path(baseline, kind)]
    assert (chosen.score(*valid), -chosen.support_.sum()) == max(ranks)


@pytest.mark.parametrize(("baseline", "kind"), CASES)
def test_the_top_feature_is_the_relevant_one(baseline, kind):
    model, data = make(baseline, kind), easy_problem(kind)
    model.path = lambda X, y: fitted_path(baseline, kind)
    assert model.top_features(*data, k=1).tolist() == [False, True, False, False, False]
    assert model.top_features(*data, k=3).sum() == 3


@pytest.mark.parametrize("kind", ["classification", "regression", "survival"])
def test_a_path_of_the_lasso_begins_with_the_empty_model(kind):
    sizes = [point.support_.sum() for point in fitted_path(LassoSelector, kind)]
    assert sizes[0] == 0
    assert sizes[-1] >= 4
    assert 10 <= len(sizes) <= 20


def test_a_path_of_the_svc_begins_with_the_empty_model():
    sizes = [point.support_.sum() for point in fitted_path(LinearSVCSelector, "classification")]
    assert sizes[0] == 0
    assert sizes[-1] == 5


def test_a_given_penalty_of_the_lasso_is_that_of_the_formula():
    X, y = easy_problem("classification")
    model = LassoSelector(alpha=0.05, random_state=0).fit(X, y)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    peer = LogisticRegression(
        C=1 / 6, l1_ratio=1.0, solver="saga", tol=1e-6, max_iter=10_000, random_state=0
    )
    peer.fit(scaled, y)
    np.testing.assert_allclose(model.feature_importances_, np.abs(peer.coef_[0]), atol=0.02)
    X, y = easy_problem("regression")
    model = LassoSelector("regression", alpha=0.1).fit(X, y)
    peer = Lasso(alpha=0.1 * y.std()).fit((X - X.mean(axis=0)) / X.std(axis=0), y)
    np.testing.assert_allclose(model.feature_importances_, np.abs(peer.coef_) / y.std(), atol=1e-6)
    assert len(LassoSelector("survival", alpha=0.1).path(*easy_problem("survival"))) == 1


@pytest.mark.parametrize("baseline", [ForestSelector, ExtraTreesSelector, XGBoostSelector])
def test_a_given_threshold_keeps_the_importances_above_it_and_at_least_one(baseline):
    X, y = easy_problem("regression")
    for threshold in (0.001, 0.01, 2.0):
        model = make(baseline, "regression", threshold=threshold).fit(X, y)
        expected = model.feature_importances_ > min(threshold, 0.99 * model.feature_importances_.max())
        np.testing.assert_array_equal(model.get_support(), expected)
    assert model.get_support().sum() == 1


def test_the_root_mean_squared_error_is_that_of_the_formula():
    assert rmse(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 6.0])) == pytest.approx(3**0.5)


def test_counts_of_features_grow_by_half_and_end_with_all():
    assert feature_counts(1) == [1]
    assert feature_counts(500)[:7] == [1, 2, 3, 5, 8, 12, 18]
    assert feature_counts(500)[-1] == 500


def test_partial_likelihood_equals_lifelines():
    X, y = easy_problem("survival")
    frame = {"x": X[:, 0], "time": y["time"], "event": y["event"]}
    pandas = pytest.importorskip("pandas")
    fitted = CoxPHFitter().fit(pandas.DataFrame(frame), "time", "event")
    found = log_partial_likelihood(y, X[:, 0] * fitted.params_["x"])
    assert found == pytest.approx(fitted.log_likelihood_, abs=1e-6)


def test_partial_likelihood_of_ties_is_breslows():
    y = np.array([(True, 1.0), (True, 1.0), (False, 2.0)], dtype=[("event", bool), ("time", float)])
    assert log_partial_likelihood(y, np.zeros(3)) == pytest.approx(-2 * np.log(3))


def tied(n_samples=60):
    """Return X and a y with 6 distinct times, censored rows among the events of each."""
    X, y = easy_problem("survival", n_samples=n_samples)
    y["time"] = np.digitize(y["time"], np.quantile(y["time"], [0.2, 0.4, 0.6, 0.8, 0.9]))
    return X, y


def test_the_order_in_time_keeps_the_partial_likelihood_of_ties():
    X, y = tied()
    ordered = y.copy()
    ordered["time"] = order_in_time(y)
    assert log_partial_likelihood(ordered, X[:, 1]) == pytest.approx(log_partial_likelihood(y, X[:, 1]))


def test_the_loss_that_lassonet_is_given_is_breslows():
    cox = pytest.importorskip("lassonet.cox")
    X, y = tied()
    target = torch.tensor(np.column_stack([order_in_time(y), y["event"]]))
    found = cox.CoxPHLoss("breslow")(torch.tensor(X[:, 1]), target)
    assert found * y["event"].sum() == pytest.approx(-log_partial_likelihood(y, X[:, 1]))


def test_coarse_times_keep_their_order():
    _, y = easy_problem("survival", n_samples=1000)
    coarse = coarsen(y)["time"]
    assert len(np.unique(coarse)) <= 151
    order = np.argsort(y["time"], kind="stable")
    assert (np.diff(coarse[order]) >= 0).all()


def test_permuting_a_column_costs_what_the_model_gets_from_it():
    X, y = easy_problem("survival")

    class FirstColumn:
        def predict(self, X):
            return 3 * X[:, 1]

    kind = KINDS["survival"]()
    found = permutation_importances(
        lambda X, y: FirstColumn(), kind, X, kind.encode(y), kind.folds(y, 3, 0), 0
    )
    assert found[1] == pytest.approx(kind.score(y, X[:, 1]) - 0.5, abs=0.1)
    assert (np.delete(found, 1) == 0).all()


def test_survival_baselines_refuse_what_they_would_ignore():
    event, time = [True, False, True], [2.5, 3.0, 1.0]
    y = survival_target(event, time, entry=[1.0, 0.0, 0.5], strata=["a", "b", "a"])
    encode = KINDS["survival"]().encode
    assert encode(y[["event", "time"]]).tolist() == list(zip(event, time, strict=True))
    for field in ("entry", "stratum"):
        with pytest.raises(ValueError, match="no entry times and no strata"):
            encode(y[["event", "time", field]])
    with pytest.raises(ValueError, match="no event: every time is censored"):
        encode(([0, 0], [1, 2]))


@pytest.mark.parametrize("baseline", PACKAGES)
def test_a_missing_package_is_named(baseline, monkeypatch):
    monkeypatch.setitem(sys.modules, PACKAGES[baseline], None)
    X, y = easy_problem("classification")
    with pytest.raises(ImportError, match=r"needs the package \w+: pip install stochgate\[baselines\]"):
        baseline().fit(X, y)


def test_importing_the_baselines_needs_none_of_their_packages():
    code = """
import sys
for name in ("xgboost", "boruta", "lassonet", "stg", "sksurv", "pandas", "rich", "optuna"):
    sys.modules[name] = None
import experiments.baselines, experiments.study
"""
    subprocess.run([sys.executable, "-c", code], check=True)
