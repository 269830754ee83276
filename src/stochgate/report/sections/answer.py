"""The answer: what was asked, what was found, and the chosen features."""

from typing import Any

from stochgate.explain.direction import say_direction
from stochgate.report.elements import Html, feature_name, join, section, table, tag
from stochgate.report.words import (
    UNKNOWN,
    count,
    number,
    percent,
    read_honest,
    say_question,
    say_verdict,
    score_word,
)

LONG = 32  # characters of a direction that may wrap
ARROWS = {"+": "↑", "-": "↓", "-+": "↓↑", "+-": "↑↓", "mixed": "↕"}


def draw_answer(data: dict[str, Any]) -> Html:
    """Return the top of the page: title, verdict, the numbers behind it and what to be wary of."""
    chosen = data["chosen"]
    return tag(
        "header",
        tag("p", "Feature selection report", class_="eyebrow"),
        tag("h1", data["title"]),
        tag("p", say_verdict(chosen, data["honest"]), class_="verdict", id="verdict"),
        _facts(data),
        tag("p", say_question(data["asked"]), class_="note"),
        _list("Look at these columns first", chosen["remarks"]),
        _list("Worth knowing", chosen["hints"]),
        class_="answer",
    )


def _facts(data: dict[str, Any]) -> Html | None:
    """Return the scores as large numbers: the honest ones alone where there are some."""
    chosen, honest = data["chosen"], data["honest"]
    told = chosen if honest is None else read_honest(honest)
    score, scores = score_word(told["score_name"]), told["scores"]
    own, where = f"{score}, chosen columns", "on held-out rows"
    if honest is not None:
        own, where = f"{score}, honest score", "on rows that took no part"
    spread = None if honest is None else honest["sd"]
    splits = "" if spread is None else f" ± {number(spread)} over {len(honest['scores'])} splits"
    some = chosen["n_features"] < chosen["n_columns"]  # one number for all columns
    facts = [(number(scores.get("selected")), own, f"{where}{splits}")]
    facts += [
        (number(scores.get("all") if some else None), f"{score}, all columns", where),
        (number(scores.get("none")), f"{score}, no column", data["asked"]["base"]),
    ]
    for name, of in told["other_scores"].items():
        every = of.get("all") if some else None
        facts.append(
            (number(of.get("selected")), name, "" if every is None else f"all columns {number(every)}")
        )
    facts = [fact for fact in facts if fact[0] != UNKNOWN]
    if chosen["fdr"] is not None:
        found = sum(row["q_value"] is not None for row in chosen["features"])
        rate = f"at a false discovery rate of {chosen['fdr']:g}"
        facts.append((f"{found} of {chosen['n_columns']:,}", "columns found", rate))
    if not facts:
        return None
    boxes = [
        tag(
            "div",
            tag("dt", name),
            tag("dd", value, tag("small", where)),
            class_="own" if name == own else None,
        )
        for value, name, where in facts
    ]
    return tag("dl", *boxes, class_="facts")


def _list(title: str, sentences: list[str]) -> Html | None:
    if not sentences:
        return None
    items = [tag("li", sentence) for sentence in sentences]
    return tag("div", tag("h2", title), tag("ul", *items), class_="callout")


def draw_features(data: dict[str, Any]) -> Html:
    """Return the table of the chosen features."""
    chosen, rows = data["chosen"], data["chosen"]["features"]
    if not rows:
        text = (
            "No column was chosen, so the model says the same for every row: the base rate. The top of the "
            "page says why, and what may help."
        )
        return section("features", "The chosen features", tag("p", text))
    more = chosen["n_rows"] - len(rows)
    columns = [column for column in _columns(data) if any(cell is not None for cell in column[1])]
    header = [name for name, _ in columns]
    rows_of_cells = zip(*(cells for _, cells in columns), strict=True)
    shown = [[UNKNOWN if cell is None else cell for cell in row] for row in rows_of_cells]
    numeric = [i for i, name in enumerate(header) if name in ("Lost without it", "Gate")]
    cut = f"{count(more, 'more feature')} not listed: see model.summary().features." if more > 0 else None
    return section(
        "features",
        "The chosen features",
        tag("p", "Those the model would miss most come first.") if "Lost without it" in header else None,
        table(header, shown, label="The chosen features", numeric=numeric, kind="cards"),
        tag("p", cut, class_="note") if cut else None,
        _explain(chosen, header),
    )


def _columns(data: dict[str, Any]) -> list[tuple[str, list[Any]]]:
    """Return the columns of the table, None where nothing is known."""
    rows, names = data["chosen"]["features"], data["names"]
    held_open = all(row["gate"] == 1 for row in rows)
    return [
        ("Feature", [feature_name(names[row["feature"]]) for row in rows]),
        ("Gate", [None if held_open else number(row["gate"], 2) for row in rows]),
        ("How often chosen", [_frequency(row, data["chosen"]) for row in rows]),
        ("q-value", [None if row["q_value"] is None else f"{row['q_value']:.2g}" for row in rows]),
        ("Which way it points", [_direction(row, data["asked"]) for row in rows]),
        ("Lost without it", [_loss_without(row) for row in rows]),
        ("Stand-ins", [_stand_ins(row, names) for row in rows]),
    ]


def _frequency(row: dict[str, Any], chosen: dict[str, Any]) -> Html | None:
    share, n_folds = row["frequency"], chosen["n_folds"]
    if share is None:
        return None
    if row["q_value"] is not None:
        n_folds = chosen["n_halves"]
    elif row["frequency_low"] is None:
        return tag("span", "always: it was asked for", class_="quiet")
    rects = [tag("rect", width=width, height="6") for width in (100, round(100 * share))]
    drawn = tag("svg", *rects, viewBox="0 0 100 6", preserveAspectRatio="none")
    bar = tag("span", drawn, class_="bar", aria_hidden="true")
    return tag("span", bar, f"{round(share * n_folds)} of {n_folds}", class_="nowrap")


def _direction(row: dict[str, Any], asked: dict[str, Any]) -> Html | None:
    if row["direction"] is None:
        return None
    of = row["direction_of"] or asked["called"]
    words = say_direction(row["direction"], of, asked["task"])
    sign, alone = row["direction"], row["direction_alone"]
    told = words if alone is None else f"{words} (alone: {say_direction(alone, of, asked['task'])})"
    if sign not in ARROWS:  # of text: its values, from the highest output to the lowest
        return tag("span", told, class_="name")
    arrow = tag("span", ARROWS[sign], class_="arrow", aria_hidden="true")
    return tag("span", arrow, " ", told, class_="nowrap" if len(told) < LONG else None)


def _loss_without(row: dict[str, Any]) -> Html | None:
    rise, error = row["loss_without"], row["loss_without_error"]
    if rise is None:
        return None
    text = number(rise) if error is None else f"{number(rise)} ± {number(error)}"
    spared = error is not None and rise <= error
    return tag("span", text, class_="nowrap quiet" if spared else "nowrap")


def _stand_ins(row: dict[str, Any], names: list[str]) -> Html | None:
    if not row["stand_ins"]:
        return None
    first = row["stand_ins"][0]
    parts: list[Any] = [feature_name(names[first])]
    for other in row["stand_ins"][1:]:
        parts += [", ", feature_name(names[other])]
    return tag("span", *parts)


def _explain(chosen: dict[str, Any], header: list[str]) -> Html | None:
    """Return what the columns of the table mean."""
    always = [row["frequency_low"] for row in chosen["features"] if row["frequency"] == 1]
    low = next((low for low in always if low is not None), None)
    n = chosen["n_folds"]
    sure = "" if low is None else f" {n} of {n} stands for {percent(low)} or more (95 % interval)."
    often = f"in how many of {n} splits of the rows it was chosen, too.{sure}"
    if chosen["n_halves"]:
        often = f"how many of {chosen['n_halves']} halves of the rows chose it."
    meanings = {
        "Gate": "from 0 (closed) to 1 (open).",
        "How often chosen": often,
        "q-value": "the lowest false discovery rate at which it is found.",
        "Which way it points": chosen["direction_legend"],
        "Lost without it": (
            "how much the held-out loss rises when the model is trained again without it, ± a standard "
            "error. Grey: no more than chance, so it may be spared, but one at a time."
        ),
        "Stand-ins": "columns that were not chosen and tell much the same.",
    }
    terms = [join([tag("dt", name), tag("dd", meanings[name])]) for name in header if name in meanings]
    return tag("dl", *terms, class_="legend") if terms else None
