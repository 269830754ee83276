"""Tables of a study's results: means, intervals, paired differences."""

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy import stats

from experiments.study.records import read_records
from stochgate.optional import require

CELL = ["task", "method", "seed"]
MISSING = "-"


def read_table(path: str | os.PathLike[str]) -> Any:
    """Return a study's records as a DataFrame, one row per cell; the last record of a cell counts."""
    pandas = _pandas()
    records = read_records(path)
    table = pandas.DataFrame(records, columns=list(dict.fromkeys([*CELL, *_fields(records)])))
    return table.drop_duplicates(CELL, keep="last").reset_index(drop=True)


def summarise(table: Any, value: str) -> Any:
    """Return mean and 95 % interval of a column for each task and method.

    Parameters
    ----------
    table : DataFrame
        As `read_table` returns it.
    value : str
        The column; rows without a number (errors) are left out.

    Returns
    -------
    DataFrame
        Columns "task", "method", "mean", "low", "high", "n". One seed has no interval: low, high are NaN.
    """
    rows = [
        {"task": task, "method": method, **mean_interval(group[value])}
        for (task, method), group in table.dropna(subset=[value]).groupby(["task", "method"], sort=False)
    ]
    return _pandas().DataFrame(rows, columns=["task", "method", "mean", "low", "high", "n"])


def compare(
    table: Any, value: str, method: str, peers: Iterable[str] | None = None, test_ratio: float = 0.0
) -> Any:
    """Return, for each task, how far a method lies above the best of its peers.

    The best peer has the highest mean over the seeds that it shares with the method; the difference is
    taken seed by seed. Choosing the best of several after the fact favours the peer.

    Parameters
    ----------
    table : DataFrame
        As `read_table` returns it.
    value : str
        The column, of which more is better.
    method : str
    peers : iterable of str, optional
        All other methods by default.
    test_ratio : float, default=0.0
        As in `mean_interval`, of the difference.

    Returns
    -------
    DataFrame
        Columns "task", "peer", "mean", "low", "high" (of the difference) and "n" (seeds both have).
    """
    rows = []
    for task, group in table.dropna(subset=[value]).groupby("task", sort=False):
        scores = group.pivot_table(index="seed", columns="method", values=value)
        if method not in scores:
            continue
        others = [p for p in (peers or scores.columns) if p in scores and p != method]
        shared = {peer: scores[[method, peer]].dropna() for peer in others}
        shared = {peer: pair for peer, pair in shared.items() if len(pair)}
        if shared:
            best = max(shared, key=lambda peer: shared[peer][peer].mean())
            difference = shared[best][method] - shared[best][best]
            rows.append({"task": task, "peer": best, **mean_interval(difference, test_ratio=test_ratio)})
    return _pandas().DataFrame(rows, columns=["task", "peer", "mean", "low", "high", "n"])


def mean_interval(values: Any, confidence: float = 0.95, test_ratio: float = 0.0) -> dict[str, float]:
    r"""Return the mean, Student's interval for it and the number of values.

    .. math:: \bar x \pm t_{n - 1} \, s \sqrt{1 / n + n_\text{test} / n_\text{train}}

    The second term is Nadeau and Bengio's correction (2003), for values from splits of the same rows, which
    are not independent of each other; it is 0 by default.

    Parameters
    ----------
    values : array, shape (n_values,)
    confidence : float, default=0.95
    test_ratio : float, default=0.0
        Test rows over training rows of each split; 0 for independent values.

    Examples
    --------
    >>> from experiments.study import mean_interval
    >>> {name: round(x, 3) for name, x in mean_interval([1.0, 2.0, 3.0]).items()}
    {'mean': 2.0, 'low': -0.484, 'high': 4.484, 'n': 3}
    """
    values = np.asarray(values, dtype=np.float64)
    n = len(values)
    half = np.nan
    if n > 1:
        half = stats.t.ppf((1 + confidence) / 2, n - 1) * values.std(ddof=1) * np.sqrt(1 / n + test_ratio)
    mean = float(values.mean())
    return {"mean": mean, "low": float(mean - half), "high": float(mean + half), "n": n}


def text_grid(found: Any, tasks: list[str], methods: list[str], cell: Callable[[Any], str]) -> Any:
    """Return a frame of texts, one row per task and one column per method."""
    pandas = _pandas()
    found = found.set_index(["task", "method"])
    texts = [
        [cell(found.loc[task, method]) if (task, method) in found.index else MISSING for method in methods]
        for task in tasks
    ]
    return pandas.DataFrame(texts, index=pandas.Index(tasks, name="task"), columns=methods)


def to_markdown(frame: Any) -> str:
    """Return a DataFrame of texts and numbers as a markdown table, its index as the first column."""
    header = [frame.index.name or "", *map(str, frame.columns)]
    rows = [[str(name), *map(str, row)] for name, row in zip(frame.index, frame.to_numpy(), strict=True)]
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def describe_errors(table: Any) -> str:
    """Return a list of the cells that failed."""
    failed = table.dropna(subset=["error"]) if "error" in table else table.iloc[:0]
    lines = [f"- {row.task}, {row.method}, seed {row.seed}: {row.error}" for row in failed.itertuples()]
    return "\n".join([f"{len(failed)} of {len(table)} cells failed.", *lines])


def describe_machines(table: Any) -> str:
    """Return the seeds and the machines the results come from."""
    machines = sorted({", ".join(map(str, machine.values())) for machine in table["machine"]})
    seeds = f"Seeds {table['seed'].min()} to {table['seed'].max()}"
    return f"{seeds}; machine (CPU, cores, GPU): {'; '.join(machines)}."


def _fields(records: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for record in records for name in record))


def _pandas() -> Any:
    return require("pandas", package="pandas", needed_by="A study's table")
