"""The ledger: every claim of the paper with what was measured, made from saved results."""

from collections.abc import Iterator
from pathlib import Path
from textwrap import fill
from typing import Any

import pandas as pd

from experiments.claims import NOT_RUN, Finding
from experiments.costs import cell_seconds, is_on_gpu
from experiments.experiment import RESULTS, Experiment
from experiments.study import read_table

PAGE = Path(__file__).parents[1] / "docs" / "paper.md"
NUMBERS = RESULTS / "ledger.csv"
PICTURES = PAGE.parent / "pictures" / "paper"
INTRODUCTION = """# The paper's experiments

Every figure and table of "Feature selection using Stochastic Gates" (Yamada, Lindenbaum, Negahban
and Kluger) as an experiment: what the paper claims, what it prints, and what was measured here with
the paper's settings and with this library's defaults. `python -m experiments ledger --write` makes
this page from the saved results in `experiments/results/`; every number in the columns "measured"
is in `experiments/results/ledger.csv`.

    python -m experiments list                          # all experiments
    python -m experiments run NAME --preset quick       # small and fast; results are kept apart
    python -m experiments run --all --preset quick      # all of them, and the ledger
    python -m experiments run NAME --jobs 2             # in full; the real data need STOCHGATE_DATA
    python -m experiments costs                         # cells, models, steps and minutes of each

"The paper's settings" are those of its supplement, which prints penalties in two units: "mean" says
that a penalty multiplies the mean of the gates' open probabilities, "sum" their sum. Mini-batches
are made once and take turns instead of being drawn anew in each epoch. HC takes steps of the same
size as STG; "HC scaled" steps 4.8 times as far, since its parameter has that much farther to go, as
does HC in the Cox experiments. Real-data and mnist-stability judge STG against both, the others
against HC. Minutes are those of all cells, one after another; cells that are missing were not run
yet.
"""
QUICK = """**These are the quick presets: far fewer repeats and steps than the paper has. Their verdicts
show that the commands work, not what is true.**
"""


def findings(experiment: Experiment, preset: str) -> list[Finding]:
    """Return what the results say of each claim; results that are not there judge nothing."""
    assert experiment.paper is not None
    table = read_table(experiment.results_of(preset))
    table = table[table["error"].isna()] if "error" in table else table
    return [
        claim.judge(table) if len(table) else Finding(verdict=NOT_RUN, paper_settings=NOT_RUN)
        for claim in experiment.paper.claims
    ]


def ledger_page(experiments: list[Experiment], preset: str = "full") -> str:
    """Return the ledger as Markdown: one table of verdicts, then each experiment."""
    parts = [
        INTRODUCTION,
        *([QUICK] if preset == "quick" else []),
        "## Verdicts\n",
        *verdict_lines(experiments, preset),
        "",
    ]
    for experiment in experiments:
        parts += [*describe(experiment, preset), ""]
    return "\n".join(parts).rstrip() + "\n"


def verdict_lines(experiments: list[Experiment], preset: str) -> Iterator[str]:
    """Yield the lines of the table of all claims."""
    yield "| experiment | claim | verdict |"
    yield "| --- | --- | --- |"
    for experiment in experiments:
        for claim, finding in zip(experiment.paper.claims, findings(experiment, preset), strict=True):  # type: ignore[union-attr]
            yield f"| [{experiment.name}](#{experiment.name}) | {claim.says} | {finding.final_verdict} |"


def describe(experiment: Experiment, preset: str) -> Iterator[str]:
    """Yield the lines of one experiment."""
    paper = experiment.paper
    assert paper is not None
    yield f"## {experiment.name}\n"
    yield f"{experiment.title} ({paper.where})\n"
    yield "| claim | the paper | measured, paper's settings | measured, our defaults | verdict |"
    yield "| --- | --- | --- | --- | --- |"
    for claim, finding in zip(paper.claims, findings(experiment, preset), strict=True):
        said = finding.say(finding.paper_settings), finding.say(finding.defaults) or "-"
        yield "| " + " | ".join([claim.says, claim.published or "-", *said, finding.final_verdict]) + " |"
    yield ""
    picture = PICTURES / f"{experiment.name}.svg"
    if preset == "full" and experiment.draw is not None and picture.exists():
        yield f"![{experiment.name}](pictures/paper/{experiment.name}.svg)\n"
    yield item(
        f"Command: `python -m experiments run {experiment.name}`. {how_it_was_run(experiment, preset)}"
    )
    for name, text in (
        ("Paper's settings", paper.settings),
        ("Chosen here, since the paper leaves it open", paper.ours),
        ("Differs from the paper", paper.differs),
    ):
        if text:
            yield item(f"{name}: {text}")


def item(text: str) -> str:
    """Return an item of a list, its lines wrapped."""
    return fill(text, 98, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)


def how_it_was_run(experiment: Experiment, preset: str) -> str:
    """Return minutes, seeds and machines of the saved results."""
    table = read_table(experiment.results_of(preset))
    if not len(table):
        return "Not run."
    minutes = cell_seconds(table).sum() / 60
    on_gpu = zip(table["machine"], is_on_gpu(table), strict=True)
    machines = sorted({machine["gpu" if gpu else "cpu"] for machine, gpu in on_gpu})
    by_method = table.groupby("method", sort=False)["seed"].nunique()
    runs = ", ".join(f"{method} {n}" for method, n in by_method.items())
    seeds = f"seeds {table['seed'].min()} to {table['seed'].max()}"
    failed = int(table["error"].notna().sum()) if "error" in table else 0
    errors = f", {failed} failed" if failed else ""
    small = "; quick: fewer and smaller than the paper's experiment" if preset == "quick" else ""
    asked = {tuple(cell) for cell in experiment.cells(**experiment.asked(preset))}
    done = asked & set(zip(table["task"], table["method"], table["seed"], strict=True))
    counted = f"{len(done):,} of {len(asked):,} cells{errors}"
    where = " and ".join(machines)
    return f"{counted}, {minutes:.1f} minutes, {seeds}, on {where}{small}. Runs by method: {runs}."


def ledger_numbers(experiments: list[Experiment], preset: str = "full") -> Any:
    """Return every number of the ledger: experiment, claim (from 1 on), its name and its value."""
    rows = [
        {"experiment": experiment.name, "claim": i, "name": name, "value": float(f"{value:.6g}")}
        for experiment in experiments
        for i, finding in enumerate(findings(experiment, preset), start=1)
        for name, value in finding.numbers.items()
    ]
    return pd.DataFrame(rows, columns=["experiment", "claim", "name", "value"])


def write_ledger(experiments: list[Experiment]) -> None:
    """Write the pictures, the page and its numbers from the full results."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    for experiment in experiments:
        if experiment.draw is not None and len(read_table(experiment.results)):
            experiment.draw_to(PICTURES / f"{experiment.name}.svg")
    PAGE.write_text(ledger_page(experiments))
    ledger_numbers(experiments).to_csv(NUMBERS, index=False)
