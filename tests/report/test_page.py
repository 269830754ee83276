"""The page shows the numbers, escapes all text, stays small and needs no network."""

import json
import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from report_models import HOSTILE
from sklearn.base import clone
from wide_model import N_COLUMNS, WideModel

from problems import as_frame, two_classes
from stochgate import GatedClassifier, StabilitySelector, Training
from stochgate.explain.summary_table import say_p
from stochgate.report import collect, render, write_report
from stochgate.report.elements import Html, join, table, tag
from stochgate.report.page import read_library, to_script_json
from stochgate.report.plain import to_text
from stochgate.report.words import count, number, say_verdict

VOID = {"meta", "link", "input", "br"}


class Reader(HTMLParser):
    """Reads a page into its elements, its scripts and the text of each part."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.scripts, self.texts = [], [], [], [], {}
        self.part = None
        self.feed(page)
        self.close()

    def handle_starttag(self, name, attributes):
        attributes = dict(attributes)
        self.tags.append(name)
        self.attributes.append((name, attributes))
        if name == "section":
            self.part = attributes["id"]
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, text):
        if self.open and self.open[-1] == "script":
            self.scripts.append(text)
        elif self.open and self.open[-1] != "style":
            self.texts[self.part] = self.texts.get(self.part, "") + text + " "


def read_data(page):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(found[1])


def test_the_page_holds_the_data(each):
    assert read_data(each.page) == each.data


def test_every_element_is_closed_and_only_known_ones_are_there(each):
    reader = Reader(each.page)
    assert reader.open == []
    assert {"img", "iframe", "object", "embed", "form", "b", "i", "u"} & set(reader.tags) <= {"b"}
    assert reader.tags.count("script") == 3
    assert reader.tags.count("h1") == 1


def test_nothing_is_loaded_and_no_attribute_runs_code(each):
    for name, attributes in Reader(each.page).attributes:
        assert not {key for key in attributes if key.startswith("on")}
        assert "style" not in attributes
        assert "src" not in attributes
        if "href" in attributes:
            assert attributes["href"].startswith("#") or (name, attributes["href"]) == ("link", "data:,")


def test_headings_go_down_one_level_at_a_time(each):
    levels = [int(name[1]) for name in Reader(each.page).tags if re.fullmatch("h[1-6]", name)]
    assert levels[0] == 1
    assert all(now <= before + 1 for before, now in pairwise(levels))


def test_the_verdict_and_the_features_stand_in_the_page_without_scripts(get):
    found = get("three")
    texts = Reader(found.page).texts
    assert say_verdict(found.data["chosen"]) in texts[None]
    for row in found.data["chosen"]["features"]:
        assert found.data["names"][row["feature"]] in texts["features"]
        assert f"{number(row['loss_without'])} ± {number(row['loss_without_error'])}" in texts["features"]
        n_folds = found.data["chosen"]["n_folds"]
        assert f"{round(row['frequency'] * n_folds)} of {n_folds}" in texts["features"]
    stand_ins = found.data["names"][found.data["chosen"]["features"][0]["stand_ins"][0]]
    assert stand_ins in texts["stand-ins"]


def test_the_path_stands_in_a_table(get):
    found = get("numbers")
    text = Reader(found.page).texts["path"]
    for point in found.data["path"]["points"]:
        assert number(point["loss"]) in text


def test_sections_without_numbers_say_why(get):
    texts = Reader(get("lam").page).texts
    assert "no sets of other sizes were compared" in texts["path"]
    assert "not repeated" in texts["stability"]
    assert "stand-ins were not looked for" in texts["stand-ins"]
    assert "Exactly 3 features were asked for" in Reader(get("exactly").page).texts["path"]
    assert "No column was chosen" in Reader(get("nothing").page).texts["features"]
    assert "model was trained again" not in texts["training"]
    assert "model was trained again" in Reader(get("exactly").page).texts["training"]
    data = {**get("lam").data, "gates": None}
    assert "no record of its gates" in Reader(render(data)).texts["training"]


def test_a_page_says_whether_its_predictions_are_honest(get):
    told, untold = (Reader(get(kind).page).texts["prediction"] for kind in ("judged", "classes"))
    assert "had not seen" in told
    assert number(get("judged").evaluation.mean) in told
    assert "rows the model learnt from" in untold
    assert "evaluate(model, X, y)" in untold


def test_directions_are_said_in_words(get):
    texts = Reader(get("classes").page).texts["features"]
    assert "<b>ill</b> more likely" in texts or "well more likely" in texts
    text = Reader(get("mixed").page).texts["features"]
    assert "dose rises" in text
    assert "dose: Basel >" in text
    assert "risk" in Reader(get("survival").page).texts["features"]


def test_remarks_and_hints_are_shown(get):
    data = json.loads(json.dumps(get("three").data))
    data["chosen"]["remarks"] = ["Column <b>id</b> numbers the rows."]
    data["chosen"]["hints"] = ["Be wary & careful."]
    text = Reader(render(data)).texts[None]
    assert "Column <b>id</b> numbers the rows." in text
    assert "Be wary & careful." in text


def test_hostile_names_are_text(get):
    page = get("classes").page
    for name in [*HOSTILE, "<b>ill</b>", "<u>state</u>"]:
        if "<" in name:
            assert name not in page
    texts = Reader(page).texts
    chosen = [get("classes").data["names"][j] for j in get("classes").data["selected"]]
    assert chosen == [to_text(HOSTILE[0]), to_text(HOSTILE[1])]
    assert all(name in texts["features"] for name in chosen)
    assert "<b>ill</b>" in texts["prediction"]


def test_titles_and_settings_are_text(get):
    found = get("lam")
    bad = "</title><script>window.hacked = 1</script>"
    page = render(collect(found.model, found.X, found.y, title=bad, settings={bad: bad}))
    assert "window.hacked = 1</script>" not in page
    assert Reader(page).tags.count("script") == 3


def test_a_policy_allows_this_pages_scripts_alone(each):
    policy = next(a["content"] for n, a in Reader(each.page).attributes if "http-equiv" in a)
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert policy.count("'sha256-") == 3


@pytest.mark.parametrize("name_of", [lambda j: f"column number {j:05d}", lambda j: f"{j}" + "<" * 500])
def test_a_page_of_ten_thousand_columns_is_below_two_megabytes(name_of, tmp_path):
    model = WideModel().invent(name_of)
    rows = np.zeros((300, 1))
    y = model.classes_[np.arange(300) % 60]
    path = write_report(model, tmp_path / "wide.html", rows, y)
    assert path.stat().st_size < 2_000_000
    data = read_data(path.read_text(encoding="utf-8"))
    assert data["asked"]["n_columns"] == N_COLUMNS
    assert len(data["chosen"]["features"]) == len(data["stability"]["features"]) == 200
    assert len(data["outcome"]["labels"]) == 20
    assert [p["n"] for p in data["path"]["points"]][-1] == 1000
    assert "40 smaller classes not shown" in path.read_text(encoding="utf-8")


def test_write_report_writes_what_render_returns(get, tmp_path):
    found = get("numbers")
    path = write_report(
        found.model, str(tmp_path / "a.html"), found.X, found.y, title="T", settings={"a": 1}
    )
    expected = render(collect(found.model, found.X, found.y, title="T", settings={"a": 1}))
    assert path == tmp_path / "a.html"
    assert path.read_text(encoding="utf-8") == expected


def test_the_library_has_its_licences_and_no_source_map():
    library = read_library()
    assert "Chart.js Contributors" in library
    assert "Jukka Kurkela" in library
    assert library.count("Permission is hereby granted") == 2
    assert "sourceMappingURL" not in library
    assert "</script" not in library


@pytest.mark.parametrize("text", [*HOSTILE, "\x00\x1b[0m", "\ud800", "<!--<script>", ""])
def test_json_in_a_script_cannot_end_it(text):
    escaped = to_script_json({"name": to_text(text)})
    assert not set("<>&\u2028\u2029") & set(escaped)
    assert json.loads(escaped) == {"name": to_text(text)}
    to_text(text).encode("utf-8")


def test_json_refuses_what_is_no_number():
    with pytest.raises(ValueError, match="JSON"):
        to_script_json(float("nan"))


def test_text_is_short_and_shown_in_one_line():
    assert to_text("a\n\tb\x00") == "a b\ufffd"
    assert to_text("") == "(no name)"
    assert len(to_text("x" * 1000)) == 120
    assert to_text("x" * 1000 + "end").endswith("end")


def test_elements_escape_all_but_html():
    assert tag("p", "<i>", Html("<b>"), None, title='"') == '<p title="&quot;">&lt;i&gt;<b></p>'
    assert join(["&", Html("&amp;")]) == "&amp;&amp;"
    made = table(["<h>", "n"], [["<r>", "<c>"]], label="<l>", numeric=[1], kind="cards")
    assert "<h>" not in made
    assert "<r>" not in made
    assert "<c>" not in made
    assert "<l>" not in made
    assert 'data-label="n"' in made
    assert 'class="number"' in made


def words_of(page):
    """Return all text of a page in one line."""
    return " ".join(" ".join(Reader(page).texts.values()).split())


@pytest.mark.parametrize("kind", ["classes", "survival", "weak", "nothing", "asked", "exactly"])
def test_p_and_verdict_are_those_of_the_summary(get, kind):
    found = get(kind)
    summary, words = found.model.summary(), words_of(found.page)
    signal = f"{summary.signal[0].upper()}{summary.signal[1:]}"
    assert f"{signal}: " in words
    assert summary.signal in summary.text
    told = re.findall(r"p [=<] [\d.e-]+\d", words.split("Log-rank")[0])
    assert set(told) == {say_p(summary.p)}
    verdicts = {"clear signal", "weak signal", "no signal"}
    text = words.split("What the words mean")[0].lower()
    assert {verdict for verdict in verdicts if verdict in text} == {summary.verdict}


def test_a_weak_signal_has_candidates(get):
    for text in (Reader(get("weak").page).texts[None], get("weak").model.summary().text):
        assert "; treat these as candidates" in text
    assert "candidates" not in words_of(get("classes").page)


def test_without_a_signal_nothing_was_found_and_the_way_out_is_named(get):
    words = words_of(get("nothing").page)
    assert "so the model predicts the base rate." in words
    for way in ("more rows", "a larger alpha", "n_features_to_select=k"):
        assert words.count(way) == 1
    for kind in ("nothing", "asked"):
        assert "Found" not in words_of(get(kind).page)
    assert "these were asked for." in words_of(get("asked").page)


def test_a_headline_explains_all_that_was_found(get):
    found = get("found")
    words = words_of(found.page)
    assert f"{found.model.summary().headline} 2 of 6 columns reach accuracy" in words
    assert "signal" not in words
    assert "asked for settles the number" in words
    assert "always" not in Reader(found.page).texts["stability"]


def test_a_page_with_a_selector_tells_what_it_did():
    X, y = two_classes()
    X = as_frame(X)
    model = GatedClassifier(network="linear", training=Training(n_steps=60, n_snapshots=5), random_state=0)
    selector = StabilitySelector(model, fdr=0.2, n_pairs=10, random_state=0).fit(X, y)
    found = X.loc[:, selector.get_support()]
    model = clone(model).set_params(always_keep=list(found)).fit(found, y)
    data = collect(model, found, y, selector=selector)
    texts, words = Reader(render(data)).texts, words_of(render(data))
    assert data["chosen"]["headline"].startswith("Found at a false discovery rate of 0.2: 'b' (q ")
    assert f"columns found {found.shape[1]} of 6 at a false discovery rate of 0.2" in words
    assert "20 of 20" in texts["features"]
    for name, q in zip(X, selector.q_values_, strict=True):
        if name in texts["stability"].split():
            assert f"{q:.2g}" in texts["stability"]
    assert "signal" not in words
    assert "always" not in texts["features"]
    scope = {"X": X, "y": y, "Training": Training}
    exec(data["repeat"]["code"], scope)
    assert np.array_equal(scope["selector"].support_, selector.support_)
    assert np.array_equal(scope["model"].predict(found), model.predict(found))
    assert model.summary().headline is None
    with pytest.raises(ValueError, match="give one with fdr"):
        collect(model, found, y, selector=StabilitySelector(model).fit(found, y))


def test_the_honest_score_is_the_first_fact_and_in_the_verdict(get):
    found = get("judged")
    honest, words = number(found.evaluation.mean), words_of(found.page)
    told = words.split(" Asked:")[0]
    assert f"(accuracy {honest} on rows that took no part in the choice" in told
    assert re.search(r"accuracy, honest score (\S+)", told)[1] == honest
    assert "accuracy, chosen columns" not in told
    assert told.index("accuracy, honest score") < told.index("accuracy, no column") < told.rindex("AUC ")
    flattering = number(found.data["chosen"]["scores"]["selected"])
    assert f"the chosen columns reach accuracy {flattering}, which flatters" in words
    assert "how often the model tells which is which" in words


def test_no_honest_gain_over_nothing_is_no_tie_with_all_columns(get):
    found = get("judged")
    data = json.loads(json.dumps(found.data))
    data["honest"] |= {"mean": 0.5, "all_columns": 0.5, "base_rate": 0.6}
    said = say_verdict(data["chosen"], data["honest"])
    assert "reach accuracy 0.500 on rows that took no part in the choice, all columns 0.500" in said
    assert "as well as" not in said


BASE = {"n_columns": 50, "score_name": "accuracy", "lam": 0.2, "losses": {}, "headline": None}
CLEAR = {"signal": "clear signal (p = 0.001)", "has_signal": True, "advice": ""}


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (
            {"scores": {"selected": 0.9, "all": 0.9, "none": 0.5}},
            "Clear signal (p = 0.001): 4 of 50 columns predict as well as all of them (accuracy 0.900",
        ),
        (
            {"scores": {"selected": 0.95, "all": 0.9, "none": 0.5}},
            "predict at least as well as all of them",
        ),
        (
            {"scores": {"selected": 0.7, "all": 0.45, "none": 0.5}},
            "predict at least as well as all of them",
        ),
        ({"scores": {"selected": 0.87, "all": 0.9, "none": 0.5}}, "predict nearly as well as all of them"),
        ({"scores": {"selected": 0.7, "all": 0.9, "none": 0.5}}, "predict less well than all of them"),
        ({"scores": {"selected": 0.7, "all": None, "none": 0.5}}, "4 of 50 columns reach accuracy 0.700"),
        ({"scores": {"selected": None}}, "how well they predict was not measured"),
        ({"scores": {}, "signal": None}, "open at the given penalty lam = 0.2"),
        (
            {
                "scores": {"selected": 0.6, "all": 0.6, "none": 0.5},
                "has_signal": False,
                "advice": "so be it",
            },
            "4 of 50 columns reach accuracy 0.600 on held-out rows, all columns 0.600, no column 0.500; so",
        ),
        ({"scores": {}, "n_features": 0}, "Clear signal (p = 0.001): no column was chosen, so the model"),
        ({"scores": {"selected": 0.9}, "headline": "Found: a."}, "Found: a. 4 of 50 columns reach"),
        ({"scores": {}, "headline": "Found: no column.", "n_features": 0}, "Found: no column."),
        (
            {"scores": {"selected": 0.9, "all": 0.8, "none": 0.5}, "n_features": 50},
            "50 of 50 columns reach accuracy 0.900 on held-out rows, no column 0.500.",
        ),
        ({"scores": {"selected": 0.9, "all": 0.9}, "n_features": 1}, "1 of 50 columns predicts as well"),
    ],
)
def test_the_verdict_is_a_sentence(chosen, expected):
    said = say_verdict({**BASE, **CLEAR, "n_features": 4, **chosen})
    assert expected in said
    assert said.endswith(".")


def test_a_loss_far_behind_is_no_tie_whatever_the_score_says():
    reached = {
        "scores": {"selected": 0.9, "all": 0.9, "none": 0.5},
        "losses": {"selected": 0.5, "all": 0.1, "none": 0.6},
    }
    said = say_verdict({**BASE, **CLEAR, "n_features": 4, **reached})
    assert "less well than all of them" in said


def test_numbers_are_written_for_people():
    assert number(-0.0001) == "0.000"
    assert number(-1.5, 1) == "\N{MINUS SIGN}1.5"
    assert count(2, "class") == "2 classes"
