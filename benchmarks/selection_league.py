"""The selection league: which method finds the features that matter, and predicts from them.

Each cell draws one problem with its seed, trains on the first rows and is scored on 2,000 further rows of
the same problem. Results are appended to a file as they come; a run that was stopped goes on where it was.

    python benchmarks/selection_league.py --seeds 1000:1020 --jobs 2
    python benchmarks/selection_league.py --quick
    python benchmarks/selection_league.py --table
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import league_tables

from stochgate import GatedClassifier, GatedCox, GatedRegressor, NoFeatureSelectedWarning, datasets
from stochgate.baselines import BASELINES
from stochgate.metrics import median_rank, selection_scores
from stochgate.study import Cell, grid, run_study

N_TEST = 2000
RESULTS = Path(__file__).parent / "results" / "league.jsonl"
PACKAGES = ("stg", "lassonet", "xgboost", "xgboost-cpu", "Boruta", "scikit-survival")
OURS = {"classification": GatedClassifier, "regression": GatedRegressor, "survival": GatedCox}
METHODS = ["ours", *BASELINES]


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


TASKS = {
    "xor10": Task("classification", 405, partial(datasets.make_xor, n_noise=10)),
    "xor50": Task("classification", 405, partial(datasets.make_xor, n_noise=50)),
    "xor200": Task("classification", 405, partial(datasets.make_xor, n_noise=200)),
    "moons50": Task("classification", 270, partial(datasets.make_two_moons, n_noise=50)),
    "ring": Task("classification", 1000, datasets.make_ring),
    "ringxor": Task("classification", 1000, partial(datasets.make_ring, xor=True)),
    "friedman": Task("regression", 450, datasets.make_friedman),
    "madelon": Task("classification", 450, datasets.make_madelon),
    "se2": Task("regression", 1000, datasets.make_se2),
    "lin60": Task("regression", 60, datasets.make_linear),
    "lin120": Task("regression", 120, datasets.make_linear),
    "cox": Task("survival", 500, datasets.make_cox),
    # beside the mean: redundant columns, a signal nobody finds at this size, and none at all
    "cmadelon": Task(
        "classification", 1500, partial(datasets.make_madelon, n_noise=480, n_redundant=15), signal=False
    ),
    "se1": Task("regression", 1000, datasets.make_se1, signal=False),
    "noise_c": Task(
        "classification", 300, partial(datasets.make_noise, kind="classification"), signal=False
    ),
    "noise_r": Task("regression", 300, partial(datasets.make_noise, kind="regression"), signal=False),
    "noise_s": Task("survival", 300, partial(datasets.make_noise, kind="survival"), signal=False),
}
QUICK = {
    "tasks": ["xor50", "moons50", "lin60", "lin120", "cox"],
    "methods": ["ours", "lasso", "forest"],
    "seeds": [1000],
}


def make_model(method: str, kind: str, seed: int, device: str) -> Any:
    """Return an unfitted model: ours at its defaults, or a baseline at its own."""
    if method == "ours":
        return OURS[kind](device=device, random_state=seed)
    return BASELINES[method](kind, random_state=seed)


def run_cell(task: str, method: str, seed: int, device: str = "cpu") -> dict[str, Any]:
    """Train one method on one drawn problem and return what it found."""
    problem, n = TASKS[task].draw(seed), TASKS[task].n_train
    model = make_model(method, TASKS[task].kind, seed, device)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoFeatureSelectedWarning)  # the number selected says it
        model.fit(problem.X[:n], problem.y[:n])
    seconds = time.perf_counter() - start
    support = model.get_support()
    ranked = median_rank(model.feature_importances_, problem.relevant) if problem.relevant.any() else None
    return {
        **selection_scores(support, problem.relevant),
        "median_rank": ranked,
        "test_score": float(model.score(problem.X[n:], problem.y[n:])),
        "n_selected": int(support.sum()),
        "seconds": seconds,
        "device": device if method == "ours" else "cpu",
    }


def league_cells(tasks: list[str], methods: list[str], seeds: list[int]) -> list[Cell]:
    """Return the cells of the methods that can do the tasks."""
    return [
        cell
        for cell in grid(tasks, methods, seeds)
        if cell.method == "ours" or TASKS[cell.task].kind in BASELINES[cell.method].kinds()
    ]


def show(record: dict[str, Any]) -> None:
    """Print one line about a record."""
    result = record.get("error") or (
        f"F1 {record['f1']:.2f}, test score {record['test_score']:.3f}, "
        f"{record['n_selected']} selected, {record['seconds']:.1f} s"
    )
    print(f"{record['task']:10} {record['method']:10} {record['seed']}: {result}", flush=True)


def parse_seeds(text: str) -> list[int]:
    """Read "1000:1020" (the end left out) or "3,5,8"."""
    if ":" in text:
        start, stop = text.split(":")
        return list(range(int(start), int(stop)))
    return [int(seed) for seed in text.split(",")]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--tasks", nargs="+", choices=TASKS, default=list(TASKS), metavar="TASK", help=", ".join(TASKS))
    add("--methods", nargs="+", choices=METHODS, default=METHODS, metavar="METHOD", help=", ".join(METHODS))
    add("--seeds", type=parse_seeds, default=range(1000, 1020), help="1000:1020 or 3,5,8")
    add("--out", type=Path, default=RESULTS, help="file of results, continued if it exists")
    add("--jobs", type=int, default=1, help="processes")
    add("--budget", type=float, help="seconds after which no further cell is started")
    add("--device", default="cpu", help="where ours runs; the peers run on the CPU")
    add("--retry", action="store_true", help="run cells again that ended in an error")
    add("--quick", action="store_true", help="three methods, five small tasks, one seed: within 10 minutes")
    add("--table", action="store_true", help="print the tables of the saved results and run nothing")
    arguments = parser.parse_args()
    if arguments.quick:
        vars(arguments).update(QUICK)
    return arguments


def main() -> None:
    arguments = parse_arguments()
    if not arguments.table:
        run_study(
            league_cells(arguments.tasks, arguments.methods, list(arguments.seeds)),
            partial(run_cell, device=arguments.device),
            arguments.out,
            n_jobs=arguments.jobs,
            budget_s=arguments.budget,
            retry_errors=arguments.retry,
            packages=PACKAGES,
            report=show,
        )
    signal = [name for name, task in TASKS.items() if task.signal]
    print(league_tables.report(arguments.out, list(TASKS), METHODS, signal))


if __name__ == "__main__":
    main()
