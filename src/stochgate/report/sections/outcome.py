"""How well the model predicts: the honest score, and predictions against the truth."""

from typing import Any

from stochgate.report.elements import Html, chart, details, join, section, table, tag
from stochgate.report.words import count, listing, number, percent, score_word, short

SHADES = 9
HONEST = "Each row was predicted by a model that had not seen it."
FLATTERS = (
    "Careful: these are the rows the model learnt from, so this flatters. An evaluation shows rows it has "
    "not seen."
)
FLATTERS_STILL = (
    "Careful: these are the rows the model learnt from, so this flatters. The evaluation kept "
    "no prediction of each row."
)

FLATTER_A_LITTLE = (
    "The scores at the top come from rows that were held out while models were compared. The best of many "
    "was taken, so they flatter a little. "
)
FLATTER_AFTER_SEARCH = (
    "The columns were found on all rows, also on those that were held out for the scores at the top, so "
    "these flatter. "
)


def draw_outcome(data: dict[str, Any]) -> Html:
    """Return the honest score or how to get it, and the picture that fits the target."""
    outcome = data["outcome"]
    drawn = None
    if outcome is not None:
        drawing = {"confusion": _confusion, "numbers": _numbers, "survival": _survival}[outcome["kind"]]
        drawn = drawing(data, tag("p", _say_whose(data), class_="note"))
    return section("prediction", "How well it predicts", _honest(data), drawn)


def _say_whose(data: dict[str, Any]) -> str:
    """Return whose predictions are shown."""
    if data["outcome"]["is_honest"]:
        return HONEST
    return FLATTERS if data["honest"] is None else FLATTERS_STILL


def _honest(data: dict[str, Any]) -> Html:
    honest = data["honest"]
    if honest is None:
        flatter = FLATTER_A_LITTLE if data["chosen"]["fdr"] is None else FLATTER_AFTER_SEARCH
        code = tag("code", "evaluate(model, X, y)")
        return tag(
            "p",
            flatter if data["chosen"]["scores"] else None,
            "For the honest score the whole selection is repeated on parts of the rows and judged by the "
            "rest: ",
            code,
            " in Python, --evaluate on the command line; it then stands here.",
        )
    folds = len(honest["scores"])
    told = (
        f"The whole selection was repeated {folds} times, each time without a part of the rows, and judged "
        "by the rows left out. No choice has seen them, so this score does not flatter."
    )
    metric, others = score_word(honest["metric"]), honest["other_scores"]
    spread = "" if honest["sd"] is None else f" ± {number(honest['sd'])}"
    rows = [
        [name, f"{number(score)}{spread if who == 'score' else ''}"]
        + [number(means.get(who)) for means in others.values()]
        for who, name, score in (
            ("score", "Chosen columns", honest["mean"]),
            ("all_columns", "All columns", honest["all_columns"]),
            ("base_rate", "No column", honest["base_rate"]),
        )
        if score is not None
    ]
    each = listing([number(score) for score in honest["scores"]])
    sizes = honest["n_selected"]
    chose = "" if sizes is None else f" They chose {listing([f'{n:,}' for n in sizes])} columns."
    header = ["Model", f"{metric}, mean{' ± spread' if spread else ''}", *others]
    numeric, kind = range(1, len(header)), "" if others else "narrow"
    return join(
        [
            tag("p", told),
            table(header, rows, label="Honest scores", numeric=numeric, kind=kind),
            tag("p", f"The single repeats: {each}.{chose}{_say_flattering(data['chosen'])}", class_="note"),
        ]
    )


def _say_flattering(chosen: dict[str, Any]) -> str:
    """Return what held-out rows told that the choice had seen."""
    selected = chosen["scores"].get("selected")
    if selected is None:
        return ""
    score = f"{score_word(chosen['score_name'])} {number(selected)}"
    return f" On held-out rows that the choice had seen, the chosen columns reach {score}, which flatters."


def _confusion(data: dict[str, Any], note: Html) -> Html:
    outcome = data["outcome"]
    labels, counts = outcome["labels"], outcome["counts"]
    rows = []
    for label, row in zip(labels, counts, strict=True):
        n = max(sum(row), 1)
        cells = [
            tag(
                "span",
                tag("b", f"{c:,}"),
                tag("small", percent(c / n)),
                class_=f"cell s{round(SHADES * c / n)}",
            )
            for c in row
        ]
        rows.append([tag("bdi", label), *cells])
    cut = outcome["n_classes"] - len(labels)
    more = tag("p", f"{count(cut, 'smaller class')} not shown.", class_="note") if cut > 0 else None
    header = [join(["truth ", tag("span", "↓", aria_hidden="true"), " predicted →"])]
    header += [tag("bdi", label) for label in labels]
    made = table(header, rows, label="Truth in rows, predictions in columns", numeric=range(1, len(header)))
    right = f"{percent(outcome['score'])} of the rows are on the diagonal: predicted as they are."
    return tag(
        "div",
        tag("h3", "Which classes are mixed up"),
        note,
        made,
        more,
        tag("p", right),
        class_="confusion",
    )


def _numbers(data: dict[str, Any], note: Html) -> Html:
    outcome = data["outcome"]
    rows = [
        [short(each["predicted"]), short(each["observed"]), f"{each['n']:,}"] for each in outcome["bins"]
    ]
    first = f" Shown is the first of {outcome['n_outputs']} outputs." if outcome["n_outputs"] > 1 else ""
    told = f"Perfect predictions would lie on the line.{first}"
    n_shown = count(len(outcome["predicted"]), "row")
    label = f"Predicted against observed values of {n_shown}; R² {number(outcome['score'])}."
    header = ["Mean prediction", "Mean observed", "Rows"]
    made = table(header, rows, label="Rows of like prediction", numeric=[0, 1, 2])
    return tag(
        "div",
        tag("h3", "Predicted against observed"),
        note,
        tag("p", told),
        chart("numbers-chart", label, "square"),
        details("As a table: rows of like prediction together", made),
    )


def _survival(data: dict[str, Any], note: Html) -> Html:
    outcome = data["outcome"]
    curves = outcome["curves"]
    rows = [
        [c["name"], f"{c['n']:,}", short(c["median"]), _at(c, 0.25), _at(c, 0.5), _at(c, 0.75)]
        for c in curves
    ]
    parts = ["a quarter", "half", "three quarters"]
    header = ["Group", "Rows", "Median time", *(f"Left after {part} of the time" for part in parts)]
    simple = "" if outcome["is_simple"] else " Entry times and strata are not taken into account here."
    chance = outcome["p_value"]
    odds = "below 0.001" if chance < 0.001 else number(chance)
    told = (
        f"The rows were cut into {len(curves)} groups of like size by predicted risk. The curves show "
        f"which share of each had no event so far.{simple} Log-rank test that all are alike: p = {odds}."
    ).replace("p = below", "p below")
    label = "Share without event over time, by predicted risk; the table below has the numbers."
    made = table(header, rows, label="Survival by risk", numeric=range(1, 6))
    return tag(
        "div",
        tag("h3", "Survival by predicted risk"),
        note,
        tag("p", told),
        chart("survival-chart", label, "tall"),
        details("As a table", made),
    )


def _at(curve: dict[str, Any], share: float) -> str:
    """Return the survival of a group after a share of its longest time."""
    time = share * curve["time"][-1]
    return percent([s for t, s in zip(curve["time"], curve["survival"], strict=True) if t <= time][-1])
