"""Bad input is refused in a sentence that says what and where, and nothing is half-fitted."""

import re
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from torch import nn

from problems import (
    ESTIMATORS,
    as_frame,
    linear_response,
    make_problem,
    normal_columns,
    predictions,
    short_fit,
    short_training,
    survival_times,
    three_classes,
    two_classes,
)
from stochgate import (
    ConstantColumnWarning,
    GatedClassifier,
    GatedCox,
    GatedRegressor,
    NoFeatureSelectedWarning,
    Training,
)
from stochgate.gates import GATES, GaussianGate, HardConcreteGate
from stochgate.networks import ACTIVATIONS, MLP, NETWORKS, ModuleNetwork

QUICK = short_training(n_steps=2)


def put(values, place, value):
    """Return a copy with another value in one place."""
    values = np.array(values, dtype=object if isinstance(value, str) else float)
    values[place] = value
    return values


def refuse_fit(model, X, y, error, message, sample_weight=None):
    """Assert that `fit` fails with the message and leaves no model behind."""
    with pytest.raises(error, match=message):
        model.fit(X, y, sample_weight=sample_weight)
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    with pytest.raises(NotFittedError):
        model.predict(X)


def renamed_twice(X):
    return as_frame(X).set_axis(["a", "b", "c", "b", "e", "f"], axis=1)


# name, what becomes of a good X, message
BAD_X = [
    (
        "NaN",
        lambda X: put(X, (3, 2), np.nan),
        "column 2 holds NaN in row 3: .*SimpleImputer.*missing='auto'",
    ),
    ("infinity", lambda X: put(X, (3, 2), np.inf), "column 2 holds infinity in row 3"),
    ("minus infinity", lambda X: put(X, (3, 2), -np.inf), "column 2 holds infinity in row 3"),
    ("NaN in frame", lambda X: as_frame(put(X, (7, 4), np.nan)), "column 'e' holds NaN in row 7"),
    (
        "infinity in frame",
        lambda X: as_frame(put(X, (7, 4), np.inf)),
        "column 'e' holds infinity in row 7",
    ),
    ("NaN in CSR", lambda X: sparse.csr_array(put(X, (5, 1), np.nan)), "column 1 holds NaN in row 5"),
    (
        "infinity in CSC",
        lambda X: sparse.csc_array(put(X, (5, 1), np.inf)),
        "column 1 holds infinity in row 5",
    ),
    (
        "None in frame",
        lambda X: as_frame(X).astype(object).replace(X[4, 0], None),
        "column 'a' holds NaN in row 4",
    ),
    (
        "text among numbers",
        lambda X: as_frame(X).astype({"d": object}).replace({"d": {X[9, 3]: "<0.1"}}),
        "column 'd' holds numbers and text \\('<0.1' in row 9\\): make them all numbers",
    ),
    ("text in array", lambda X: put(X, (2, 5), "tall"), "text in column 5 .*'tall'.*DataFrame"),
    (
        "dates",
        lambda X: as_frame(X).assign(d=pd.date_range("2020-01-01", periods=len(X))),
        "column 'd' holds dates \\(datetime64",
    ),
    ("one dimension", lambda X: X[:, 0], "Expected 2D array, got 1D array"),
    ("three dimensions", lambda X: X[:, :, None], "Found array with dim 3"),
    ("no column", lambda X: X[:, :0], "0 feature\\(s\\).*minimum of 1 is required"),
    ("other length", lambda X: X[:-1], "inconsistent numbers of samples: \\[119, 120\\]"),
    ("duplicate names", renamed_twice, "duplicate column names: \\['b'\\]; rename or drop"),
    ("complex", lambda X: X + 1j, "Complex data not supported"),
]


@pytest.mark.parametrize(("spoil", "message"), [case[1:] for case in BAD_X], ids=[c[0] for c in BAD_X])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_bad_X_is_refused(estimator_class, spoil, message):
    X, y = make_problem(estimator_class)
    refuse_fit(estimator_class(training=QUICK, missing="error"), spoil(X), y, ValueError, message)


# estimator, name, what becomes of a good y, message
BAD_Y = [
    (GatedClassifier, "NaN", lambda y: put(y, 4, np.nan), "y contains nan in row 4.*drop it"),
    (GatedClassifier, "infinity", lambda y: put(y, 4, np.inf), "y contains inf in row 4"),
    (
        GatedClassifier,
        "None",
        lambda y: [None if i == 4 else str(v) for i, v in enumerate(y)],
        "y contains None in row 4",
    ),
    (
        GatedClassifier,
        "numbers",
        lambda y: y + 0.1 * np.arange(len(y)),
        "Unknown label type: continuous",
    ),
    (
        GatedClassifier,
        "one class",
        lambda y: np.full(len(y), "ill"),
        "one class only .*'ill'.*at least two",
    ),
    (
        GatedClassifier,
        "two columns",
        lambda y: np.column_stack([y, y]),
        "should be a 1d array, got an array of shape \\(120, 2\\)",
    ),
    (GatedRegressor, "NaN", lambda y: put(y, 4, np.nan), "y contains nan in row 4.*drop the row"),
    (GatedRegressor, "infinity", lambda y: put(y, 4, -np.inf), "y contains -inf in row 4"),
    (
        GatedRegressor,
        "NaN in the second output",
        lambda y: put(np.column_stack([y, y]), (4, 1), np.nan),
        "y contains nan in row 4",
    ),
    (
        GatedRegressor,
        "text",
        lambda y: put(y, 4, "tall"),
        "could not convert string to float: 'tall'",
    ),
    (GatedRegressor, "three dimensions", lambda y: y[:, None, None], "Found array with dim 3"),
    (GatedCox, "no event", lambda y: y * [0, 1], "no event: every time is censored"),
    (
        GatedCox,
        "negative time",
        lambda y: put(y, (6, 1), -2.0),
        "time in row 6 is negative \\(-2.0\\)",
    ),
    (
        GatedCox,
        "NaN in time",
        lambda y: put(y, (6, 1), np.nan),
        "NaN or infinity: the time in row 6",
    ),
    (
        GatedCox,
        "infinity in time",
        lambda y: put(y, (6, 1), np.inf),
        "NaN or infinity: the time in row 6",
    ),
    (
        GatedCox,
        "NaN in event",
        lambda y: put(y, (6, 0), np.nan),
        "event column holds nan in row 6, not 0 or 1",
    ),
    (
        GatedCox,
        "event of 2",
        lambda y: put(y, (6, 0), 2),
        "event column holds 2.0 in row 6, not 0 or 1",
    ),
    (GatedCox, "text in event", lambda y: put(y, (6, 0), "dead"), "event column holds 'dead'"),
    (GatedCox, "text in time", lambda y: put(y, (6, 1), "late"), "time column holds 'late'"),
    (
        GatedCox,
        "time alone",
        lambda y: y[:, 1],
        "y has shape \\(120,\\).*expected y = \\(event, time\\)",
    ),
    (
        GatedCox,
        "three columns",
        lambda y: np.column_stack([y, y[:, 1]]),
        "y has shape \\(120, 3\\).*expected y = \\(event, time\\)",
    ),
    (GatedCox, "fewer times", lambda y: (y[:, 0], y[:-1, 1]), "120 for event, 119 for time"),
    *(
        (c, "missing", lambda y: None, "requires y to be passed, but the target y is None")
        for c in ESTIMATORS
    ),
    *(
        (c, "other length", lambda y: y[:-1], "inconsistent numbers of samples: \\[120, 119\\]")
        for c in ESTIMATORS
    ),
]


@pytest.mark.parametrize(
    ("estimator_class", "spoil", "message"),
    [(c, spoil, message) for c, _, spoil, message in BAD_Y],
    ids=[f"{c.__name__}: {name}" for c, name, *_ in BAD_Y],
)
def test_bad_y_is_refused(estimator_class, spoil, message):
    X, y = make_problem(estimator_class)
    refuse_fit(estimator_class(training=QUICK), X, spoil(y), ValueError, message)


def module_with(layer):
    """Return a network that begins with a layer made by `layer(n_columns)`."""
    return ModuleNetwork(lambda n_in, n_out: nn.Sequential(layer(n_in), nn.Linear(n_in, n_out)))


def one_of(names):
    """Return the pattern of a message that lists the valid names."""
    return re.escape(f"use one of {sorted(names)}")


# parameter, bad value, message
BAD_PARAMETERS = [
    ("lam", -0.1, "'lam' parameter .* must be a float in the range \\[0"),
    ("lam", np.nan, "'lam' parameter"),
    ("lam", np.inf, "lam.*inf"),
    ("lam", "much", "'lam' parameter .* Got 'much'"),
    ("gate", "gausian", f"Unknown gate 'gausian'; {one_of(GATES)}"),
    ("gate", GaussianGate, "Unknown gate .* an instance of Gate"),
    ("gate", GaussianGate(sigma=0), "'sigma' parameter of GaussianGate must be .* Got 0"),
    ("gate", HardConcreteGate(tau=0.1), "'tau' parameter of HardConcreteGate"),
    ("network", "cnn", f"Unknown network 'cnn'; {one_of(NETWORKS)}"),
    ("network", nn.Linear(6, 1), "Unknown network Linear.* an instance of Network"),
    (
        "network",
        MLP(activation="gelu"),
        "'activation' parameter of MLP must be a str among .*'relu'",
    ),
    ("network", module_with(nn.BatchNorm1d), "contains BatchNorm1d.*LayerNorm"),
    ("network", module_with(lambda n: nn.Dropout()), "contains Dropout.*remove it"),
    ("network", ModuleNetwork(lambda n_in, n_out: nn.Linear(n_in, n_out + 2)), "outputs"),
    ("network", MLP((16, 0)), "hidden.*0"),
    ("hidden", 16, "hidden.*16"),
    ("hidden", (16, 0), "hidden.*0"),
    ("hidden", (16, "wide"), "hidden.*'wide'"),
    ("activation", "gelu", f"Unknown activation 'gelu'; {one_of(ACTIVATIONS)}"),
    ("training", "fast", "'training' parameter .* must be an instance of .*Training.* Got 'fast'"),
    ("training", Training(n_steps=0), "'n_steps' parameter of Training .* Got 0"),
    ("training", Training(lr=-1), "'lr' parameter of Training .* Got -1"),
    (
        "training",
        Training(optimizer="lbfgs"),
        "'optimizer' parameter of Training must be a str among .*'adam'",
    ),
    (
        "training",
        Training(schedule="late"),
        "'schedule' parameter of Training must be a str among .*'ramp'",
    ),
    ("threshold", 1.0, "'threshold' parameter"),
    ("threshold", -0.1, "'threshold' parameter"),
    ("device", "nonsense", "device='nonsense' cannot be used here .*use device='auto' or 'cpu'"),
    ("device", "cuda:99", "device='cuda:99' cannot be used here .*use device='auto' or 'cpu'"),
    ("device", None, "'device' parameter .* must be an instance of 'str'"),
    ("callbacks", print, "'callbacks' parameter"),
    ("callbacks", [3], "callbacks.*3"),
    ("verbose", -1, "'verbose' parameter"),
    ("random_state", "seed", "'random_state' parameter"),
    ("feature_groups", [0, 0, 1], "feature_groups has shape \\(3,\\), but X has 6 features"),
    (
        "feature_groups",
        {"g": ["a", "z"]},
        "feature_groups names the feature 'z', which X does not have; the columns are \\['a'",
    ),
    ("feature_groups", {"g": [0, 6]}, "feature_groups has the entry 6; .* from 0 to 5"),
    (
        "feature_groups",
        {"g": ["a", "b"], "h": ["b"]},
        "feature 'b' in 'g' and in 'h'; a feature belongs to one group",
    ),
    ("feature_groups", {"g": "ab"}, "feature_groups.*'ab'.*list"),
    ("feature_groups", ["g", "g", None, None, None, None], "feature_groups"),
    ("costs", [1, 2], "costs has shape \\(2,\\), but X has 6 features"),
    ("costs", {"z": 2}, "costs names the feature 'z', which X does not have"),
    ("costs", {-1: 2}, "costs has the entry -1; .* from 0 to 5"),
    ("costs", [1, 1, -3, 1, 1, 1], "costs holds -3.0 for feature 2"),
    ("costs", {"c": np.nan}, "costs holds nan for feature 2"),
    ("costs", {"c": "dear"}, "costs.*'dear'"),
    ("costs", ["dear"] * 6, "costs.*'dear'"),
    ("always_keep", ["a", "z"], "always_keep names the feature 'z', which X does not have"),
    ("always_keep", [True, False], "always_keep has shape \\(2,\\), but X has 6 features"),
    ("always_keep", [6], "always_keep has the entry 6; .* from 0 to 5"),
    ("always_keep", [1.5], "always_keep has the entry 1.5"),
    ("always_keep", "a", "always_keep is 'a'; give a list"),
    ("always_keep", 2, "always_keep is 2; give a list"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD_PARAMETERS)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_bad_parameter_is_refused(estimator_class, name, value, message):
    X, y = make_problem(estimator_class)
    model = estimator_class(**{"training": QUICK, name: value})
    refuse_fit(model, as_frame(X), y, ValueError, message)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            GatedClassifier(class_weight={3: 2, 4: 1}),
            "class_weight names \\['3', '4'\\], .*classes \\[0, 1\\]",
        ),
        (GatedClassifier(class_weight={0: "much"}), "class_weight.*'much'"),
        (GatedClassifier(network="linear", hidden=(4,)), "one or the other"),
        (GatedClassifier(class_weight="even"), "'class_weight' parameter"),
        (GatedClassifier(class_weight={0: -1}), "class_weight.*-1"),
        (GatedCox(ties="exact"), "'ties' parameter .*'breslow'"),
    ],
)
def test_bad_parameter_of_one_estimator_is_refused(model, message):
    X, y = make_problem(type(model))
    refuse_fit(model, X, y, ValueError, message)


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_missing_cuda_is_refused(estimator_class):
    X, y = make_problem(estimator_class)
    refuse_fit(estimator_class(device="cuda"), X, y, ValueError, "device='cuda' cannot be used here")


def weights_of(value, place=slice(None)):
    weights = np.ones(120)
    weights[place] = value
    return weights


BAD_WEIGHTS = [
    ("all zero", weights_of(0), "Sample weights must contain at least one non-zero number"),
    ("negative", weights_of(-1, 3), "Negative values in data passed to `sample_weight`"),
    ("NaN", weights_of(np.nan, 3), "sample_weight contains NaN"),
    ("other length", np.ones(119), "sample_weight.shape == \\(119,\\), expected \\(120,\\)"),
    ("two columns", np.ones((120, 2)), "Sample weights must be 1D"),
]


@pytest.mark.parametrize(
    ("weights", "message"), [case[1:] for case in BAD_WEIGHTS], ids=[c[0] for c in BAD_WEIGHTS]
)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_bad_weights_are_refused(estimator_class, weights, message):
    X, y = make_problem(estimator_class)
    refuse_fit(estimator_class(training=QUICK), X, y, ValueError, message, sample_weight=weights)


def test_events_without_weight_are_refused():
    X, y = survival_times()
    refuse_fit(GatedCox(), X, y, ValueError, "no event", sample_weight=1 - y[:, 0])


def test_early_stopping_without_an_event_to_judge_by_is_refused():
    X, y = survival_times()
    y[:, 0] = np.arange(len(y)) < 3
    model = GatedCox(lam=0.1, training=Training(patience=2), random_state=0)
    refuse_fit(model, X, y, ValueError, "held out for early stopping have .*no event")


@pytest.mark.parametrize("patience", [None, 2])
def test_diverged_training_is_refused(patience):
    X, y = linear_response()
    training = short_training(n_snapshots=1, optimizer="sgd", lr=1e6, patience=patience)
    model = GatedRegressor(lam=0.0, hidden=(8,), training=training, random_state=0)
    refuse_fit(model, X, y, ValueError, "training diverged: .* smaller lr")


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_one_sample_is_refused(estimator_class):
    X, y = make_problem(estimator_class)
    message = "1 sample.* a minimum of 2 is required"
    refuse_fit(estimator_class(), X[:1], y[:1], ValueError, message)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.to_numpy()[:, :5], "X has 5 features, but .* is expecting 6"),
        (lambda X: X.drop(columns="c"), "Feature names seen at fit time, yet now missing:\n- c"),
        (
            lambda X: X.rename(columns={"c": "height"}),
            "Feature names unseen at fit time:\n- height",
        ),
        (lambda X: X[["b", "a", "c", "d", "e", "f"]], "must be in the same order"),
        (lambda X: renamed_twice(X.to_numpy()), "duplicate column names: \\['b'\\]"),
        (lambda X: X.assign(e=np.inf), "column 'e' holds infinity in row 0 and 119 more"),
        (lambda X: X.assign(e="tall"), "column 'e' holds text .*'tall' in row 0.*, but numbers in the fit"),
        (lambda X: X["a"], "Expected (a )?2(D|-dimensional)"),
        (lambda X: X[:0], "0 sample.* a minimum of 1 is required"),
    ],
)
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_bad_X_is_refused_at_predict(estimator_class, change, message):
    X, y = make_problem(estimator_class)
    model = short_fit(estimator_class, as_frame(X), y, training={"n_steps": 2})
    with pytest.raises(ValueError, match=message):
        model.predict(change(as_frame(X)))
    assert predictions(model, as_frame(X)).shape[0] == len(X)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_bad_X_is_refused_at_transform(estimator_class):
    X, y = make_problem(estimator_class)
    model = short_fit(estimator_class, as_frame(X), y, training={"n_steps": 2})
    with pytest.raises(ValueError, match="now missing:\n- c"):
        model.transform(as_frame(X).drop(columns="c"))
    model.set_params(missing="error")
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.transform(as_frame(X).assign(a=np.nan))


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_failed_fit_leaves_no_older_model(estimator_class):
    X, y = make_problem(estimator_class)
    model = short_fit(estimator_class, X, y, training={"n_steps": 2})
    refuse_fit(model, X[:, :3], y[:-1], ValueError, "inconsistent numbers of samples")


@pytest.mark.parametrize("container", [np.asarray, as_frame, sparse.csr_array])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e9])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_constant_columns_stay_closed_with_one_warning(estimator_class, value, container):
    X, y = make_problem(estimator_class)
    X[:, [2, 4]] = value
    names = "'c', 'e'" if container is as_frame else "2, 4"
    with pytest.warns(ConstantColumnWarning, match=f"2 columns {names} has one value only") as caught:
        model = short_fit(estimator_class, container(X), y, training={"n_steps": 20, "dtype": "float32"})
    assert len(caught) == 1
    np.testing.assert_array_equal(model.gates_[[2, 4]], 0)
    np.testing.assert_array_equal(model.open_probability_[[2, 4]], 0)
    X[:, [2, 4]] += 1
    assert np.isfinite(predictions(model, container(X))).all()


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"since": pd.date_range("2020", periods=60)}),
        pd.DataFrame({"since": pd.date_range("2020", periods=60).to_series().diff().to_numpy()}),
        pl.DataFrame({"a": np.arange(60.0), "since": pd.date_range("2020", periods=60).to_numpy()}),
        np.arange("2020-01-01", "2020-03-01", dtype="datetime64[D]")[:, None],
    ],
)
def test_dates_are_no_numbers(X):
    with pytest.raises(ValueError, match=r"column ('since'|0) holds dates"):
        GatedRegressor(0.1, training=QUICK).fit(X, np.arange(60.0))
    with pytest.raises(ValueError, match="y holds dates"):
        GatedRegressor(0.1, training=QUICK).fit(
            normal_columns(60, 2), pd.Series(pd.date_range("2020", periods=60))
        )


@pytest.mark.parametrize("asked", [{}, {"n_features_to_select": 2}])
def test_automatic_fits_tell_of_constant_columns_too(asked):
    X, y = make_problem(GatedRegressor)
    X[:, 3] = 1.0
    model = GatedRegressor(network="linear", training=QUICK, random_state=0, **asked)
    with pytest.warns(ConstantColumnWarning, match="Column 3 has one value only"):
        model.fit(X, y)
    assert not model.get_support()[3]


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_column_constant_among_the_weighted_rows_is_constant(estimator_class):
    X, y = make_problem(estimator_class)
    weights = weights_of(0, slice(0, 40))
    X[40:, 2] = 7.0
    with pytest.warns(ConstantColumnWarning, match="Column 2 has one value only"):
        model = short_fit(estimator_class, X, y, sample_weight=weights, training={"n_steps": 20})
    assert model.gates_[2] == 0


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_one_column_is_enough(estimator_class):
    X, y = make_problem(estimator_class, n_features=2)
    X = X[:, :1]
    model = short_fit(estimator_class, X, y)
    np.testing.assert_array_equal(model.get_support(), [True])
    assert predictions(model, X).std() > 0.1
    assert model.transform(X).shape == X.shape


def closed_model(estimator_class, X, y, **parameters):
    """Return a model whose gates all closed under a huge penalty."""
    with pytest.warns(NoFeatureSelectedWarning, match="No feature .* lam=100 .* smaller lam") as caught:
        model = short_fit(estimator_class, X, y, lam=100, training={"n_steps": 200}, **parameters)
    assert len(caught) == 1
    return model


@pytest.mark.parametrize("problem", [two_classes, three_classes])
@pytest.mark.parametrize("weighted", [False, True])
def test_classifier_without_features_predicts_class_frequencies(problem, weighted):
    X, y = problem()
    weights = 1.0 + (y == 1) if weighted else np.ones(len(y))
    model = closed_model(GatedClassifier, X, y, sample_weight=weights)
    frequencies = np.bincount(y, weights) / weights.sum()
    np.testing.assert_allclose(model.predict_proba(X), np.tile(frequencies, (len(y), 1)), atol=1e-12)


@pytest.mark.parametrize("standardize", [False, True])
def test_regressor_without_features_predicts_the_mean(standardize):
    X, y = linear_response()
    with pytest.warns(NoFeatureSelectedWarning):
        model = short_fit(
            GatedRegressor, X, y + 5, lam=100, training={"n_steps": 200, "standardize": standardize}
        )
    np.testing.assert_allclose(model.predict(X), np.mean(y + 5))


def test_cox_without_features_predicts_log_hazard_0():
    X, y = survival_times()
    np.testing.assert_array_equal(closed_model(GatedCox, X, y).predict(X), 0)


@pytest.mark.parametrize("container", [np.asarray, as_frame, sparse.csr_array])
@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_transform_without_features_returns_no_columns(estimator_class, container):
    X, y = make_problem(estimator_class)
    model = closed_model(estimator_class, container(X), y)
    assert model.get_feature_names_out().shape == (0,)
    with pytest.warns(UserWarning, match="No features were selected"):
        assert model.transform(container(X)).shape == (len(X), 0)


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_only_constant_columns_select_nothing(estimator_class):
    _, y = make_problem(estimator_class)
    X = np.ones((len(y), 3))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = short_fit(estimator_class, X, y, training={"n_steps": 2})
    assert [w.category for w in caught] == [ConstantColumnWarning, NoFeatureSelectedWarning]
    assert not model.get_support().any()
    assert np.isfinite(predictions(model, X)).all()


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_unfitted_model_says_so(estimator_class):
    X = normal_columns()
    for method in ("predict", "transform"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(estimator_class(), method)(X)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        estimator_class().get_support()
