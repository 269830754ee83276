"""Every bad input ends with an exit code and one sentence, never with a traceback."""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_tables import make_frame, predict

from stochgate.cli import app as commands
from stochgate.cli import main
from stochgate.cli.errors import BAD_DATA, BAD_USAGE, STOPPED, UserError, explain

pytestmark = pytest.mark.usefixtures("short_fits")
KIND = predict("kind")


def write(frame, name="t.csv"):
    frame.to_csv(name, index=False)
    return name


def test_files_that_are_no_tables_end_with_1(run, folder):
    run("select", "nothing.csv", "--target", "y").refuses(1, "There is no file nothing.csv")
    run("select", folder, "--target", "y").refuses(1, "is a folder")
    for content, said in [
        (b"", "is empty"),
        (b"a,b\n", "0 rows"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is a picture"),
        (b"a,a,y\n1,2,3\n", "Several columns are called 'a'"),
    ]:
        Path("t.csv").write_bytes(content)
        run("select", "t.csv", "--target", "y").refuses(1, said)
        run("path", "t.csv", "--target", "y").refuses(1, said)
        run("report", "t.csv", "--target", "y").refuses(1, said)
    assert not (folder / "t-selected").exists()


def test_wrong_options_end_with_2(run, table):
    run("select", table, "--target", "knd").refuses(2, "--target names 'knd'", "did you mean 'kind'?")
    run("select", table).refuses(2, "--target")
    run("select", table, *KIND, "--k", 99).refuses(2, "--k is 99")
    run("select", table, *KIND, "--k", 2, "--fdr", 0.1).refuses(2, "either --k or --fdr")
    run("select", table, *KIND, "--k", "many").refuses(2, "--k", "select --help")
    run("select", table, *KIND, "--colour", "red").refuses(2, "--colour", "select --help")
    run("select").refuses(2, "DATA", "select --help")
    run("selct", table).refuses(2, "'selct'; did you mean 'select'?")
    run("dance", table).refuses(2, "'dance'", "stochgate --help")
    run("--colour").refuses(2, "--colour", "stochgate --help")
    run("select", table, *KIND, "--device", "nope").refuses(2, "--device 'nope'", "'cpu'")


def test_separators_and_encodings_are_guessed_and_said(run, folder):
    Path("t.csv").write_text(make_frame().to_csv(index=False, sep=";"))
    run("select", "t.csv", *KIND).succeeds("Note: Columns are separated by semicolons.")
    run("select", "t.csv", *KIND, "--sep", ",", "--force").refuses(1, "one column only", "leave out --sep")
    frame = make_frame().rename(columns={"x1": "Größe"})
    Path("t.csv").write_bytes(frame.to_csv(index=False).encode("latin-1"))
    run("select", "t.csv", *KIND, "--force").succeeds("read as Latin-1")


def test_targets_that_teach_nothing_end_with_1(run, folder):
    frame = make_frame()
    run("select", write(frame.assign(kind="up")), *KIND).refuses(1, "one value only ('up')")
    run("select", write(frame.assign(kind=None)), *KIND).refuses(1, "Every row lacks a value of 'kind'")
    frame["kind"] = [f"name {i}" for i in range(60)]
    run("select", write(frame), *KIND).refuses(1, "60 classes in 60 rows")
    run("select", write(make_frame(9)), *KIND).refuses(1, "9 rows", "at least 10")


def test_rows_without_a_target_are_left_out(run, folder):
    frame = make_frame()
    frame.loc[:9, "kind"] = None
    run("select", write(frame), *KIND).succeeds(
        "Note: 10 rows without a value of 'kind' left out", "50 rows"
    )


def test_survival_that_cannot_be_learnt_is_refused(run, folder):
    options, frame = predict("months", "died"), make_frame()
    path = write(frame)
    run("select", path, "--time", "month", "--event", "died").refuses(2, "did you mean 'months'")
    run("select", path, "--time", "months", "--event", "die").refuses(2, "did you mean 'died'?")
    run("select", path, "--time", "months").refuses(2, "needs both")
    run("select", write(frame.assign(months=-1.0)), *options).refuses(1, "negative")
    run("select", write(frame.assign(died=0)), *options).refuses(1, "censored")
    run("select", write(frame.assign(died="x")), *options).refuses(1, "COLUMN=VALUE")
    run("select", write(frame.assign(months="soon")), *options).refuses(1, "'soon'")


def test_all_obstacles_of_a_table_are_in_one_sentence(run, folder):
    frame = make_frame().assign(visit="2020-01-02", mixed=[*["1.5"] * 40, *["high"] * 20])
    run("select", write(frame), *KIND).refuses(
        1, "--exclude", "'visit' holds dates", "'mixed' holds numbers and text"
    )


def test_numbers_as_text_are_numbers(run, folder):
    frame = make_frame().astype({"x0": str, "amount": str})
    frame.to_parquet("t.parquet")
    run("select", "t.parquet", *predict("amount")).succeeds("Regression", "x1")
    run("select", "t.parquet", *KIND, "--force").succeeds("x0")


def test_folders_that_cannot_be_written_to_are_refused_before_the_work(run, table, monkeypatch):
    monkeypatch.setattr(commands, "choose", lambda *args: pytest.fail("the work has begun"))
    Path("file").write_text("")
    run("select", table, *KIND, "--out", "file").refuses(2, "file is a file")
    run("select", table, *KIND, "--out", "file/deeper").refuses(1, "Nothing can be written", "--out")
    run("select", table, *KIND, "--out", "/proc/nowhere").refuses(1, "Nothing can be written")
    run("report", table, *KIND, "--out", "/proc/nowhere/r.html").refuses(1, "Nothing can be written")


def test_a_fit_that_fails_leaves_no_folder(run, table, folder, monkeypatch):
    def fail(*args):
        raise UserError("It failed: try another.")

    monkeypatch.setattr(commands, "choose", fail)
    run("select", table, *KIND).refuses(1, "It failed")
    assert not (folder / "table-selected").exists()


def test_ctrl_c_ends_with_130_and_a_word(run, table, folder, monkeypatch):
    def stop(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "choose", stop)
    done = run("select", table, *KIND)
    assert (done.code, done.err) == (130, "Stopped.\n")
    assert not (folder / "table-selected").exists()


def test_debug_shows_where_an_error_comes_from(run, folder):
    for args in (
        ("--debug", "select", "t.csv", "--target", "y"),
        ("select", "t.csv", "--target", "y", "--debug"),
    ):
        done = run(*args)
        assert done.code == 1
        assert "Traceback" in done.err
        assert done.err.splitlines()[-1].startswith("Error: There is no file t.csv")


def test_what_should_not_happen_is_said_in_one_sentence_too(run, table, monkeypatch):
    def fail(*args):
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr(commands, "choose", fail)
    done = run("select", table, *KIND)
    assert done.code == 1
    assert done.err == (
        "Error: Something went wrong that should not have (ZeroDivisionError: division by zero); please "
        "report it with what --debug shows.\n"
    )


@pytest.mark.parametrize("package", ["typer", "rich", "pandas"])
def test_missing_packages_are_named(package, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit) as ended:
        main.run()
    assert ended.value.code == 1
    assert capsys.readouterr().err == (
        f"Error: The command line needs the package {package}: pip install stochgate[cli].\n"
    )


def test_the_installed_command_runs_the_commands(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["stochgate", "select", "nothing.csv", "--target", "y"])
    with pytest.raises(SystemExit) as ended:
        main.run()
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith("Error: There is no file nothing.csv")


@pytest.mark.parametrize(
    ("args", "made"),
    [
        (("select", "table.csv", *KIND), "table-selected/report.html"),
        (("report", "table.csv", *KIND), "table-report.html"),
        (("path", "table.csv", *KIND), "path.csv"),
        (("--help",), "table.csv"),
    ],
)
def test_a_command_whose_output_nobody_reads_writes_its_files(args, made, table, monkeypatch, capfd):
    reader, writer = os.pipe()
    os.close(reader)
    monkeypatch.setattr(sys, "argv", ["stochgate", *args])
    with os.fdopen(writer, "w") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        with pytest.raises(SystemExit) as ended:
            main.run()
    assert ended.value.code == 0
    assert Path(made).exists()
    assert "Error" not in capfd.readouterr().err


def test_what_was_found_is_shown_even_where_it_cannot_be_written(run, table, monkeypatch):
    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(commands, "write_found", fail)
    done = run("select", table, *KIND)
    done.refuses(1, "No space left on device")
    assert "clear signal" in done.out


def test_rows_are_named_by_their_line_in_the_file(run, folder):
    frame = make_frame()
    frame.loc[4, "kind"] = None
    for column, row, value, targets in (
        ("x0", 15, "high", ("kind",)),
        ("x1", 15, "inf", ("kind",)),
        ("months", 20, "-1", ("months", "died")),
        ("months", 21, "soon", ("months", "died")),
    ):
        changed = frame.astype({column: object})
        changed.loc[row, column] = value
        run("select", write(changed), *predict(*targets), "--force").refuses(
            1, "'soon'" if value == "soon" else f"in line {row + 2}"
        )


def test_a_missing_package_for_model_files_is_named_before_the_work(run, table, monkeypatch):
    monkeypatch.setattr(commands, "choose", lambda *args: pytest.fail("the work has begun"))
    monkeypatch.setitem(sys.modules, "safetensors", None)
    run("select", table, *KIND).refuses(1, "safetensors", "pip install stochgate[cli]")


def raised(call):
    try:
        call()
    except Exception as error:
        return error


def test_errors_of_the_library_are_for_the_user_and_those_of_compiled_code_are_not():
    from sklearn.utils import check_array

    from stochgate.problem.validation import check_device

    assert explain(raised(lambda: check_device("nope")))[0].startswith("device='nope' cannot be used")
    assert "infinity" in explain(raised(lambda: check_array([[np.inf]])))[0]
    assert "should not have" in explain(raised(lambda: np.zeros(2) + np.zeros(3)))[0]
    assert "should not have" in explain(raised(lambda: pd.DataFrame({"a": [1]})["b"]))[0]


@pytest.mark.parametrize(
    ("error", "said", "code"),
    [
        (KeyboardInterrupt(), "Stopped.", STOPPED),
        (MemoryError(), "not enough memory", BAD_DATA),
        (RuntimeError("CUDA out of memory. Tried"), "not enough memory", BAD_DATA),
        (PermissionError(13, "Permission denied", "a.csv"), "Permission denied (a.csv)", BAD_DATA),
        (ImportError("X needs Y: pip install stochgate[cli]"), "pip install", BAD_DATA),
        (UserError("long " * 9999), "long long", BAD_DATA),
        (UserError("a\x1b[31m\u202eb"), r"a\x1b[31m\u202eb", BAD_DATA),
    ],
)
def test_each_kind_of_error_has_its_sentence(error, said, code):
    text, found = explain(error)
    assert said in text
    assert found == code
    assert len(text) <= 2000
    assert text.isprintable()


def test_help_and_version_end_well(run):
    run("--version").succeeds("0.")
    run().succeeds("Usage", "select", "predict", "path", "report", "demo", "130")
    for command in ("select", "report", "path", "predict", "demo"):
        run(command, "--help").succeeds("Usage", f"stochgate {command}" if command != "demo" else "noise")
    assert BAD_USAGE == 2
