"""The commands, each a few lines: the work is done elsewhere."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

import stochgate
from stochgate.cli.group import DEBUG, OneSentence
from stochgate.cli.notes import collect_notes
from stochgate.cli.options import DATA, FORCE, MISSING_VALUES, QUIET, SEPARATOR, takes_request
from stochgate.cli.outputs import check_output_file, output_folder, write_csv
from stochgate.cli.progress import Watch
from stochgate.cli.request import Request
from stochgate.cli.show import Screen
from stochgate.cli.table.data import Data, load_data
from stochgate.cli.table.missing import mark_missing, names_no_other
from stochgate.cli.table.read import read_table
from stochgate.cli.text import count
from stochgate.cli.work.demo import TARGET, TEST, TRAIN, judge_demo, write_tumours
from stochgate.cli.work.path import train_path
from stochgate.cli.work.predict import load_model, predict_table, read_times, text_columns
from stochgate.cli.work.select import (
    EFFECTS,
    FEATURES,
    MODEL,
    REPORT,
    Found,
    choose,
    write_found,
    write_report,
)
from stochgate.optional import require

app = typer.Typer(
    cls=OneSentence,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def stochgate_command(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    debug: Annotated[bool, typer.Option(DEBUG, help="On errors, show where they come from.")] = False,
) -> None:
    """Choose the columns of a table that matter, and train the model that uses them.

    For example:

      stochgate demo
      stochgate select mice.csv --target class --row-groups mouse
      stochgate select trial.parquet --time months --event died --evaluate
      stochgate predict mice-selected/model.safetensors new.csv

    Exit codes: 2 for a wrong option or column name, 1 for a bad file, 130
    for Ctrl-C.
    """
    if version:
        print(stochgate.__version__)
    elif context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
@takes_request(out="Folder for the results; by default the data file's name and '-selected'.")
def select(request: Request) -> None:
    """Choose columns; write the table of them, the model and a report.

    A target of text or truth values has classes, and so has one of two
    different values, or of whole numbers with at most 20 different ones,
    at most one in 20 rows. Other numbers are a quantity (regression).
    What was found is printed; --task overrides it.

    For example:

      stochgate select mice.csv --target class --row-groups 'MouseID=^(.+)_'
      stochgate select table.tsv --target dose --k 10 --exclude sample,batch
      stochgate select trial.csv --time months --event 'status=dead' --fdr 0.1
    """
    _select(request, Screen(request.quiet))


def _select(request: Request, screen: Screen) -> Found:
    """Choose columns and write what was found."""
    folder = Path(f"{request.stem}-selected") if request.out is None else request.out
    require("safetensors", package="safetensors", needed_by="The model file", extra="cli")
    data = load_data(request)
    with output_folder(folder, (FEATURES, EFFECTS, MODEL, REPORT), request.force):
        return _choose(data, request, screen, lambda found: write_found(found, data, request, folder))


def _choose(
    data: Data, request: Request, screen: Screen, write: Callable[[Found], Sequence[Path]]
) -> Found:
    """Choose columns, write what was found, and print it."""
    screen.show_data(data)
    with Watch(screen.messages, request.quiet) as watch:
        found = choose(data, request, watch)
    try:
        written = write(found)
    finally:  # what took long to find is shown even where it cannot be written
        screen.show_found(found)
    same = [given for given in request.missing_values if names_no_other(given, data.X.columns)]
    screen.show_written(written, same)
    return found


@app.command()
@takes_request(out="The report; by default the data file's name and '-report.html'.")
def report(request: Request) -> None:
    """Choose columns as select does, but write the report alone.

    For example:

      stochgate report mice.csv --target class --out mice.html
    """
    path = Path(f"{request.stem}-report.html") if request.out is None else request.out
    screen, data = Screen(request.quiet), load_data(request)
    path = check_output_file(path, request.force)
    _choose(data, request, screen, lambda found: [write_report(found, data, request, path)])


@app.command()
@takes_request(
    without=("k", "alpha", "fdr", "evaluate", "scoring"),
    out="The table; by default path.csv.",
)
def path(request: Request) -> None:
    """Show what each number of columns is worth, without choosing one.

    Models are trained under penalties from large to small on parts of the
    rows, and judged on the rows left out.

    For example:

      stochgate path mice.csv --target class --row-groups mouse
    """
    screen, data = Screen(request.quiet), load_data(request)
    out = check_output_file(Path("path.csv") if request.out is None else request.out, request.force)
    screen.show_data(data)
    with Watch(screen.messages, request.quiet) as watch:
        table, notes = train_path(data, request, watch)
    written = write_csv(table, out)
    for note in notes:
        screen.note(note)
    screen.show_path(table)
    screen.show_written([written])


@app.command()
def predict(
    model: Annotated[
        Path, typer.Argument(help="The model.safetensors that select wrote.", metavar="MODEL")
    ],
    data: Annotated[Path, DATA],
    out: Annotated[Path, typer.Option("--out", "-o", help="The predictions.")] = Path("predictions.csv"),
    times: Annotated[
        str | None, typer.Option("--times", help="Survival models: at which times, such as 12,24,60.")
    ] = None,
    strata: Annotated[
        list[str] | None,
        typer.Option(
            "--strata", help="With --times: the column of the stratum, for models that have some."
        ),
    ] = None,
    ids: Annotated[
        list[str] | None, typer.Option("--id", help="Copy this column, to tell the rows apart.")
    ] = None,
    missing_values: Annotated[list[str] | None, MISSING_VALUES] = None,
    sep: Annotated[str | None, SEPARATOR] = None,
    force: Annotated[bool, FORCE] = False,
    quiet: Annotated[bool, QUIET] = False,
) -> None:
    """Predict for the rows of a table, which needs the chosen columns only.

    Classes come with their probabilities; survival models give the log
    hazard, and the probability of survival at --times.

    For example:

      stochgate predict trial-selected/model.safetensors new.csv --times 12,24
    """
    screen, at = Screen(quiet), read_times(times)
    fitted = load_model(model)
    frame, notes = read_table(data, sep, text_columns(fitted), tell_words=False)
    frame, _ = mark_missing(frame, missing_values or [])
    out = check_output_file(out, force)
    for note in notes:
        screen.note(note)
    with collect_notes() as missing:
        made = predict_table(fitted, frame, at, ids, strata)
    written = write_csv(made, out)
    for note in missing:
        screen.note(note)
    screen.say(f"{count(len(made), 'row')} predicted from {count(fitted.n_features_in_, 'column')}.")
    screen.show_written([written])


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")] = Path(
        "stochgate-demo"
    ),
    force: Annotated[bool, FORCE] = False,
    quiet: Annotated[bool, QUIET] = False,
) -> None:
    """See it work: 398 tumours, 30 measurements and 100 columns of noise, under half a minute.

    The table is written to the folder, then goes through select; the model
    is compared with a random forest on 171 other tumours.
    """
    with output_folder(out, (TRAIN, TEST, FEATURES, EFFECTS, MODEL, REPORT), force):
        data = write_tumours(out)
        screen = Screen(quiet)
        screen.say(f"$ stochgate select {data} --target {TARGET}", style="bold")
        found = _select(Request(data=data, target=TARGET, out=out, force=True, quiet=quiet), screen)
        screen.show_demo(judge_demo(found.model, out))
