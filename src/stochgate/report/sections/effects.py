"""How large the effects of the chosen columns are."""

import math
from collections.abc import Callable
from typing import Any

from stochgate.report.elements import Html, section, table, tag
from stochgate.report.words import MINUS, UNKNOWN

_ONE_MORE = {
    "odds_ratio": "multiplies the odds of a class",
    "hazard_ratio": "multiplies the hazard",
    None: "adds",
}
NEAR_ONE, MOST_DIGITS = 0.01, 7
_RATIOS = {"odds_ratio": "Odds ratio", "hazard_ratio": "Hazard ratio", None: "Slope"}


def draw_effects(data: dict[str, Any]) -> Html | None:
    """Return the table of effects; nothing where there are none."""
    effects = data["effects"]
    if effects is None:
        return None
    rows = effects["rows"]
    told = (
        f"What each column {_ONE_MORE[effects['ratio']]}, the others being equal: of a linear model of the "
        "chosen columns without penalty, whatever kind of model predicts."
    )
    careful = (
        "These rows also chose the columns, which makes effects look somewhat too large and too sure. Rows "
        "that took no part in the choice tell better: model.effects(X, y)."
    )
    header = ["Column", "Against", _RATIOS[effects["ratio"]], "95 % interval", "Of a standard deviation"]
    show = _shown if effects["ratio"] is None else show_ratio
    cells = [
        [row["column"], row["against"], show(row["value"]), _interval(row, show), show(row["per_sd"])]
        for row in rows
    ]
    if any(row["output"] is not None for row in rows):
        header.insert(1, "Of")
        for cell, row in zip(cells, rows, strict=True):
            cell.insert(1, UNKNOWN if row["output"] is None else row["output"])
    return section(
        "effects",
        "How large are the effects?",
        tag("p", told),
        table(
            header, cells, label="Effects of the chosen columns", numeric=[len(header) - 3, len(header) - 1]
        ),
        tag("p", careful, class_="note"),
    )


def _shown(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:.3g}".replace("-", MINUS)


def show_ratio(value: float | None) -> str:
    """Return a ratio in three digits; near 1 in so many that two tell how far from 1 it is.

    Examples
    --------
    >>> from stochgate.report.sections.effects import show_ratio
    >>> show_ratio(2.2904), show_ratio(1.00147), show_ratio(0.999993)
    ('2.29', '1.0015', '0.9999930')
    """
    away = 0.0 if value is None else abs(value - 1)
    if value is None or not 0 < away < NEAR_ONE:
        return _shown(value)
    return f"{value:.{min(1 - math.floor(math.log10(away)), MOST_DIGITS)}f}"


def _interval(row: dict[str, Any], show: Callable[[float | None], str]) -> str:
    if row["low"] is None:
        return "these rows cannot tell"
    return f"{show(row['low'])} to {show(row['high'])}"
