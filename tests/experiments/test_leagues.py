"""Leagues and the paper's experiments run from the command line and print their tables."""

import os
import sys

import pytest

from experiments.__main__ import main
from experiments.leagues.survival import SURVIVAL_LEAGUE, TASKS
from experiments.paper.cox_metabric import draw_rows
from experiments.study import read_records

needs_data = pytest.mark.skipif(
    not os.environ.get("STOCHGATE_DATA"), reason="STOCHGATE_DATA names no folder of data"
)


@pytest.fixture
def run(capsys):
    """Return what runs a command line as a user does, and returns what it prints."""

    def run_command(*arguments):
        main(["run", *map(str, arguments)])
        return capsys.readouterr().out

    return run_command


def test_the_survival_league_draws_what_it_says():
    assert {name: task.draw(0).X.shape for name, task in TASKS.items()} == dict.fromkeys(TASKS, (2500, 200))
    shares = {name: 1 - task.draw(0).y["event"].mean() for name, task in TASKS.items()}
    assert shares == pytest.approx({"linear30": 0.3, "linear70": 0.7, "nonlinear50": 0.5}, abs=0.01)


def test_a_league_runs_and_prints_its_tables(run, tmp_path):
    pytest.importorskip("sksurv")
    out = tmp_path / "league.jsonl"
    options = ["--tasks", "linear30", "--methods", "lasso", "--seeds", "0,1", "--out", out]
    printed = run("survival-league", *options)
    assert [record["seed"] for record in read_records(out)] == [0, 1]
    assert "| linear30 | 0." in printed
    assert run("survival-league", "--table", "--out", out) in printed


def test_a_method_whose_package_is_missing_is_not_run(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "sksurv.linear_model", None)
    path = tmp_path / "league.jsonl"
    SURVIVAL_LEAGUE.run(SURVIVAL_LEAGUE.cells(["linear30"], ["lasso"], [0]), path)
    assert "not run: Cox regression needs the package scikit-survival" in capsys.readouterr().out
    assert read_records(path) == []


def test_splits_of_patients_are_as_the_protocols_say():
    train, test = draw_rows("splits", 1904, 0)
    assert (len(train), len(test)) == (1523, 381)
    assert set(draw_rows("splits", 1904, 1)[1]) != set(test)
    first, second = draw_rows("fixed", 1904, 0), draw_rows("fixed", 1904, 1)
    assert set(first[1]) == set(second[1])
    assert set(first[0]) != set(second[0])
    assert not set(first[0]) & set(first[1])
    assert len(first[0]) == 1218


@needs_data
@pytest.mark.parametrize("name", ["cox-metabric", "cox-gaussian"])
def test_an_experiment_runs_and_prints_its_table(run, name, tmp_path):
    pytest.importorskip("sksurv")
    out = tmp_path / "study.jsonl"
    options = {
        "cox-metabric": ["--tasks", "fixed", "--seeds", "0"],
        "cox-gaussian": ["--tasks", "500", "--seeds", "0"],
    }
    printed = run(name, "--methods", "cox-lasso", "--out", out, *options[name])
    (record,) = read_records(out)
    assert "error" not in record
    assert f"{record['test_score']:.3f}" in printed


def test_a_table_without_results_says_so(run, tmp_path):
    for name in ("cox-metabric", "cox-gaussian"):
        printed = run(name, "--table", "--out", tmp_path / "none.jsonl")
        assert printed.startswith("No results in")
