"""The real league: a cell is one split of a real table.

Five splits, twenty of tables below 200 rows (`splits.py`). Ours is told which rows belong together. A cell
that takes over ten minutes is recorded as not finished.

    STOCHGATE_DATA=... python -m experiments run real-league --tasks tuning --jobs 2
    STOCHGATE_DATA=... python -m experiments run real-league --tasks allaml --methods ours lasso
    STOCHGATE_DATA=... python -m experiments run real-league-states --tasks rossi
"""

import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score

from experiments.baselines import ALL_COLUMNS
from experiments.experiment import Experiment
from experiments.leagues.real_picture import draw_points, find_points
from experiments.leagues.real_tables import real_tables
from experiments.leagues.splits import split_table
from experiments.methods import PACKAGES, can_do, make_model
from experiments.study import fit_and_score, time_limit
from stochgate import ConstantColumnWarning, NoFeatureSelectedWarning
from stochgate.datasets import REAL, load_real

MAX_SECONDS = 600.0
SELECTING = ["lasso", "forest", "boruta", "lassonet", "stg"]
METHODS = ["ours", "ours-k20", *SELECTING, *ALL_COLUMNS]
FAST = ["lasso", "forest", "all-forest", "all-linear"]
SETTINGS: dict[str, dict[str, Any]] = {"lasso": {"solver": "liblinear"}, "forest": {"n_splits": 5}}
SILENCED = (NoFeatureSelectedWarning, ConstantColumnWarning, ConvergenceWarning)


def count_splits(name: str) -> int:
    """Return how many splits a table has."""
    return 20 if REAL[name].n_rows < 200 else 5


def is_ours(method: str) -> bool:
    """Return whether a method is one of ours."""
    return method.startswith("ours")


def make_real_model(method: str, kind: str, n_features: int, seed: int, device: str) -> Any:
    """Return an unfitted model; "ours-k20" is ours, asked for 20 features."""
    if method == "ours-k20":
        k = min(20, n_features)
        return make_model("ours", kind, seed=seed, device=device, n_features_to_select=k)
    return make_model(method, kind, seed=seed, device=device, **SETTINGS.get(method, {}))


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
    model = make_real_model(method, table.kind, table.X.shape[1], seed, device)
    sizes = {"n_features": table.X.shape[1], "n_train": len(train.y), "n_test": len(test.y)}
    try:
        with time_limit(MAX_SECONDS):
            found = fit_and_score(model, train[:2], test[:2], *SILENCED, **fit_params)
            balanced = BALANCED[table.kind](test.y, model.predict(test.X))
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


BALANCED = {"classification": _balanced_accuracy, "regression": _no_classes, "survival": _no_classes}

_SHARED: dict[str, Any] = {
    "tasks": list(REAL),
    "methods": METHODS,
    "can_do": lambda task, method: can_do(method, REAL[task].kind),
    "default_tasks": ["tuning"],
    "task_groups": {
        role: [name for name, entry in REAL.items() if entry.role == role] for role in ("tuning", "final")
    },
    "tables": partial(
        real_tables,
        kinds={name: REAL[name].kind for name in REAL},
        selecting=SELECTING,
        all_columns=list(ALL_COLUMNS),
    ),
    "metrics": {
        "score": "score {:.3f}",
        "n_selected": "{} selected",
        "n_features": "of {} columns",
        "seconds": "{:.1f} s",
    },
    "packages": PACKAGES,
}
REAL_LEAGUE = Experiment(
    name="real-league",
    title="Which method predicts real tables well from few of their columns?",
    seeds=lambda task: range(count_splits(task)),
    run_cell=run_cell,
    quick={
        "tasks": ["wine", "diabetes", "veterans"],
        "methods": ["ours", *FAST],
        "seeds": range(2),
    },
    draw=lambda table: draw_points(find_points(table)),
    **_SHARED,
)
STATES = Experiment(
    name="real-league-states",
    title="Does the same split of a real table give the same features at other random states?",
    seeds=range(5),
    run_cell=partial(run_cell, split=0),
    **_SHARED,
)
