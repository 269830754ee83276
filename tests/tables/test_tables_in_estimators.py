"""Estimators take tables as people have them."""

from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone

from problems import ESTIMATORS, predictions, short_fit, short_training
from stochgate import (
    GatedClassifier,
    GatedCox,
    GatedRegressor,
    GiveawayColumnWarning,
    LeftOutColumnWarning,
    MissingValuesWarning,
    StabilitySelector,
    evaluate,
)

LONG = {"n_steps": 400}


def make_table(n_samples=200, seed=0):
    """Return a table of which age, its being missing, and the city matter, and the score y is made of."""
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 10, n_samples)
    X = pd.DataFrame(
        {
            "age": age,
            "city": rng.choice(["Bern", "Rome", "Oslo"], n_samples),
            "flag": rng.random(n_samples) < 0.5,
            "noise": rng.normal(size=n_samples),
            "colour": rng.choice(["red", "blue"], n_samples),
        }
    )
    score = (age - 50) / 10 + X["city"].map({"Bern": 1.5, "Rome": 0.0, "Oslo": -1.5}).to_numpy()
    missing = rng.random(n_samples) < 0.2
    X.loc[missing, "age"] = np.nan
    return X, np.where(missing, score + 2, score) + 0.3 * rng.normal(size=n_samples)


def target_of(estimator_class, score):
    if estimator_class is GatedClassifier:
        return np.where(score > 0.4, "yes", "no")
    return score if estimator_class is GatedRegressor else (np.ones(len(score)), np.exp(-score))


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_text_and_missing_values_are_selected_whole(estimator_class):
    X, score = make_table()
    y = target_of(estimator_class, score)
    model = short_fit(estimator_class, X, y, lam=0.3, training=LONG)
    assert model.get_feature_names_out().tolist() == ["age", "city"]
    assert model.gates_.shape == (5,)
    assert np.isfinite(predictions(model, X)).all()


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
@pytest.mark.parametrize("make", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "pyarrow"])
def test_other_frames_give_the_same_model(estimator_class, make):
    X, score = make_table()
    y = target_of(estimator_class, score)
    model = short_fit(estimator_class, X, y, training={"n_steps": 20})
    other = short_fit(estimator_class, make(X), y, training={"n_steps": 20})
    np.testing.assert_array_equal(predictions(model, X), predictions(other, make(X)))


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_table_equals_its_columns_made_by_hand(estimator_class):
    X, score = make_table()
    y = target_of(estimator_class, score)
    missing = X["age"].isna()
    by_hand = np.column_stack(
        [
            X["age"].fillna(X["age"].median()),
            missing,
            *(X["city"] == city for city in sorted(set(X["city"]) - {X["city"].mode()[0]})),
            X["flag"],
            X["noise"],
            X["colour"] != X["colour"].mode()[0],
        ]
    ).astype(float)
    model = short_fit(estimator_class, X, y, training={"n_steps": 30})
    groups = [0, 0, 1, 1, 2, 3, 4]
    other = short_fit(estimator_class, by_hand, y, feature_groups=groups, training={"n_steps": 30})
    np.testing.assert_array_equal(predictions(model, X), predictions(other, by_hand))
    np.testing.assert_array_equal(model.gates_[groups], other.gates_)


def test_another_fill_gives_the_same_predictions():
    X, score = make_table()
    model = GatedRegressor(0.1, network="linear", random_state=0).fit(X, score)
    filled = X["age"].fillna(60.0)
    shifted = X.assign(age=filled, was_missing=X["age"].isna())
    groups = {"age": ["age", "was_missing"]}
    other = GatedRegressor(0.1, network="linear", feature_groups=groups, random_state=0)
    np.testing.assert_allclose(model.predict(X), other.fit(shifted, score).predict(shifted), atol=0.05)


def test_rows_of_weight_0_take_no_part_in_the_encoding():
    X, score = make_table(60)
    odd = X.iloc[:5].assign(age=1e6, city="Atlantis")
    both, weight = pd.concat([X, odd]), np.repeat([1.0, 0.0], [60, 5])
    y = np.append(score, np.zeros(5))
    model = short_fit(GatedRegressor, X, score, training={"n_steps": 20})
    weighed = GatedRegressor(**model.get_params(deep=False)).fit(both, y, sample_weight=weight)
    np.testing.assert_array_equal(model.predict(X), weighed.predict(X))


def test_prediction_takes_what_the_fit_has_not_seen():
    X, score = make_table()
    model = short_fit(GatedRegressor, X, score, training={"n_steps": 50})
    mode, median = X["city"].mode()[0], X["noise"].median()
    with pytest.warns(MissingValuesWarning, match="'noise' in 100% of the rows"):
        predicted = model.predict(X.assign(city="Atlantis", noise=np.nan))
    np.testing.assert_array_equal(predicted, model.predict(X.assign(city=mode, noise=median)))


def test_few_missing_values_are_filled_and_nothing_else():
    X, score = make_table()
    X["age"] = X["age"].fillna(50.0)
    gaps = X.copy()
    gaps.loc[[3, 4], "age"], gaps.loc[7, "city"] = np.nan, None
    filled = gaps.fillna({"age": gaps["age"].median(), "city": gaps["city"].mode()[0]})
    model = short_fit(GatedRegressor, gaps, score, training={"n_steps": 20})
    other = short_fit(GatedRegressor, filled, score, training={"n_steps": 20})
    np.testing.assert_array_equal(model.predict(gaps), other.predict(filled))
    assert "age (missing)" not in model._table.column_names(model._names())


LACKING = (
    r"^Values are missing far more often than in the fit: 'age' in 80% of the rows \(20% in the fit\), "
    r"filled with .* and marked as missing; 'city' in 50% of the rows \(0% in the fit\), read as '\w+'; "
    r"'noise' in 100% of the rows \(1% in the fit\), filled with [\d.e+-]+\.$"
)


def lacking_table():
    """Return a table and a score to fit to, and one that lacks far more values."""
    X, score = make_table()
    X.loc[:, "age"] = np.where(np.arange(200) < 40, np.nan, np.arange(200.0))
    X.loc[[1, 2], "noise"] = np.nan
    row = np.arange(200)
    lacking = X.assign(age=X["age"].where(row >= 160), noise=np.nan)
    lacking["city"] = X["city"].where(row % 2 == 0, None)
    return X, score, lacking


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_a_table_that_lacks_far_more_values_warns_once_per_call(estimator_class):
    X, score, lacking = lacking_table()
    y = target_of(estimator_class, score)
    model = short_fit(estimator_class, X, y, lam=0.0, training={"n_steps": 5})
    small = model.reduced()
    methods = ("predict", "predict_proba", "decision_function", "predict_survival_function")
    calls = [partial(getattr(model, name), lacking) for name in methods if hasattr(model, name)]
    for call in (
        *calls,
        partial(model.score, lacking, y),
        partial(small.predict, lacking[X.columns[::-1]]),
    ):
        with pytest.warns(MissingValuesWarning, match=LACKING) as caught:
            call()
        assert len(caught) == 1
    model.predict(lacking.iloc[:4])  # too few to tell
    model.predict(X)


def test_a_column_that_is_not_used_may_be_missing():
    X, score = make_table()
    model = short_fit(GatedRegressor, X, score, lam=0.3, training=LONG)
    model.predict(X.assign(noise=np.nan, flag=np.nan))
    with pytest.warns(MissingValuesWarning, match="'city' in 100%"):
        model.predict(X.assign(city=None))


def test_blocks_of_a_table_warn_once_of_what_all_of_them_lack():
    X, score, lacking = lacking_table()
    X, lacking = X[["age", "noise"]].to_numpy(), lacking[["age", "noise"]].to_numpy()
    model = short_fit(GatedRegressor, X, score, lam=0.0, training={"n_steps": 5})
    with pytest.warns(MissingValuesWarning, match="0 in 80% of the rows") as caught:
        predicted = model.predict([(part, np.zeros(40)) for part in np.array_split(lacking, 5)])
    assert len(caught) == 1
    with pytest.warns(MissingValuesWarning):
        np.testing.assert_allclose(predicted, model.predict(lacking), rtol=1e-12)


def test_a_fold_of_evaluate_warns_once():
    X, score = make_table(90)
    X["noise"] = np.where(np.arange(90) < 60, X["noise"], np.nan)
    model = GatedRegressor(0.0, network="linear", training=short_training(n_steps=5), random_state=0)
    with pytest.warns(MissingValuesWarning, match="'noise' in 100% of the rows") as caught:
        evaluate(model, X, score, cv=[(np.arange(60), np.arange(60, 90))], without_selection=model)
    assert len(caught) == 1


def test_missing_error_refuses_numbers_and_text():
    X, score = make_table()
    model = GatedRegressor(0.1, missing="error", training=short_training(n_steps=2))
    with pytest.raises(ValueError, match="column 'age' holds NaN in row"):
        model.fit(X, score)
    X = X.drop(columns="age")
    model.fit(X, score)
    with pytest.raises(ValueError, match="column 'city' holds no text in row 7"):
        model.predict(X.assign(city=X["city"].where(X.index != 7, None)))


def test_all_obstacles_of_a_table_are_in_one_message():
    X, score = make_table()
    X = X.assign(visit=pd.date_range("2020", periods=len(X)), dose=["<1", *map(str, range(len(X) - 1))])
    X["flow"] = np.where(np.arange(len(X)) == 3, np.inf, 1.0)
    expected = [
        r"column 'visit' holds dates",
        r"column 'dose' holds numbers and text \('<1' in row 0\)",
        r"column 'flow' holds infinity in row 3",
    ]
    with pytest.raises(ValueError, match=".*; ".join(expected)):
        GatedRegressor(0.1).fit(X, score)


def test_costs_and_keeps_go_by_the_columns_of_the_table():
    X, score = make_table()
    model = short_fit(
        GatedRegressor, X, score, lam=0.3, costs={"city": 1e4}, always_keep=["colour"], training=LONG
    )
    assert model.get_feature_names_out().tolist() == ["age", "colour"]


def test_ids_are_left_out_with_a_warning():
    X, score = make_table()
    X["id"] = [f"patient {i}" for i in range(len(X))]
    with pytest.warns(LeftOutColumnWarning, match="Column 'id' holds text with too many"):
        model = short_fit(GatedRegressor, X, score, lam=0.0, training={"n_steps": 2})
    assert not model.support_[-1]
    assert model.support_[:-1].all()


def test_a_table_of_ids_alone_is_refused():
    X = pd.DataFrame({"id": [f"patient {i}" for i in range(60)]})
    with pytest.raises(ValueError, match="no column to learn from"):
        GatedRegressor(0.1).fit(X, np.arange(60.0))


def list_giveaways():
    """Yield an estimator, its y and a column that gives it away."""
    rng = np.random.default_rng(0)
    classes = rng.choice(["a", "b", "c"], 60)
    value, time = rng.normal(size=60), rng.exponential(size=60)
    event = rng.random(60) < 0.5
    yield GatedClassifier, classes, classes
    yield GatedClassifier, classes, np.where(classes == "a", 1.0, 0.0)
    yield GatedRegressor, value, np.exp(value)
    yield GatedCox, (event, time), -time
    yield GatedCox, (event, time), event


@pytest.mark.parametrize(("estimator_class", "y", "column"), list(list_giveaways()))
def test_a_column_that_gives_y_away_is_pointed_out(estimator_class, y, column):
    X = pd.DataFrame({"x": np.sin(np.arange(60.0)), "copy": column})
    with pytest.warns(GiveawayColumnWarning, match="Column 'copy' gives y away"):
        model = short_fit(estimator_class, X, y, training={"n_steps": 2})
    assert "Column 'copy' gives y away" in model.remarks_[0]


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_few_odd_rows_do_not_give_y_away(estimator_class):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 50))).add_prefix("c")
    for j in range(50):
        X.iloc[rng.integers(60), j] = np.nan
    X["rare"] = (np.arange(60) == 7) * 1.0
    score = rng.normal(size=60)
    score[7] = 9.0
    model = short_fit(estimator_class, X, target_of(estimator_class, score), training={"n_steps": 2})
    assert model.remarks_ == []


def test_missing_values_may_give_y_away():
    y = np.tile(["dead", "alive"], 30)
    X = pd.DataFrame(
        {"x": np.sin(np.arange(60.0)), "died on": np.where(y == "dead", np.arange(60.0), np.nan)}
    )
    with pytest.warns(GiveawayColumnWarning, match="Column 'died on'"):
        short_fit(GatedClassifier, X, y, training={"n_steps": 2})


def test_remarks_tell_of_numbered_rows_and_of_classes_apart():
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 30)
    X = pd.DataFrame({"number": rng.permutation(60) + 1000, "marker": y + 0.4 * rng.random(60)})
    model = short_fit(GatedClassifier, X, y, training={"n_steps": 2})
    assert model.remarks_[0].startswith("Column 'marker' alone tells the classes apart")
    assert model.remarks_[1].startswith("Column 'number' numbers the rows")
    plain = short_fit(GatedClassifier, X + rng.normal(size=(60, 2)), y, training={"n_steps": 2})
    assert plain.remarks_ == []


def test_summary_names_the_levels_and_the_groups():
    X, score = make_table(150)
    model = GatedRegressor(network="linear", random_state=0, cv=3).fit(X, score)
    rows = model.summary().features.set_index("feature")
    assert rows.loc["city", "direction"] == "Bern > Rome > Oslo"
    assert rows.loc["age", "direction"] == "+"
    groups = {"person": ["age", "city"], "rest": ["flag", "noise"]}
    grouped = GatedRegressor(network="linear", feature_groups=groups, random_state=0, cv=3).fit(X, score)
    rows = grouped.summary().features.set_index("feature")
    assert rows.index.tolist() == ["person"]
    assert rows.loc["person", "members"] == ["age", "city"]
    assert "person, 2 features" in grouped.summary().text


def test_stand_ins_are_features_and_not_their_columns():
    X, score = make_table(150)
    X["town"] = X["city"].str.lower().where(np.arange(150) % 15 > 0, "bern")
    model = GatedRegressor(network="linear", random_state=0, cv=3).fit(X, score)
    rows = model.summary().features.set_index("feature")
    assert rows.loc["city", "stand_ins"] == ["town"]


def test_evaluation_and_error_control_take_tables():
    X, score = make_table(120)
    model = GatedRegressor(network="linear", random_state=0, cv=3)
    found = evaluate(model, X, score, cv=2, random_state=0)
    assert found.mean > 0.7
    selector = StabilitySelector(model, n_pairs=3, random_state=0).fit(X, score)
    assert {"age", "city"} <= set(selector.get_feature_names_out())


@pytest.mark.parametrize("estimator_class", ESTIMATORS)
def test_reduced_models_predict_from_their_columns_alone(estimator_class):
    X, score = make_table()
    model = short_fit(estimator_class, X, target_of(estimator_class, score), lam=0.3, training=LONG)
    small = model.reduced()
    assert small.feature_names_in_.tolist() == ["age", "city"]
    assert small.support_.all()
    for table in (X[["age", "city"]], X, X[X.columns[::-1]], pl.from_pandas(X)):
        np.testing.assert_array_equal(predictions(small, table), predictions(model, X))
    with pytest.raises(ValueError, match="lacks 1 of the 2 columns the model uses: 'city'"):
        small.predict(X.drop(columns="city"))


def test_columns_in_another_order_are_refused_with_a_way_out():
    X, score = make_table(60)
    model = short_fit(GatedRegressor, X, score, training={"n_steps": 20})
    for table in (X[X.columns[::-1]], X.assign(extra=1.0), pl.from_pandas(X[X.columns[::-1]])):
        for method in (model.predict, model.transform):
            with pytest.raises(ValueError, match=r"\n.*X\[model.feature_names_in_\].*model.reduced\(\)"):
                method(table)
        np.testing.assert_array_equal(model.predict(table[model.feature_names_in_]), model.predict(X))
    with pytest.raises(ValueError, match=r"missing:\n- age\n$"):
        model.predict(X.drop(columns="age"))
    with pytest.raises(ValueError, match="duplicate column names"):
        model.predict(pd.concat([X, X[["age"]]], axis=1))


def test_lazy_frames_are_collected():
    X, score = make_table(60)
    lazy = pl.from_pandas(X.assign(y=score)).lazy()
    table, y = lazy.drop("y"), lazy.select("y")
    training = short_training(n_steps=20)
    model = GatedRegressor(0.1, network="linear", training=training, random_state=0).fit(table, y)
    eager = clone(model).fit(X, pd.DataFrame({"y": score})).predict(X)
    for found in (model.predict(table), model.reduced().predict(table)):
        np.testing.assert_allclose(found, eager, atol=0.01)
    assert model.transform(table).shape == (60, model.support_.sum())
    assert model.score(table, y) == pytest.approx(model.score(X, score))
    assert evaluate(model, table, y, cv=2, random_state=0).feature_names == list(X.columns)
    selector = StabilitySelector(model, n_pairs=2, random_state=0).fit(table, y)
    assert selector.transform(table).shape == (60, selector.support_.sum())


def test_sparse_rows_and_lists_are_read_as_the_tables_of_the_fit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    y = X[:, 0] + 0.1 * rng.normal(size=80)
    with_missing = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    model = short_fit(GatedRegressor, with_missing, y, training={"n_steps": 20})
    np.testing.assert_allclose(model.predict(sparse.csr_array(X)), model.predict(X), rtol=1e-10)
    table, score = make_table(60)
    model = short_fit(GatedRegressor, table, score, training={"n_steps": 20})
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        listed = model.predict(table.to_numpy().tolist())
    np.testing.assert_array_equal(listed, model.predict(table))
    some_sparse = table.assign(noise=pd.arrays.SparseArray(table["noise"], fill_value=0.0))
    np.testing.assert_array_equal(model.predict(some_sparse), model.predict(table))


def test_a_note_that_the_fit_never_saw_is_no_error():
    X, score = make_table(90)
    X["note"] = pd.Series([None] * 90, dtype=object)
    with pytest.warns(UserWarning, match="'note' has one value only"):
        model = short_fit(GatedRegressor, X, score, training={"n_steps": 5})
    np.testing.assert_array_equal(model.predict(X.assign(note="see file")), model.predict(X))


def test_reduced_models_find_their_columns_in_transform_too():
    X, score = make_table()
    small = short_fit(GatedRegressor, X, score, lam=0.3, training=LONG).reduced()
    assert small.transform(X[X.columns[::-1]]).shape == (200, 2)


def test_reduced_models_of_arrays_take_the_selected_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 8))
    y = X[:, 1] + X[:, 6] + 0.1 * rng.normal(size=150)
    for network in ("linear", "mlp", "encoded"):
        model = GatedRegressor(0.5, network=network, random_state=0).fit(X, y)
        small = model.reduced()
        np.testing.assert_array_equal(small.predict(X[:, model.support_]), model.predict(X))
        assert small.transform(X[:, model.support_]).shape == (150, small.n_features_in_)
    with pytest.raises(ValueError, match="X has 8 features"):
        small.predict(X)


def test_a_model_without_features_cannot_be_reduced():
    X, score = make_table(60)
    with pytest.warns(UserWarning, match="No feature was selected"):
        model = GatedRegressor(1e4, random_state=0).fit(X, score)
    with pytest.raises(ValueError, match="No feature is selected"):
        model.reduced()
