"""An experiment makes its cells, runs what is missing, and all that exist can be found, listed and read."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import experiments
import stochgate
from experiments.__main__ import main
from experiments.experiment import Experiment
from experiments.registry import find_experiments
from experiments.study import read_records

EXPERIMENTS = find_experiments()
FOLDER = Path(experiments.__file__).parent


def run_cell(task, method, seed, *, device):
    return {"score": float(seed), "where": device}


def make(**more):
    settings = {
        "name": "small-one",
        "title": "Is it small?",
        "tasks": ["a", "b", "c"],
        "methods": ["ours", "peer", "rare"],
        "seeds": lambda task: range(2 if task == "a" else 1),
        "run_cell": run_cell,
        "tables": lambda table, methods: f"{len(table)} of {methods}",
        "metrics": {"score": "score {:.1f}"},
        "default_methods": ["ours", "peer"],
        "task_groups": {"both": ["a", "b"]},
        "can_do": lambda task, method: (task, method) != ("b", "peer"),
    }
    return Experiment(**{**settings, **more})


def test_cells_are_what_can_be_run_seed_by_seed():
    cells = make().cells(["both"])
    assert [tuple(cell) for cell in cells] == [
        ("a", "ours", 0),
        ("a", "peer", 0),
        ("b", "ours", 0),
        ("a", "ours", 1),
        ("a", "peer", 1),
    ]
    assert {cell.task for cell in make().cells()} == {"a", "b", "c"}
    assert {cell.task for cell in make(default_tasks=["c"]).cells()} == {"c"}
    assert [cell.seed for cell in make().cells(["b"], ["rare"], [7, 8])] == [7, 8]


@pytest.mark.parametrize("asked", [{"tasks": ["d"]}, {"methods": ["d"]}])
def test_unknown_names_are_refused_with_the_known_ones(asked):
    with pytest.raises(
        ValueError, match=r"small-one has no (task|method) 'd'; use some of .*(a, b|ours, peer)"
    ):
        make().cells(**asked)


def test_cells_are_run_once_unless_they_are_measured_again(tmp_path, capsys):
    path = tmp_path / "out.jsonl"
    cells = make().cells(["a"], ["ours"])
    assert [make().run(cells, path, device="there") for _ in range(2)] == [2, 0]
    assert make(again=True).run(cells, path) == 2
    assert [record["where"] for record in read_records(path)] == ["there", "there", "cpu", "cpu"]
    assert "a            ours         1: score 1.0" in capsys.readouterr().out
    assert make().report(path).startswith("2 of ['ours', 'peer']\n\n0 of 2 cells failed.")
    assert make().report(path, ["peer"]) == f"No results in {path}."


def test_results_go_to_a_file_of_the_same_name():
    assert make().results == FOLDER / "results" / "small_one.jsonl"


def test_an_experiment_without_a_picture_says_so(tmp_path):
    with pytest.raises(ValueError, match="small-one has no picture"):
        make().draw_to(tmp_path / "picture.svg")


def test_all_are_listed_with_one_sentence(capsys):
    main(["list"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(EXPERIMENTS)
    assert {"league", "noise", "real-league", "speed", "cox-metabric"} <= set(EXPERIMENTS)
    assert all(experiment.title.count("?") == 1 for experiment in EXPERIMENTS.values())


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_defaults_and_quick_runs_are_cells_that_can_be_run(name):
    experiment = EXPERIMENTS[name]
    assert 0 < len(experiment.cells(**experiment.asked("quick"))) <= len(experiment.cells())
    assert set(experiment.quick) <= {"tasks", "methods", "seeds", "settings"}


def test_a_quick_run_has_its_own_file_and_settings(tmp_path):
    def run_small(task, method, seed, *, device, n_steps=100):
        return {"score": float(n_steps)}

    experiment = make(run_cell=run_small, quick={"tasks": ["a"], "settings": {"n_steps": 5}})
    assert experiment.results_of("quick") == FOLDER / "results" / "quick" / "small_one.jsonl"
    out = tmp_path / "out.jsonl"
    cells = experiment.cells(**experiment.asked("quick"))
    assert {cell.task for cell in cells} == {"a"}
    experiment.run(cells, out, preset="quick")
    assert {record["score"] for record in read_records(out)} == {5.0}


@pytest.mark.parametrize("error", [FileNotFoundError("no mnist.npz"), ImportError("no xgboost")])
def test_a_cell_whose_data_or_package_is_missing_is_not_run(error, tmp_path, capsys):
    def run_without(task, method, seed, *, device):
        raise error

    out = tmp_path / "out.jsonl"
    experiment = make(run_cell=run_without)
    assert experiment.run(experiment.cells(["a"], ["ours"], [0]), out) == 0
    assert read_records(out) == []
    assert f"not run: {error}" in capsys.readouterr().out


@pytest.mark.parametrize("name", [name for name, e in EXPERIMENTS.items() if e.results.exists()])
def test_saved_results_can_be_read(name, capsys):
    main(["run", name, "--table"])
    assert "cells failed." in capsys.readouterr().out


def test_the_command_line_names_what_is_wrong(tmp_path):
    with pytest.raises(SystemExit, match="noise has no task 'signal'"):
        main(["run", "noise", "--tasks", "signal", "--out", str(tmp_path / "none.jsonl")])


def test_quick_is_a_default_that_options_replace(tmp_path, capsys):
    pytest.importorskip("sksurv")
    out = tmp_path / "quick.jsonl"
    asked = ["--preset", "quick", "--tasks", "lin60", "--methods", "lasso", "--out", str(out)]
    main(["run", "league", *asked])
    (record,) = read_records(out)
    assert (record["task"], record["method"], record["seed"]) == ("lin60", "lasso", 1000)


def test_the_library_does_not_need_the_experiments():
    for path in Path(stochgate.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not any(name.split(".")[0] == "experiments" for name in names), path


def test_no_file_is_overgrown():
    lengths = {str(p.relative_to(FOLDER)): len(p.read_text().splitlines()) for p in FOLDER.rglob("*.py")}
    assert {name: n for name, n in lengths.items() if n > 250} == {}


def test_the_command_line_runs_as_a_module():
    command = [sys.executable, "-m", "experiments", "list"]
    done = subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0].split()[0] == next(iter(EXPERIMENTS))
