"""Studies: tasks x methods x seeds, run to one file that can be continued, read as one tidy table."""

from experiments.study.fits import fit_and_score
from experiments.study.limits import time_limit
from experiments.study.records import Record, now, provenance, read_records
from experiments.study.run import Cell, RunCell, grid, run_study
from experiments.study.tables import (
    compare,
    describe_errors,
    describe_machines,
    mean_interval,
    read_table,
    summarise,
    text_grid,
    to_markdown,
)

__all__ = [
    "Cell",
    "Record",
    "RunCell",
    "compare",
    "describe_errors",
    "describe_machines",
    "fit_and_score",
    "grid",
    "mean_interval",
    "now",
    "provenance",
    "read_records",
    "read_table",
    "run_study",
    "summarise",
    "text_grid",
    "time_limit",
    "to_markdown",
]
