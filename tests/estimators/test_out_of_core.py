"""A model of a table on disk: that of the table in memory, its predictions, scores, files and summaries."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold

from stochgate import (
    GatedClassifier,
    GatedCox,
    GatedRegressor,
    StabilitySelector,
    Stream,
    Training,
    evaluate,
    load,
    save,
    survival_target,
)
from stochgate.sources.opening import open_source
from stochgate.sources.subsets import Unweighted, split_source
from tables_on_disk import TARGETS, frame, numbers, write_folder

pytest.importorskip("pyarrow")

MADE = frame()
X = MADE.drop(columns=TARGETS)
QUICK = {"training": Training(n_steps=40), "random_state": 0}
CASES = {
    "regressor": (GatedRegressor, "y"),
    "classifier": (GatedClassifier, "label"),
    "cox": (GatedCox, ("event", "time")),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_folder(MADE, tmp_path_factory.mktemp("table"))


def others_than(*used):
    """Return the columns that are neither features nor used in a fit."""
    flat = [name for part in used for name in ([part] if isinstance(part, str) else part or [])]
    return [name for name in TARGETS if name not in flat]


def on_disk(folder, y, *used, sample_rows=None):
    return Stream(folder, exclude=others_than(y, *used), sample_rows=sample_rows)


def in_memory(y):
    return MADE[y] if isinstance(y, str) else MADE[list(y)]


def blocks_of(source):
    return [block for part in range(source.n_parts) for block in source.read(part, [])]


def assert_same_model(one, other):
    np.testing.assert_array_equal(one.gates_, other.gates_)
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(one.history_["train_loss"], other.history_["train_loss"])
    assert one.lam_ == other.lam_


@pytest.mark.parametrize(("make", "y"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("extra", [{}, {"sample_weight": "weight"}], ids=["plain", "weighted"])
def test_a_sample_of_all_rows_gives_the_model_of_the_table_in_memory(make, y, extra, folder):
    model = make(lam=0.1, **QUICK)
    streamed = clone(model).fit(on_disk(folder, y, *extra.values()), y, **extra)
    given = {name: MADE[column] for name, column in extra.items()}
    assert_same_model(streamed, clone(model).fit(X, in_memory(y), **given))
    assert streamed.feature_names_in_.tolist() == list(X.columns)


@pytest.mark.parametrize("cv", [3, GroupKFold(3)], ids=["folds", "splitter"])
def test_an_automatic_choice_on_all_rows_is_that_of_the_table_in_memory(cv, folder):
    model = GatedClassifier(network="linear", cv=cv, **QUICK)
    streamed = clone(model).fit(on_disk(folder, "label", "person"), "label", groups="person")
    in_ram = clone(model).fit(X, MADE["label"], groups=MADE["person"])
    assert_same_model(streamed, in_ram)
    assert str(streamed.summary()) == str(in_ram.summary())


@pytest.fixture(scope="module")
def chosen(folder):
    """Return a model whose choice was made on a sample."""
    model = GatedRegressor(network="linear", cv=3, training=Training(n_steps=150), random_state=0)
    return model.fit(on_disk(folder, "y", sample_rows=500), "y")


def test_a_choice_on_a_sample_finds_the_columns_of_the_table(chosen, folder):
    selected = chosen.get_feature_names_out().tolist()
    assert {"age.x", "d", "site"} <= set(selected)
    assert chosen.score(folder, "y") > 0.85


def test_predictions_and_scores_of_a_path_are_those_of_the_table_in_memory(chosen, folder):
    np.testing.assert_array_equal(chosen.predict(folder), chosen.predict(X))
    assert chosen.score(folder, "y") == pytest.approx(chosen.score(X, MADE["y"]), abs=1e-12)
    weighted = chosen.score(folder, "y", sample_weight="weight")
    assert weighted == pytest.approx(chosen.score(X, MADE["y"], MADE["weight"]), abs=1e-12)
    blocks = [(X[:500], None), (X[500:], None)]
    np.testing.assert_array_equal(chosen.predict(blocks), chosen.predict(X))


def test_predictions_read_the_selected_columns_alone(chosen, tmp_path):
    selected = chosen.get_feature_names_out().tolist()
    write_folder(MADE[selected[::-1]].assign(when=pd.Timestamp("2020-01-01")), tmp_path / "few")
    np.testing.assert_array_equal(chosen.predict(tmp_path / "few"), chosen.predict(X))
    write_folder(MADE[selected[1:]], tmp_path / "fewer")
    with pytest.raises(ValueError, match=f"no column '{selected[0]}', which the model uses"):
        chosen.predict(tmp_path / "fewer")


def test_summary_sizes_and_the_reduced_model_work(chosen, folder):
    assert "age.x" in str(chosen.summary())
    smaller = chosen.at(k=2)
    assert smaller.get_support().sum() == 2
    np.testing.assert_array_equal(smaller.predict(folder), smaller.predict(X))
    reduced = chosen.reduced()
    np.testing.assert_array_equal(reduced.predict(folder), chosen.predict(X))
    assert chosen.path_ is not None


def test_a_model_of_a_path_is_saved_pickled_and_loaded(chosen, folder, tmp_path):
    pytest.importorskip("safetensors")
    save(chosen, tmp_path / "m.safetensors")
    for again in (load(tmp_path / "m.safetensors"), pickle.loads(pickle.dumps(chosen))):
        np.testing.assert_array_equal(again.predict(folder), chosen.predict(X))


def test_the_final_model_learns_from_every_row():
    values, y = numbers(6000)
    y = y + 3 * np.random.default_rng(1).normal(size=len(y))  # of 60 rows little can be learnt
    blocks = list(zip(np.split(values, 4), np.split(y, 4), strict=True))
    model = GatedRegressor(lam=0.0, network="linear", training=Training(n_steps=400), random_state=0)
    few, streamed = clone(model).fit(values[:60], y[:60]), model.fit(Stream(blocks, sample_rows=60))
    error = [np.abs(m.coef_ - [1, 0, 0, -1, 0]).max() for m in (few, streamed)]
    assert error[1] < 0.15 < 0.3 < error[0]


@pytest.mark.parametrize(("make", "y"), CASES.values(), ids=CASES)
def test_a_streamed_model_is_close_to_that_of_all_rows(make, y, folder):
    model = make(lam=0.05, network="linear", training=Training(n_steps=400, batch_size=300), random_state=0)
    streamed = clone(model).fit(on_disk(folder, y, sample_rows=400), y)
    in_ram = clone(model).fit(X, in_memory(y))
    score = in_ram.score(X, in_memory(y))
    assert streamed.score(folder, y) == pytest.approx(score, abs=0.02)


def test_class_weights_are_balanced_over_the_table(folder):
    made = MADE.assign(label=np.where(MADE["y"] > 1.5, "ill", "well"))
    options = {"lam": 0.0, "network": "linear", "training": Training(n_steps=60, lr=0.1), "random_state": 0}
    blocks = [(X[i : i + 300], made["label"][i : i + 300]) for i in range(0, len(X), 300)]
    for class_weight in ("balanced", {"ill": 5.0, "well": 1.0}):
        model = GatedClassifier(class_weight=class_weight, **options)
        streamed = clone(model).fit(Stream(blocks, sample_rows=600)).predict_proba(X)[:, 0].mean()
        in_ram = clone(model).fit(X, made["label"]).predict_proba(X)[:, 0].mean()
        assert streamed == pytest.approx(in_ram, abs=0.05)


def test_several_outputs_are_named(folder):
    model = GatedRegressor(lam=0.05, network="linear", **QUICK)
    for sample_rows in (None, 300):
        model.fit(on_disk(folder, ["y", "time"], sample_rows=sample_rows), ["y", "time"])
        assert model.predict(folder).shape == (len(MADE), 2)
        assert np.isfinite(model.score(folder, ["y", "time"]))


def test_groups_costs_and_kept_columns_are_named(folder):
    model = GatedRegressor(
        lam=0.3,
        network="linear",
        feature_groups={"body": ["age.x", "dose (mg)"]},
        costs={"site": 2.0},
        always_keep=["visits"],
        **QUICK,
    )
    model.fit(on_disk(folder, "y", sample_rows=300), "y")
    gates = dict(zip(model.feature_names_in_, model.gates_, strict=True))
    assert gates["visits"] == 1
    assert gates["age.x"] == gates["dose (mg)"]


def test_exactly_k_features_of_a_stream(folder):
    model = GatedClassifier(n_features_to_select=2, network="linear", cv=3, **QUICK)
    model.fit(on_disk(folder, "label", sample_rows=400), "label")
    assert model.get_support().sum() == 2


@pytest.mark.parametrize("network", ["linear", "mlp", "encoded"])
@pytest.mark.parametrize("make", [GatedRegressor, GatedCox])
def test_every_network_is_streamed(network, make, folder):
    y = CASES["regressor" if make is GatedRegressor else "cox"][1]
    model = make(lam=0.05, network=network, **QUICK).fit(on_disk(folder, y, sample_rows=300), y)
    assert np.isfinite(model.predict(folder)).all()


def test_a_model_without_features_predicts_the_base_rate_of_a_path(folder):
    model = GatedRegressor(lam=1e6, network="linear", training=Training(n_steps=300), random_state=0)
    with pytest.warns(UserWarning, match="No feature"):
        model.fit(on_disk(folder, "y", sample_rows=300), "y")
    assert np.ptp(model.predict(folder)) == 0
    assert model.predict(folder).shape == (len(MADE),)


@pytest.mark.parametrize("dtype", ["int8", "bool", "str", "category"])
def test_labels_are_of_any_kind(dtype, tmp_path):
    label = (MADE["y"] > 0.3).astype("int8")
    label = (
        label.map({0: "no", 1: "yes"}).astype("category") if dtype == "category" else label.astype(dtype)
    )
    path = write_folder(MADE[["age.x", "d"]].assign(label=label), tmp_path / "t")
    for sample_rows in (None, 300):
        model = GatedClassifier(lam=0.05, network="linear", **QUICK)
        model.fit(Stream(path, sample_rows=sample_rows), "label")
        expected = clone(model).fit(MADE[["age.x", "d"]], label)
        assert model.classes_.tolist() == expected.classes_.tolist()
        assert set(model.predict(path)) <= set(model.classes_)
        assert model.score(path, "label") > 0.7


@pytest.mark.parametrize("kind", ["category", "nullable", "years", "strings as categories"])
def test_columns_are_of_any_kind(kind, tmp_path):
    made = X.copy()
    if "categor" in kind:
        made["site"] = made["site"].astype("category")
    if kind == "nullable":
        made = made.convert_dtypes()
        made.loc[[5, 900], "visits"], made.loc[[3], "smokes"] = pd.NA, pd.NA
    if kind == "years":
        made["d"] = made["d"].astype(float) + 1.5e9
    path = write_folder(made.assign(y=MADE["y"]), tmp_path / "t")
    blocks = [(made[i : i + 400], MADE["y"][i : i + 400]) for i in range(0, 1200, 400)]
    model = GatedRegressor(
        lam=0.02, network="linear", training=Training(n_steps=60, lr=0.1), random_state=0
    )
    expected = clone(model).fit(made, MADE["y"]).score(made, MADE["y"])
    for data, y in ((path, "y"), (blocks, None)):
        model.fit(Stream(data, sample_rows=400), y)
        assert model.score(data, y) == pytest.approx(expected, abs=0.02)


def test_survival_targets_of_blocks_may_have_entries_and_strata():
    entry, strata = np.full(len(MADE), 0.5), MADE["person"] % 2
    y = survival_target(MADE["event"], MADE["time"] + 1, entry=entry, strata=strata)
    blocks = [(X[i : i + 400], y[i : i + 400]) for i in range(0, 1200, 400)]
    for sample_rows in (None, 400):
        model = GatedCox(lam=0.05, network="linear", **QUICK).fit(Stream(blocks, sample_rows=sample_rows))
        assert model.score(blocks) == pytest.approx(model.score(X, y))
        assert len(model.baseline_.log_cumulative_hazard) == 2
    event, time = MADE["event"], MADE["time"]
    pairs = [(X[i : i + 400], (event[i : i + 400], time[i : i + 400])) for i in (0, 400, 800)]
    assert GatedCox(lam=0.05, network="linear", **QUICK).fit(Stream(pairs, sample_rows=300)).support_.any()


def test_events_may_be_words(tmp_path):
    made = MADE[["age.x", "d", "time"]].assign(event=np.where(MADE["event"], "yes", "no"))
    path = write_folder(made, tmp_path / "t")
    model = GatedCox(lam=0.05, network="linear", **QUICK)
    model.fit(Stream(path, sample_rows=300), ("event", "time"))
    assert model.score(path, ("event", "time")) > 0.6


def test_folds_of_parts_are_those_of_the_table_in_memory(folder):
    model = GatedRegressor(lam=0.1, network="linear", **QUICK)
    data = on_disk(folder, "y")
    found = evaluate(model, data, "y", cv=3, random_state=0)
    source = open_source(data, "y")
    seed = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))
    splits = [
        tuple(np.concatenate([block.rows for block in blocks_of(part)]) for part in fold)
        for fold in split_source(source, 3, by_key=False, seed=seed)
    ]
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(len(X)))
    expected = evaluate(model, X, MADE["y"], cv=splits)
    np.testing.assert_allclose(found.scores, expected.scores, atol=1e-12)
    np.testing.assert_array_equal(found.supports, expected.supports)
    np.testing.assert_allclose(found.base_rate, expected.base_rate)
    assert found.feature_names == list(X.columns)


def test_folds_of_a_key_keep_its_rows_together_and_weights_are_of_the_fit_alone(folder):
    model = GatedClassifier(lam=0.1, network="linear", **QUICK)
    data = on_disk(folder, "label", "person", "weight", sample_rows=300)
    found = evaluate(model, data, "label", groups="person", sample_weight="weight", cv=3, random_state=1)
    assert found.scores.shape == (3,)
    assert found.mean > 0.6
    assert found.metric == "accuracy"

    source = open_source(data, "label", "weight", "person")
    for learn, test in split_source(source, 3, by_key=True, seed=0):
        people = [{int(key) for b in blocks_of(part) for key in b.group} for part in (learn, test)]
        assert not people[0] & people[1]
        blocks = blocks_of(Unweighted(test))
        rows = np.concatenate([b.rows for b in blocks])
        assert (MADE["weight"][rows] > 0).all()
        assert all(b.weight is None for b in blocks)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"scoring": "neg_mean_absolute_error"}, "leave scoring out"),
        ({"cv": KFold(3)}, "split into a number of folds"),
        ({"cv": 50}, "too few for 50 folds"),
        ({"without_selection": GatedRegressor()}, "Only the estimators of this library"),
    ],
    ids=["scoring", "splitter", "folds", "rival"],
)
def test_what_evaluate_cannot_do_with_a_path_is_said(options, sentence, folder):
    with pytest.raises(ValueError, match=sentence):
        evaluate(GatedRegressor(lam=0.1), folder, "y", **options)


def test_listed_splits_are_refused(folder):
    model = GatedRegressor(cv=[(np.arange(5), np.arange(5, 10))])
    with pytest.raises(ValueError, match="cv lists rows"):
        model.fit(folder, "y")


def test_the_path_is_made_on_the_sample(folder):
    model = GatedRegressor(network="linear", cv=3, **QUICK)
    table = model.path(on_disk(folder, "y", sample_rows=300), "y", lams=[0.1, 1.0])
    assert len(table) == 2


def test_stability_selection_wants_rows_in_memory(folder):
    with pytest.raises(ValueError, match="halves of rows in memory"):
        StabilitySelector(GatedRegressor()).fit(folder, "y")


def test_transform_wants_a_table_in_memory(chosen, folder):
    assert chosen.transform(X).shape == (len(X), chosen.get_support().sum())
    with pytest.raises(ValueError, match="transform takes a table in memory"):
        chosen.transform(folder)


def test_giveaways_are_found_in_the_sample(folder, tmp_path):
    path = write_folder(MADE[["age.x", "y"]].assign(copy=MADE["y"] * 2), tmp_path / "t")
    with pytest.warns(UserWarning, match="copy.* gives y away"):
        GatedRegressor(lam=0.1, **QUICK).fit(Stream(path, sample_rows=200), "y")
