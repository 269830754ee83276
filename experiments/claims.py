"""What the paper claims, and what was found: the parts of the ledger."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

HOLDS, PARTLY, FAILS, UNPUBLISHED = (
    "holds",
    "holds partly",
    "does not hold here",
    "no published number",
)
NOT_RUN = "not run"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What the results say of a claim.

    Attributes
    ----------
    verdict : one of the four above
    paper_settings, defaults : str
        What was measured with the paper's settings and with ours, its numbers by name: "F1 {stg:.2f}".
        A sentence whose numbers are missing (NaN) was not run.
    numbers : dict of float
    """

    verdict: str
    paper_settings: str
    defaults: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)

    def say(self, sentence: str) -> str:
        """Return a sentence with its numbers."""
        wanted = [name for _, name, *_ in Formatter().parse(sentence) if name]
        if any(not math.isfinite(self.numbers[name]) for name in wanted):
            return NOT_RUN
        return sentence.format(**self.numbers)

    @property
    def final_verdict(self) -> str:
        """The verdict, or that the experiment was not run."""
        return NOT_RUN if self.say(self.paper_settings) == NOT_RUN else self.verdict


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One claim of the paper.

    Attributes
    ----------
    says : str
        The claim, in one sentence.
    published : str
        The paper's numbers; empty where it prints none.
    judge : callable
        Takes the DataFrame of results and returns a `Finding`. Numbers that the results lack are NaN.
    """

    says: str
    published: str = ""
    judge: Callable[[Any], Finding]


@dataclass(frozen=True, kw_only=True)
class Paper:
    """What an experiment of the paper adds to an `Experiment`.

    Attributes
    ----------
    where : str
        The figure or table.
    claims : sequence of Claim
    settings : str
        The paper's settings as they are used here, with the reading of its penalty ("mean" or "sum").
    ours : str
        What the paper leaves open and we chose.
    differs : str
        What differs from the paper's data and repeats, and what was cut.
    """

    where: str
    claims: Sequence[Claim]
    settings: str
    ours: str = ""
    differs: str = ""


def mean_of(table: Any, value: str, method: str, task: str | None = None) -> float:
    """Return the mean of a column over the results of a method (of one task); NaN where there are none."""
    numbers = values_of(table, value, method, task)
    return float(numbers.mean()) if len(numbers) else math.nan


def values_of(table: Any, value: str, method: str, task: str | None = None) -> Any:
    """Return a column of the results of a method (of one task), those without a number left out."""
    if value not in table:
        return table.iloc[:0]["seed"]
    rows = table["method"] == method
    if task is not None:
        rows &= table["task"] == task
    return table.loc[rows, value].dropna()


def verdict_of(*parts: bool) -> str:
    """Return whether all, some or none of a claim's parts hold; without any, that it was not run."""
    if not parts:
        return NOT_RUN
    return HOLDS if all(parts) else PARTLY if any(parts) else FAILS
