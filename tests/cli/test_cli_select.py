"""`select`, `report` and `path` from a file to files; every option changes something."""

import html
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_tables import SHORT, make_frame, predict

import stochgate
from stochgate.cli.work import select
from stochgate.cli.work.demo import TARGET, split_tumours

pytestmark = pytest.mark.usefixtures("short_fits")
KIND = predict("kind")


def chosen(folder="table-selected"):
    return pd.read_csv(f"{folder}/features.csv")["feature"].tolist()


def test_a_table_becomes_features_a_model_and_a_report(run, table, folder):
    done = run("select", table, *KIND)
    done.succeeds("Classification: the target 'kind' has 2 classes, because it holds text")
    done.succeeds("60 rows, 4 columns to choose from.", "clear signal", "x0")
    done.succeeds("next: stochgate predict table-selected/model.safetensors")
    written = sorted(path.name for path in (folder / "table-selected").iterdir())
    assert written == ["effects.csv", "features.csv", "model.safetensors", "report.html"]
    for name in written:
        assert f"written: table-selected/{name}" in done.out
    features = pd.read_csv("table-selected/features.csv")
    assert {"feature", "gate", "frequency", "direction", "loss_without", "stand_ins"} <= set(
        features.columns
    )
    assert "x0" in chosen()
    assert "gives the honest score" in done.text
    assert "model, X, y" not in done.text


def test_the_model_of_the_file_is_the_one_python_would_fit(run, table, monkeypatch):
    run("select", table, *predict("amount"), "--seed", 3).succeeds()
    frame = make_frame()
    model = stochgate.GatedRegressor(**SHORT, random_state=3)
    model.fit(frame[["x0", "x1", "x2", "x3"]], frame["amount"])
    loaded = stochgate.load("table-selected/model.safetensors")
    assert loaded.feature_names_in_.tolist() == model.get_feature_names_out().tolist()
    np.testing.assert_array_equal(loaded.predict(frame), model.reduced().predict(frame))


def test_the_report_says_what_was_asked_for(run, table, folder):
    run("select", table, *KIND, "--keep", "x2").succeeds()
    page = (folder / "table-selected/report.html").read_text(encoding="utf-8")
    assert "table.csv" in page
    assert "x2" in chosen()


@pytest.mark.parametrize(
    ("targets", "task"),
    [(("kind",), "Classification"), (("amount",), "Regression"), (("months", "died"), "Survival")],
)
def test_all_three_tasks_work(run, table, targets, task):
    run("select", table, *predict(*targets)).succeeds(f"{task}: ")
    assert f" {task}: " in Path("table-selected/report.html").read_text(encoding="utf-8")
    assert chosen()[0] == {"kind": "x0", "amount": "x1", "months": "x0"}[targets[0]]


def test_the_task_can_be_overridden(run, folder):
    frame = make_frame().assign(amount=np.tile([1, 2, 3], 20))
    frame.to_csv("t.csv", index=False)
    run("select", "t.csv", *predict("amount")).succeeds("Classification: the target 'amount' has 3 classes")
    done = run("select", "t.csv", *predict("amount"), "--task", "regression", "--force")
    done.succeeds("Regression: the target 'amount' is a quantity, as --task says.")


def test_k_chooses_so_many(run, table):
    run("select", table, *KIND, "--k", 3).succeeds("3 of 4 features")
    assert len(chosen()) == 3


def test_keep_is_repeated_or_has_commas(run, table):
    run("select", table, *KIND, "--keep", "x3", "--keep", "x1,x2").succeeds("kept")
    assert {"x1", "x2", "x3"} <= set(chosen())


def test_excluded_columns_are_not_chosen(run, table):
    run("select", table, *KIND).succeeds()
    assert chosen() == ["x0"]
    run("select", table, *KIND, "--exclude", "x0", "--k", 1, "--force").succeeds("3 columns to choose from")
    assert chosen() != ["x0"]


def test_fdr_chooses_with_error_control(run, table):
    done = run("select", table, *predict("amount"), "--fdr", 0.2)
    done.succeeds("Found at a false discovery rate of 0.2: 'x1' (q ", "1 of 4 features")
    features = pd.read_csv("table-selected/features.csv")
    assert features["feature"].tolist() == ["x1"]
    assert features["q_value"][0] < 0.2
    assert "signal" not in done.text
    assert "kept" not in done.text
    page = Path("table-selected/report.html").read_text(encoding="utf-8")
    assert done.out.count("Found at a false discovery rate of 0.2") == 1
    assert 'id="verdict">Found at a false discovery rate of 0.2: ' in page
    assert "it was asked for" not in page
    loaded = stochgate.load("table-selected/model.safetensors")
    assert loaded.feature_names_in_.tolist() == ["x1"]
    assert loaded.summary().verdict is None
    assert loaded.summary().features["q_value"][0] == features["q_value"][0]


def test_with_fdr_everything_tells_what_the_selector_did(run, table):
    done = run("select", table, *predict("amount"), "--fdr", 0.2)
    frame = make_frame()
    X = frame[["x0", "x1", "x2", "x3"]]
    selector = stochgate.StabilitySelector(
        stochgate.GatedRegressor(**SHORT, random_state=0), fdr=0.2, random_state=0
    ).fit(X, frame["amount"])
    features = pd.read_csv("table-selected/features.csv")
    assert features["frequency"][0] == selector.selection_frequency_[1]
    assert features["q_value"][0] == pytest.approx(selector.q_values_[1], rel=1e-3)
    done.succeeds("frequency: share of the 50 halves of the rows that select", "feature gate frequency q")
    page = Path("table-selected/report.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
    shown = {data["names"][each["feature"]]: each for each in data["stability"]["features"]}
    for name, frequency, q in zip(X, selector.selection_frequency_, selector.q_values_, strict=True):
        if name in shown:
            assert (shown[name]["frequency"], shown[name]["q_value"]) == pytest.approx(
                (frequency, q), rel=1e-3
            )
    assert data["chosen"]["features"][0]["q_value"] == features["q_value"][0]
    code = data["repeat"]["code"]
    assert "selector = StabilitySelector(estimator=GatedRegressor(" in code
    assert "callbacks" not in code
    assert "found = X.loc[:, selector.get_support()]" in code
    assert "columns found" in page


def test_with_fdr_the_report_has_the_remarks_of_the_terminal(run, folder):
    make_frame().assign(x3=np.arange(60) % 4).to_csv("t.csv", index=False)
    remark = "Column 'x3' holds a few small whole numbers"
    run("select", "t.csv", *predict("amount"), "--fdr", 0.2).succeeds(remark)
    assert chosen("t-selected") == ["x1"]
    assert remark in html.unescape(Path("t-selected/report.html").read_text(encoding="utf-8"))


def test_effects_of_which_rows_tell_none_are_not_written(run, folder):
    x = np.random.default_rng(0).normal(size=60)
    pd.DataFrame({"x": x, "y": np.where(x > 0, "a", "b")}).to_csv("t.csv", index=False)
    done = run("select", "t.csv", "--target", "y").succeeds("1 of 1 features")
    assert "effects.csv" not in done.text
    assert not Path("t-selected/effects.csv").exists()


def test_fdr_does_not_find_what_is_kept(run, table):
    done = run("select", table, *predict("amount"), "--fdr", 0.2, "--keep", "x3")
    done.succeeds("Found at a false discovery rate of 0.2: 'x1' (q ", "2 of 4 features", "kept")
    assert set(chosen()) == {"x1", "x3"}
    write_noise()
    done = run("select", "t.csv", *predict("amount"), "--fdr", 0.05, "--keep", "x3")
    done.succeeds(
        "No column was found beside the kept ones at a false discovery rate of 0.05.",
        "1 of 4 features",
        "a larger --fdr",
    )
    assert chosen("t-selected") == ["x3"]


def test_fdr_is_judged_with_its_selection(run, table):
    done = run("select", table, *predict("amount"), "--fdr", 0.2, "--evaluate")
    done.succeeds("R2 on held-out rows, 5 folds", "all columns", "base rate", "x1 (5)")


def write_noise():
    frame = make_frame()
    frame["amount"] = np.random.default_rng(2).normal(size=60)
    frame.to_csv("t.csv", index=False)


def test_fdr_that_finds_nothing_says_why_and_writes_no_model(run, folder):
    write_noise()
    done = run("select", "t.csv", *predict("amount"), "--fdr", 0.05)
    done.succeeds(
        "No column was found at a false discovery rate of 0.05. No feature was selected at fdr=0.05"
    )
    done.succeeds("a larger --fdr", "--k=k chooses k columns")
    assert "lam was given" not in done.text
    assert "signal" not in done.text
    assert done.text.count("No feature was selected") == 1
    page = (folder / "t-selected/report.html").read_text(encoding="utf-8")
    assert 'id="verdict">No column was found at a false discovery rate of 0.05.</p>' in page
    assert "GatedRegressor(lam=" not in page
    assert "halves of the rows" in page
    assert "A penalty was given" not in page
    assert sorted(path.name for path in (folder / "t-selected").iterdir()) == [
        "features.csv",
        "report.html",
    ]
    assert chosen("t-selected") == []
    assert "stochgate predict" not in done.out


def test_a_table_without_signal_says_so(run, folder):
    write_noise()
    done = run("select", "t.csv", *predict("amount")).succeeds("no signal (p = ", ": 0 of 4 features")
    done.succeeds("No feature was selected: no signal shows beyond chance (p = ")
    done.succeeds("more rows may show one, a larger --alpha asks for less, and --k=k selects k features")
    assert "n_features_to_select" not in done.text
    assert done.text.count("No feature was selected") == 1


def test_p_is_the_same_in_terminal_and_report(run, table, folder):
    write_noise()
    for name, targets in (("table", ("amount",)), ("table", ("months", "died")), ("t", ("amount",))):
        done = run("select", f"{name}.csv", *predict(*targets), "--force").succeeds()
        signal = re.search(r"^(clear|weak|no) signal \(p [=<] [\d.]+\)", done.out, re.M)[0]
        page = (folder / f"{name}-selected/report.html").read_text(encoding="utf-8")
        assert f"{signal[0].upper()}{html.escape(signal[1:])}: " in page


def test_alpha_decides_what_a_weak_signal_selects(run, folder):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 8)), columns=list("abcdefgh"))
    frame["y"] = 0.27 * frame["a"] + np.random.default_rng(100).normal(size=120)
    frame.to_csv("t.csv", index=False)
    weak = run("select", "t.csv", "--target", "y").succeeds("weak signal (p = ")
    weak.succeeds("; treat these as candidates", "weak up to alpha = 0.05.")
    assert "a" in chosen("t-selected")
    strict = run("select", "t.csv", "--target", "y", "--alpha", 0.001, "--force")
    strict.succeeds("no signal (p = ", "alpha = 0.001")
    assert chosen("t-selected") == []
    assert "alpha" in Path("t-selected/report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("alpha", [0, 1, -0.1, 2])
def test_an_impossible_alpha_is_refused(run, table, alpha):
    run("select", table, *KIND, f"--alpha={alpha}").refuses(2, f"--alpha is {alpha}", "between 0 and 1")


def test_alpha_is_not_for_error_control(run, table):
    run("select", table, *KIND, "--alpha", 0.1, "--fdr", 0.1).refuses(2, "either --alpha or --fdr")
    run("path", table, *KIND, "--alpha", 0.1).refuses(2, "--alpha")


def test_evaluate_adds_the_honest_score(run, table):
    assert "on held-out rows, 5 folds" not in run("select", table, *KIND).text
    done = run("select", table, *KIND, "--evaluate", "--force")
    done.succeeds("accuracy on held-out rows, 5 folds", "all columns", "base rate")


def test_the_honest_score_leads(run, table):
    done = run("select", table, *KIND, "--evaluate")
    results = done.out[done.out.index("Classification") :].split("\n\n")[1]
    honest = re.match(r"Honest score: accuracy (0\.\d+) ± .* no part in the choice.*; AUC 0", results)[1]
    done.succeeds("sensitivity (up) ", "specificity (down) ", "so they flatter; the first line has")
    assert "gives the honest score" not in done.text
    page = Path("table-selected/report.html").read_text(encoding="utf-8")
    facts = re.search(r'<dl class="facts">(.*?)</dl>', page, re.S)[1]
    assert facts.startswith(f'<div class="own"><dt>accuracy, honest score</dt><dd>{honest}')
    assert "chosen columns" not in facts
    assert f"accuracy {honest} on rows that took no part" in re.search(r'id="verdict">(.*?)</p>', page)[1]
    assert "--evaluate on the command line" not in page


def test_scoring_and_class_weights_can_be_chosen(run, table):
    done = run("select", table, *KIND, "--evaluate", "--scoring", "roc_auc", "--class-weight", "balanced")
    done.succeeds("Honest score: roc_auc ", "; accuracy 0.", "roc_auc on held-out rows, 5 folds")
    page = Path("table-selected/report.html").read_text(encoding="utf-8")
    assert "AUC, honest score" in page
    assert "class_weight=&#x27;balanced&#x27;" in page
    run(
        "select", table, *predict("amount"), "--fdr", 0.2, "--evaluate", "--scoring", "r2", "--force"
    ).succeeds("Honest score: r2 ")


@pytest.mark.parametrize(
    ("targets", "options", "words"),
    [
        (("kind",), ("--scoring", "roc_auc"), "--scoring judges what --evaluate does"),
        (("kind",), ("--evaluate", "--scoring", "rocauc"), "did you mean roc_auc"),
        (("kind",), ("--evaluate", "--scoring", "f1"), "--scoring f1 cannot judge this classification: "),
        (("amount",), ("--evaluate", "--scoring", "roc_auc"), "this regression: it is for classes"),
        (("months", "died"), ("--evaluate", "--scoring", "r2"), "judged by its concordance index"),
        (("amount",), ("--class-weight", "balanced"), "--class-weight is for classes"),
        (("kind",), ("--class-weight", "even"), "--class-weight is 'even': give balanced"),
    ],
)
def test_a_score_or_a_weight_that_does_not_fit_is_refused_at_once(run, table, targets, options, words):
    run("select", table, *predict(*targets), *options).refuses(2, words)


def test_row_groups_stay_together(run, table, monkeypatch):
    seen = {}
    fit = stochgate.GatedClassifier.fit

    def watched(self, X, y, sample_weight=None, *, groups=None):
        seen.setdefault("groups", groups)
        return fit(self, X, y, sample_weight, groups=groups)

    monkeypatch.setattr(stochgate.GatedClassifier, "fit", watched)
    exclude = ("--exclude", "amount,months,died")
    done = run("select", table, "--target", "kind", *exclude, "--row-groups", r"patient=^(\d+)_")
    done.succeeds("20 groups of rows")
    assert seen["groups"].tolist() == [str(i // 3) for i in range(60)]


def test_the_seed_repeats_a_result_and_another_changes_it(run, table):
    values = []
    for seed in (1, 1, 2):  # another seed has other folds
        run("select", table, *KIND, "--seed", seed, "--force").succeeds()
        values.append(pd.read_csv("table-selected/features.csv")["loss_without"].tolist())
    assert values[0] == values[1]
    assert values[0] != values[2]


def test_the_device_is_used(run, table, monkeypatch):
    run("select", table, *KIND, "--device", "cpu").succeeds()
    run("select", table, *KIND, "--device", "gramophone", "--force").refuses(2, "--device 'gramophone'")


def test_out_and_force_say_where_to_write(run, table, folder):
    run("select", table, *KIND, "--out", "deep/er").succeeds("written: deep/er/features.csv")
    first = (folder / "deep/er/report.html").read_bytes()
    run("select", table, *KIND, "--out", "deep/er").refuses(2, "already holds features.csv", "--force")
    run("select", table, *predict("amount"), "--out", "deep/er", "--force").succeeds()
    assert (folder / "deep/er/report.html").read_bytes() != first


def test_quiet_prints_nothing(run, table, folder):
    done = run("select", table, *KIND, "--quiet")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (folder / "table-selected/model.safetensors").exists()


def test_a_separator_can_be_given(run, folder):
    make_frame().to_csv("t.csv", index=False, sep=":")
    run("select", "t.csv", *KIND).refuses(1, "one column only", "--sep")
    run("select", "t.csv", *KIND, "--sep", ":").succeeds()


def test_untidy_tables_work(run, folder):
    frame = make_frame()
    frame["sex"] = np.where(np.arange(60) % 2, "m", "f")
    frame["smoker"] = (np.arange(60) % 3 == 0).astype(object)
    frame.loc[::7, ["x0", "sex", "smoker", "x3"]] = None
    frame["empty"] = np.nan
    frame.to_csv("t.csv", index=False)
    run("select", "t.csv", *KIND, "--keep", "sex,smoker").succeeds("'empty' has one value only")
    assert {"x0", "sex", "smoker"} <= set(chosen("t-selected"))
    run("predict", "t-selected/model.safetensors", "t.csv").succeeds("60 rows predicted")


def test_columns_that_give_the_answer_away_are_pointed_out(run, folder):
    frame = make_frame()
    frame["label"] = frame["kind"].map({"up": "u", "down": "d"})
    frame.to_csv("t.csv", index=False)
    done = run("select", "t.csv", *KIND).succeeds("Please check:", "'label' gives y away")
    assert done.text.count("gives y away") == 1


def test_names_are_printed_as_they_are(run, folder):
    names = {"x0": "[red]x[/red]", "x1": "dose, mg", "x2": "two\nlines", "x3": "<script>größe\x1b[31m"}
    make_frame().rename(columns=names).to_csv("t.csv", index=False)
    done = run("select", "t.csv", *KIND, "--k", 4).succeeds("[red]x[/red]", "dose, mg", r"two\nlines")
    assert "\x1b" not in done.out
    assert sorted(chosen("t-selected")) == sorted(names.values())
    run("predict", "t-selected/model.safetensors", "t.csv").succeeds()


def test_parquet_works_as_csv_does(run, table):
    make_frame().to_parquet("t.parquet")
    run("select", table, *KIND).succeeds()
    run("select", "t.parquet", *KIND).succeeds()
    assert chosen("t-selected") == chosen()


def test_many_columns_work(run, folder, monkeypatch):
    from stochgate.cli import app

    seen = {}

    def choose(data, request, watch):
        seen["shape"] = data.X.shape
        raise KeyboardInterrupt

    monkeypatch.setattr(app, "choose", choose)
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 10_000)).round(2))
    frame.columns = [f"gene {j}" for j in frame.columns]
    frame.assign(y=np.arange(20) % 2).to_csv("t.csv", index=False)
    assert run("select", "t.csv", "--target", "y").code == 130
    assert seen["shape"] == (20, 10_000)


def test_report_writes_the_report_alone(run, table, folder):
    before = set(folder.iterdir())
    run("report", table, *KIND).succeeds("written: table-report.html")
    assert set(folder.iterdir()) - before == {folder / "table-report.html"}
    run("report", table, *KIND).refuses(2, "table-report.html is already there")
    run("report", table, *KIND, "--force", "--out", folder).refuses(2, "is a folder")
    run("report", table, *KIND, "--out", "other.html").succeeds("written: other.html")


def test_path_shows_what_each_number_of_columns_is_worth(run, table):
    done = run("path", table, *KIND).succeeds("held-out loss", "(lowest)", "written: path.csv")
    path = pd.read_csv("path.csv")
    assert {"n_features", "held_out_loss", "lam", "features"} <= set(path.columns)
    assert path.loc[path["n_features"] == 4, "features"].iloc[0] == "x0; x1; x2; x3"
    assert "rank" in done.out
    run("path", table, *KIND, "--out", "other.csv").succeeds("written: other.csv")
    run("path", table, *KIND, "--out", "other.csv").refuses(2, "already there")
    run("path", table, *KIND, "--k", 2).refuses(2, "--k")


def test_demo_goes_through_select_and_is_compared_with_a_forest(run, folder):
    done = run("demo", "--out", "d").succeeds("$ stochgate select d/tumours.csv --target diagnosis")
    done.succeeds("398 rows, 130 columns to choose from", "of them noise", "random forest on all columns:")
    assert sorted(path.name for path in (folder / "d").iterdir()) == [
        "effects.csv",
        "features.csv",
        "model.safetensors",
        "report.html",
        "tumours-test.csv",
        "tumours.csv",
    ]
    run("demo", "--out", "d").refuses(2, "--force")


def test_the_demo_has_the_rows_of_the_example():
    from experiments.demo import split_demo

    X_train, X_test, y_train, y_test = split_demo(0)
    for frame, X, y in zip(split_tumours(), (X_train, X_test), (y_train, y_test), strict=True):
        assert frame[TARGET].tolist() == list(y)
        pd.testing.assert_frame_equal(frame.drop(columns=TARGET), X.reset_index(drop=True))


def test_an_earlier_model_is_not_left_beside_an_empty_selection(run, folder):
    rng = np.random.default_rng(0)
    frame = make_frame()
    frame[["x0", "x1", "amount"]].to_csv("table.csv", index=False)
    run("select", "table.csv", "--target", "amount").succeeds()
    assert Path("table-selected/model.safetensors").exists()
    frame[["x0", "x1"]].assign(amount=rng.normal(size=len(frame))).to_csv("table.csv", index=False)
    run("select", "table.csv", "--target", "amount", "--force").succeeds()
    assert not Path("table-selected/model.safetensors").exists()


def test_names_that_are_formulas_are_texts_in_the_table(run, folder):
    frame = make_frame().rename(columns={"x1": "=1+1"})
    frame[["x0", "=1+1", "amount"]].to_csv("table.csv", index=False)
    run("select", "table.csv", "--target", "amount").succeeds()
    found = pd.read_csv("table-selected/features.csv")
    assert "'=1+1" in found["feature"].tolist()
    assert found["direction"].isin(["+", "-"]).all()


def test_the_report_names_the_target(run, table):
    run("select", table, *predict("kind")).succeeds()
    assert "which columns predict kind" in Path("table-selected/report.html").read_text()


def test_levels_of_text_are_told_in_the_order_of_risk(run, folder):
    frame = make_frame(n_rows=150)
    frame["stage"] = np.random.default_rng(1).choice(["late", "early"], 150)
    late = np.where(frame["stage"] == "late", 5.0, 1.0)
    frame = frame[["x0", "x1", "stage"]].assign(months=frame["months"] / late, died=1)
    frame.to_csv("t.csv", index=False)
    run("select", "t.csv", "--time", "months", "--event", "died").succeeds(
        "+ for risk", "late > early for risk"
    )
    page = html.unescape(Path("t-selected/report.html").read_text())
    assert "risk: late > early" in page
    assert "survival: late" not in page


def test_that_no_column_was_left_out_is_said(run, folder):
    frame = make_frame()
    frame = frame[["x0", "x1"]].assign(y=frame["x0"] + frame["x1"])
    frame.to_csv("t.csv", index=False)
    told = "No feature was left out; --k=k selects k features, those that predict best together."
    done = run("select", "t.csv", "--target", "y").succeeds("2 of 2 features", told, "--k 1 selects 1.")
    assert "model.at" not in done.text
    for options in (("--k", 2), ("--keep", "x0,x1")):
        done = run("select", "t.csv", "--target", "y", *options, "--force").succeeds("2 of 2 features")
        assert "left out" not in done.text


def write_study():
    """Write survival times with entry times and two columns of strata; return the options."""
    frame, rng = make_frame(90), np.random.default_rng(1)
    frame["since"] = (frame["months"] * rng.random(90)).round(6) * 0.9
    frame["site"], frame["ward"] = rng.choice(["Bern", "Basel"], 90), rng.choice([1, 2], 90)
    frame.to_csv("t.csv", index=False)
    return "t.csv", "--time", "months", "--event", "died", "-x", "kind,amount,patient"


def test_late_entry_and_strata_are_those_of_python(run, folder):
    study = write_study()
    given = ("--entry", "since", "--strata", "site,ward")
    done = run("select", *study, *given, "--k", 1).succeeds("4 columns to choose from")
    done.succeeds("time in 'months', entry in 'since', 4 strata by 'site', 'ward'.")
    frame = pd.read_csv("t.csv")
    strata = frame["site"] + ", " + frame["ward"].map(str)
    y = stochgate.survival_target(frame["died"], frame["months"], frame["since"], strata)
    X = frame[["x0", "x1", "x2", "x3"]]
    model = stochgate.GatedCox(**SHORT, random_state=0, n_features_to_select=1).fit(X, y)
    loaded = stochgate.load("t-selected/model.safetensors")
    np.testing.assert_array_equal(loaded.predict(frame), model.reduced().predict(frame))
    page = (folder / "t-selected/report.html").read_text(encoding="utf-8")
    assert "What predicts survival (months until died) in t.csv?" in page
    assert "Rows are compared within 4 strata. Each row counts from its entry time on." in page
    assert "site,ward" in page

    predict = ("predict", "t-selected/model.safetensors", "t.csv", "--force")
    run(*predict).succeeds()
    run(*predict, "--times", 0.5).refuses(2, "the strata 'Basel, 1', 'Basel, 2'", "--strata")
    run(*predict, "--strata", "site,ward").refuses(2, "goes with --times")
    run(*predict, "--times", 0.5, "--strata", "site").refuses(1, "stratum 'B", "was not in the fit")
    run(*predict, "--times", 0.5, "--strata", "site", "--strata", "ward").succeeds()
    expected = model.predict_survival_function(X, times=[0.5], strata=strata)[:, 0]
    np.testing.assert_allclose(pd.read_csv("predictions.csv")["survival_0.5"], expected, rtol=1e-12)
    frame.loc[3, "site"] = None
    frame.to_csv("t.csv", index=False)
    run(*predict, "--times", 0.5, "--strata", "site,ward").refuses(1, "The stratum of line 5 is missing")


def test_entry_and_strata_go_with_other_options(run, folder, monkeypatch):
    monkeypatch.setattr(select, "N_FOLDS", 2)
    study = write_study()
    done = run("select", *study, "--strata", "site", "--entry", "since", "--evaluate", "--k", 1)
    done.succeeds("concordance index on held-out rows", "base rate")
    run("select", *study, "--strata", "months", "--force").refuses(2, "the same column 'months'")
    run("select", *study, "--strata", "sitee", "--force").refuses(2, "did you mean 'site'")
    run("select", *study, "--entry", "x0", "--force").refuses(1, "The entry in line ", "below its time")
    for option, name in (("--entry", "since"), ("--strata", "site")):
        done = run("select", "t.csv", *KIND, option, name, "--force")
        done.refuses(2, f"{option} is for survival studies: give --time and --event")
    run("select", *study, "--force", "--k", 1).succeeds()
    done = run("predict", "t-selected/model.safetensors", "t.csv", "--times", 1, "--strata", "site")
    done.refuses(2, "fitted without strata")
