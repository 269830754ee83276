"""What experiments cost: cells, models, steps and minutes, of what was run and of what is left."""

from typing import Any

import pandas as pd

from experiments.experiment import Experiment
from experiments.study import read_table, to_markdown


def cost_table(experiments: list[Experiment], preset: str) -> str:
    """Return, for each experiment, what was run and how long the rest would take, as Markdown.

    A cell that is left is taken to last as long as the cells of the same task and method, or else of the
    same method, did in this preset; minutes are those of one process.
    """
    rows = {experiment.name: _cost(experiment, preset) for experiment in experiments}
    columns = zip(*(row.values() for row in rows.values()), strict=True)
    names = next(iter(rows.values()))
    rows["all"] = {name: round(sum(column), 1) for name, column in zip(names, columns, strict=True)}
    return to_markdown(pd.DataFrame.from_dict(rows, orient="index", dtype=object))


def _cost(experiment: Experiment, preset: str) -> dict[str, Any]:
    cells = experiment.cells(**experiment.asked(preset))
    table = read_table(experiment.results_of(preset))
    done = set(zip(table["task"], table["method"], table["seed"], strict=True))
    left = [cell for cell in cells if tuple(cell) not in done]
    seconds = cell_seconds(table)
    on_gpu = is_on_gpu(table)
    guesses = [_guess(table, seconds, cell.task, cell.method) for cell in left]
    known = [guess for guess in guesses if guess is not None]
    return {
        "cells": len(cells),
        "done": len(cells) - len(left),
        "models": _sum(table, "n_models"),
        "steps": _sum(table, "n_steps"),
        "minutes, CPU": round(float(seconds[~on_gpu].sum()) / 60, 1),
        "minutes, GPU": round(float(seconds[on_gpu].sum()) / 60, 1),
        "minutes left": round(sum(known) / 60, 1),
        "cells left of unknown cost": len(guesses) - len(known),
    }


def cell_seconds(table: Any) -> Any:
    """Return how long each cell took; of results that did not say, the seconds of the fit."""
    fits = table["seconds"] if "seconds" in table else pd.Series(0.0, index=table.index)
    cells = table.get("cell_seconds", fits)
    return pd.to_numeric(cells.fillna(fits), errors="coerce").fillna(0.0)


def is_on_gpu(table: Any) -> Any:
    """Return which cells ran on a GPU."""
    if "device" not in table:
        return pd.Series(False, index=table.index)
    return table["device"].fillna("").astype(str).str.startswith("cuda")


def _guess(table: Any, seconds: Any, task: str, method: str) -> float | None:
    same_method = table["method"] == method
    for rows in (same_method & (table["task"] == task), same_method):
        if rows.any():
            return float(seconds[rows].mean())
    return None


def _sum(table: Any, name: str) -> int:
    return int(table[name].fillna(0).sum()) if name in table else 0
