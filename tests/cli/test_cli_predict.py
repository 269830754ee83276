"""`predict` from a model file and a table to predictions."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_tables import SHORT, make_frame, predict

import stochgate
from stochgate.cli.table.text_table import MISSING_WORDS
from stochgate.cli.work.predict import text_columns

pytestmark = pytest.mark.usefixtures("short_fits")
MODEL = "table-selected/model.safetensors"


@pytest.fixture
def fitted(run, table):
    def fit(*targets, k=2):
        run("select", table, *predict(*targets), "--k", k, "--force").succeeds()
        return stochgate.load(MODEL)

    return fit


def test_classes_come_with_probabilities(run, fitted):
    model = fitted("kind")
    run("predict", MODEL, "table.csv").succeeds(
        "60 rows predicted from 2 columns", "written: predictions.csv"
    )
    made, frame = pd.read_csv("predictions.csv"), make_frame()
    assert list(made.columns) == ["prediction", "probability_down", "probability_up"]
    assert made["prediction"].tolist() == model.predict(frame).tolist()
    np.testing.assert_allclose(made.iloc[:, 1:], model.predict_proba(frame), rtol=1e-12)


def test_a_quantity_comes_alone(run, fitted):
    model = fitted("amount")
    run("predict", MODEL, "table.csv").succeeds()
    made = pd.read_csv("predictions.csv")
    assert list(made.columns) == ["prediction"]
    np.testing.assert_allclose(made["prediction"], model.predict(make_frame()), rtol=1e-12)


def test_survival_comes_at_the_times_asked_for(run, fitted):
    model = fitted("months", "died")
    run("predict", MODEL, "table.csv").succeeds()
    assert list(pd.read_csv("predictions.csv").columns) == ["log_hazard"]
    run("predict", MODEL, "table.csv", "--times", "0.5, 2", "--force").succeeds()
    made = pd.read_csv("predictions.csv")
    assert list(made.columns) == ["log_hazard", "survival_0.5", "survival_2"]
    expected = model.predict_survival_function(make_frame(), times=[0.5, 2])
    np.testing.assert_allclose(made.iloc[:, 1:], expected, rtol=1e-12)


def test_the_chosen_columns_are_enough_in_any_order_and_ids_are_copied(run, fitted):
    model = fitted("amount")
    names = list(model.feature_names_in_)
    frame = make_frame()[["patient", *names[::-1]]]
    frame.to_csv("small.csv", index=False)
    run("predict", MODEL, "small.csv", "--id", "patient", "--out", "a/b.csv").succeeds("written: a/b.csv")
    made = pd.read_csv("a/b.csv")
    assert list(made.columns) == ["patient", "prediction"]
    assert made["patient"].tolist() == frame["patient"].tolist()
    np.testing.assert_allclose(made["prediction"], model.predict(frame), rtol=1e-12)


def test_a_column_that_lacks_far_more_values_than_in_the_fit_is_noted(run, fitted):
    fitted("amount")
    make_frame().assign(x1=np.nan).to_csv("gaps.csv", index=False)
    told = "Values are missing far more often than in the fit: 'x1' in 100% of the rows (0% in the fit)"
    run("predict", MODEL, "gaps.csv").succeeds(told, "60 rows predicted")


def test_columns_that_are_lacking_are_named(run, fitted):
    model = fitted("amount")
    lacking = model.feature_names_in_[0]
    make_frame().drop(columns=lacking).to_csv("small.csv", index=False)
    run("predict", MODEL, "small.csv").refuses(1, f"lacks 1 of the 2 columns the model uses: '{lacking}'")


def test_values_the_model_cannot_read_are_refused(run, fitted):
    model = fitted("amount")
    frame = make_frame().astype({model.feature_names_in_[0]: str})
    frame.loc[3, model.feature_names_in_[0]] = "high"
    frame.to_csv("t.csv", index=False)
    done = run("predict", MODEL, "t.csv")
    done.refuses(1, "The table cannot be used as it is: column", "'high' in line 5")
    assert "--exclude" not in done.err


def test_existing_predictions_are_kept_unless_forced(run, fitted):
    fitted("amount")
    run("predict", MODEL, "table.csv").succeeds()
    run("predict", MODEL, "table.csv").refuses(2, "predictions.csv is already there", "--force")
    run("predict", MODEL, "table.csv", "--force").succeeds()


def test_a_separator_can_be_given_and_quiet_is_quiet(run, fitted):
    fitted("amount")
    make_frame().to_csv("t.csv", index=False, sep=":")
    run("predict", MODEL, "t.csv").refuses(1, "one column only")
    done = run("predict", MODEL, "t.csv", "--sep", ":", "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")


@pytest.mark.parametrize(
    ("times", "said"), [("soon", "'soon'"), ("-1", "not below 0"), (",", "commas"), ("1,inf", "1,inf")]
)
def test_times_that_are_none_are_refused(run, fitted, times, said):
    run("predict", MODEL, "table.csv", "--times", times).refuses(2, said)


def test_times_are_for_survival_models(run, fitted):
    fitted("kind")
    run("predict", MODEL, "table.csv", "--times", "1").refuses(2, "survival models")


def test_model_files_that_are_none_are_refused(run, fitted, folder):
    fitted("kind")
    run("predict", "nothing", "table.csv").refuses(1, "no file nothing")
    run("predict", folder, "table.csv").refuses(1, "is a folder")
    run("predict", "table.csv", "table.csv").refuses(1)
    content = Path(MODEL).read_bytes()
    for n in (0, 7, 100, len(content) // 2):
        Path("broken").write_bytes(content[:n])
        run("predict", "broken", "table.csv").refuses(1)
    run("predict", MODEL, "nothing.csv").refuses(1, "no file nothing.csv")
    run("predict", MODEL, "table.csv", "--id", "paciente").refuses(2, "did you mean 'patient'?")


def test_a_missing_package_is_named(run, fitted, monkeypatch):
    fitted("kind")
    for name in [name for name in sys.modules if name.split(".")[0] == "safetensors"]:
        monkeypatch.setitem(sys.modules, name, None)
    run("predict", MODEL, "table.csv").refuses(1, "safetensors", "pip install stochgate[")


def test_columns_of_text_are_read_as_text_whatever_they_look_like(run, folder):
    rng = np.random.default_rng(0)
    code = rng.choice(["01", "02", "A", "B", "C"], 90)
    amount = np.select([code == "01", code == "02"], [3.0, -3.0], 0.0) + 0.1 * rng.normal(size=90)
    frame = pd.DataFrame({"code": code, "x": rng.normal(size=90), "amount": amount})
    frame.to_csv("all.csv", index=False)
    frame[amount.round() != 0].to_csv("some.csv", index=False)
    run("select", "all.csv", "--target", "amount", "--keep", "code").succeeds()
    for name in ("all", "some"):
        run(
            "predict", "all-selected/model.safetensors", f"{name}.csv", "--out", f"{name}-out.csv"
        ).succeeds()
    of_all = pd.read_csv("all-out.csv")["prediction"][amount.round() != 0]
    np.testing.assert_array_equal(pd.read_csv("some-out.csv")["prediction"], of_all)


def test_predictions_read_missing_values_and_words_as_the_fit_did(run, folder):
    frame = make_frame()[["x0", "kind"]].assign(garage=["None", "in", "out"] * 20)
    frame["age"] = np.where(frame["kind"] == "up", 30, -999)
    frame.to_csv("t.csv", index=False)
    options = ["--categorical", "garage", "--missing-values=age=-999,-99", "--missing-values=kind=?"]
    done = run("select", "t.csv", "--target", "kind", "--keep", "garage,age", "--k", 2, *options)
    done.refuses(2, "--missing-values names 'age=-99', which no cell holds")
    options = [*options[:2], "--missing-values=age=-999"]
    done = run("select", "t.csv", "--target", "kind", "--keep", "garage,age", "--k", 2, *options)
    done.succeeds("NEW_TABLE.csv --missing-values=age=-999", "'age=-999' counts as missing in")
    model = stochgate.load("t-selected/model.safetensors")
    marked = frame.replace({"age": {-999: np.nan}})
    run("predict", "t-selected/model.safetensors", "t.csv", "--missing-values=age=-999").succeeds()
    shares = pd.read_csv("predictions.csv").iloc[:, 1:]
    np.testing.assert_allclose(shares, model.predict_proba(marked), rtol=1e-12)
    assert text_columns(model) == {"garage": MISSING_WORDS}
    done = run("select", "t.csv", "--target", "kind", "--keep", "garage,age", "--k", 2, "--force")
    done.succeeds("'None' in 20 rows of 'garage'; --categorical garage keeps them")
    assert text_columns(stochgate.load("t-selected/model.safetensors")) == {"garage": set()}


def test_models_of_arrays_and_of_several_outputs_are_handled(run, folder):
    X = np.random.default_rng(0).normal(size=(60, 3))
    Y = X[:, :2] + 0.1 * X[:, [2, 2]]
    pd.DataFrame(X, columns=list("abc")).to_csv("new.csv", index=False)
    of_array = stochgate.GatedRegressor(lam=0.1, **SHORT).fit(X, Y)
    stochgate.save(of_array, "array.safetensors")
    run("predict", "array.safetensors", "new.csv").refuses(1, "fitted to an array")
    named = stochgate.GatedRegressor(lam=0.1, **SHORT).fit(pd.DataFrame(X, columns=list("abc")), Y)
    stochgate.save(named, "named.safetensors")
    run("predict", "named.safetensors", "new.csv").succeeds()
    assert pd.read_csv("predictions.csv").columns.tolist() == ["prediction_0", "prediction_1"]
