"""The command line run in this process, with short trainings."""

import re
from functools import partial
from pathlib import Path

import pytest
from cli_tables import SHORT, make_frame
from typer.testing import CliRunner

from stochgate import GatedClassifier, GatedCox, GatedRegressor
from stochgate.cli.app import app
from stochgate.cli.work import select


@pytest.fixture
def short_fits(monkeypatch):
    """Let commands train few steps of a linear model."""
    kinds = {"classification": GatedClassifier, "regression": GatedRegressor, "survival": GatedCox}
    monkeypatch.setattr(
        select, "ESTIMATORS", {task: partial(kind, **SHORT) for task, kind in kinds.items()}
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A new folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def table(folder):
    """A CSV of `make_frame`."""
    make_frame().to_csv(folder / "table.csv", index=False)
    return Path("table.csv")


class Outcome:
    """What a command printed, and how it ended."""

    def __init__(self, result):
        self.code, self.out, self.err = result.exit_code, result.stdout, result.stderr
        self.text = " ".join((self.out + self.err).split())

    def refuses(self, code, *words):
        """Check that it ended with one sentence on stderr that has some words in it."""
        assert self.code == code, self.text
        lines = [line for line in self.err.splitlines() if not line.startswith("Note: ")]
        assert len(lines) == 1, self.err
        assert re.fullmatch(r"Error: \S.*[.?]", lines[0]), lines[0]
        assert "should not have" not in lines[0], lines[0]
        for word in words:
            assert word in lines[0], lines[0]

    def succeeds(self, *words):
        """Check that it ended well, and printed some words."""
        assert self.code == 0, self.text
        for word in words:
            assert word in self.text, self.text
        return self


@pytest.fixture
def run():
    """Run a command: a function of its arguments."""

    def run(*args):
        result = CliRunner().invoke(app, [str(arg) for arg in args], prog_name="stochgate")
        return Outcome(result)

    return run
