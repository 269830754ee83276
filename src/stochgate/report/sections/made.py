"""How it was made, and what the words mean."""

from typing import Any

from stochgate.report.elements import Html, section, table, tag
from stochgate.report.words import NETWORKS

SEEDLESS = "No random_state was given, so another fit may differ a little."
SCORES = {
    "accuracy": ("Accuracy", "the share of rows whose class is predicted right."),
    "R2": (
        "R²",
        "the share of the differences in the target that is predicted: 1 is perfect, 0 no better than the "
        "mean.",
    ),
    "C": (
        "Concordance (C)",
        "of two rows, how often the one with the higher predicted risk has its event first: 1 is perfect, "
        "0.5 is a coin toss.",
    ),
}
OTHER_SCORES = {
    "AUC": (
        "AUC",
        "of two rows of different classes, how often the model tells which is which: 1 is perfect, 0.5 is "
        "a coin toss, however rare a class is.",
    ),
    "sensitivity": (
        "Sensitivity, specificity",
        "the share of the rows of one class, the one in brackets, that is predicted right.",
    ),
    "balanced accuracy": (
        "Balanced accuracy",
        "the share of rows that is predicted right, of each class alone, and the mean over the classes.",
    ),
}
ERROR_CONTROL = [
    ("False discovery rate", "the share of columns among those found that tell nothing, on average."),
    ("q-value", "the lowest false discovery rate at which a column is found."),
]
WORDS = [
    (
        "Gate",
        "a factor between 0 and 1 that every column is multiplied by before the model sees it. At 0 the "
        "column is not used at all: it need not even be measured.",
    ),
    ("Penalty (lam)", "what an open gate costs during training; the larger, the fewer columns stay."),
    (
        "Held-out rows",
        "rows that a model did not learn from, and that judge it. The rows are split several times, so "
        "that each is held out once in a round.",
    ),
    (
        "Loss",
        "how wrong predictions are, on the scale the model was trained with; sure and wrong costs most. "
        "Lower is better, and only differences within one table mean something.",
    ),
    ("Spread", "the standard deviation over the splits of the rows."),
    ("All columns", "the best model of the same kinds that uses everything: the line to reach."),
    ("No column", "what one can say without looking at any column; a model must beat it."),
    ("Stand-in", "a column that was not chosen, but is much like a chosen one."),
    ("Honest score", "of rows that took no part in anything: neither in the choice nor in training."),
]


def draw_made(data: dict[str, Any]) -> Html:
    """Return settings and versions to repeat it."""
    repeat = data["repeat"]
    seed = repeat["random_state"]
    told = (
        SEEDLESS
        if seed is None
        else f"With random_state={seed}, these versions and the same rows (with their groups and weights, "
        "if any) the result is the same."
    )
    if data["chosen"]["headline"] is not None and data["chosen"]["fdr"] is None:
        told += " The code trains the model on the columns found; the settings tell how they were found."
    parameters = [[each["name"], each["value"], each["default"]] for each in repeat["parameters"]]
    rows = [
        *([each["name"], each["value"]] for each in repeat["settings"]),
        *([each["name"], _plain(each["value"])] for each in repeat["fitted"]),
        *([each["name"], each["value"]] for each in repeat["versions"]),
        ["report made on", data["made_on"]],
    ]
    header = ["Parameter", "Value", "Default"]
    changed = table(header, parameters, label="Parameters that were set") if parameters else None
    return section(
        "made",
        "How it was made, and how to repeat it",
        tag("p", told),
        tag("pre", tag("code", repeat["code"]), tabindex="0", role="group", aria_label="Code"),
        tag("h3", "Parameters that were set"),
        changed or tag("p", "None: all parameters have their defaults."),
        tag("h3", "Settings and versions"),
        table(["What", "Value"], rows, label="Settings and versions"),
    )


def _plain(value: str) -> str:
    return f"{value} ({NETWORKS[value]})" if value in ("mlp", "encoded") else value


def draw_glossary(data: dict[str, Any]) -> Html:
    """Return what the words mean."""
    score, levels = SCORES.get(data["chosen"]["score_name"]), data["chosen"]["levels"]
    words = [*([("p", levels)] if levels else []), *WORDS, *([score] if score else [])]
    told = data["chosen"] if data["honest"] is None else data["honest"]
    words += [
        OTHER_SCORES[name] for name in OTHER_SCORES if any(o.startswith(name) for o in told["other_scores"])
    ]
    words += ERROR_CONTROL if data["chosen"]["fdr"] is not None else []
    items = [tag("div", tag("dt", word), tag("dd", meaning)) for word, meaning in words]
    return section("glossary", "What the words mean", tag("dl", *items, class_="pairs"))
