"""How stable the choice is: how often features were chosen, and what could stand for them."""

from typing import Any

from stochgate.report.elements import Html, chart, details, feature_name, join, section, table, tag
from stochgate.report.words import UNKNOWN, count, percent

MOST_BARS = 30
MOST_PAIRS = 40


def draw_stability(data: dict[str, Any]) -> Html:
    """Return how often each feature was chosen, or why that is not known."""
    stability, title = data["stability"], "Would other rows choose the same?"
    if not data["chosen"]["n_features"] and not data["chosen"]["n_halves"]:
        return section("stability", title, tag("p", "No column was chosen."))
    if stability is None:
        return section("stability", title, tag("p", _why_not_repeated(data["chosen"])))
    if not stability["features"]:
        return section("stability", title, tag("p", "No part of the rows chose any column."))
    n_bars = min(MOST_BARS, len(stability["features"]))
    parts, fdr = count(stability["n_folds"], "part"), data["chosen"]["fdr"]
    told = (
        f"The choice was repeated on {parts} of the rows, each time without "
        "some of them. Where columns tell the same, parts may choose different ones, which is no error."
    )
    if fdr is not None:
        n_halves = stability["n_folds"]
        told = (
            f"Columns were chosen on {n_halves} halves of the rows, {n_halves // 2} pairs without a row in "
            "common, at the penalty that predicts best, which lets many through. Found is what more than "
            f"half of them choose if its q-value is at most {fdr:g}, which asks what a column tells that "
            "no other does. On average at most this share of what is found is false."
        )
    label = (
        f"Bars: how often each of {count(n_bars, 'feature')} was chosen, the most frequent first; the "
        "table below has the numbers."
    )
    keys = [
        tag("span", "chosen", class_="key key-chosen"),
        tag("span", "not chosen", class_="key key-other"),
    ]
    return section(
        "stability",
        title,
        tag("p", told),
        tag("p", *keys, class_="keys"),
        chart("stability-chart", label, "bars"),
        _as_table(data),
    )


def _why_not_repeated(chosen: dict[str, Any]) -> str:
    if chosen["headline"] is not None:
        return "The error rate at the top of the page tells: it comes from many halves of the rows."
    return "A penalty was given, so the choice was not repeated on parts of the rows."


def _as_table(data: dict[str, Any]) -> Html:
    stability, names = data["stability"], data["names"]
    header = ["Feature", "Chosen in the model", "Parts that chose it"]
    if data["chosen"]["fdr"] is not None:
        header = ["Feature", "Found", "Halves that chose it", "q-value"]
    if stability["n_repeats"] is not None:
        header.append("Repeats of the whole fit that chose it")
    rows = []
    for each in stability["features"]:
        row = [
            feature_name(names[each["feature"]]),
            "yes" if each["is_chosen"] else "no",
            percent(each["frequency"]),
        ]
        if data["chosen"]["fdr"] is not None:
            row.append(UNKNOWN if each["q_value"] is None else f"{each['q_value']:.2g}")
        if stability["n_repeats"] is not None:
            known = each["n_repeats"] is not None
            row.append(f"{each['n_repeats']} of {stability['n_repeats']}" if known else UNKNOWN)
        rows.append(row)
    more = stability["n_ever"] - len(rows)
    cut = tag("p", f"{count(more, 'more feature')} chosen less often.", class_="note") if more > 0 else None
    made = table(header, rows, label="How often features were chosen", numeric=range(2, len(header)))
    return details("All of them as a table", made, cut)


def draw_stand_ins(data: dict[str, Any]) -> Html:
    """Return which closed columns could stand for chosen ones."""
    title, names = "If a feature cannot be measured", data["names"]
    rows = [row for row in data["chosen"]["features"] if row["stand_ins"]]
    if not rows:
        none = "No other column is much like a chosen one, so there are no stand-ins."
        if not data["chosen"]["n_features"]:
            none = "No column was chosen."
        elif data["chosen"]["headline"] is not None:
            none = "Stand-ins were looked for among the columns found alone, and there are none."
        elif data["chosen"]["signal"] is None:
            none = "A penalty was given, so stand-ins were not looked for."
        elif data["chosen"]["n_features"] == data["chosen"]["n_columns"]:
            none = "All columns were chosen, so none is left to stand in for another."
        return section("stand-ins", title, tag("p", none))
    told = (
        "These columns were left out because a chosen one tells much the same. Each could take its place, "
        "but then the model has to be fitted again."
    )
    items = [
        tag(
            "div",
            tag("dt", feature_name(names[row["feature"]])),
            tag("dd", join(tag("span", feature_name(names[j]), class_="chip") for j in row["stand_ins"])),
        )
        for row in rows[:MOST_PAIRS]
    ]
    more = "For the others see the table of the chosen features." if len(rows) > MOST_PAIRS else None
    pairs = tag("dl", *items, class_="pairs")
    return section("stand-ins", title, tag("p", told), pairs, tag("p", more) if more else None)
