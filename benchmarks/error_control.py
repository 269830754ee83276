"""Does `StabilitySelector` keep its promises: false selections at fdr=0.1 and at max_false=1.

python benchmarks/error_control.py --seeds 1000:1050 --jobs 2
python benchmarks/error_control.py --table
"""

import time
from functools import partial
from pathlib import Path
from typing import Any

from stochgate import GatedClassifier, GatedRegressor, StabilitySelector, datasets
from stochgate.study import grid, parse_seeds, read_table, run_as_asked, study_parser, summarise

RESULTS = Path(__file__).parent / "results" / "error_control.jsonl"
TASKS = {
    "linear": (GatedRegressor, partial(datasets.make_linear, 200)),
    "correlated": (GatedRegressor, partial(datasets.make_linear, 200, rho=0.7)),
    "friedman": (GatedRegressor, partial(datasets.make_friedman, 450, 500)),
    "xor": (GatedClassifier, partial(datasets.make_xor, 405, 50)),
}
PROMISES = {"fdr=0.1": {"fdr": 0.1}, "max_false=1": {"max_false": 1.0}}


def run_cell(task: str, method: str, seed: int, device: str = "cpu") -> dict[str, Any]:
    """Select once; return the share of false selections, their number and the share of true ones found."""
    estimator, make = TASKS[task]
    problem = make(random_state=seed)
    started = time.perf_counter()
    selector = StabilitySelector(estimator(device=device), random_state=seed, **PROMISES[method]).fit(
        problem.X, problem.y
    )
    selected, relevant = selector.get_support(), problem.relevant
    n_false = int((selected & ~relevant).sum())
    return {
        "false_share": n_false / max(1, int(selected.sum())),
        "n_false": n_false,
        "found_share": float(selected[relevant].mean()),
        "n_selected": int(selected.sum()),
        "network": selector.network_,
        "seconds": time.perf_counter() - started,
    }


def print_table(path: Path) -> None:
    frame = read_table(path)
    for measure in ("false_share", "n_false", "found_share"):
        print(f"\n{measure}: mean over the seeds, with its 95 % interval\n")
        print(summarise(frame, measure).round(3).to_string(index=False))


def main() -> None:
    parser = study_parser(__doc__.splitlines()[0], RESULTS)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--promises", nargs="+", choices=PROMISES, default=list(PROMISES))
    parser.add_argument("--seeds", type=parse_seeds, default=range(1000, 1050), help="1000:1050 or 3,5,8")
    options = parser.parse_args()
    run_as_asked(options, grid(options.tasks, options.promises, options.seeds), run_cell)
    if options.table:
        print_table(options.out)


if __name__ == "__main__":
    main()
