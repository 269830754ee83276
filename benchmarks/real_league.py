"""The real league: which method predicts real tables well from few of their columns.

A cell is a split of a table into 70 % of its rows for training and 30 % for testing, of which at most 1,000
and 5,000 are used; five splits, twenty of tables below 200 rows. Splits are stratified by class or event;
rows that belong together stay together, and ours is told of them. Missing values are filled with the
medians of the training rows. A cell that takes over ten minutes is recorded as not finished.

    STOCHGATE_DATA=... python benchmarks/real_league.py --sets tuning --jobs 2
    STOCHGATE_DATA=... python benchmarks/real_league.py --sets allaml --methods ours lasso --device cuda
    STOCHGATE_DATA=... python benchmarks/real_league.py --states 0:5    # one split, several random states
    python benchmarks/real_league.py --quick
    python benchmarks/real_league.py --table
"""

import argparse
import itertools
import warnings
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import real_tables
from league import OURS, PACKAGES, RESULTS
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from stochgate import ConstantColumnWarning, NoFeatureSelectedWarning
from stochgate.baselines import ALL_COLUMNS, BASELINES
from stochgate.datasets import REAL, RealTable, load_real
from stochgate.study import Cell, fit_and_score, parse_seeds, run_as_asked, study_parser, time_limit

TEST_SHARE = 0.3
MAX_TRAIN, MAX_TEST = 1000, 5000
MAX_SECONDS = 600.0
SELECTING = ["lasso", "forest", "boruta", "lassonet", "stg"]
METHODS = ["ours", "ours-k20", *SELECTING, *ALL_COLUMNS]
FAST = ["lasso", "forest", "all-forest", "all-linear"]
SETTINGS: dict[str, dict[str, Any]] = {"lasso": {"solver": "liblinear"}, "forest": {"n_splits": 5}}
ROLES = {role: [name for name, entry in REAL.items() if entry.role == role] for role in ("tuning", "final")}
QUICK = {"sets": ["wine", "diabetes", "veterans"], "methods": ["ours", *FAST], "splits": 2}
STRATA = {
    "classification": lambda y: y,
    "regression": lambda y: None,
    "survival": lambda y: y["event"],
}
SILENCED = (NoFeatureSelectedWarning, ConstantColumnWarning, ConvergenceWarning)


class Part(NamedTuple):
    """The rows of a table to train on, or to test on."""

    X: Any
    y: np.ndarray
    groups: np.ndarray | None


def count_splits(name: str) -> int:
    """Return how many splits a table has."""
    return 20 if REAL[name].n_rows < 200 else 5


def split_rows(table: RealTable, split: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the training and the test rows of a split, shuffled."""
    rows = np.arange(len(table.y))
    if table.groups is not None:
        splitter = GroupShuffleSplit(1, test_size=TEST_SHARE, random_state=split)
        train, test = next(splitter.split(rows, groups=table.groups))
    else:
        strata = STRATA[table.kind](table.y)
        train, test = train_test_split(rows, test_size=TEST_SHARE, random_state=split, stratify=strata)
    rng = np.random.default_rng(split)
    return rng.permutation(train)[:MAX_TRAIN], rng.permutation(test)[:MAX_TEST]


def split_table(table: RealTable, split: int) -> tuple[Part, Part]:
    """Return the training and the test part of a split, without missing values."""
    train, test = (
        Part(table.X[rows], table.y[rows], None if table.groups is None else table.groups[rows])
        for rows in split_rows(table, split)
    )
    if isinstance(table.X, np.ndarray) and np.isnan(table.X).any():
        fill = SimpleImputer(strategy="median", keep_empty_features=True).fit(train.X)
        train, test = (part._replace(X=fill.transform(part.X)) for part in (train, test))
    return train, test


def is_ours(method: str) -> bool:
    """Return whether a method is one of ours."""
    return method.startswith("ours")


def make_model(method: str, kind: str, n_features: int, random_state: int, device: str) -> Any:
    """Return an unfitted model."""
    if is_ours(method):
        k = min(20, n_features) if method == "ours-k20" else None
        return OURS[kind](n_features_to_select=k, device=device, random_state=random_state)
    made = {**BASELINES, **ALL_COLUMNS}[method]
    return made(kind, random_state=random_state, **SETTINGS.get(method, {}))


def run_cell(
    task: str, method: str, seed: int, *, split: int | None = None, device: str = "cpu"
) -> dict[str, Any]:
    """Train one method on one split and return how it predicts and what it selects.

    The number of the split is the seed; where a split is given, the seed is only the random state.
    """
    table = load_real(task)
    train, test = split_table(table, seed if split is None else split)
    fit_params = {}
    if not is_ours(method):  # the others take neither sparse columns nor groups
        train, test = (part._replace(X=_dense(part.X)) for part in (train, test))
    elif train.groups is not None:
        fit_params["groups"] = train.groups
    model = make_model(method, table.kind, table.X.shape[1], seed, device)
    sizes = {"n_features": table.X.shape[1], "n_train": len(train.y), "n_test": len(test.y)}
    try:
        with time_limit(MAX_SECONDS):
            found = fit_and_score(model, train[:2], test[:2], *SILENCED, **fit_params)
            balanced = JUDGES[table.kind](test.y, model.predict(test.X))
    except TimeoutError as error:
        return {"error": str(error), **sizes}
    score = max(0.0, found.pop("test_score"))  # R2 has no lower end
    selected = None if method in ALL_COLUMNS else model.get_support(indices=True).tolist()
    return {"score": score, "balanced_accuracy": balanced, **found, **sizes, "selected": selected}


def _dense(X: Any) -> np.ndarray:
    return X if isinstance(X, np.ndarray) else X.toarray()


def _balanced_accuracy(y: np.ndarray, prediction: np.ndarray) -> float:
    """Return the mean recall of the classes that the test rows have."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "y_pred contains classes not in y_true", UserWarning)
        return float(balanced_accuracy_score(y, prediction))


def _no_classes(y: np.ndarray, prediction: np.ndarray) -> None:
    return None


JUDGES = {"classification": _balanced_accuracy, "regression": _no_classes, "survival": _no_classes}


def real_cells(sets: list[str], methods: list[str], most: int | None = None) -> list[Cell]:
    """Return the cells of the methods that can do the sets, split by split.

    Parameters
    ----------
    sets, methods : list of str
    most : int, optional
        At most so many splits of each set.
    """
    n_splits = {name: min(count_splits(name), most or count_splits(name)) for name in sets}
    return [
        Cell(name, method, split)
        for split, name, method in itertools.product(range(max(n_splits.values())), sets, methods)
        if split < n_splits[name] and _can_do(method, REAL[name].kind)
    ]


def _can_do(method: str, kind: str) -> bool:
    return is_ours(method) or kind in {**BASELINES, **ALL_COLUMNS}[method].kinds()


def show(record: dict[str, Any]) -> None:
    """Print one line about a record."""
    result = record.get("error") or (
        f"score {record['score']:.3f}, {record['n_selected']} of {record['n_features']} columns, "
        f"{record['seconds']:.1f} s"
    )
    print(f"{record['task']:12} {record['method']:12} {record['seed']}: {result}", flush=True)


def read_options() -> argparse.Namespace:
    """Return what the user asked for."""
    parser = study_parser(__doc__.splitlines()[0], RESULTS / "real_league.jsonl")
    add = parser.add_argument
    known = [*ROLES, *REAL]
    add("--sets", nargs="+", choices=known, default=["tuning"], metavar="SET", help=", ".join(known))
    add("--methods", nargs="+", choices=METHODS, default=METHODS, metavar="METHOD", help=", ".join(METHODS))
    add("--splits", type=int, help="at most so many splits of each set")
    add(
        "--states",
        type=parse_seeds,
        help="run split 0 with these random states (0:5), to a file of its own",
    )
    add(
        "--quick", action="store_true", help="three small sets, fast methods, two splits: within 15 minutes"
    )
    asked, _ = parser.parse_known_args()
    if asked.states is not None:
        parser.set_defaults(out=RESULTS / "real_league_states.jsonl")
    if asked.quick:
        parser.set_defaults(**QUICK)
    return parser.parse_args()


def main() -> None:
    options = read_options()
    sets = list(itertools.chain.from_iterable(ROLES.get(name, [name]) for name in options.sets))
    if options.states is None:
        cells, run = real_cells(sets, options.methods, options.splits), run_cell
    else:
        first = real_cells(sets, options.methods, most=1)
        cells = [cell._replace(seed=state) for state in options.states for cell in first]
        run = partial(run_cell, split=0)
    run_as_asked(options, cells, run, (*PACKAGES, "lifelines"), show)
    kinds = {name: REAL[name].kind for name in REAL}
    print(real_tables.report(options.out, kinds, options.methods, SELECTING, list(ALL_COLUMNS)))


if __name__ == "__main__":
    main()
