"""The gates over training."""

from typing import Any

from stochgate.report.elements import Html, chart, details, section, table, tag
from stochgate.report.words import count, number

TITLE = "How the gates closed"
MOST_ROWS = 12


def draw_training(data: dict[str, Any]) -> Html:
    """Return the chart of the gates, or why there is none."""
    gates = data["gates"]
    if gates is None:
        why = "This model has kept no record of its gates over training."
        if data["chosen"]["headline"] is not None:
            why = "The columns were chosen before this model was trained, so no gate of it closed."
        return section("training", TITLE, tag("p", why))
    grows = (
        " Here the penalty grows all the while: the later a gate closes, the more its column is worth."
        if gates["lam_grows"]
        else ""
    )
    apart = (  # a model at a given penalty shows its own training
        " Shown are trainings that the choice began with. Other sets were compared after them, and the "
        "model was trained again: its gates may differ, and a chosen column may have closed here."
        if data["chosen"]["signal"] is not None and not gates["is_models"]
        else ""
    )
    told = (
        "Every column reaches the model through a gate. At first all are half open. A penalty pushes them "
        "shut while the model learns, and a column that helps to predict holds its gate open."
    )
    return section(
        "training",
        TITLE,
        tag("p", f"{told}{grows}{apart}"),
        _legend(data),
        chart("gates-chart", _describe(gates)),
        _as_table(data),
    )


def _describe(gates: dict[str, Any]) -> str:
    """Return the chart in a sentence."""
    first, last = gates["step"][0], gates["step"][-1]
    n_first, n_last = gates["n_open"][0], gates["n_open"][-1]
    return (
        f"Gates over training, from 0 (closed) to 1 (open): {count(n_first, 'gate')} open at step {first}, "
        f"{n_last:,} at step {last}."
    )


def _legend(data: dict[str, Any]) -> Html:
    """Return what the lines are, and a choice of one to follow."""
    gates, names = data["gates"], data["names"]
    options = [tag("option", "none in particular", value="")]
    for kind, label in (("chosen", "Chosen"), ("others", "Not chosen")):
        features = [curve["feature"] for curve in gates[kind]]
        if features:
            each = [tag("option", names[feature], value=feature) for feature in features]
            options.append(tag("optgroup", *each, label=label))
    return tag(
        "p",
        tag("span", "chosen", class_="key key-chosen"),
        tag("span", "not chosen (a sample)", class_="key key-other"),
        tag("label", "Follow ", tag("select", *options, id="gates-follow"), class_="needs-script"),
        class_="keys",
    )


def _as_table(data: dict[str, Any]) -> Html:
    gates, names = data["gates"], data["names"]
    shown = gates["chosen"][:MOST_ROWS]
    steps = sorted({0, len(gates["step"]) // 4, len(gates["step"]) // 2, len(gates["step"]) - 1})
    header = ["Gate", *(f"step {gates['step'][i]}" for i in steps)]
    rows: list[list[Any]] = [["all columns: open gates", *(f"{gates['n_open'][i]:,}" for i in steps)]]
    rows += [[names[c["feature"]], *(number(c["gate"][i], 2) for i in steps)] for c in shown]
    numbers = range(1, len(header))
    return details(
        "The gates as a table", table(header, rows, label="Gates over training", numeric=numbers)
    )
