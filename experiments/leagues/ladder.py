"""The published ladder of non-linear selection problems (Passemiers et al. 2024), beside its 20 methods.

Cells are problem, rows and columns. A seed is a draw and a fold: 6 * draw + fold, of `KFold(6)` without
shuffling; the published cells are one draw each.

    STOCHGATE_DATA=... python -m experiments run ladder --jobs 2 --seeds 6000:6006
"""

import time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import KFold

from experiments.experiment import Experiment
from experiments.leagues.cohorts import read_published
from experiments.leagues.real import SILENCED
from experiments.methods import make_model
from experiments.study import fit_and_score, to_markdown

N_TRUE = {"ring": 2, "xor": 2, "ring+xor": 4, "ring+xor+sum": 6}
ROWS = (250, 500, 1000)
COLUMNS = {
    name: [c for c in (2, 4, 6, 8, 16, 32, 64, 128, 256, 512, 1024, 2048) if c >= p and (c != 6 or p == 6)]
    for name, p in N_TRUE.items()
}
TASKS = [f"{name}-{n}-{c}" for name in N_TRUE for n in ROWS for c in COLUMNS[name]]


def draw(problem: str, n_rows: int, n_columns: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return X, scaled to [-1, 1], and y."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_rows, n_columns))
    at = X - 0.5
    ring = np.abs(np.hypot(at[:, 0], at[:, 1]) - 0.35)
    if problem == "xor":
        y = -at[:, 0] * at[:, 1] >= 0
    elif problem == "ring":
        y = ring <= 0.1151
    else:
        cross = -at[:, 2] * at[:, 3]
        width, least = {"ring+xor": (0.0704, 0.0337), "ring+xor+sum": (0.0479, 0.0598)}[problem]
        y = (ring <= width) | (cross >= least)
    if problem == "ring+xor+sum":
        y |= X[:, 4] + X[:, 5] + 0.2 * rng.normal(size=n_rows) >= 1.4074
    return 2 * X - 1, y


def run_cell(task: str, method: str, seed: int, *, device: str = "cpu") -> dict[str, Any]:
    """Return the share of the p true columns among the strongest p and 2p, and what is selected."""
    problem, n_rows, n_columns = task.rsplit("-", 2)
    X, y = draw(problem, int(n_rows), int(n_columns), seed // 6)
    train, test = list(KFold(6).split(X))[seed % 6]
    start, p = time.perf_counter(), N_TRUE[problem]
    model = make_model(method, "classification", seed=seed, device=device)
    found = fit_and_score(model, (X[train], y[train]), (X[test], y[test]), *SILENCED)
    order, selected = (
        np.argsort(-model.feature_importances_, kind="stable"),
        model.get_support(indices=True),
    )
    return {
        **found,
        "best_p": float((order[:p] < p).mean()),
        "best_2p": float((order[: 2 * p] < p).sum() / p),
        "n_true": int((selected < p).sum()),
        "n_false": int((selected >= p).sum()),
        "p": getattr(model, "p_value_", None),
        "seconds": time.perf_counter() - start,
    }


def make_tables(table: pd.DataFrame, methods: list[str]) -> str:
    """Return our share of true columns for each problem and number of rows, and the best published."""
    table = table.sort_values("task", key=lambda tasks: tasks.map(TASKS.index), kind="stable")
    cells = table["task"].str.rsplit("-", n=2, expand=True)
    table = table.assign(problem=cells[0], rows=cells[1].astype(int), columns=cells[2].astype(int))
    published = read_published("ladder_published.csv", ["problem", "rows", "columns", "method", "best_p"])
    rows, grid = [], {}
    for (problem, n), own in table.groupby(["problem", "rows"], sort=False):
        of_columns = own.groupby("columns")["best_p"].mean()
        there = published[(published["problem"] == problem) & (published["rows"] == n)]
        wide = there.pivot_table(index="columns", columns="method", values="best_p").reindex(
            of_columns.index
        )
        means = wide.dropna(axis=1, how="any").mean()
        best = means.idxmax() if len(means) else None
        rows.append(
            {
                "problem": problem,
                "rows": n,
                "sizes": len(of_columns),
                "ours": f"{of_columns.mean():.3f}",
                "best published": "" if best is None else f"{means[best]:.3f} ({best})",
                "false columns a fit": f"{own['n_false'].mean():.2f}",
                "nothing selected": f"{(own['n_selected'] == 0).mean():.0%}",
            }
        )
        grid[f"{problem}, {n}"] = {
            str(c): f"{v:.2f}" + (f" ({wide.loc[c].max():.2f})" if len(there) else "")
            for c, v in of_columns.items()
        }
    means_text = to_markdown(pd.DataFrame(rows).set_index("problem"))
    wide = pd.DataFrame.from_dict(grid, orient="index").sort_index(axis=1, key=lambda c: c.astype(int))
    grid_text = to_markdown(wide.fillna("").rename_axis("problem, rows"))
    return (
        f"### Share of the p true columns among the strongest p, mean over columns\n\n{means_text}\n\n"
        f"### By number of columns (in brackets the best published method of the cell)\n\n{grid_text}"
    )


LADDER = Experiment(
    name="ladder",
    title="The published ladder: are the true columns among the strongest?",
    tasks=TASKS,
    methods=["ours"],
    seeds=range(6000, 6006),
    run_cell=run_cell,
    tables=make_tables,
    metrics={
        "best_p": "best p {:.2f}",
        "n_true": "{} true",
        "n_false": "{} false",
        "p": "p {:.4f}",
        "seconds": "{:.1f} s",
    },
    task_groups={name: [t for t in TASKS if t.startswith(f"{name}-")] for name in N_TRUE},
)
