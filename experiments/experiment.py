"""An experiment: tasks, methods and repeats, how one cell is run, and what its results say."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from experiments.claims import Paper
from experiments.study import (
    Cell,
    Record,
    describe_errors,
    describe_machines,
    grid,
    read_table,
    run_study,
)

RESULTS = Path(__file__).parent / "results"
Seeds = Sequence[int]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Tasks x methods x seeds; `python -m experiments run NAME` runs it and prints its tables.

    Attributes
    ----------
    name : str
        Results go to `experiments/results/NAME.jsonl`, with underscores.
    title : str
        What is asked, in one sentence.
    tasks, methods : sequence of str
        All that are known, in the order of the tables.
    seeds : sequence of int, or callable
        The repeats, or a function from a task to its repeats.
    run_cell : callable
        Takes (task, method, seed) and the keyword `device`; returns a dict of numbers and texts.
    tables : callable
        Takes the DataFrame of results and the methods to show; returns Markdown.
    metrics : dict
        The fields of a record that are shown while running, each with its format ("F1 {:.2f}").
    can_do : callable
        Whether a (task, method) can be run at all.
    default_tasks, default_methods : sequence of str
        What is run unless the user asks; all by default.
    task_groups : dict
        Names that stand for several tasks.
    quick : dict
        The tasks, methods and seeds of `--preset quick`, and "settings": keywords of `run_cell` that make
        its cells small.
    paper : Paper, optional
        What the paper claims, for the experiments that repeat its figures and tables.
    packages : sequence of str
        Distributions whose versions are recorded besides the core ones.
    again : bool
        Whether cells that have a record are run again, as speed is; the last record counts.
    draw : callable, optional
        Takes the DataFrame of results and returns a Figure.
    """

    name: str
    title: str
    tasks: Sequence[str]
    methods: Sequence[str]
    seeds: Seeds | Callable[[str], Seeds]
    run_cell: Callable[..., dict[str, Any]]
    tables: Callable[[Any, list[str]], str]
    metrics: Mapping[str, str]
    can_do: Callable[[str, str], bool] = lambda task, method: True
    default_tasks: Sequence[str] = ()
    default_methods: Sequence[str] = ()
    task_groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)
    packages: Sequence[str] = ()
    again: bool = False
    draw: Callable[[Any], Any] | None = None
    paper: Paper | None = None

    @property
    def results(self) -> Path:
        """Return the file of results."""
        return self.results_of("full")

    def results_of(self, preset: str) -> Path:
        """Return the file of a preset's results; quick ones, whose cells are small, have their own."""
        folder = RESULTS if preset == "full" else RESULTS / preset
        return folder / f"{self.name.replace('-', '_')}.jsonl"

    def asked(self, preset: str) -> dict[str, Any]:
        """Return the tasks, methods and seeds of a preset, as `cells` takes them."""
        quick = self.quick if preset == "quick" else {}
        return {name: quick.get(name) for name in ("tasks", "methods", "seeds")}

    def cells(
        self,
        tasks: Iterable[str] | None = None,
        methods: Iterable[str] | None = None,
        seeds: Seeds | None = None,
    ) -> list[Cell]:
        """Return the cells that can be run, seed by seed; what is not given is the default."""
        asked = list(tasks or self.default_tasks or self.tasks)
        expanded = list(chain.from_iterable(self.task_groups.get(task, [task]) for task in asked))
        shown = self.shown_methods(methods)
        self._refuse_unknown("task", expanded, self.tasks)
        found = [
            cell
            for task in expanded
            for cell in grid([task], shown, self._seeds_of(task) if seeds is None else seeds)
            if self.can_do(task, cell.method)
        ]
        return sorted(found, key=lambda cell: cell.seed)  # stable: a run cut short has whole seeds

    def shown_methods(self, methods: Iterable[str] | None = None) -> list[str]:
        """Return the methods that were asked for, or the default ones."""
        shown = list(methods or self.default_methods or self.methods)
        self._refuse_unknown("method", shown, self.methods)
        return shown

    def run(
        self,
        cells: Iterable[Cell],
        out: Path | None = None,
        *,
        device: str = "cpu",
        preset: str = "full",
        **options: Any,
    ) -> int:
        """Run the cells that are missing and return how many; options are those of `run_study`."""
        small = self.quick.get("settings", {}) if preset == "quick" else {}
        return run_study(
            cells,
            partial(self.run_cell, device=device, **small),
            out or self.results_of(preset),
            **{"packages": self.packages, "again": self.again, "report": self.show, **options},
        )

    def report(self, out: Path | None = None, methods: Iterable[str] | None = None) -> str:
        """Return the tables of saved results, the cells that failed, and the machines."""
        path, shown = out or self.results, self.shown_methods(methods)
        table = read_table(path)
        table = table[table["method"].isin(shown)]
        if table.empty:
            return f"No results in {path}."
        if not any(metric in table for metric in self.metrics):
            return f"No results in {path}.\n{describe_errors(table)}"
        return "\n\n".join([self.tables(table, shown), describe_errors(table), describe_machines(table)])

    def draw_to(self, picture: Path, out: Path | None = None) -> None:
        """Draw saved results to a file."""
        if self.draw is None:
            raise ValueError(f"{self.name} has no picture.")
        import matplotlib

        figure = self.draw(read_table(out or self.results))
        dated = {"metadata": {"Date": None}} if Path(picture).suffix == ".svg" else {}
        with matplotlib.rc_context({"svg.hashsalt": self.name}):  # the same numbers make the same file
            figure.savefig(picture, **dated)

    def show(self, record: Record) -> None:
        """Print one line about a record."""
        found = [
            text.format(record[name]) for name, text in self.metrics.items() if record.get(name) is not None
        ]
        result = record.get("error") or ", ".join(found)
        if "not_run" in record:
            result = f"not run: {record['not_run']}"
        print(f"{record['task']:12} {record['method']:12} {record['seed']}: {result}", flush=True)

    def _seeds_of(self, task: str) -> Seeds:
        return self.seeds(task) if callable(self.seeds) else self.seeds

    def _refuse_unknown(self, what: str, asked: Iterable[str], known: Sequence[str]) -> None:
        unknown = [name for name in asked if name not in known]
        if unknown:
            names = ", ".join([*self.task_groups, *known] if what == "task" else known)
            raise ValueError(f"{self.name} has no {what} {unknown[0]!r}; use some of {names}.")
