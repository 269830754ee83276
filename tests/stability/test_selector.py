"""Stability selection."""

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, VarianceThreshold, f_regression
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler, TargetEncoder
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from problems import as_frame, linear_response, normal_columns, short_training, survival_times, two_classes
from stochgate import (
    GatedClassifier,
    GatedCox,
    GatedRegressor,
    NoFeatureSelectedWarning,
    StabilitySelector,
    Training,
)
from stochgate.datasets import make_cox, make_linear, make_noise, make_xor

SHORT = Training(n_steps=100, n_snapshots=4, gate_lr=8e-3)
LINEAR = {"network": "linear", "training": SHORT}
MODES = [{"threshold": 0.9}, {"max_false": 0.5}, {"fdr": 0.1}]


may_be_empty = pytest.mark.filterwarnings("ignore::stochgate.NoFeatureSelectedWarning")


def select(estimator, X, y, sample_weight=None, groups=None, **parameters):
    """Return a fitted selector with few pairs and a fixed seed."""
    parameters = {"n_pairs": 8, "random_state": 0, **parameters}
    return StabilitySelector(estimator, **parameters).fit(X, y, sample_weight, groups=groups)


def selected(*args, **parameters):
    return select(*args, **parameters).get_support(indices=True).tolist()


# ---- what is selected


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("estimator", [GatedRegressor(**LINEAR), Lasso(0.3)], ids=["gated", "lasso"])
def test_every_mode_finds_a_linear_support(estimator, mode):
    problem = make_linear(200, n_features=20, n_relevant=3, random_state=0)
    found = select(estimator, problem.X, problem.y, **mode)
    np.testing.assert_array_equal(found.get_support(), problem.relevant)
    assert (found.selection_frequency_[problem.relevant] >= found.threshold_).all()
    assert found.frequencies_.shape == (len(found.lams_), 20)


@pytest.mark.parametrize("seed", range(3))
def test_neighbours_of_real_features_are_stable_but_tell_nothing_new(seed):
    problem = make_linear(200, n_features=20, n_relevant=3, rho=0.7, random_state=seed)
    plain, bounded, controlled = (
        select(GatedRegressor(**LINEAR), problem.X, problem.y, **mode)
        for mode in ({"threshold": 0.6}, {"max_false": 2.0}, {"fdr": 0.1})
    )
    assert plain.get_support()[~problem.relevant].any()
    stable = bounded.selection_frequency_ >= bounded.threshold_  # what the bound alone lets pass
    assert stable[~problem.relevant].any()
    assert bounded.get_support()[problem.relevant].all()
    assert bounded.get_support()[~problem.relevant].sum() <= 2
    np.testing.assert_array_equal(controlled.get_support(), problem.relevant)


@pytest.mark.parametrize("mode", [{"max_false": 0.5}, {"fdr": 0.1}], ids=str)
@pytest.mark.parametrize(
    ("estimator", "kind"),
    [
        (GatedClassifier(**LINEAR), "classification"),
        (GatedRegressor(**LINEAR), "regression"),
        (GatedCox(**LINEAR), "survival"),
        (Lasso(0.2), "regression"),
    ],
    ids=["classification", "regression", "survival", "lasso"],
)
def test_nothing_is_selected_from_noise(estimator, kind, mode):
    problem = make_noise(150, 30, kind=kind, random_state=0)
    with pytest.warns(NoFeatureSelectedWarning):
        assert selected(estimator, problem.X, problem.y, **mode) == []


@may_be_empty
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_training_that_diverges_selects_nothing(mode):
    X, y = linear_response()
    training = short_training(n_steps=20, optimizer="sgd", lr=1e200)
    assert selected(GatedRegressor(network="linear", training=training), X, y, **mode) == []


@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_survival(ties):
    problem = make_cox(200, n_features=12, n_relevant=2, random_state=0)
    found = select(GatedCox(ties=ties, **LINEAR), problem.X, problem.y, fdr=0.1)
    np.testing.assert_array_equal(found.get_support(), problem.relevant)


def test_survival_targets_come_in_columns_too():
    X, y = survival_times()
    assert selected(GatedCox(**LINEAR), X, y, max_false=0.5) == [0]
    assert selected(GatedCox(**LINEAR), X, (y[:, 0], y[:, 1]), max_false=0.5) == [0]


def test_classification():
    X, y = two_classes(200, 12)
    assert selected(GatedClassifier(**LINEAR), X, y, max_false=0.5) == [0, 1]
    labels = np.array(["no", "yes"])[y]
    assert selected(GatedClassifier(**LINEAR), X, labels, max_false=0.5) == [0, 1]


def test_interactions_choose_a_network_with_hidden_layers():
    problem = make_xor(200, n_noise=4, random_state=0)
    model = GatedClassifier(training=Training(n_steps=200, n_snapshots=5))
    found = select(model, problem.X, problem.y, n_pairs=3, fdr=0.1)
    assert found.network_ == "mlp"
    np.testing.assert_array_equal(found.get_support(), problem.relevant)


# ---- estimators of other libraries


class Correlated(SelectKBest):
    """The two columns that correlate most with y: an estimator with get_support alone."""

    def __init__(self, score_func=f_regression, *, k=2):
        super().__init__(score_func, k=k)


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize(
    "estimator",
    [Lasso(0.2), RandomForestRegressor(10, max_depth=3, random_state=0), Correlated()],
    ids=["coef_", "feature_importances_", "get_support"],
)
def test_any_estimator_that_tells_what_it_uses(estimator, mode):
    X, y = linear_response(n_features=20)
    found = select(estimator, X, y, n_pairs=6, **mode)
    assert found.get_support(indices=True).tolist() == [0, 1]
    assert np.isnan(found.lam_)
    assert not hasattr(found, "network_")


def test_one_coefficient_in_any_class_selects_a_feature():
    X, y = two_classes(n_features=12)
    model = LogisticRegression(l1_ratio=1.0, solver="liblinear", C=0.1)
    assert selected(model, X, y, fdr=0.2) == [0, 1]
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    assert selected(LinearSVC(penalty="l1", C=0.02), X, three, threshold=0.7) == [0]


def test_jobs_give_the_same_answer():
    X, y = linear_response(n_features=8)
    one, two = (select(Lasso(0.05), X, y, n_jobs=n_jobs, n_pairs=4) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.selection_frequency_, two.selection_frequency_)


def test_the_seed_reaches_estimators_of_other_libraries():
    X, y = linear_response()
    forest = make_pipeline(RandomForestRegressor(3, max_features=1))[-1]
    frequency = [
        select(forest, X, y, n_pairs=4, random_state=seed).selection_frequency_ for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(frequency[0], frequency[1])
    assert not np.array_equal(frequency[0], frequency[2])
    assert forest.random_state is None


# ---- every parameter does something


@pytest.fixture(scope="module")
def correlated():
    problem = make_linear(120, n_features=20, n_relevant=3, rho=0.7, random_state=1)
    return problem.X, problem.y


@pytest.mark.parametrize("estimator", [GatedRegressor(**LINEAR), Lasso(0.05)], ids=["gated", "lasso"])
def test_a_higher_threshold_selects_fewer(estimator, correlated):
    few, default, many = (
        select(estimator, *correlated, threshold=threshold) for threshold in (1.0, None, 0.55)
    )
    assert set(few.get_support(indices=True)) < set(many.get_support(indices=True))
    assert default.threshold_ == 0.6
    assert few.expected_false_ < many.expected_false_


@may_be_empty
@pytest.mark.parametrize("estimator", [GatedRegressor(**LINEAR), Lasso(0.05)], ids=["gated", "lasso"])
def test_more_false_features_allowed_select_more(estimator, correlated):
    strict, loose = (select(estimator, *correlated, max_false=number) for number in (0.02, 3.0))
    assert strict.expected_false_ <= 0.02 < loose.expected_false_ <= 3.0
    assert strict.get_support().sum() < loose.get_support().sum()


@may_be_empty
@pytest.mark.parametrize("estimator", [GatedRegressor(**LINEAR), Lasso(0.05)], ids=["gated", "lasso"])
def test_a_higher_false_discovery_rate_selects_more(estimator, correlated):
    strict, loose = (select(estimator, *correlated, fdr=rate) for rate in (1e-9, 0.5))
    assert strict.get_support().sum() < loose.get_support().sum()
    for found, rate in ((strict, 1e-9), (loose, 0.5)):
        assert (found.q_values_[found.get_support()] <= rate).all()


@pytest.mark.parametrize("estimator", [GatedRegressor(**LINEAR), Lasso(0.1)], ids=["gated", "lasso"])
def test_pairs_are_what_frequencies_count(estimator, correlated):
    for n_pairs in (1, 3):
        found = select(estimator, *correlated, n_pairs=n_pairs)
        counts = found.frequencies_ * 2 * n_pairs
        np.testing.assert_allclose(counts, counts.round())
        assert (counts % 2 == 1).any()  # no other number of pairs would do


@may_be_empty
def test_more_shadows_make_smaller_q_values_possible(correlated):
    lowest = [
        select(Lasso(0.3), *correlated, fdr=0.1, n_shadows=n_shadows).q_values_.min()
        for n_shadows in (1, 4, None)
    ]
    assert lowest[0] > lowest[1] > lowest[2]


@may_be_empty
@pytest.mark.parametrize("estimator", [GatedRegressor(**LINEAR), Lasso(0.1)], ids=["gated", "lasso"])
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_same_seed_same_answer(estimator, mode, correlated):
    first, second, other = (
        select(estimator, *correlated, n_pairs=3, random_state=seed, **mode) for seed in (1, 1, 2)
    )
    for name in ("support_", "frequencies_", "lam_", "threshold_", "expected_false_"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert not np.array_equal(first.frequencies_, other.frequencies_)
    if "fdr" in mode:
        np.testing.assert_array_equal(first.q_values_, second.q_values_)


def test_a_given_penalty_is_the_whole_path(correlated):
    strong, weak = (select(GatedRegressor(lam=lam, **LINEAR), *correlated) for lam in (2.0, 0.1))
    assert strong.lams_.tolist() == [strong.lam_] == [2.0]
    assert strong.selection_frequency_.sum() < weak.selection_frequency_.sum()


def test_a_fit_leaves_nothing_of_the_one_before():
    X, y = linear_response()
    found = select(GatedRegressor(**LINEAR), X, y, fdr=0.1)
    assert found.q_values_.shape == (6,)
    found.set_params(fdr=None, estimator=Lasso(0.3)).fit(X, y)
    assert not hasattr(found, "q_values_")
    assert not hasattr(found, "network_")


# ---- rows


def test_a_row_of_weight_0_is_not_there():
    X, y = linear_response(80)
    weight = np.ones(len(X))
    weight[::4] = 0
    wild = np.where(weight[:, None] > 0, X, 1e3)
    with_weight = select(GatedRegressor(**LINEAR), wild, y, weight, fdr=0.1)
    without = select(GatedRegressor(**LINEAR), X[weight > 0], y[weight > 0], fdr=0.1)
    np.testing.assert_array_equal(with_weight.frequencies_, without.frequencies_)
    np.testing.assert_array_equal(with_weight.q_values_, without.q_values_)


def test_weights_say_which_rows_count():
    X, y = linear_response(200, 8)
    y[100:] = 2 * X[100:, 5]
    weight = np.where(np.arange(200) < 100, 1.0, 1e-3)
    assert selected(GatedRegressor(**LINEAR), X, y, weight, max_false=0.5) == [0, 1]
    assert selected(GatedRegressor(**LINEAR), X, y, weight[::-1].copy(), max_false=0.5) == [5]


def test_weights_are_for_gated_estimators():
    X, y = linear_response()
    with pytest.raises(ValueError, match="estimators of this library"):
        select(Lasso(), X, y, np.ones(len(X)))


class SeesGroups(Lasso):
    """A lasso that notes which groups it is trained on: the last column of X."""

    seen = []

    def fit(self, X, y):
        self.seen.append(set(X[:, -1]))
        return super().fit(X, y)


def test_groups_go_to_the_same_half():
    X, y = linear_response()
    groups = np.arange(len(X)) // 5
    SeesGroups.seen.clear()
    select(SeesGroups(0.1), np.column_stack([X, groups]), y, groups=groups, n_pairs=3)
    for first, second in zip(SeesGroups.seen[::2], SeesGroups.seen[1::2], strict=True):
        assert not first & second
        assert len(first | second) == 24


def test_groups_change_what_gated_estimators_find():
    """Rows that are copies of each other agree with themselves unless they stay together."""
    rng = np.random.default_rng(0)
    X, y, groups = rng.normal(size=(20, 8)), rng.normal(size=20), np.arange(20)
    X, y, groups = np.repeat(X, 8, axis=0), np.repeat(y, 8), np.repeat(groups, 8)
    together = select(GatedRegressor(**LINEAR), X, y, groups=groups, threshold=0.9)
    apart = select(GatedRegressor(**LINEAR), X, y, threshold=0.9)
    assert not together.get_support().any()
    assert apart.get_support().any()
    keep = np.ones(len(X))
    keep[:8] = 0  # the first group
    select(GatedRegressor(**LINEAR), X, y, keep, groups=groups, n_pairs=1)


# ---- features


def test_feature_groups_are_selected_together():
    X, y = linear_response(n_features=12)
    model = GatedRegressor(feature_groups={"pair": [0, 5]}, **LINEAR)
    for mode in MODES:
        found = select(model, X, y, **mode)
        assert found.get_support(indices=True).tolist() == [0, 1, 5]
        assert found.selection_frequency_[0] == found.selection_frequency_[5]
        assert found.frequencies_.shape[1] == 12


@may_be_empty
@pytest.mark.parametrize("mode", MODES, ids=str)
def test_kept_features_are_always_selected(mode):
    X, y = linear_response(n_features=12)
    assert selected(GatedRegressor(always_keep=[7], **LINEAR), X, y, **mode) == [0, 1, 7]
    noise = make_noise(100, 12, random_state=0)
    assert selected(GatedRegressor(always_keep=[7], **LINEAR), noise.X, noise.y, **mode) == [7]


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize(
    "estimator", [GatedRegressor(**LINEAR), Lasso(0.1, fit_intercept=False)], ids=["gated", "lasso"]
)
def test_sparse_columns(estimator, mode):
    X, _ = linear_response(n_features=20)
    X[np.abs(X) < 0.7] = 0
    y = 2 * X[:, 0] - X[:, 1] + 0.3 * np.random.default_rng(0).normal(size=len(X))
    found = select(estimator, sparse.csr_array(X), y, **mode)
    assert found.get_support(indices=True).tolist() == [0, 1]
    assert sparse.issparse(found.transform(sparse.csr_matrix(X)))


@pytest.mark.parametrize("estimator", [GatedRegressor(**LINEAR), Lasso(0.3)], ids=["gated", "lasso"])
def test_names_of_columns_stay(estimator):
    X, y = linear_response()
    found = select(estimator, as_frame(X), y, threshold=0.9)
    assert found.get_feature_names_out().tolist() == ["a", "b"]
    transformed = found.set_output(transform="pandas").transform(as_frame(X))
    assert list(transformed.columns) == ["a", "b"]
    with pytest.raises(ValueError, match="feature names"):
        found.transform(as_frame(X).rename(columns={"a": "z"}))


def test_a_step_of_a_pipeline():
    X, y = linear_response()
    selector = StabilitySelector(GatedRegressor(**LINEAR), max_false=0.5, n_pairs=5, random_state=0)
    pipeline = make_pipeline(selector, LinearRegression()).fit(X, y)
    assert pipeline[-1].coef_.shape == (2,)
    assert pipeline.score(X, y) > 0.95


def test_parameters_of_the_estimator_can_be_set():
    selector = StabilitySelector(GatedRegressor(**LINEAR), fdr=0.1, n_pairs=3, random_state=1)
    again = clone(selector).set_params(estimator__lam=0.3, estimator__training__n_steps=20, n_pairs=2)
    assert repr(clone(again)) == repr(again)
    X, y = linear_response()
    assert again.fit(X, y).lam_ == 0.3
    assert selector.estimator.lam == "auto"
    assert again.estimator.random_state is None  # the fit works on a copy


# ---- what is refused


@pytest.mark.parametrize(
    "modes",
    [{"threshold": 0.6, "fdr": 0.1}, {"max_false": 1, "fdr": 0.1}, {"threshold": 1, "max_false": 1}],
)
def test_two_modes_at_once_are_refused(modes):
    with pytest.raises(ValueError, match="one of threshold, max_false and fdr"):
        select(Lasso(), *linear_response(), **modes)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("threshold", 0.5),
        ("threshold", 1.1),
        ("max_false", 0),
        ("fdr", 1.0),
        ("n_pairs", 0),
        ("n_shadows", 0),
        ("n_jobs", 1.5),
        ("random_state", "a"),
        ("estimator", "lasso"),
    ],
)
def test_parameters_out_of_range_are_refused(name, value):
    with pytest.raises(ValueError, match=f"The '{name}' parameter"):
        StabilitySelector(Lasso()).set_params(**{name: value}).fit(*linear_response())


def test_an_estimator_that_selects_nothing_is_refused():
    with pytest.raises(ValueError, match="neither get_support nor coef_ nor feature_importances_"):
        select(KNeighborsRegressor(), *linear_response())


@pytest.mark.parametrize("estimator", [GatedRegressor(**LINEAR), Lasso()], ids=["gated", "lasso"])
def test_bad_data_is_refused(estimator):
    X, y = linear_response()
    with pytest.raises(ValueError, match="y is None"):
        select(estimator, X, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        select(estimator, X, y[:-1])
    for n_labels in (5, 500):
        with pytest.raises(ValueError, match=r"inconsistent numbers of samples|groups has shape"):
            select(estimator, X, y, groups=np.arange(n_labels))
    X[3, 2] = np.inf
    with pytest.raises(ValueError, match="column 2 holds infinity in row 3"):
        select(estimator, X, y)


# ---- scikit-learn's contract


REFUSED = "weights are refused beside estimators of other libraries"
WEIGHTS = [
    "check_sample_weights_pandas_series",
    "check_sample_weights_not_an_array",
    "check_sample_weights_list",
    "check_all_zero_sample_weights_error",
    "check_sample_weights_shape",
    "check_sample_weights_not_overwritten",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
]


def expected_to_fail(selector):
    return {} if isinstance(selector.estimator, GatedRegressor) else dict.fromkeys(WEIGHTS, REFUSED)


@pytest.mark.filterwarnings("ignore:No features were selected:UserWarning")
@parametrize_with_checks(
    [
        StabilitySelector(
            GatedRegressor(lam=0.1, network="linear", training=short_training(n_steps=20)),
            n_pairs=2,
            random_state=0,
        ),
        StabilitySelector(Lasso(0.01), n_pairs=2, random_state=0),
    ],
    expected_failed_checks=expected_to_fail,
)
def test_scikit_learn_checks_pass(estimator, check):
    check(estimator)


def test_what_the_selector_can_not_honour_is_refused():
    X, y = linear_response()
    with pytest.raises(ValueError, match="n_features_to_select"):
        select(GatedRegressor(n_features_to_select=2, **LINEAR | {"lam": "auto"}), X, y)
    with pytest.raises(ValueError, match="independent"):
        select(GatedRegressor(**LINEAR), X, y, groups=np.arange(len(X)) // 2, fdr=0.1)


def test_a_pipeline_that_keeps_the_columns_selects_by_its_last_step():
    X, y = linear_response(120, 6)
    scaled = make_pipeline(StandardScaler(), Lasso(0.2))
    selector = StabilitySelector(scaled, threshold=0.9, n_pairs=5, random_state=0).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [0, 1]
    with pytest.raises(ValueError, match="changes the columns"):
        StabilitySelector(make_pipeline(PCA(2), Lasso(0.2)), n_pairs=2).fit(X, y)


def test_groups_are_refused_with_error_control_whatever_the_estimator():
    X, y = linear_response(60, 4)
    with pytest.raises(ValueError, match="rows of a group are not"):
        StabilitySelector(Lasso(0.1), max_false=1).fit(X, y, groups=np.arange(60) % 6)


# ---- why nothing is selected


def reason(estimator, X, y, **parameters):
    """Return what the one warning of a selection that ends empty says."""
    with pytest.warns(NoFeatureSelectedWarning) as caught:
        assert selected(estimator, X, y, **parameters) == []
    assert len(caught) == 1
    assert caught[0].filename == __file__
    return str(caught[0].message)


@pytest.fixture(scope="module")
def doubled():
    """Two real columns, four of noise, and a near-copy of each."""
    X, y = linear_response(200)
    return np.hstack([X, X + 0.02 * np.random.default_rng(0).normal(size=X.shape)]), y


@pytest.mark.parametrize("mode", [{"max_false": 0.5}, {"fdr": 0.1}], ids=str)
def test_redundant_features_are_named_and_can_be_selected_together(mode, doubled):
    X, y = doubled
    text = reason(GatedRegressor(**LINEAR), as_frame(X), y, **mode)
    name = next(iter(mode))
    assert text.startswith(
        f"No feature was selected at {name}={mode[name]}: 4 features are selected by at least"
    )
    assert "of 16 halves, but are redundant" in text
    assert ("q-value" in text) == ("fdr" in mode) != ("p-value" in text)
    assert "use feature_groups" in text
    assert text.endswith("(redundant: a, b, g, h).")
    pairs = GatedRegressor(feature_groups=[0, 1, 2, 3, 4, 5] * 2, **LINEAR)
    assert selected(pairs, X, y, **mode) == [0, 1, 6, 7]


def test_features_that_add_too_little_are_not_called_redundant():
    X = normal_columns(60, 12)
    y = 0.35 * X[:, 0] + 0.3 * X[:, 1] + normal_columns(60, 1, seed=9)[:, 0]
    text = reason(GatedRegressor(lam=0.01, **LINEAR), X, y, fdr=0.01)
    shortfall = r"from chance, at 12 columns \(lowest q-value 0\.\d+, at most 0\.01 passes\)"
    assert re.search(rf"12 features are selected by at least 9 of 16 halves, .* {shortfall}", text)
    assert "redundant" not in text


def test_no_signal_is_said():
    noise = make_noise(150, 30, random_state=0)
    assert "no penalty beats the base rate" in reason(GatedRegressor(**LINEAR), noise.X, noise.y, fdr=0.1)


@pytest.mark.parametrize("mode", [{"max_false": 0.5}, {"fdr": 0.1}], ids=str)
@pytest.mark.parametrize(
    "estimator", [GatedRegressor(lam=2.0, **LINEAR), Lasso(0.2)], ids=["gated", "lasso"]
)
def test_rare_features_are_counted(estimator, mode):
    noise = make_noise(150, 30, random_state=0)
    text = reason(estimator, noise.X, noise.y, **mode)
    most, of, needed = map(
        int, re.search(r"selected by (\d+) of (\d+) halves, and it takes (\d+)\.", text).groups()
    )
    assert 0 <= most < 9 <= needed <= of == 16


@pytest.mark.parametrize("estimator", [GatedRegressor(lam=0.0, **LINEAR), LinearRegression()], ids=str)
def test_a_half_that_selects_everything_leaves_no_bound(estimator):
    X, y = linear_response()
    text = reason(estimator, X, y, max_false=0.1)
    assert "a half selects 6 of 6 columns on average" in text
    assert "n_pairs" in text


def test_too_few_features_for_the_shadows_are_counted():
    X, y = linear_response(n_features=20)
    text = reason(Lasso(0.2), X, y, fdr=0.1, n_shadows=1)
    assert text.endswith(
        "2 features are selected by at least 9 of 16 halves, but with 1 set of shadows this rate takes 10 "
        "or more features; use n_shadows=5."
    )
    assert selected(Lasso(0.2), X, y, fdr=0.1, n_shadows=5) == [0, 1]


def test_shadows_that_keep_up_are_said():
    noise = make_noise(150, 30, random_state=0)
    text = reason(LinearRegression(), noise.X, noise.y, fdr=0.1)
    assert "30 features" in text
    assert "shadow columns are selected nearly as often (lowest q-value 1, at most 0.1" in text


def test_kept_features_are_not_counted_as_found():
    noise = make_noise(100, 12, random_state=0)
    with pytest.warns(NoFeatureSelectedWarning, match="No feature was selected besides always_keep at fdr"):
        select(GatedRegressor(always_keep=[7], **LINEAR), noise.X, noise.y, fdr=0.1)
    select(GatedRegressor(always_keep=range(12), **LINEAR), noise.X, noise.y, fdr=0.1)  # nothing to explain


# ---- pipelines that end in an estimator of this library


def table():
    """Return a DataFrame with text and missing values, and a y that columns a and city decide."""
    X, y = linear_response(200)
    frame = as_frame(X).assign(city=np.where(np.arange(200) % 3 == 0, "Oslo", "Rome"))
    y = y + 3 * (frame["city"] == "Oslo").to_numpy()
    frame.loc[::9, "c"] = np.nan
    return frame, y


def encode():
    return make_column_transformer(
        (SimpleImputer(), list("abcdef")),
        (OneHotEncoder(drop="first", sparse_output=False), ["city"]),
        verbose_feature_names_out=False,
    )


class Halve(TransformerMixin, BaseEstimator):
    """Keeps the first half of the columns: a step that learns nothing and gives no names."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X[:, : X.shape[1] // 2]


@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize(
    "step",
    [StandardScaler(), PCA(4, random_state=0), VarianceThreshold(), FunctionTransformer(np.cbrt), Halve()],
    ids=lambda step: type(step).__name__,
)
def test_steps_inside_the_selector_equal_steps_before_it(step, mode):
    X, y = linear_response(n_features=8)
    parameters = {"n_pairs": 4, "random_state": 0, **mode}
    inside = StabilitySelector(make_pipeline(step, GatedRegressor(**LINEAR)), **parameters).fit(X, y)
    before = make_pipeline(step, StabilitySelector(GatedRegressor(**LINEAR), **parameters)).fit(X, y)
    for name in ("support_", "frequencies_", "lam_", "threshold_", "expected_false_", "network_"):
        np.testing.assert_array_equal(getattr(inside, name), getattr(before[-1], name))
    if "fdr" in mode:
        np.testing.assert_array_equal(inside.q_values_, before[-1].q_values_)
    np.testing.assert_array_equal(inside.transform(X), before.transform(X))
    assert inside.n_features_in_ == 8
    if hasattr(step, "get_feature_names_out"):
        assert inside.get_feature_names_out().tolist() == before.get_feature_names_out().tolist()
    if hasattr(step, "inverse_transform"):
        reduced = inside.transform(X)
        np.testing.assert_array_equal(inside.inverse_transform(reduced), before.inverse_transform(reduced))


@pytest.mark.parametrize("mode", [{"max_false": 0.5}, {"fdr": 0.1}], ids=str)
@pytest.mark.parametrize(
    ("estimator_class", "problem"),
    [(GatedClassifier, two_classes), (GatedRegressor, linear_response), (GatedCox, survival_times)],
)
def test_every_kind_of_problem_passes_through_a_pipeline(estimator_class, problem, mode):
    X, y = problem(200, 12)
    scaled = make_pipeline(StandardScaler(), estimator_class(**LINEAR))
    assert selected(scaled, 100 * X + 7, y, **mode) == ([0] if problem is survival_times else [0, 1])


def test_a_table_is_selected_from_by_the_names_its_steps_give():
    X, y = table()
    model = GatedRegressor(always_keep=["e"], **LINEAR)
    found = select(make_pipeline(encode(), StandardScaler(), model), X, y, fdr=0.1)
    assert found.get_feature_names_out().tolist() == ["a", "b", "e", "city_Rome"]
    assert found.support_.shape == found.q_values_.shape == (7,)
    assert found.feature_names_in_.tolist() == [*"abcdef", "city"]
    made = found.set_output(transform="pandas").transform(X)
    assert list(made) == ["a", "b", "e", "city_Rome"]
    assert made.to_numpy().mean() == pytest.approx(0)
    with pytest.raises(ValueError, match="feature names"):
        found.transform(X.rename(columns={"a": "z"}))


def test_sparse_columns_pass_through_steps():
    X, y = linear_response(n_features=20)
    X = sparse.csr_array(np.where(np.abs(X) < 0.7, 0, X))
    scaled = make_pipeline(StandardScaler(with_mean=False), GatedRegressor(**LINEAR))
    found = select(scaled, X, y, threshold=0.9)
    made = found.transform(X)
    assert sparse.issparse(made)
    back = found.inverse_transform(made)
    np.testing.assert_allclose(back[:, found.support_], X.toarray()[:, found.support_])
    assert not back[:, ~found.support_].any()


def test_a_pipeline_at_the_end_and_steps_that_do_nothing():
    X, y = linear_response()
    inner = make_pipeline(StandardScaler(), GatedRegressor(**LINEAR))
    found = select(make_pipeline("passthrough", VarianceThreshold(), inner), X, y, threshold=0.9)
    assert [name for name, _ in found.steps_] == ["variancethreshold", "pipeline__standardscaler"]
    assert found.get_support(indices=True).tolist() == [0, 1]
    assert select(GatedRegressor(**LINEAR), X, y).steps_ == []
    assert select(make_pipeline(StandardScaler(), Lasso(0.2)), X, y).steps_ == []


def test_steps_learn_nothing_from_rows_of_weight_0():
    X, y = linear_response(80)
    weight = np.ones(len(X))
    weight[::4] = 0
    wild = np.where(weight[:, None] > 0, X, 1e3)
    scaled = make_pipeline(StandardScaler(), GatedRegressor(**LINEAR))
    with_weight = select(scaled, wild, y, weight, fdr=0.1)
    without = select(scaled, X[weight > 0], y[weight > 0], fdr=0.1)
    np.testing.assert_array_equal(with_weight.q_values_, without.q_values_)
    np.testing.assert_array_equal(with_weight.transform(X), without.transform(X))


def test_steps_without_a_seed_are_given_one_and_the_users_pipeline_stays():
    X, y = linear_response()
    model = make_pipeline(PCA(3, svd_solver="randomized"), GatedRegressor(**LINEAR))
    first, second = (select(model, X, y, threshold=0.6) for _ in range(2))
    assert first.steps_[0][1].random_state == second.steps_[0][1].random_state is not None
    assert model[0].random_state is None
    assert not hasattr(model[0], "components_")
    model.set_params(pca__random_state=5)
    assert select(model, X, y).steps_[0][1].random_state == 5


@pytest.mark.parametrize(
    "step",
    [
        SelectKBest(f_regression, k=3),
        SelectFromModel(Lasso(0.1)),
        SelectFromModel(GatedRegressor(lam=0.1, **LINEAR)),
        RFE(Lasso(0.1)),
        TargetEncoder(),
        PLSRegression(),
        make_union(PCA(2), SelectKBest(f_regression, k=2)),
        GatedRegressor(**LINEAR),
        StabilitySelector(Lasso(0.1)),
    ],
    ids=lambda step: type(step).__name__,
)
@pytest.mark.parametrize("problem", [linear_response, survival_times])
def test_a_step_that_learns_from_y_is_refused(step, problem):
    estimator_class = GatedRegressor if problem is linear_response else GatedCox
    model = make_pipeline(StandardScaler(), step, estimator_class(**LINEAR))
    with pytest.raises(ValueError, match=rf"Step '.+' \({type(step).__name__}\) learns from y"):
        select(model, *problem(), fdr=0.1)


def test_a_step_that_fails_for_another_reason_says_which():
    X, y = linear_response()
    with pytest.raises(ValueError, match="y is None"):
        select(make_pipeline(StandardScaler(), GatedRegressor(**LINEAR)), X, None)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="Input X contains NaN"):
        select(make_pipeline(PCA(2), GatedRegressor(**LINEAR)), X, y, fdr=0.1)
    for weights in (np.zeros(len(X)), np.ones(3)):
        with pytest.raises(ValueError, match="weight"):
            select(make_pipeline(SimpleImputer(), GatedRegressor(**LINEAR)), X, y, weights)


def test_a_step_without_names_gives_none():
    X, y = linear_response()
    found = select(make_pipeline(Halve(), GatedRegressor(**LINEAR)), X, y, fdr=0.1)
    with pytest.raises(AttributeError, match=r"Step 'halve' \(Halve\) has no get_feature_names_out"):
        found.get_feature_names_out()
