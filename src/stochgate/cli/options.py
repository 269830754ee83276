"""The options of the command line, each with its help."""

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from stochgate.cli.request import Request

DATA = typer.Argument(
    help="The table: CSV, TSV (also .gz), Excel (.xlsx), Parquet or Arrow, with a header.", metavar="DATA"
)
FORCE = typer.Option("--force", help="Overwrite what is there.")
QUIET = typer.Option("--quiet", "-q", help="Print errors only.")
SEPARATOR = typer.Option("--sep", help="What separates the columns, if not found out.", metavar="CHARACTER")


def _of(panel: str, *names: str, metavar: str | None, help: str) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel)


_WHAT, _HOW = "What to predict", "What to choose from, and how many"
_TASK_HELP = "classification or regression, where the one found is wrong."
_EVENT_HELP = (
    "Survival: the column that says whether the event was seen (1 or 0, yes or no), or 'COLUMN=VALUE' for "
    "the value that means it was."
)
_ENTRY_HELP = "Survival: the column that says when a row came under observation (late entry)."
_STRATA_HELP = (
    "Survival: rows are compared only with rows of the same value here; repeat, or put commas between."
)
_FDR_HELP = "Choose columns of which at most this share is false on average, such as 0.1."
_ALPHA_HELP = (
    "Choose columns only if they show a signal at this level, 0.05 if not given: at most this share of "
    "tables of noise passes."
)
_GROUPS_HELP = (
    "Rows that belong together, such as those of a patient: a column whose equal values say so, or "
    "'COLUMN=PATTERN', a regular expression whose first group is the label."
)
_CATEGORICAL_HELP = (
    "Its values are kinds: numbers are codes, and words such as None or NA are values too, not missing "
    "ones; as --keep."
)
MISSING_VALUES = typer.Option(
    "--missing-values",
    metavar="VALUE",
    help="A number or text that counts as missing, such as -999, or 'COLUMN=VALUE' for one column alone; "
    "repeat, or put commas between values.",
)
_EVALUATE_HELP = (
    "Also judge the whole procedure on unseen rows, against all columns and the base rate; takes about "
    "five times as long."
)
_SCORING_HELP = (
    "With --evaluate: the score, as scikit-learn names it, such as roc_auc or balanced_accuracy."
)
_WEIGHT_HELP = "With 'balanced' every class counts alike, however rare it is."
OPTIONS: dict[str, Any] = {
    "data": DATA,
    "target": _of(_WHAT, "--target", "-t", metavar="COLUMN", help="The column to predict."),
    "time": _of(_WHAT, "--time", metavar="COLUMN", help="Survival: the column with times."),
    "event": _of(_WHAT, "--event", metavar="COLUMN", help=_EVENT_HELP),
    "entry": _of(_WHAT, "--entry", metavar="COLUMN", help=_ENTRY_HELP),
    "strata": _of(_WHAT, "--strata", metavar="COLUMN", help=_STRATA_HELP),
    "task": _of(_WHAT, "--task", metavar="TASK", help=_TASK_HELP),
    "k": _of(_HOW, "--k", metavar="N", help="Choose exactly this many columns."),
    "alpha": _of(_HOW, "--alpha", metavar="LEVEL", help=_ALPHA_HELP),
    "fdr": _of(_HOW, "--fdr", metavar="SHARE", help=_FDR_HELP),
    "keep": _of(_HOW, "--keep", metavar="COLUMN", help="Always use it; repeat, or put commas between."),
    "exclude": _of(_HOW, "--exclude", "-x", metavar="COLUMN", help="Never use it; as --keep."),
    "row_groups": _of(_HOW, "--row-groups", metavar="COLUMN", help=_GROUPS_HELP),
    "categorical": typer.Option("--categorical", metavar="COLUMN", help=_CATEGORICAL_HELP),
    "missing_values": MISSING_VALUES,
    "sep": SEPARATOR,
    "seed": typer.Option("--seed", metavar="N", help="Equal seeds give equal results."),
    "device": typer.Option("--device", metavar="NAME", help="auto, cpu, cuda or cuda:1."),
    "evaluate": typer.Option("--evaluate", help=_EVALUATE_HELP),
    "scoring": typer.Option("--scoring", metavar="NAME", help=_SCORING_HELP),
    "class_weight": _of(_WHAT, "--class-weight", metavar="WEIGHT", help=_WEIGHT_HELP),
    "out": typer.Option("--out", "-o", metavar="PATH"),
    "force": FORCE,
    "quiet": QUIET,
}
_LISTS = ("strata", "keep", "exclude", "categorical", "missing_values")


def takes_request(without: tuple[str, ...] = (), **helps: str) -> Callable[[Any], Callable[..., None]]:
    """Make a command of a function of a `Request`, whose fields become options.

    Parameters
    ----------
    without : tuple of str
        Fields that the command does not offer.
    **helps : str
        Fields whose help is another one here.
    """

    def decorate(function: Callable[[Request], None]) -> Callable[..., None]:
        def command(**given: Any) -> None:
            given |= {name: list(given.get(name) or []) for name in _LISTS}
            function(Request(**given))

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        command.__signature__ = _signature(without, helps)  # type: ignore[attr-defined]
        command.__annotations__ = {p.name: p.annotation for p in command.__signature__.parameters.values()}  # type: ignore[attr-defined]
        return command

    return decorate


def _signature(without: tuple[str, ...], helps: dict[str, str]) -> inspect.Signature:
    """Return the parameters that typer reads: a request's fields, with their options."""
    types, parameters = get_type_hints(Request), []
    for field in fields(Request):
        if field.name in without:
            continue
        option, default = OPTIONS[field.name], field.default
        if field.name in helps:
            option = _with_help(option, helps[field.name])
        if field.name in _LISTS:
            default = None
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters.append(
            inspect.Parameter(
                field.name,
                kind,
                default=inspect.Parameter.empty if default is MISSING else default,
                annotation=Annotated[_for_typer(field.name, types[field.name]), option],
            )
        )
    return inspect.Signature(parameters)


def _for_typer(name: str, kind: Any) -> Any:
    return list[str] | None if name in _LISTS else Path if name == "data" else kind


def _with_help(option: Any, text: str) -> Any:
    changed = copy(option)
    changed.help = text
    return changed
