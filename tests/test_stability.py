"""Stability selection."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from problems import as_frame, linear_response, short_training, survival_times, two_classes
from stochgate import GatedClassifier, GatedCox, GatedRegressor, StabilitySelector, Training
from stochgate.datasets import make_cox, make_linear, make_noise, make_xor

SHORT = Training(n_steps=100, n_snapshots=4, gate_lr=8e-3)
LINEAR = {"network": "linear", "training": SHORT}
MODES = [{"threshold": 0.9}, {"max_false": 0.5}, {"fdr": 0.1}]


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
    assert selected(estimator, problem.X, problem.y, **mode) == []


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


@pytest.mark.parametrize("estimator", [GatedRegressor(**LINEAR), Lasso(0.05)], ids=["gated", "lasso"])
def test_more_false_features_allowed_select_more(estimator, correlated):
    strict, loose = (select(estimator, *correlated, max_false=number) for number in (0.02, 3.0))
    assert strict.expected_false_ <= 0.02 < loose.expected_false_ <= 3.0
    assert strict.get_support().sum() < loose.get_support().sum()


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


def test_more_shadows_make_smaller_q_values_possible(correlated):
    lowest = [
        select(Lasso(0.3), *correlated, fdr=0.1, n_shadows=n_shadows).q_values_.min()
        for n_shadows in (1, 4, None)
    ]
    assert lowest[0] > lowest[1] > lowest[2]


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
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN in row 3, column 2"):
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
