"""The authors' Cox example: a Gaussian risk in 2 of 10 columns, where the true features are known.

The claim: the 2 features are found, and the risk is ordered nearly as well as by the true risk. The check:
how often exactly these 2 are selected, F1, and Harrell's C on the 1,000 test rows beside that of the true
risk. "all" trains on all 4,000 rows, so that only the methods' own chance varies; "500" on 500 of them.

    STOCHGATE_DATA=... python experiments/cox_gaussian.py --jobs 2
    python experiments/cox_gaussian.py --table
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from cox_methods import METHODS, PACKAGES, RESULTS, errors, make_model, means, show

from stochgate import NoFeatureSelectedWarning, datasets
from stochgate.metrics import concordance_index, selection_scores
from stochgate.study import (
    fit_and_score,
    grid,
    parse_seeds,
    read_table,
    run_as_asked,
    study_parser,
    to_markdown,
)

TASKS = {"all": 4000, "500": 500}


def run_cell(task: str, method: str, seed: int, device: str = "cpu") -> dict[str, Any]:
    """Train one method on some rows and return what it found."""
    train, test = datasets.load_gaussian_survival("train"), datasets.load_gaussian_survival("test")
    rows = np.random.RandomState(seed).permutation(len(train.X))[: TASKS[task]]
    model = make_model(method, seed, device)
    drawn = train.X[rows], train.y[rows]
    scores = fit_and_score(model, drawn, (test.X, test.y), NoFeatureSelectedWarning)
    support = model.get_support()
    return {
        **scores,
        **selection_scores(support, train.relevant),
        "exact": float((support == train.relevant).all()),
        "true_score": concordance_index(test.y["event"], test.y["time"], test.log_hazard),
    }


def report(path: Path) -> str:
    """Return the scores of each method."""
    table = read_table(path)
    if "test_score" not in table:
        return f"No results in {path}.\n{errors(table)}"
    columns = {"test_score": "C", "f1": "F1", "exact": "exactly the 2", "n_selected": "features"}
    found = {value: means(table, value, 3) for value in columns}
    rows = {
        method: {
            f"{task}: {title}": found[value].get((task, method), "-")
            for task in TASKS
            for value, title in columns.items()
        }
        for method in METHODS
    }
    frame = to_markdown(pd.DataFrame.from_dict(rows, orient="index"))
    true = table["true_score"].dropna().iloc[0]
    return f"Mean (standard deviation); the true risk has C = {true:.3f}\n\n{frame}\n\n{errors(table)}"


def main() -> None:
    parser = study_parser(__doc__.splitlines()[0], RESULTS / "cox_gaussian.jsonl")
    add = parser.add_argument
    add("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    add("--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="METHOD")
    add("--seeds", type=parse_seeds, default=range(1000, 1005), help="1000:1005 or 3,5,8")
    options = parser.parse_args()
    cells = grid(options.tasks, options.methods, options.seeds)
    run_as_asked(options, cells, run_cell, PACKAGES, show)
    print(report(options.out))


if __name__ == "__main__":
    main()
