"""What the user asked for on the command line."""

from dataclasses import dataclass, field
from pathlib import Path

from stochgate.cli.errors import UsageError

TASKS = ("classification", "regression")


@dataclass(frozen=True, kw_only=True)
class Request:
    """The options of `select`, `report` and `path`; their combination is checked.

    Attributes
    ----------
    data : Path
    target : str or None
    time, event : str or None
        Instead of a target: the columns of a survival study. The event may be "COLUMN=VALUE".
    entry : str or None
        The column that says when a row came under observation.
    strata : list of str
        Columns whose values share a baseline hazard; entries are as those of `keep`.
    task : {"classification", "regression"} or None for what the target looks like
    k : int or None
        Choose exactly so many columns.
    alpha : float or None
        Level of the test of signal; None for the default of the estimators.
    fdr : float or None
        Choose columns with a false discovery rate of at most this.
    keep, exclude : list of str
        Columns, each entry one name or several with commas between.
    row_groups : str or None
        A column, or "COLUMN=PATTERN".
    categorical : list of str
        Columns whose values are kinds, as in `keep`.
    missing_values : list of str
        Each entry one or several values with commas between, or "COLUMN=" and these.
    sep : str or None
    seed : int
    device : str
    evaluate : bool
    scoring : str or None
        What scikit-learn calls the score of `evaluate`.
    class_weight : {"balanced"} or None
    out : Path or None
    force, quiet : bool

    Examples
    --------
    >>> from pathlib import Path
    >>> from stochgate.cli.request import Request
    >>> Request(data=Path("a.csv"), target="y", k=3).k
    3
    """

    data: Path
    target: str | None = None
    time: str | None = None
    event: str | None = None
    entry: str | None = None
    strata: list[str] = field(default_factory=list)
    task: str | None = None
    k: int | None = None
    alpha: float | None = None
    fdr: float | None = None
    keep: list[str] = field(default_factory=list)
    exclude: list[str] = field(default_factory=list)
    row_groups: str | None = None
    categorical: list[str] = field(default_factory=list)
    missing_values: list[str] = field(default_factory=list)
    sep: str | None = None
    seed: int = 0
    device: str = "auto"
    evaluate: bool = False
    scoring: str | None = None
    class_weight: str | None = None
    out: Path | None = None
    force: bool = False
    quiet: bool = False

    def __post_init__(self) -> None:
        survival = (self.time is not None, self.event is not None)
        if self.target is None and not any(survival):
            raise UsageError("Name the column to predict: --target COLUMN, or --time and --event.")
        if self.target is not None and any(survival):
            raise UsageError("Give either --target or --time and --event, not both.")
        if any(survival) and not all(survival):
            raise UsageError("A survival study needs both --time and --event.")
        if not any(survival) and (self.entry is not None or self.strata):
            option = "--strata" if self.entry is None else "--entry"
            raise UsageError(f"{option} is for survival studies: give --time and --event, or leave it out.")
        if any(survival) and self.task is not None:
            raise UsageError("--task goes with --target; --time and --event say survival themselves.")
        if self.task is not None and self.task not in TASKS:
            raise UsageError(f"--task is '{self.task}': give {TASKS[0]} or {TASKS[1]}.")
        if self.k is not None and self.fdr is not None:
            raise UsageError("Give either --k or --fdr: with an error rate the number follows from it.")
        if self.k is not None and self.k < 1:
            raise UsageError(f"--k is {self.k}: give a number of columns, at least 1.")
        if self.alpha is not None and not 0 < self.alpha < 1:
            raise UsageError(f"--alpha is {self.alpha:g}: give a level between 0 and 1, such as 0.05.")
        if self.alpha is not None and self.fdr is not None:
            raise UsageError("Give either --alpha or --fdr: an error rate does without the test of signal.")
        if self.fdr is not None and not 0 < self.fdr < 1:
            raise UsageError(f"--fdr is {self.fdr:g}: give a share between 0 and 1, such as 0.1.")
        if self.fdr is not None and self.row_groups is not None:
            raise UsageError(
                "--fdr takes rows for independent, which those of --row-groups are not: leave out one of "
                "them, or give one row per group."
            )
        if self.scoring is not None and not self.evaluate:
            raise UsageError("--scoring judges what --evaluate does: give both, or leave --scoring out.")
        if self.class_weight not in (None, "balanced"):
            raise UsageError(f"--class-weight is '{self.class_weight}': give balanced, or leave it out.")
        if not 0 <= self.seed < 2**32:
            raise UsageError(f"--seed is {self.seed}: give a number from 0 to {2**32 - 1}.")

    @property
    def called(self) -> str:
        """What is to be predicted, for a title."""
        return f"survival ({self.time} until {self.event})" if self.target is None else self.target

    @property
    def stem(self) -> str:
        """The data file's name without its endings: "mice" of "mice.csv.gz"."""
        packed = self.data.suffix.lower() in (".gz", ".bz2", ".xz")
        return (self.data.with_suffix("") if packed else self.data).stem
