"""The command line: `python -m experiments list`, `python -m experiments run NAME`."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from experiments.experiment import Experiment
from experiments.registry import find_experiments


def read_options(names: Sequence[str], arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return what the user asked for."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="say what experiments there are")
    run = commands.add_parser("run", help="run what has no result yet and print the tables")
    run.add_argument("name", choices=names, metavar="NAME", help=", ".join(names))
    add = run.add_argument
    add("--tasks", "--rows", nargs="+", metavar="TASK", help="some of the tasks")
    add("--methods", nargs="+", metavar="METHOD", help="some of the methods")
    add("--seeds", type=parse_seeds, help="1000:1020 (the end left out) or 3,5,8")
    add("--quick", action="store_true", help="few and small, unless asked for more")
    add("--jobs", type=int, default=1, help="processes")
    add("--device", default="cpu", help="where ours runs; the peers run on the CPU")
    add("--budget", type=float, help="seconds after which no further cell is started")
    add("--retry", action="store_true", help="run cells again that ended in an error")
    add("--out", type=Path, help="file of results, continued if it exists")
    add("--table", action="store_true", help="print the tables of the saved results and run nothing")
    add("--picture", type=Path, help="draw the results to a file, where the experiment has a picture")
    return parser.parse_args(arguments)


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
    quick = experiment.quick if options.quick else {}
    asked = {name: getattr(options, name) or quick.get(name) for name in ("tasks", "methods", "seeds")}
    if not options.table and options.picture is None:
        experiment.run(
            experiment.cells(**asked),
            options.out,
            device=options.device,
            n_jobs=options.jobs,
            budget_s=options.budget,
            retry_errors=options.retry,
        )
    if options.picture is not None:
        experiment.draw_to(options.picture, options.out)
    print(experiment.report(options.out, asked["methods"]))


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what the command line says."""
    experiments = find_experiments()
    options = read_options(list(experiments), arguments)
    if options.command == "list":
        for name, experiment in experiments.items():
            print(f"{name:20} {experiment.title}")
        return
    try:
        run_experiment(experiments[options.name], options)
    except ValueError as error:
        raise SystemExit(f"python -m experiments: {error}") from error


if __name__ == "__main__":
    main()
