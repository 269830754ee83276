"""The page in a browser: it works by mouse and keyboard, runs nothing hostile and asks for no network."""

import os
import shutil
from importlib import import_module

import pytest
from report_models import KINDS, fitted
from wide_model import WideModel

from stochgate.report import render
from stochgate.report.collect import collect

CHROMIUM = os.environ.get("STOCHGATE_CHROMIUM") or shutil.which("chromium")
NEEDED = os.environ.get("STOCHGATE_NEEDS_BROWSER") == "1"
if CHROMIUM is None and not NEEDED:
    pytest.skip(
        "no chromium: install it or set STOCHGATE_CHROMIUM to its path, to test the report in a browser",
        allow_module_level=True,
    )
PLAYWRIGHT = "playwright.sync_api"
sync_api = import_module(PLAYWRIGHT) if NEEDED else pytest.importorskip(PLAYWRIGHT)


@pytest.fixture(scope="module")
def browser():
    """A browser without a window."""
    assert CHROMIUM is not None, "STOCHGATE_NEEDS_BROWSER=1, but there is no chromium: install it."
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield started
        started.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """A function that opens a page and notes what it says and asks for."""
    contexts = []

    def open_page(html, width=1200, **options):
        file = tmp_path / "report.html"
        file.write_text(html, encoding="utf-8", newline="\n")
        contexts.append(browser.new_context(viewport={"width": width, "height": 800}, **options))
        page = contexts[-1].new_page()
        page.said, page.asked, page.dialogs = [], [], []
        page.on("console", lambda message: page.said.append((message.type, message.text)))
        page.on("pageerror", lambda error: page.said.append(("error", str(error))))
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("dialog", lambda dialog: (page.dialogs.append(dialog.message), dialog.dismiss()))
        page.goto(file.as_uri())
        page.own = file.as_uri()
        return page

    yield open_page
    for context in contexts:
        context.close()


BLANK = """() => [...document.querySelectorAll("canvas")]
    .map((chart) => [chart.id, chart.getContext("2d").getImageData(0, 0, chart.width, chart.height).data])
    .filter(([id, pixels]) => !pixels.some(Boolean))
    .map(([id, pixels]) => id)"""


def canvas(page, name):
    """Return the picture of a chart."""
    return page.evaluate("name => document.getElementById(name).toDataURL()", name)


def rows_in(page):
    """Return the features in the explorer's table, without those that went out."""
    return page.locator("#size-table tbody tr:not(.left) th").all_inner_texts()


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_says_no_error_and_asks_for_nothing(open_page, kind):
    page = open_page(fitted(kind).page)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.said == []
    assert {url for url in page.asked if not url.startswith("data:")} == {page.own}
    assert page.evaluate(BLANK) == []


@pytest.mark.parametrize("kind", KINDS)
def test_no_page_scrolls_sideways(open_page, kind):
    page = open_page(fitted(kind).page)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    for width in (1200, 360):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_the_explorer_starts_at_the_chosen_set(open_page):
    found = fitted("classes")
    page = open_page(found.page)
    names = [found.data["names"][j] for j in found.data["selected"]]
    assert sorted(rows_in(page)) == sorted(names)
    assert "the chosen size" in page.locator("#size-says").inner_text()
    assert page.locator("#size").input_value() == str(found.data["path"]["chosen"])


def test_the_slider_moves_table_sentence_and_marker(open_page):
    found = fitted("numbers")
    page, points = open_page(found.page), found.data["path"]["points"]
    pictures = set()
    for at, point in enumerate(points):
        page.locator("#size").fill(str(at))
        expected = [found.data["names"][j] for j in point["features"]] or ["no feature: the base rate"]
        assert sorted(rows_in(page)) == sorted(expected)
        said = page.locator("#size-says").inner_text()
        assert f"{point['loss']:.3f}" in said
        if point["sd"] is not None:
            assert f"± {point['sd']:.3f}" in said
        new = page.locator("#size-table tr.new th").all_inner_texts()
        assert sorted(new) == sorted(found.data["names"][j] for j in point["entered"])
        left = page.locator("#size-table tr.left th").all_inner_texts()
        assert sorted(left) == sorted(found.data["names"][j] for j in point["left"])
        pictures.add(canvas(page, "path-chart"))
    assert len(pictures) == len(points)


def test_the_slider_obeys_the_keyboard(open_page):
    found = fitted("numbers")
    page, points = open_page(found.page), found.data["path"]["points"]
    page.locator("#size").focus()
    page.keyboard.press("Home")
    assert rows_in(page) == ["no feature: the base rate"]
    page.keyboard.press("ArrowRight")
    assert len(rows_in(page)) == points[1]["n"]
    assert page.locator("#size").get_attribute("aria-valuetext") == "1 feature"
    page.keyboard.press("End")
    assert len(rows_in(page)) == points[-1]["n"]


def test_all_controls_are_reached_by_the_tab_key(open_page):
    page = open_page(fitted("numbers").page)
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))
    assert {"theme", "size", "size-down", "size-up", "size-chosen", "size-table", "gates-follow"} <= reached


def test_buttons_step_through_the_sizes(open_page):
    found = fitted("numbers")
    page, at = open_page(found.page), found.data["path"]["chosen"]
    page.locator("#size-up").click()
    assert page.locator("#size").input_value() == str(at + 1)
    page.locator("#size-chosen").click()
    page.locator("#size-down").click()
    assert page.locator("#size").input_value() == str(at - 1)
    page.locator("#size").fill("0")
    assert page.locator("#size-down").is_disabled()


def test_a_click_on_the_chart_moves_the_slider(open_page):
    page = open_page(fitted("numbers").page)
    page.locator("#path-chart").click(position={"x": 75, "y": 100})
    sync_api.expect(page.locator("#size")).to_have_value("0")


def test_hostile_names_do_nothing_and_are_shown(open_page):
    found = fitted("classes")
    page = open_page(found.page)
    for at in range(len(found.data["path"]["points"])):
        page.locator("#size").fill(str(at))
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked === undefined")
    assert page.dialogs == []
    assert page.locator("img, main script").count() == 0
    assert page.locator("#features tbody th").first.inner_text() in found.data["names"]
    assert "<script>" in page.locator("#features").inner_text()


def test_the_policy_stops_scripts_and_requests_that_are_not_the_pages_own(open_page):
    page = open_page(fitted("lam").page)
    page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.hacked = 1";
            document.body.append(script);
            const holder = document.createElement("div");
            holder.innerHTML = "<img src='https://example.org/x.png' onerror='window.hacked = 2'>";
            document.body.append(holder);
        }"""
    )
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked === undefined")
    refused = page.evaluate("fetch('https://example.org').then(() => 'went out', () => 'refused')")
    assert refused == "refused"
    assert [text for kind, text in page.said if "Content Security Policy" in text] != []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_button_switches_light_and_dark(open_page, scheme):
    page = open_page(fitted("numbers").page, color_scheme=scheme)
    paper = "getComputedStyle(document.body).backgroundColor"
    before, picture = page.evaluate(paper), canvas(page, "path-chart")
    assert (before == "rgb(255, 255, 255)") == (scheme == "light")
    page.locator("#theme").click()
    assert page.evaluate(paper) != before
    assert canvas(page, "path-chart") != picture
    page.locator("#theme").click()
    assert page.evaluate(paper) == before
    assert canvas(page, "path-chart") == picture


def test_a_feature_can_be_followed_through_training(open_page):
    page = open_page(fitted("numbers").page)
    before = canvas(page, "gates-chart")
    page.locator("#gates-follow").select_option(index=1)
    assert canvas(page, "gates-chart") != before


def test_charts_are_named_for_those_who_do_not_see_them(open_page):
    for kind in ("classes", "numbers", "survival"):
        page = open_page(fitted(kind).page)
        charts = page.locator("canvas")
        assert charts.count() >= 3 - (kind == "classes")
        for i in range(charts.count()):
            assert charts.nth(i).get_attribute("role") == "img"
            assert len(charts.nth(i).get_attribute("aria-label")) > 40


def test_without_scripts_the_answer_is_there(open_page):
    found = fitted("classes")
    page = open_page(found.page, java_script_enabled=False)
    assert page.locator("#verdict").is_visible()
    assert page.locator("#features tbody tr").count() == found.data["chosen"]["n_features"]
    assert not page.locator("#path-chart").is_visible()
    assert not page.locator("#size").is_visible()


def test_paper_is_light_and_has_all_tables_open(open_page):
    page = open_page(fitted("numbers").page, color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("details:not([open])").count() == 0
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("details[open]").count() == 0
    assert page.evaluate("document.documentElement.dataset.theme === undefined")


def test_nothing_moves_by_itself_where_that_is_not_wanted(open_page):
    behavior = "getComputedStyle(document.documentElement).scrollBehavior"
    assert open_page(fitted("lam").page, reduced_motion="reduce").evaluate(behavior) == "auto"
    assert open_page(fitted("lam").page).evaluate(behavior) == "smooth"


def test_a_page_of_ten_thousand_columns_works(open_page):
    model = WideModel().invent(lambda j: f"gene <{j}>")
    y = model.classes_[[j % 60 for j in range(300)]]
    page = open_page(render(collect(model, [[0.0]] * 300, y)), 360)
    page.locator("#size").focus()
    page.keyboard.press("End")
    assert len(rows_in(page)) == 200
    assert page.locator("#size-table tr.left th").last.inner_text() == "and 800 more features"
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.said == []
