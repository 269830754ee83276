"""Run every (task, method, seed) that has no result yet."""

import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import torch
from joblib import Parallel, delayed, parallel_config

from experiments.study.records import Record, append_record, mend, provenance, read_records
from stochgate.backends.ray_start import start_ray


class Cell(NamedTuple):
    """One run of a study."""

    task: str
    method: str
    seed: int


RunCell = Callable[[str, str, int], dict[str, Any]]


def grid(tasks: Iterable[str], methods: Iterable[str], seeds: Iterable[int]) -> list[Cell]:
    """Return all cells, seed by seed, so that a study cut short has whole seeds.

    Examples
    --------
    >>> from experiments.study import grid
    >>> grid(["xor"], ["lasso", "forest"], [0])[1]
    Cell(task='xor', method='forest', seed=0)
    """
    return [Cell(t, m, s) for s, t, m in itertools.product(seeds, tasks, methods)]


def run_study(
    cells: Iterable[Cell],
    run_cell: RunCell,
    path: str | os.PathLike[str],
    *,
    n_jobs: int = 1,
    backend: str = "loky",
    budget_s: float | None = None,
    retry_errors: bool = False,
    again: bool = False,
    packages: Iterable[str] = (),
    report: Callable[[Record], None] | None = None,
) -> int:
    """Run the cells that the file has no record of, and append a record of each as soon as it is done.

    A record is what `run_cell` returns together with the cell, the seconds it took, the versions of the
    packages, the machine and the date. An exception becomes a record with the field "error", and the study
    goes on. A file or a package that is missing leaves no record: the cell was not run.

    Parameters
    ----------
    cells : iterable of Cell
    run_cell : callable
        Takes (task, method, seed) and returns a dict of numbers and texts.
    path : path
        File of JSON lines; it may exist.
    n_jobs : int, default=1
        Processes. One runs in this process, with its threads; of several each has one thread.
    backend : {"loky", "ray"}, default="loky"
        Whose processes: joblib's, or the workers of Ray, where each cell is a task for one CPU and `n_jobs`
        the number of tasks at a time. Ray is used as it is connected, or started with so many CPUs.
    budget_s : float, optional
        After so many seconds no further cell is started.
    retry_errors : bool, default=False
        Whether to run cells again whose last record is an error.
    again : bool, default=False
        Whether to run all cells, those with a record too.
    packages : iterable of str
        Distributions whose versions are recorded besides the core ones.
    report : callable, optional
        Called with each new record.

    Returns
    -------
    int
        How many cells were run.
    """
    mend(path)
    facts = provenance(packages)
    todo = _until(cells if again else _missing(cells, read_records(path), retry_errors), budget_s)
    n_done = 0
    for record in _RUN_BY[backend](run_cell, todo, n_jobs, packages):
        if "not_run" not in record:
            append_record(path, {**record, **{name: facts[name] for name in facts if name not in record}})
            n_done += 1
        if report is not None:
            report(record)
    return n_done


def _run_by_joblib(
    run_cell: RunCell, cells: Iterable[Cell], n_jobs: int, packages: Iterable[str]
) -> Iterator[Record]:
    with parallel_config("loky", n_jobs=n_jobs, inner_max_num_threads=1 if n_jobs != 1 else None):
        pool = Parallel(return_as="generator_unordered", pre_dispatch="n_jobs", batch_size=1)
        yield from pool(delayed(_run)(run_cell, cell, n_jobs != 1) for cell in cells)


def _run_by_ray(
    run_cell: RunCell, cells: Iterable[Cell], n_jobs: int, packages: Iterable[str]
) -> Iterator[Record]:
    """Yield records as they come, each with the versions and the machine of its worker."""

    def run(cell: Cell) -> Record:
        return {**_run(run_cell, cell, True), **provenance(packages)}

    packages = list(packages)
    ray, is_ours = start_ray(n_cpus=n_jobs)
    try:
        task, running = ray.remote(num_cpus=1)(run), []
        for cell in cells:
            running.append(task.remote(cell))
            if len(running) == n_jobs:
                (done,), running = ray.wait(running)
                yield ray.get(done)
        while running:
            (done,), running = ray.wait(running)
            yield ray.get(done)
    finally:
        if is_ours:
            ray.shutdown()


_RUN_BY = {"loky": _run_by_joblib, "ray": _run_by_ray}


def _missing(cells: Iterable[Cell], records: list[Record], retry_errors: bool) -> list[Cell]:
    """Return the cells without a record, in their order."""
    last = {Cell(r["task"], r["method"], r["seed"]): r for r in records}
    done = {cell for cell, record in last.items() if not (retry_errors and "error" in record)}
    return [cell for cell in cells if cell not in done]


def _until(cells: Iterable[Cell], budget_s: float | None) -> Iterator[Cell]:
    """Yield cells until the time is up."""
    start = time.monotonic()
    for cell in cells:
        if budget_s is not None and time.monotonic() - start >= budget_s:
            return
        yield cell


def _run(run_cell: RunCell, cell: Cell, one_thread: bool) -> Record:
    """Return the record of one cell, whatever happens in it."""
    if one_thread:
        torch.set_num_threads(1)  # in a process of the pool's own
    start = time.perf_counter()
    try:
        result = run_cell(*cell)
    except (FileNotFoundError, ImportError) as error:
        result = {"not_run": str(error)}
    except Exception as error:
        result = {"error": f"{type(error).__name__}: {error}"}
    seconds = round(time.perf_counter() - start, 3)
    return {**cell._asdict(), **result, "cell_seconds": seconds, "threads": torch.get_num_threads()}
