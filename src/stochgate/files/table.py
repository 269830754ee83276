"""The columns of a model as part of a file: their names, and how they become numbers."""

from typing import Any

import numpy as np

from stochgate.files.reading import Reading, expect, is_count, is_list_of
from stochgate.tables.encoding import TableEncoding
from stochgate.tables.levels import Levels


def describe_table(table: TableEncoding, names: np.ndarray | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the section and the arrays of a table's columns."""
    levels = [[j, None if found is None else list(found.names)] for j, found in table.levels.items()]
    section = {"names": None if names is None else names.tolist(), "levels": levels}
    arrays = {"table.fill": table.fill, "table.masked": table.masked}
    if table.missing_share is not None:
        arrays["table.missing_share"] = table.missing_share
    return section, arrays


def read_table(reading: Reading) -> tuple[TableEncoding, np.ndarray | None]:
    """Return how a table becomes numbers, and the names of its columns, None where they have none."""
    names, levels = reading.section("columns", ["names", "levels"])
    fill = reading.array("table.fill", ["float64"], (None,), finite=True)
    masked = reading.array("table.masked", ["bool"], fill.shape)
    share = reading.optional("table.missing_share", ["float64"], fill.shape)
    expect(
        share is None or bool(((share >= 0) & (share <= 1)).all()),
        "its shares of missing values are not from 0 to 1",
    )
    if names is not None:
        expect(is_list_of(str, names), "the names of its columns are no texts")
        expect(len(names) == len(fill) == len(set(names)), "the names of its columns are not one for each")
    return TableEncoding(len(fill), fill, masked, _read_levels(levels, masked), share), _as_names(names)


def _as_names(names: list[str] | None) -> np.ndarray | None:
    return None if names is None else np.array(names, dtype=object)


def _read_levels(pairs: Any, masked: np.ndarray) -> dict[int, Levels | None]:
    expect(isinstance(pairs, list), "the levels of its columns of text are no list")
    levels: dict[int, Levels | None] = {}
    for pair in pairs:
        expect(isinstance(pair, list) and len(pair) == 2, "the levels of a column of text are no pair")
        j, names = pair
        expect(is_count(j) and j < len(masked) and j not in levels, "levels belong to no column of it")
        expect(not masked[j], "a column of it holds both text and numbers")
        expect(names is None or is_list_of(str, names), "the levels of a column are no texts")
        expect(names is None or len(set(names)) == len(names), "the levels of a column are not distinct")
        levels[j] = None if names is None else Levels(tuple(names))
    return levels
