"""What is printed. Names of columns are untrusted: they are never read as markup."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from stochgate.cli.table.data import Data
from stochgate.cli.text import count, plain, shorten
from stochgate.cli.work.demo import DemoResult
from stochgate.cli.work.select import MODEL, Found
from stochgate.evaluation.evaluate import Evaluation
from stochgate.explain.by_size import best_by_size
from stochgate.explain.summary_table import HONEST, Summary

WIDTH_OF_FILES = 120  # where the output goes to no terminal
LONGEST_CELL = 80
_SEEN = (
    "The numbers of this summary come from the rows that made the choice, so they flatter; the first line "
    "has the honest score."
)
_AS_OPTIONS = {  # what is called otherwise in Python
    "evaluate(model, X, y) gives": "select --evaluate gives",
    "n_features_to_select=k": "--k=k",
    "a larger alpha": "a larger --alpha",
    "see the table `features`": "see features.csv",
}
_AT_SIZE = re.compile(r"model\.at\(k=(\d+)\)")


class Screen:
    """Prints results to stdout, notes and progress to stderr; a quiet one prints nothing.

    Parameters
    ----------
    quiet : bool

    Examples
    --------
    >>> from stochgate.cli.show import Screen
    >>> Screen().say("A column called [red]dose[/red].")
    A column called [red]dose[/red].
    """

    def __init__(self, quiet: bool = False):
        self.quiet = quiet
        self.results, self.messages = (
            _console(stderr=False, quiet=quiet),
            _console(stderr=True, quiet=quiet),
        )

    def say(self, text: str, style: str = "") -> None:
        """Print a line of results."""
        self.results.print(Text(plain(text), style=style), soft_wrap=True)

    def note(self, text: str) -> None:
        """Print what a user may want to know, beside the results."""
        self.messages.print(Text(f"Note: {plain(text)}", style="dim"), soft_wrap=True)

    def table(self, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Print a table."""
        made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for name in header:
            made.add_column(Text(name), overflow="fold")
        for row in rows:
            made.add_row(*(Text(shorten(cell, LONGEST_CELL)) for cell in row))
        self.results.print(made)

    def show_data(self, data: Data) -> None:
        """Say what was read, and what is to be learnt."""
        for text in data.notes:
            self.note(text)
        size = f"{count(len(data.X), 'row')}, {count(data.X.shape[1], 'column')} to choose from"
        groups = "" if data.groups is None else f", {count(len(np.unique(data.groups)), 'group')} of rows"
        self.say(f"{size}{groups}.")
        self.say(data.why)

    def show_found(self, found: Found) -> None:
        """Print what was chosen, and first what to check."""
        for text in found.notes:
            self.note(text)
        if found.remarks:
            self.say("\N{WARNING SIGN} Please check:", style="bold yellow")
            for text in found.remarks:
                self.say(f"  - {text}", style="yellow")
            self.say("  (--exclude leaves columns out.)", style="yellow")
        self._show_summary(found.summary, found.evaluation)
        if found.evaluation is not None:
            self.results.print()
            for line in str(found.evaluation).splitlines():
                self.results.print(Text(plain(line)))

    def _show_summary(self, summary: Summary, evaluation: Evaluation | None) -> None:
        """Print the honest score, if any, and then what the choice says of itself."""
        head, cells = summary._head(), summary._cells()
        self.results.print()
        lines = head if evaluation is None else [evaluation.headline, *head]
        for i, line in enumerate(lines):
            self.say(line, style="bold" if i == 0 else "")
        if len(cells) > 1:
            self.table(cells[0], cells[1:])
        told = {} if evaluation is None else {HONEST: _SEEN}
        for line in summary._notes():
            for name, option in {**told, **_AS_OPTIONS}.items():
                line = line.replace(name, option)
            line = _AT_SIZE.sub(r"--k \1", line)
            self.results.print(Text(plain(line), style="dim"))

    def show_written(self, paths: Sequence[Path], missing_values: Sequence[str] = ()) -> None:
        """Print which files there are now, and what can be done with them, by the same missing values."""
        self.results.print()
        for path in paths:
            self.say(f"written: {path}", style="green")
        model = next((path for path in paths if path.name == MODEL), None)
        if model is not None:
            same = "".join(f" --missing-values={shlex.quote(given)}" for given in missing_values)
            self.say(f"next:    stochgate predict {shlex.quote(str(model))} NEW_TABLE.csv{same}")

    def show_path(self, table: pd.DataFrame) -> None:
        """Print for each number of columns the best model of the path."""
        best = pd.DataFrame(best_by_size(table.to_dict("records")).values(), columns=table.columns)
        lowest = best["held_out_loss"].min()
        rows = [
            (
                row.n_features,
                f"{row.held_out_loss:.4f}" + (" (lowest)" if row.held_out_loss == lowest else ""),
                f"{row.held_out_sd:.4f}",
                row.network,
                f"{row.lam:.3g}",
                ", ".join(shorten(name, 25) for name in row.features[:5])
                + ", ..." * (len(row.features) > 5),
            )
            for row in best.itertuples()
        ]
        self.table(("columns", "held-out loss", "sd of folds", "network", "lam", "which"), rows)
        note = "These losses rank; they are not an estimate of performance: select --evaluate gives one."
        self.say(note, style="dim")

    def show_demo(self, result: DemoResult) -> None:
        """Print how the demo went."""
        self.results.print()
        self.say(f"chosen: {result.n_chosen} of {result.n_columns} columns, {result.n_noise} of them noise")
        self.say(f"accuracy on {result.n_test} other tumours:  {result.model:.3f}")
        self.say(f"random forest on all columns:   {result.forest:.3f}")


def _console(*, stderr: bool, quiet: bool) -> Console:
    console = Console(stderr=stderr, quiet=quiet, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = WIDTH_OF_FILES
    return console
