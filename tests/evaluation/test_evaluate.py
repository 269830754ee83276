"""The honest number."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.utils.parallel import Parallel

from problems import (
    ESTIMATORS,
    as_frame,
    make_problem,
    short_training,
    survival_times,
    three_classes,
    two_classes,
)
from stochgate import (
    Evaluation,
    GatedClassifier,
    GatedCox,
    GatedRegressor,
    StabilitySelector,
    Training,
    evaluate,
)
from stochgate.datasets import make_noise
from stochgate.evaluation.outer_fold import _open_all
from stochgate.metrics import support_overlap

FOLDS = KFold(3, shuffle=True, random_state=0)
FAST = {"n_steps": 50, "lr": 0.05, "gate_lr": 0.02}


def short_model(estimator_class=GatedClassifier, **parameters):
    """Return a linear model that is trained in a blink."""
    parameters = {"lam": 0.6, "network": "linear", "training": short_training(**FAST), **parameters}
    return estimator_class(random_state=0, **parameters)


def test_selection_on_all_rows_deceives_and_evaluate_does_not():
    noise = make_noise(120, 2000, kind="classification", random_state=0)
    model = GatedClassifier(lam=4.0, network="linear", training=Training(n_steps=300), random_state=0)
    selected = model.fit(noise.X, noise.y).get_support()
    deceived = cross_val_score(LogisticRegression(), noise.X[:, selected], noise.y, cv=5)
    found = evaluate(model, noise.X, noise.y, cv=5, random_state=0)
    assert deceived.mean() > 0.85
    assert found.mean < 0.62
    assert abs(found.mean - found.base_rate.mean()) < 2 * found.standard_error + 0.02
    assert (found.n_selected > 10).all()
    assert found.overlap < 0.4


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_scores_equal_cross_val_score(estimator_class):
    X, y = make_problem(estimator_class)
    model = short_model(estimator_class)
    found = evaluate(model, X, y, cv=FOLDS)
    assert np.array_equal(found.scores, cross_val_score(model, X, y, cv=FOLDS))
    assert found.mean == pytest.approx(found.scores.mean())
    assert found.sd == pytest.approx(found.scores.std(ddof=1))
    assert found.standard_error == pytest.approx(found.sd / np.sqrt(3))
    assert not hasattr(model, "support_")


@pytest.mark.parametrize(
    ("estimator_class", "dummy"),
    [(GatedClassifier, DummyClassifier(strategy="prior")), (GatedRegressor, DummyRegressor())],
)
def test_base_rate_and_all_columns_are_scored_on_the_same_folds(estimator_class, dummy):
    X, y = make_problem(estimator_class)
    found = evaluate(short_model(estimator_class), X, y, cv=FOLDS)
    assert np.array_equal(found.base_rate, cross_val_score(dummy, X, y, cv=FOLDS))
    everything = short_model(estimator_class, lam="auto", always_keep=range(X.shape[1]))
    assert np.array_equal(found.all_columns, cross_val_score(everything, X, y, cv=FOLDS))
    assert (found.scores > found.base_rate).all()


def test_all_columns_have_their_network_and_steps_chosen():
    model = _open_all(GatedClassifier(lam=2.0, network="linear", n_features_to_select=2), 6)
    assert (model.lam, model.network, model.n_features_to_select) == ("auto", "linear", None)
    X, y = two_classes()
    fitted = model.set_params(training=short_training(**FAST), random_state=0).fit(X, y)
    assert fitted.get_support().all()
    assert len(fitted.path_) == 2  # one penalty, and its refit
    assert _open_all(LogisticRegression(), 6) is None


def test_supports_are_those_of_the_folds_models():
    X, y = two_classes()
    model = short_model()
    found = evaluate(model, X, y, cv=FOLDS)
    supports = np.array([clone(model).fit(X[train], y[train]).get_support() for train, _ in FOLDS.split(X)])
    assert np.array_equal(found.supports, supports)
    assert np.array_equal(found.n_selected, supports.sum(axis=1))
    assert np.array_equal(found.selection_counts, supports.sum(axis=0))
    assert found.overlap == support_overlap(supports)


def test_the_report_says_what_matters():
    X, y = two_classes()
    found = evaluate(short_model(), as_frame(X), y, cv=FOLDS)
    text = repr(found)
    assert text == str(found)
    first, *others = text.splitlines()
    assert first.startswith("accuracy on held-out rows, 3 folds")
    assert [line.split()[0] for line in others[:3]] == ["model", "all", "base"]
    assert "selected of 6 features: 2, 2, 2 (overlap 1.00)" in text
    assert "folds that select a feature: a (3), b (3)" in text
    assert "nothing" not in text


def test_a_notebook_shows_a_table():
    X, y = two_classes()
    found = evaluate(short_model(), as_frame(X).rename(columns={"a": "<a>"}), y, cv=FOLDS)
    shown = found._repr_html_()
    assert shown.count("<tr>") == 4
    assert f"<th>model</th><td>{found.mean:.3f}</td><td>{found.sd:.3f}</td>" in shown
    assert "&lt;a&gt; (3), b (3)" in shown


def test_many_folds_are_not_listed():
    scores, supports = np.linspace(0, 1, 189), np.arange(189)[:, None] % 4 > np.arange(6)
    found = Evaluation("R2", scores, scores, scores, supports, list("abcdef"), np.arange(189.0))
    assert "selected of 6 features: 0 to 3, 1.5 on average (overlap" in repr(found)
    assert len(repr(found)) < 500


def test_to_select_nothing_is_an_answer():
    X, y = two_classes()
    found = evaluate(short_model(lam=1e3), X, y, cv=FOLDS)
    assert found.n_selected.tolist() == [0, 0, 0]
    assert np.array_equal(found.scores, found.base_rate)
    assert "nothing selected in 3 of 3 folds" in str(found)


def test_frame_has_a_row_for_every_fold():
    X, y = two_classes()
    found = evaluate(short_model(), X, y, cv=FOLDS)
    frame = found.to_frame()
    assert list(frame) == ["score", "all_columns", "base_rate", "n_selected"]
    assert np.array_equal(frame["score"], found.scores)
    assert len(frame) == 3


# ---- folds


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers the rows it saw, which the first column numbers, and the groups it was given."""

    seen = []

    def __init__(self, cv=4):
        self.cv = cv

    def fit(self, X, y, sample_weight=None, *, groups=None):
        self.classes_ = np.unique(y)
        self.seen.append(SimpleNamespace(learnt=X[:, 0].astype(int), groups=groups, cv=self.cv))
        return self

    def predict(self, X):
        self.seen[-1].judged = X[:, 0].astype(int)
        return np.repeat(self.classes_[0], len(X))


@pytest.fixture
def recorder():
    Recorder.seen.clear()
    return Recorder()


NUMBERED = np.arange(60.0)[:, None]
LABELS = np.repeat([0, 1], [45, 15])


@pytest.mark.parametrize("cv", [5, GroupKFold(4)])
@pytest.mark.parametrize("labels", [LABELS, np.repeat(range(15), 4)])
def test_groups_never_straddle(recorder, cv, labels):
    groups = np.random.default_rng(0).integers(12, size=60)
    evaluate(recorder, NUMBERED, labels, cv=cv, groups=groups, random_state=0)
    for fold in recorder.seen:
        assert not set(groups[fold.learnt]) & set(groups[fold.judged])
        assert np.array_equal(fold.groups, groups[fold.learnt])
        assert fold.cv == 4
    assert sorted(np.concatenate([fold.judged for fold in recorder.seen])) == list(range(60))


def test_inner_folds_of_the_estimators_take_the_groups():
    X, y = two_classes()
    training = Training(n_steps=200, n_snapshots=4)
    model = GatedClassifier(network="linear", cv=3, training=training, random_state=0)
    groups = np.arange(len(X)) // 4
    found = evaluate(model, X, y, cv=GroupKFold(2), groups=groups)
    inner = clone(model)
    train, test = next(GroupKFold(2).split(X, y, groups))
    inner.fit(X[train], y[train], groups=groups[train])
    assert found.scores[0] == inner.score(X[test], y[test])
    assert np.array_equal(found.supports[0], inner.get_support())


def test_a_number_of_folds_is_shuffled_and_stratified(recorder):
    evaluate(recorder, NUMBERED, LABELS, cv=5, random_state=0)
    first = [fold.judged for fold in recorder.seen]
    assert [LABELS[rows].sum() for rows in first] == [3] * 5
    recorder.seen.clear()
    evaluate(recorder, NUMBERED, LABELS, cv=5, random_state=1)
    assert not all(np.array_equal(a, fold.judged) for a, fold in zip(first, recorder.seen, strict=True))


def test_time_runs_forward(recorder):
    found = evaluate(recorder, NUMBERED, np.arange(60) % 2, cv=TimeSeriesSplit(4))
    assert len(found.scores) == 4
    for fold in recorder.seen:
        assert fold.learnt.max() < fold.judged.min()


def test_one_split_has_no_spread():
    X, y = two_classes()
    found = evaluate(short_model(), X, y, cv=ShuffleSplit(1, random_state=0))
    assert np.isnan(found.sd)
    assert np.isnan(found.overlap)
    assert "1 fold (" in str(found)


def test_rows_of_weight_0_are_gone(recorder):
    weights = np.where(np.arange(60) % 3 == 0, 0.0, 2.0)
    evaluate(recorder, NUMBERED, LABELS, cv=3, sample_weight=weights)
    seen = np.concatenate([np.r_[fold.learnt, fold.judged] for fold in recorder.seen])
    assert set(seen) == set(np.flatnonzero(weights))


def test_weights_change_the_fit():
    X, y = two_classes()
    model = short_model(lam=0.0)
    weights = np.where(X[:, 2] > 0, 1.0, 0.01)
    weighted, plain = (
        evaluate(model, X, y, cv=FOLDS, sample_weight=w, scoring="neg_log_loss") for w in (weights, None)
    )
    train, test = next(FOLDS.split(X))
    fitted = clone(model).fit(X[train], y[train], weights[train])
    assert weighted.scores[0] == pytest.approx(
        np.log(fitted.predict_proba(X[test])[range(40), y[test]]).mean()
    )
    assert not np.allclose(weighted.scores, plain.scores)


def test_folds_may_run_side_by_side(monkeypatch):
    asked = []

    def run_one_by_one(n_jobs, require):
        asked.append(n_jobs)
        return Parallel(1)

    monkeypatch.setattr("stochgate.evaluation.evaluate.Parallel", run_one_by_one)
    X, y = two_classes()
    evaluate(LogisticRegression(), X, y, cv=FOLDS, n_jobs=2)
    assert asked == [2]


# ---- what goes in


@pytest.mark.parametrize(
    "convert", [as_frame, lambda X: pl.from_pandas(as_frame(X)), sparse.coo_array, np.ndarray.tolist]
)
def test_whatever_holds_the_rows_the_score_is_the_same(convert):
    X, y = two_classes()
    model = short_model(training=short_training(standardize=False, **FAST))
    expected = evaluate(model, X, y, cv=FOLDS)
    found = evaluate(model, convert(X), y, cv=FOLDS)
    assert found.scores == pytest.approx(expected.scores)
    assert np.array_equal(found.supports, expected.supports)
    assert found.feature_names == (
        list("abcdef") if hasattr(convert(X), "columns") else expected.feature_names
    )


@pytest.mark.parametrize("convert", [pd.Series, pl.Series, np.ndarray.tolist])
def test_labels_may_be_words_in_a_series(convert):
    X, y = two_classes()
    words = np.array(["no", "yes"])[y]
    assert evaluate(short_model(), X, convert(words), cv=3, random_state=0).mean > 0.8


@pytest.mark.parametrize("form", ["tuple", "structured", "frame"])
def test_survival_targets_in_all_forms(form):
    X, y = survival_times()
    event, time = y[:, 0].astype(bool), y[:, 1]
    structured = np.array(list(zip(event, time, strict=True)), dtype=[("event", bool), ("time", float)])
    forms = {
        "tuple": (event.tolist(), time),
        "structured": structured,
        "frame": pd.DataFrame(y, columns=["event", "time"]),
    }
    model = short_model(GatedCox, lam=1.0)
    expected = cross_val_score(model, X, y, cv=FOLDS)
    found = evaluate(model, X, forms[form], cv=FOLDS)
    assert np.array_equal(found.scores, expected)
    assert (found.base_rate == 0.5).all()
    assert found.mean > 0.7
    assert (found.all_columns > 0.5).all()
    assert str(found).startswith("concordance index")


def test_survival_folds_are_stratified_by_event():
    X, y = survival_times()
    y[:, 0] = np.arange(len(y)) % 6 == 0  # 20 events
    events = []

    def count_events(model, X, y):
        events.append(int(y[:, 0].sum()))
        return 0.0

    found = evaluate(short_model(GatedCox), X, y, cv=5, scoring=count_events, random_state=0)
    assert events == [4] * 10  # the model and all columns
    assert np.isnan(found.base_rate).all()
    assert found.metric == "count_events"
    assert "base rate" not in str(found)


@pytest.mark.parametrize(
    ("model", "metric"),
    [
        (GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, scoring="roc_auc"), "roc_auc"),
        (
            GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, scoring=["roc_auc", "f1"], refit="f1"),
            "f1",
        ),
        (GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}), "accuracy"),
        (LogisticRegression(), "accuracy"),
    ],
)
def test_a_model_with_its_own_scoring_is_named_and_compared_by_it(model, metric):
    X, y = two_classes()
    for each in (model, make_pipeline(StandardScaler(), model)):
        found = evaluate(each, X, y, cv=3, random_state=0)
        named = evaluate(each, X, y, cv=3, random_state=0, scoring=metric)
        assert found.metric == metric
        np.testing.assert_array_equal(found.scores, named.scores)
        np.testing.assert_array_equal(found.base_rate, named.base_rate)


def test_scoring_is_used_for_all_three():
    X, y = two_classes()
    found = evaluate(short_model(), X, y, cv=StratifiedKFold(3), scoring="roc_auc")
    assert (found.base_rate == 0.5).all()
    assert (found.scores > 0.9).all()
    assert (found.all_columns > 0.8).all()
    assert str(found).startswith("roc_auc")


def test_a_scorer_is_called_what_it_is():
    X, y = two_classes()
    scorer = make_scorer(fbeta_score, beta=2)
    found = evaluate(short_model(), X, y, cv=FOLDS, scoring=scorer)
    assert found.metric == repr(scorer)
    assert found.metric.startswith("make_scorer(fbeta_score")


def test_rare_classes_cannot_hide_in_the_accuracy():
    X, y = two_classes()
    model = short_model()
    found = evaluate(model, X, y, cv=FOLDS)
    assert list(found.other_scores) == ["AUC", "sensitivity (1)", "specificity (0)"]
    for name, scorer in (("AUC", "roc_auc"), ("sensitivity (1)", "recall")):
        theirs = cross_val_score(model, X, y, cv=FOLDS, scoring=scorer).mean()
        assert found.other_scores[name]["score"] == pytest.approx(theirs)
    assert found.other_scores["AUC"]["base_rate"] == 0.5
    assert f"beside it: AUC {found.other_scores['AUC']['score']:.3f} (all columns" in str(found)
    assert found.headline.startswith(
        f"Honest score: accuracy {found.mean:.3f} ± {found.sd:.3f} on rows that"
    )
    by_auc = evaluate(model, X, y, cv=FOLDS, scoring="roc_auc")
    assert list(by_auc.other_scores) == ["accuracy", "sensitivity (1)", "specificity (0)"]
    assert by_auc.other_scores["accuracy"]["score"] == pytest.approx(found.mean)


def test_several_classes_have_a_balanced_accuracy():
    X, y = three_classes()
    model = short_model()
    found = evaluate(model, X, y, cv=FOLDS)
    theirs = cross_val_score(model, X, y, cv=FOLDS, scoring="balanced_accuracy").mean()
    assert found.other_scores["balanced accuracy"]["score"] == pytest.approx(theirs)
    assert evaluate(short_model(GatedRegressor), X, y, cv=FOLDS).other_scores == {}


# ---- models of others


def test_other_models_bring_their_own_rival():
    X, y = two_classes()
    model = make_pipeline(StandardScaler(), SelectKBest(k=2), LogisticRegression())
    alone = evaluate(model, X, y, cv=FOLDS)
    assert np.isnan(alone.all_columns).all()
    assert "all columns" not in str(alone)
    found = evaluate(model, X, y, cv=FOLDS, without_selection=LogisticRegression())
    assert np.array_equal(found.all_columns, cross_val_score(LogisticRegression(), X, y, cv=FOLDS))


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (make_pipeline(StandardScaler(), SelectKBest(k=2), LogisticRegression()), 2),
        (make_pipeline(StandardScaler(), SelectKBest(k=4), SelectKBest(k=1), LogisticRegression()), 1),
        (make_pipeline(SelectKBest(k=4), short_model(lam=0.4)), 2),
        (GridSearchCV(short_model(), {"lam": [0.6]}, cv=2), 2),
        (make_pipeline(PCA(3), LogisticRegression()), None),
        (LogisticRegression(), None),
    ],
)
def test_supports_are_found_wherever_they_are(model, expected):
    X, y = two_classes()
    found = evaluate(model, X, y, cv=FOLDS)
    if expected is None:
        assert found.supports is None
        assert found.n_selected is None
        assert found.selection_counts is None
        assert np.isnan(found.overlap)
        assert "selected" not in str(found)
        assert "n_selected" not in found.to_frame()
    else:
        assert found.n_selected.tolist() == [expected] * 3
        assert found.selection_counts[:2].sum() == 3 * expected


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": GatedClassifier}, "give an instance"),
        ({"model": object()}, "implementing 'fit'"),
        ({"scoring": ["accuracy", "roc_auc"]}, "not one metric"),
        ({"y": None}, "y is missing"),
        ({"y": [0, 1]}, "inconsistent numbers of samples"),
        ({"groups": [0, 1]}, "inconsistent numbers of samples"),
        ({"cv": 1}, "at least 2 folds"),
        ({"cv": GroupKFold(3)}, "'groups' parameter should not be None"),
        ({"sample_weight": np.repeat([1, 0], [80, 40]), "cv": KFold(3)}, "Fold 3 has no row with weight"),
    ],
)
def test_what_can_not_be_evaluated_is_refused(changes, message):
    X, y = two_classes()
    arguments = {"model": short_model(), "X": X, "y": y, **changes}
    with pytest.raises((TypeError, ValueError), match=message):
        evaluate(**arguments)


def test_the_last_step_of_a_pipeline_is_given_groups_and_weights():
    seen = []

    class Spy(BaseEstimator, ClassifierMixin):
        def fit(self, X, y, sample_weight=None, groups=None):
            seen.append((len(X), sample_weight, groups))
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.zeros(len(X), dtype=int)

    X, y = two_classes()
    groups, weights = np.arange(len(y)) // 4, np.arange(len(y)) + 1.0
    evaluate(make_pipeline(StandardScaler(), Spy()), X, y, cv=3, groups=groups, sample_weight=weights)
    assert len(seen) == 3
    for n, given, together in seen:
        assert len(given) == len(together) == n
        np.testing.assert_array_equal(groups[(given - 1).astype(int)], together)


# ---- pipelines that end in an estimator of this library


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_pipeline_reports_what_its_estimator_reports(estimator_class):
    X, y = make_problem(estimator_class)
    model = short_model(estimator_class)
    alone = evaluate(model, X, y, cv=FOLDS)
    found = evaluate(make_pipeline(FunctionTransformer(), model), X, y, cv=FOLDS)
    nested = evaluate(make_pipeline(make_pipeline("passthrough"), make_pipeline(model)), X, y, cv=FOLDS)
    for other in (found, nested):
        assert str(other) == str(alone)
        assert np.array_equal(other.all_columns, alone.all_columns)
        assert np.array_equal(other.base_rate, alone.base_rate)
        assert np.array_equal(other.supports, alone.supports)
        assert other.feature_names == alone.feature_names


def test_all_columns_of_a_pipeline_are_those_its_steps_make():
    X, y = two_classes()
    steps = make_pipeline(SelectKBest(k=4), StandardScaler())
    found = evaluate(make_pipeline(steps, short_model(lam=0.4)), X, y, cv=FOLDS)
    everything = make_pipeline(steps, short_model(lam="auto", always_keep=range(4)))
    assert np.array_equal(found.all_columns, cross_val_score(everything, X, y, cv=FOLDS))
    assert found.feature_names == [f"x{j}" for j in range(6)]  # of which k are left, under their names
    assert found.selection_counts[:2].tolist() == [3, 3]


def test_groups_and_weights_reach_the_estimator_through_a_pipeline():
    X, y = two_classes()
    model = short_model(lam="auto", cv=2)
    groups, weights = np.arange(len(X)) // 4, np.where(X[:, 2] > 0, 1.0, 0.01)
    expected, *found = (
        evaluate(each, X, y, cv=GroupKFold(3), groups=groups, sample_weight=weights, scoring="neg_log_loss")
        for each in (
            model,
            make_pipeline(FunctionTransformer(), model),
            make_pipeline(FunctionTransformer(), make_pipeline(model)),
        )
    )
    for other in found:
        assert np.array_equal(other.scores, expected.scores)
        assert np.array_equal(other.all_columns, expected.all_columns)
        assert np.array_equal(other.base_rate, expected.base_rate)


class Nameless(TransformerMixin, BaseEstimator):
    """Keeps the first columns, and gives them no names."""

    def __init__(self, n_columns):
        self.n_columns = n_columns

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.asarray(X)[:, : self.n_columns]


@pytest.mark.parametrize(
    ("step", "names"),
    [
        (StandardScaler(), list("abcdef")),
        (VarianceThreshold(), list("abcdef")),
        (
            make_column_transformer((StandardScaler(), ["b", "a"])),
            ["standardscaler__b", "standardscaler__a"],
        ),
        (PCA(3), ["pca0", "pca1", "pca2"]),
        (Nameless(6), list("abcdef")),
        (Nameless(2), ["nameless0", "nameless1"]),
        (FunctionTransformer(lambda X: X.assign(g=X["a"] * X["b"])), list("abcdefg")),
        (FunctionTransformer(lambda X: X[list("fbead")]), list("abcdef")),
    ],
)
def test_selected_columns_are_called_as_the_steps_call_them(step, names):
    X, y = two_classes()
    found = evaluate(make_pipeline(step, short_model(lam=0.3)), as_frame(X), y, cv=FOLDS)
    assert found.feature_names == names
    assert found.supports.shape == (3, len(names))
    if len(names) > 3:
        assert found.selection_counts[:2].tolist() == [3, 3]
    assert not np.isnan(found.all_columns).any()
    assert f"selected of {len(names)} features" in str(found)


def test_columns_that_only_some_folds_have_are_counted_by_name():
    X, y = two_classes()
    city = np.where(X[:, 0] > 0, "Oslo", "Rome")
    city[0] = "Nice"  # one row, which one fold holds out
    frame = pd.DataFrame({"city": city, "b": X[:, 1]})
    step = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["city"]), ("passthrough", ["b"])
    )
    found = evaluate(make_pipeline(step, short_model(lam=0.1)), frame, y, cv=FOLDS)
    names = [name.split("__")[1] for name in found.feature_names]
    assert sorted(names) == ["b", "city_Nice", "city_Oslo", "city_Rome"]
    counts = dict(zip(names, found.selection_counts, strict=True))
    assert counts["b"] == 3
    assert counts["city_Nice"] < 3
    assert not np.isnan(found.all_columns).any()


@pytest.mark.parametrize("convert", [list, np.array, pd.Series])
def test_texts_are_selected_from_by_their_words(convert):
    texts = [f"{'sunny' if i % 2 else 'rainy'} day number {i % 7}" for i in range(60)]
    model = make_pipeline(TfidfVectorizer(), short_model(lam=0.1))
    found = evaluate(model, convert(texts), np.arange(60) % 2, cv=FOLDS)
    assert found.feature_names == ["day", "number", "rainy", "sunny"]
    assert found.mean == 1.0
    assert found.selection_counts[2:].max() == 3


def test_a_selector_with_steps_of_its_own_is_followed():
    X, y = two_classes()
    selector = StabilitySelector(make_pipeline(PCA(3), short_model(lam=0.1)), n_pairs=2, random_state=0)
    found = evaluate(make_pipeline(selector, LogisticRegression()), X, y, cv=FOLDS)
    assert set(found.feature_names) <= {"pca0", "pca1", "pca2"}
    assert (found.n_selected > 0).all()
