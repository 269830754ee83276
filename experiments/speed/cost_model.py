"""What a training on shared rows costs, from measured rates: docs/scaling.md.

python -m experiments.speed.cost_model
"""

from dataclasses import dataclass

import pandas as pd

from experiments.experiment import RESULTS
from experiments.study import read_table, to_markdown

BYTES = 4  # of a number
PASSES = 7  # over the weights, of an Adam step


@dataclass(frozen=True, kw_only=True)
class Worker:
    """What one worker can do.

    Attributes
    ----------
    row_seconds : float
        To compute what a step needs of one row.
    read_seconds : float
        Of a core, to read, decode and shuffle one row.
    n_readers : float
        Cores that read for it.
    shares_cores : bool
        Whether the cores that read are those that compute.
    """

    row_seconds: float
    read_seconds: float
    n_readers: float = 1.0
    shares_cores: bool = False

    def seconds(self, n_rows: float) -> float:
        """Return the seconds that rows take; they are read ahead, unless cores are shared."""
        compute, read = n_rows * self.row_seconds, n_rows * self.read_seconds / self.n_readers
        return compute + read if self.shares_cores else max(compute, read)


def seconds_per_step(worker: Worker, batch: int, n_workers: int, reduce_seconds: float) -> float:
    """Return the seconds of a step whose rows are shared by workers."""
    return worker.seconds(batch / n_workers) + (reduce_seconds if n_workers > 1 else 0.0)


def all_reduce_seconds(n_weights: float, n_workers: int, bytes_per_second: float, latency: float) -> float:
    """Return the seconds in which a ring of workers sums the gradients of one model."""
    n_messages = 2 * (n_workers - 1)
    return n_messages / n_workers * BYTES * n_weights / bytes_per_second + n_messages * latency


def predict_local(found: pd.DataFrame) -> pd.DataFrame:
    """Return predicted and measured rows per second of one and two workers of a machine with two cores."""
    last = found.groupby("task").last()
    rates = last["rows_per_second"]
    batch = int(last.loc["workers-1", "batch_size"])
    compute, read = 1 / rates["computing"], last.loc["reading", "core_seconds_per_row"]
    reduce_seconds = float(last.loc["all-reduce", "seconds_per_step"])
    rows = {}
    for n_workers in (1, 2):
        worker = Worker(row_seconds=compute, read_seconds=read, shares_cores=n_workers == 2)
        predicted = batch / seconds_per_step(worker, batch, n_workers, reduce_seconds)
        measured = rates[f"workers-{n_workers}"]
        rows[n_workers] = {
            "predicted, thousand rows per second": round(predicted / 1e3),
            "measured": round(measured / 1e3),
            "predicted / measured": round(predicted / measured, 2),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("workers")


def predict_large(gpu: pd.Series, n_rows: float, n_columns: float, n_workers: int) -> pd.DataFrame:
    """Return the hours of one pass over a large table, by what they are spent on.

    Parameters
    ----------
    gpu : Series
        The record of as many columns, of one GPU.
    n_rows, n_columns, n_workers : the table, and the GPUs
    """
    own = n_rows / n_workers
    row_bytes = BYTES * n_columns
    steps = n_rows / (gpu["batch_size"] * n_workers)
    fast, slow = 50e9, gpu["streamed_rows_per_second"] * row_bytes  # a network of 400 Gbit/s; our reader
    seconds = {
        "steps on the GPUs": steps * gpu["seconds_per_step"],
        "all-reduce (assumed: 50 GB/s, 10 microseconds a message)": steps
        * all_reduce_seconds(gpu["n_weights"], n_workers, fast, 1e-5),
        "reading, one thread per GPU as it is now": own * row_bytes / slow,
        "reading at what the file gives": own * row_bytes / gpu["read_bytes_per_second"],
        "the first pass, in one process": n_rows * row_bytes / slow,
    }
    hours = {what: {"hours": f"{value / 3600:.3g}"} for what, value in seconds.items()}
    return pd.DataFrame.from_dict(hours, orient="index").rename_axis("what")


def main() -> None:
    """Print both tables from saved results."""
    print(to_markdown(predict_local(read_table(RESULTS / "shared_rows.jsonl"))), end="\n\n")
    gpu = read_table(RESULTS / "rows_per_gpu.jsonl").set_index("task").loc["100000"]
    print(to_markdown(predict_large(gpu, 1e9, 1e5, 64)))


if __name__ == "__main__":
    main()
