"""Tables that users read: data frames where pandas is installed."""

from typing import Any

import numpy as np

from stochgate.choice.comparison import start_comparison
from stochgate.choice.rules import Candidate, list_candidates
from stochgate.choice.sets.path import make_lams, train_each_path
from stochgate.problem.problem import Problem


def make_table(rows: list[dict[str, Any]], columns: list[str] | None = None) -> Any:
    """Return rows as a DataFrame, or as they are without pandas.

    Parameters
    ----------
    rows : list of dict
    columns : list of str, optional
        By default those of the rows; a table without rows has none then.
    """
    try:
        import pandas as pd
    except ImportError:
        return rows
    return pd.DataFrame(rows, columns=columns)


def train_table(problem: Problem, cv: Any, groups: Any, lams: Any, names: list[Any]) -> Any:
    """Train every network's path and return its table, without choosing.

    Parameters
    ----------
    problem : Problem
    cv, groups : as in `make_folds`
    lams : array or None for those of the automatic choice
    names : list
    """
    comparison = start_comparison(problem, cv, groups)
    if lams is None:
        lams = make_lams(problem.n_samples) * problem.gates.n_gates
    lams = np.sort(np.asarray(lams, dtype=float).ravel())[::-1]
    if len(lams) == 0 or not np.isfinite(lams).all() or lams[-1] < 0:
        raise ValueError("lams must be numbers not below 0, at least one.")
    paths = train_each_path(comparison, lams, comparison.folds, comparison.networks, n_larger=0)
    candidates = list_candidates([[path] for path in paths])
    return path_table(candidates, comparison.networks, problem.gates.spread, names)


def path_table(candidates: list[Candidate], networks: list[str], spread: Any, names: list[Any]) -> Any:
    """Return one row per network, stage and penalty: a DataFrame where pandas is installed.

    Parameters
    ----------
    candidates : list of Candidate
    networks : list of str
    spread : callable
        Gives every feature its gate's value.
    names : list
        What the features are called.
    """
    rows = []
    for c in candidates:
        selected = np.flatnonzero(spread(c.support))
        rows.append(
            {
                "network": networks[c.network],
                "stage": c.cells.stage,
                "lam": float(c.cells.lams[c.cell]),
                "step": int(c.cells.step[c.cell]),
                "n_features": len(selected),
                "n_by_fold": [int(spread(opened).sum()) for opened in c.opened],
                "n_at_end": int(spread(c.settled).sum()),
                "train_loss": float(c.cells.train[c.cell].mean()),
                "held_out_loss": c.loss,
                "held_out_sd": float(c.losses.std(ddof=1)) if np.isfinite(c.losses).all() else float("nan"),
                "features": [names[j] for j in selected],
            }
        )
    return make_table(rows)
