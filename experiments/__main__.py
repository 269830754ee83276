"""The command line: `python -m experiments list | run NAME | ledger | costs`."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from experiments.costs import cost_table
from experiments.experiment import Experiment
from experiments.ledger import ledger_page, write_ledger
from experiments.registry import find_experiments

PRESETS = ("full", "quick")


def read_options(names: Sequence[str], arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what the user asked for."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="say what experiments there are")
    run = commands.add_parser("run", help="run what has no result yet and print the tables")
    run.add_argument("name", nargs="?", choices=names, metavar="NAME", help=", ".join(names))
    add = run.add_argument
    add("--all", action="store_true", help="all experiments of the paper, and the ledger")
    add("--tasks", "--rows", nargs="+", metavar="TASK", help="some of the tasks")
    add("--methods", nargs="+", metavar="METHOD", help="some of the methods")
    add("--seeds", type=parse_seeds, help="1000:1020 (the end left out) or 3,5,8")
    add("--jobs", type=int, default=1, help="processes")
    add("--backend", choices=("loky", "ray"), default="loky", help="whose processes: joblib's or Ray's")
    add("--device", default="cpu", help="where ours runs; the peers run on the CPU")
    add("--budget", type=float, help="seconds after which no further cell is started")
    add("--retry", action="store_true", help="run cells again that ended in an error")
    add("--out", type=Path, help="file of results, continued if it exists")
    add("--table", action="store_true", help="print the tables of the saved results and run nothing")
    add("--picture", type=Path, help="draw the results to a file, where the experiment has a picture")
    ledger = commands.add_parser("ledger", help="print the paper's claims with what was measured")
    ledger.add_argument("--write", action="store_true", help="write docs/paper.md with its pictures")
    costs = commands.add_parser("costs", help="say what the paper's experiments cost, run and to be run")
    for command in (run, ledger, costs):
        command.add_argument("--preset", choices=PRESETS, default="full", help="quick: few and small cells")
    options = parser.parse_args(arguments)
    if options.command == "run" and (options.name is None) != options.all:
        parser.error("give the NAME of an experiment, or --all")
    if options.command == "run" and options.all and (options.out or options.picture):
        parser.error("--out and --picture are of one experiment, not of --all")
    if options.command == "ledger" and options.write and options.preset != "full":
        parser.error("the page is written from the full results alone")
    return options


def parse_seeds(text: str) -> list[int]:
    """Read "1000:1020" (the end left out) or "3,5,8".

    Examples
    --------
    >>> from experiments.__main__ import parse_seeds
    >>> parse_seeds("3:6"), parse_seeds("3,8")
    ([3, 4, 5], [3, 8])
    """
    if ":" in text:
        start, stop = text.split(":")
        return list(range(int(start), int(stop)))
    return [int(seed) for seed in text.split(",")]


def run_experiment(experiment: Experiment, options: argparse.Namespace) -> None:
    """Run the cells that are missing, unless only tables or a picture are asked for; print the tables."""
    out = options.out or experiment.results_of(options.preset)
    preset = experiment.asked(options.preset)
    asked = {name: getattr(options, name) or preset[name] for name in ("tasks", "methods", "seeds")}
    if not options.table and options.picture is None:
        experiment.run(
            experiment.cells(**asked),
            out,
            device=options.device,
            preset=options.preset,
            n_jobs=options.jobs,
            backend=options.backend,
            budget_s=options.budget,
            retry_errors=options.retry,
        )
    if options.picture is not None:
        experiment.draw_to(options.picture, out)
    print(experiment.report(out, asked["methods"]))


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what the command line says."""
    experiments = find_experiments()
    of_paper = [experiment for experiment in experiments.values() if experiment.paper is not None]
    options = read_options(list(experiments), arguments)
    if options.command == "list":
        for name, experiment in experiments.items():
            print(f"{name:20} {experiment.title}")
    elif options.command == "costs":
        print(cost_table(of_paper, options.preset))
    elif options.command == "ledger":
        if options.write:
            write_ledger(of_paper)
        print(ledger_page(of_paper, options.preset))
    else:
        asked = of_paper if options.all else [experiments[options.name]]
        try:
            for experiment in asked:
                print(
                    f"\n# {experiment.name}: {experiment.title}\n" if options.all else "",
                    end="",
                    flush=True,
                )
                run_experiment(experiment, options)
        except ValueError as error:
            raise SystemExit(f"python -m experiments: {error}") from error
        if options.all:
            print(f"\n{ledger_page(of_paper, options.preset)}")


if __name__ == "__main__":
    main()
