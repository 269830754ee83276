"""What the leagues share: a problem is drawn with a seed, and a method finds its features and predicts.

Each cell draws one problem with its seed, trains on the first rows and is scored on 2,000 further rows of
the same problem. Results are appended to a file as they come; a run that was stopped goes on where it was.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import league_tables

from stochgate import (
    GatedClassifier,
    GatedCox,
    GatedRegressor,
    NoFeatureSelectedWarning,
    Training,
    datasets,
)
from stochgate.baselines import BASELINES
from stochgate.metrics import median_rank, selection_scores
from stochgate.study import Cell, fit_and_score, grid, parse_seeds, run_as_asked, study_parser

N_TEST = 2000
RESULTS = Path(__file__).parent / "results"
PACKAGES = ("stg", "lassonet", "xgboost", "xgboost-cpu", "Boruta", "scikit-survival")
OURS = {"classification": GatedClassifier, "regression": GatedRegressor, "survival": GatedCox}
SETTINGS: dict[str, dict[str, Any]] = {"ours": {}, "ours-tf32": {"training": Training(tf32=True)}}


@dataclass(frozen=True)
class Task:
    """A problem of the league.

    Attributes
    ----------
    kind : {"classification", "regression", "survival"}
    n_train : int
    make : callable
        Draws a `Problem`, given the number of rows and random_state.
    signal : bool
        Whether it counts in the mean F1.
    """

    kind: str
    n_train: int
    make: Callable[..., datasets.Problem]
    signal: bool = True

    def draw(self, seed: int) -> datasets.Problem:
        """Draw training and test rows, in this order."""
        return self.make(self.n_train + N_TEST, random_state=seed)


Tasks = dict[str, Task]


def make_model(method: str, kind: str, seed: int, device: str) -> Any:
    """Return an unfitted model: ours at its defaults or with TF32, or a baseline at its own."""
    if method in SETTINGS:
        return OURS[kind](device=device, random_state=seed, **SETTINGS[method])
    return BASELINES[method](kind, random_state=seed)


def run_cell(task: str, method: str, seed: int, *, tasks: Tasks, device: str = "cpu") -> dict[str, Any]:
    """Train one method on one drawn problem and return what it found."""
    problem, n = tasks[task].draw(seed), tasks[task].n_train
    model = make_model(method, tasks[task].kind, seed, device)
    train, test = (problem.X[:n], problem.y[:n]), (problem.X[n:], problem.y[n:])
    scores = fit_and_score(model, train, test, NoFeatureSelectedWarning)
    ranked = median_rank(model.feature_importances_, problem.relevant) if problem.relevant.any() else None
    return {
        **selection_scores(model.get_support(), problem.relevant),
        "median_rank": ranked,
        **scores,
    }


def league_cells(tasks: Tasks, methods: list[str], seeds: list[int]) -> list[Cell]:
    """Return the cells of the methods that can do the tasks."""
    return [
        cell
        for cell in grid(tasks, methods, seeds)
        if cell.method in SETTINGS or tasks[cell.task].kind in BASELINES[cell.method].kinds()
    ]


def show(record: dict[str, Any]) -> None:
    """Print one line about a record."""
    result = record.get("error") or (
        f"F1 {record['f1']:.2f}, test score {record['test_score']:.3f}, "
        f"{record['n_selected']} selected, {record['seconds']:.1f} s"
    )
    print(f"{record['task']:10} {record['method']:10} {record['seed']}: {result}", flush=True)


def run_league(
    title: str, tasks: Tasks, methods: list[str], results: Path, quick: dict[str, Any] | None = None
) -> None:
    """Read the options, run the cells that are missing and print the tables."""
    parser = study_parser(title, results)
    add = parser.add_argument
    add("--tasks", nargs="+", choices=tasks, default=list(tasks), metavar="TASK", help=", ".join(tasks))
    known = [*methods, *(name for name in SETTINGS if name not in methods)]
    add("--methods", nargs="+", choices=known, default=methods, metavar="METHOD", help=", ".join(known))
    add("--seeds", type=parse_seeds, default=range(1000, 1020), help="1000:1020 or 3,5,8")
    if quick is not None:
        add("--quick", action="store_true", help="few and small unless asked for more: within 10 minutes")
        if parser.parse_known_args()[0].quick:
            parser.set_defaults(**quick)
    options = parser.parse_args()
    if "ours-tf32" in options.methods and options.device == "cpu" and not options.table:
        parser.error("TF32 is of a GPU: --device cuda")
    chosen = {name: tasks[name] for name in options.tasks}
    cells = league_cells(chosen, options.methods, list(options.seeds))
    run_as_asked(options, cells, partial(run_cell, tasks=tasks), PACKAGES, show)
    signal = [name for name, task in tasks.items() if task.signal]
    print(league_tables.report(options.out, list(tasks), options.methods, signal))
