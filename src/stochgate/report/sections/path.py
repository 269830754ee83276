"""The path explorer, which asks how many features are enough."""

from typing import Any

from stochgate.report.elements import Html, chart, details, join, section, table, tag
from stochgate.report.words import count, network_word, number, percent, verb

TITLE = "How many features are enough?"
FEWEST_POINTS = 3


def draw_path(data: dict[str, Any]) -> Html:
    """Return the explorer, or why there is none."""
    path = data["path"]
    if path is None or len(path["points"]) < FEWEST_POINTS or data["chosen"]["headline"] is not None:
        return section("path", TITLE, tag("p", _why_none(data["chosen"])))
    return section("path", TITLE, tag("p", _introduce(data)), _explorer(data), _as_table(path))


def _why_none(chosen: dict[str, Any]) -> str:
    """Return why there is nothing to explore."""
    if chosen["headline"] is not None:
        return "The error rate that was asked for settles the number: no sets of other sizes were compared."
    if chosen["signal"] is None:
        return (
            f"A penalty was given (lam = {chosen['lam']:.3g}), so one model was trained and no sets of "
            'other sizes were compared. A fit with lam="auto" has a path to explore.'
        )
    if chosen["was_asked_for"]:
        n = chosen["n_features"]
        asked = f"Exactly {count(n, 'feature')} {verb(n, 'was', 'were')} asked for."
        return f"{asked} No sets of other sizes were compared."
    return "No sets of other sizes were compared."


def _introduce(data: dict[str, Any]) -> str:
    line = ""
    if data["path"]["all"] is not None:
        every = count(data["asked"]["n_columns"], "column")
        line = f" The dashed line is what a model on all {every} reaches."
    return (
        "Each point is the best set of that size that was tried; lower is better, and the band shows how "
        f"much the splits of the rows differ.{line} Move the slider to see which features are in."
    )


def _explorer(data: dict[str, Any]) -> Html:
    path = data["path"]
    points, at = path["points"], path["chosen"]
    last = len(points) - 1
    slider = tag(
        "input",
        type="range",
        id="size",
        min="0",
        max=last,
        step="1",
        value=at,
        aria_describedby="size-says",
        aria_valuetext=count(points[at]["n"], "feature"),
    )
    steps = [
        tag("button", "Fewer", type="button", id="size-down"),
        tag("button", f"The chosen {points[at]['n']}", type="button", id="size-chosen"),
        tag("button", "More", type="button", id="size-up"),
    ]
    box = tag(
        "div", class_="scroll short", id="size-table", role="group", aria_label="Features", tabindex="0"
    )
    keys = [("key-chosen", "best set of each size"), ("key-dot", "the chosen set")]
    keys += [] if path["all"] is None else [("key-all", "all columns")]
    return tag(
        "div",
        tag("p", *(tag("span", name, class_=f"key {kind}") for kind, name in keys), class_="keys"),
        chart("path-chart", _describe(data), "tall"),
        tag(
            "div",
            tag("label", "Slide along the sizes", for_="size"),
            slider,
            class_="slider",
            id="slider",
        ),
        tag("div", *steps, class_="steps"),
        tag("p", class_="says", id="size-says", aria_live="polite"),
        box,
        class_="explorer needs-script",
    )


def _describe(data: dict[str, Any]) -> str:
    """Return the chart in a sentence."""
    path = data["path"]
    points, own = path["points"], path["points"][path["chosen"]]
    best = min((point for point in points if point["loss"] is not None), key=lambda point: point["loss"])
    every = "" if path["all"] is None else f"; all columns reach {number(path['all'])}"
    return (
        f"Held-out loss against the number of features, from {points[0]['n']} to {points[-1]['n']}. The "
        f"lowest is {number(best['loss'])} with {count(best['n'], 'feature')}; the chosen {own['n']} have "
        f"{number(own['loss'])}{every}."
    )


def _as_table(path: dict[str, Any]) -> Html:
    rows = []
    for position, point in enumerate(path["points"]):
        mark = tag("span", "chosen", class_="badge") if position == path["chosen"] else ""
        share = percent(point["share"])
        changes = f"{point['n_entered']} in, {point['n_left']} out"
        name = join([f"{point['n']:,} ", mark])
        rows.append(
            [
                name,
                number(point["loss"]),
                number(point["sd"]),
                share,
                changes,
                network_word(point["network"]),
            ]
        )
    header = [
        "Features",
        "Held-out loss",
        "Spread",
        "Share of all columns' gain",
        "Change",
        "Kind of model",
    ]
    return details("The path as a table", table(header, rows, label="The path", numeric=[1, 2, 3]))
