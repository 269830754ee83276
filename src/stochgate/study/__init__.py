"""Studies: tasks x methods x seeds, run to one file that can be continued, read as one tidy table."""

from stochgate.study.fits import fit_and_score
from stochgate.study.limits import time_limit
from stochgate.study.options import parse_seeds, run_as_asked, study_parser
from stochgate.study.records import now, provenance, read_records
from stochgate.study.run import Cell, grid, run_study
from stochgate.study.tables import compare, mean_interval, read_table, summarise, to_markdown

__all__ = [
    "Cell",
    "compare",
    "fit_and_score",
    "grid",
    "mean_interval",
    "now",
    "parse_seeds",
    "provenance",
    "read_records",
    "read_table",
    "run_as_asked",
    "run_study",
    "study_parser",
    "summarise",
    "time_limit",
    "to_markdown",
]
