"""The command line that studies share."""

import argparse
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from stochgate.study.records import Record
from stochgate.study.run import Cell, run_study


def study_parser(title: str, results: Path) -> argparse.ArgumentParser:
    """Return a parser with the options that all studies have.

    Parameters
    ----------
    title : str
        What the study is, for --help.
    results : Path
        Where results go by default.
    """
    parser = argparse.ArgumentParser(description=title)
    add = parser.add_argument
    add("--out", type=Path, default=results, help="file of results, continued if it exists")
    add("--jobs", type=int, default=1, help="processes")
    add("--budget", type=float, help="seconds after which no further cell is started")
    add("--device", default="cpu", help="where ours runs; the peers run on the CPU")
    add("--retry", action="store_true", help="run cells again that ended in an error")
    add("--table", action="store_true", help="print the tables of the saved results and run nothing")
    return parser


def run_as_asked(
    options: argparse.Namespace,
    cells: Iterable[Cell],
    run_cell: Callable[..., dict[str, Any]],
    packages: Iterable[str] = (),
    report: Callable[[Record], None] | None = None,
) -> None:
    """Run the cells that are missing, unless only the tables are asked for.

    Parameters
    ----------
    options : Namespace
        What `study_parser` read.
    cells, packages, report : as in `run_study`
    run_cell : callable
        As in `run_study`; it is given the device too.
    """
    if not options.table:
        run_study(
            cells,
            partial(run_cell, device=options.device),
            options.out,
            n_jobs=options.jobs,
            budget_s=options.budget,
            retry_errors=options.retry,
            packages=packages,
            report=report,
        )


def parse_seeds(text: str) -> list[int]:
    """Read "1000:1020" (the end left out) or "3,5,8".

    Examples
    --------
    >>> from stochgate.study import parse_seeds
    >>> parse_seeds("3:6"), parse_seeds("3,8")
    ([3, 4, 5], [3, 8])
    """
    if ":" in text:
        start, stop = text.split(":")
        return list(range(int(start), int(stop)))
    return [int(seed) for seed in text.split(",")]
