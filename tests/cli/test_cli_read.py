"""Every kind of table is read, and what was found out is said."""

import bz2
import gzip
import lzma
import sys
from datetime import date, datetime, time

import numpy as np
import openpyxl
import pandas as pd
import pytest
from cli_tables import make_frame

from stochgate.cli.errors import UsageError, UserError
from stochgate.cli.table.read import read_table

PLAIN = "a,b\n1,x\n2.5,y\n"
EXPECTED = pd.DataFrame({"a": [1.0, 2.5], "b": ["x", "y"]})


def write(folder, content, name="t.csv"):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", PLAIN),
        ("t.txt", PLAIN),
        ("no-ending", PLAIN),
        ("t.csv", PLAIN.replace("\n", "\r\n")),
        ("t.csv", PLAIN.replace("\n", "\r")),
        ("t.csv", "\n" + PLAIN + "\n\n"),
        ("t.csv", "\ufeff" + PLAIN),
        ("t.csv", PLAIN.encode("utf-16")),
        ("t.tsv", PLAIN.replace(",", "\t")),
        ("t.csv.gz", gzip.compress(PLAIN.encode(), mtime=0)),
        ("t.csv", gzip.compress(PLAIN.encode(), mtime=0)),
        ("t.csv.bz2", bz2.compress(PLAIN.encode())),
        ("t.csv.xz", lzma.compress(PLAIN.encode())),
        ("t.csv", '"a","b"\n"1","x"\n"2.5","y"\n'),
        ("t.csv", "a,b\n1,x,\n2.5,y,\n"),
    ],
)
def test_usual_tables_are_read_without_a_word(tmp_path, name, content):
    frame, notes = read_table(write(tmp_path, content, name))
    pd.testing.assert_frame_equal(frame.reset_index(drop=True), EXPECTED)
    assert notes == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (PLAIN.replace(",", ";"), "semicolons"),
        (PLAIN.replace(",", "\t"), "tabs"),
        (PLAIN.replace(",", "|"), "vertical bars"),
        (PLAIN.replace(",", "  "), "spaces"),
        ("a;b\n1,0;x\n2,5;y\n", "comma"),
        ('"a" "b"\n"1" 1 "x"\n"2" 2.5 "y"\n', "spaces"),
        (",a,b\n0,1,x\n1,2.5,y\n", "numbers the rows"),
        ('"",a,b\n1,1,x\n2,2.5,y\n', "numbers the rows"),
    ],
)
def test_what_is_not_usual_is_found_out_and_said(tmp_path, content, said):
    frame, notes = read_table(write(tmp_path, content))
    pd.testing.assert_frame_equal(frame.reset_index(drop=True), EXPECTED)
    assert said in " ".join(notes)


def test_a_separator_can_be_given(tmp_path):
    path = write(tmp_path, "a:b\n1:2\n3:4\n")
    assert list(read_table(path, ":")[0].columns) == ["a", "b"]
    with pytest.raises(UserError, match="one column only"):
        read_table(path)


@pytest.mark.parametrize(
    ("word", "sep"), [("tab", "\t"), (r"\t", "\t"), ("space", " "), ("semicolon", ";")]
)
def test_separators_have_names(tmp_path, word, sep):
    assert read_table(write(tmp_path, f"a{sep}b\n1{sep}2\n"), word)[0].shape == (1, 2)


@pytest.mark.parametrize("sep", ["", "ab", '"', "\n"])
def test_odd_separators_are_refused(tmp_path, sep):
    with pytest.raises(UsageError, match="one character"):
        read_table(write(tmp_path, PLAIN), sep)


def test_a_wrong_separator_is_answered_with_a_better_one(tmp_path):
    with pytest.raises(UserError, match="semicolons, so leave out --sep"):
        read_table(write(tmp_path, "a;b\n1;2\n"), ",")


def test_latin_1_is_read_with_a_note(tmp_path):
    frame, notes = read_table(write(tmp_path, "Größe,b\n1,2\n".encode("latin-1")))
    assert list(frame.columns) == ["Größe", "b"]
    assert "Latin-1" in notes[0]


def test_signs_of_missing_values_are_read_in_columns_of_numbers_alone(tmp_path):
    frame, notes = read_table(write(tmp_path, "dose;strand;code\n1,5;+;1\n?;-;x\n2;-;2\n"))
    assert frame["dose"].tolist()[::2] == [1.5, 2.0]
    assert np.isnan(frame["dose"].iloc[1])
    assert frame["strand"].tolist() == ["+", "-", "-"]
    assert frame["code"].tolist() == ["1", "x", "2"]
    assert "'?' counts as missing: 'dose'" in notes[-1]


WORDS = "a,kind,dose\n1,None,NA\n2,x,3\n3,NA,4\n4,None,5\n5,,6\n"


def test_words_for_missing_values_in_text_are_told(tmp_path):
    frame, notes = read_table(write(tmp_path, WORDS))
    assert frame["kind"].isna().sum() == 4
    assert notes == [
        "In columns of text, words count as missing: 'None' in 2 rows and 'NA' in 1 row of 'kind'; "
        "--categorical kind keeps them as values."
    ]
    assert read_table(write(tmp_path, WORDS), tell_words=False)[1] == []
    assert read_table(write(tmp_path, WORDS.replace("None", "").replace("3,NA", "3,y")))[1] == []


def test_text_keeps_the_words_that_are_values(tmp_path):
    frame, notes = read_table(write(tmp_path, WORDS), texts={"kind": {"None"}, "a": set(), "b": set()})
    assert frame["kind"].fillna("missing").tolist() == ["None", "x", "missing", "None", "missing"]
    assert frame["a"].tolist() == list("12345")
    assert notes == []


@pytest.mark.parametrize("kind", ["parquet", "feather", "arrow", "stream"])
def test_columnar_files_are_read(tmp_path, kind):
    frame = make_frame().astype({"kind": "category"})
    path = tmp_path / f"t.{kind}"
    if kind == "parquet":
        frame.to_parquet(path)
    elif kind == "feather":
        frame.to_feather(path)
    else:
        import pyarrow as pa

        table = pa.Table.from_pandas(frame)
        path = path.with_suffix(".arrow")
        make = pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file
        with make(str(path), table.schema) as writer:
            writer.write_table(table)
    read, notes = read_table(path)
    pd.testing.assert_frame_equal(read.reset_index(drop=True), frame)
    assert notes == []


def test_names_are_texts_and_a_named_index_is_a_column(tmp_path):
    frame = pd.DataFrame({1: [1.0, 2.0]}, index=pd.Index(["p", "q"], name="patient"))
    frame.columns = frame.columns.astype(str)
    frame.to_parquet(tmp_path / "t.parquet")
    assert list(read_table(tmp_path / "t.parquet")[0].columns) == ["patient", "1"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b" \n\n ", "is empty"),
        (b"a,b\n", "0 rows"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is a picture"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "is a picture"),
        (bytes(range(256)) * 4, "binary file"),
        (b"PK\x03\x04 xl/workbook", "cannot be opened as an Excel workbook"),
        (b"PK\x03\x04 mimetype", "a zip archive or an open document"),
        (b"%PDF-1.7", "PDF"),
        (gzip.compress(b"a,b\n1,2\n" * 99, mtime=0)[:-9], "cannot be unpacked"),
        (b"PAR1 and nothing more", "could not be read"),
        (b"ARROW1 and nothing more", "could not be read"),
        (b"a,a,b\n1,2,3\n", "Several columns are called 'a'"),
        (b"only\n1\n2\n", "one column only ('only')"),
        (b"a,b\n1,2\n1,2,3,4\n", "Line 3"),
        (b"a\n1,2,3\n1,2,3\n", "one column only"),
        (b"a,b\n1,2,3,4\n1,2,3,4\n", "more cells than its header"),
    ],
)
def test_what_is_no_table_is_refused(tmp_path, content, said):
    with pytest.raises(UserError) as caught:
        read_table(write(tmp_path, content))
    assert said in str(caught.value)
    assert "t.csv" in str(caught.value) or said.startswith("Several")


def test_folders_and_files_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(UserError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(UserError, match="no file"):
        read_table(tmp_path / "nothing.csv")


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    make_frame().to_parquet(tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install stochgate\[cli\]"):
        read_table(tmp_path / "t.parquet")


def test_names_keep_their_commas_line_breaks_and_letters(tmp_path):
    names = ["dose, in mg", "two\nlines", "größe", "<script>", "[red]x[/red]", "'", '"']
    pd.DataFrame(np.eye(7), columns=names).to_csv(tmp_path / "t.csv", index=False)
    assert list(read_table(tmp_path / "t.csv")[0].columns) == names


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (PLAIN, [2, 3]),
        ("\n" + PLAIN.replace("\n", "\n\n"), [4, 6]),
        ("a,b\n1,x\n \n2.5,y", [2, 4]),
        ('a,b\r\n1,"x\r\nx"\r\n2.5,y\r\n', [2, 4]),
        ('"a\na",b\r1,x\r2.5,y\r', [3, 4]),
        ("a  b\n\n1  x\n2.5  y\n", [3, 4]),
        ("Study 12\n\na;b;c\n1;x;2\n\n2.5;y;3\n", [4, 6]),
    ],
)
def test_rows_know_their_line_of_the_file(tmp_path, content, lines):
    frame, _ = read_table(write(tmp_path, content))
    assert frame.index.tolist() == lines
    assert frame.index.name == "line"


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("Study 12, exported 2024-01-03\n", 2),
        ("Study 12,,\n", 2),
        ("Study 12\n\nexported 2024-01-03\n", 4),
        ('"Study 12, ""A""\nexported 2024-01-03"\n', 3),
    ],
)
@pytest.mark.parametrize("table", ["a,b,c\n1,x,u\n2,y,v\n", ",b,c\n1,x,\n2,y,3\n", "a;b;c\n1;x;u\n2;y;v\n"])
def test_a_title_above_the_header_is_found_and_said(tmp_path, title, line, table):
    frame, notes = read_table(write(tmp_path, title + table))
    assert frame["b"].tolist() == ["x", "y"]
    assert f"Line {line} was taken for the header, and what is above it for a title: 'Study 12" in " ".join(
        notes
    )
    assert frame.index.tolist() == [line + 1, line + 2]


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("a,b\nr1,NA,u\nr2,0.5,v\n", ["a", "b"]),
        ("a,b\nr1,s,u\nr2,s,v\n", ["a", "b"]),
        (",b,c\np,NA,u\nq,0.5,v\n", ["Unnamed: 0", "b", "c"]),
        ("a,,c\np,q,u\nx,0.5,v\n", ["a", "Unnamed: 1", "c"]),
        ("a,,\np,1,u\nx,0.5,v\n", ["a", "Unnamed: 1", "Unnamed: 2"]),
        ("a,b,c\np,,\nx,y,z\n1,2,3\n", ["a", "b", "c"]),
    ],
)
def test_a_header_is_not_taken_for_a_title(tmp_path, content, names):
    frame, notes = read_table(write(tmp_path, content))
    assert list(frame.columns) == names
    assert "header" not in " ".join(notes)


def test_a_wrong_line_below_a_title_is_counted_in_the_file(tmp_path):
    with pytest.raises(UserError, match="Line 5 of"):
        read_table(write(tmp_path, "Study 12\n\na,b,c\n1,2,3\n1,2,3,4,5\n"))


def write_workbook(folder, *sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets, start=1):
        sheet = book.create_sheet(f"Part {number}")
        for row in rows:
            sheet.append(row)
    book.save(folder / "t.xlsx")
    return folder / "t.xlsx"


def test_cells_of_a_workbook_are_read_as_they_are(tmp_path):
    visits = [date(2024, 1, 3), datetime(2024, 1, 3, 10, 30), None, time(8)]
    doses, codes, texts = [1, 0.1, None, 7], ["01", "02", "1", "x"], ["a", "NA", " ", "#N/A"]
    rows = zip(doses, codes, [True, False, True, True], visits, texts, ["5", "?", 2, 3.5], strict=True)
    frame, notes = read_table(
        write_workbook(tmp_path, [["dose", "code", "smokes", "visit", 7, "lab"], *rows])
    )
    assert list(frame.columns) == ["dose", "code", "smokes", "visit", "7", "lab"]
    np.testing.assert_array_equal(frame["dose"], [1, 0.1, np.nan, 7])
    assert frame["code"].tolist() == codes
    assert frame["smokes"].dtype == bool
    assert frame["visit"].tolist() == ["2024-01-03", "2024-01-03 10:30:00", None, "08:00:00"]
    assert frame["7"].tolist() == ["a", None, None, None]
    assert frame["lab"].tolist()[2:] == [2, 3.5]
    assert frame["lab"].isna().tolist() == [False, True, False, False]
    assert notes == ["In columns of numbers '?' counts as missing: 'lab'."]
    assert (frame.index.name, frame.index.tolist()) == ("row", [2, 3, 4, 5])


def test_a_workbook_may_have_titles_row_numbers_and_other_sheets(tmp_path):
    rows = [["Study 12, 2024"], [], [None, "a", "b"], [1, 0.5, "x"], [], [2, 1.5, "y"], [3, 1, "z"]]
    frame, notes = read_table(write_workbook(tmp_path, rows, [["c"]], []))
    assert frame.to_dict("list") == {"a": [0.5, 1.5, 1.0], "b": ["x", "y", "z"]}
    assert frame.index.tolist() == [4, 6, 7]
    assert notes == [
        "The first sheet, 'Part 1', was read, and not 'Part 2', 'Part 3'.",
        "The first column has no name and numbers the rows, so it is left out.",
        "Row 3 was taken for the header, and what is above it for a title: 'Study 12, 2024'.",
    ]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "'Part 1', holds no table"),
        ([["a", "b"]], "holds no table"),
        ([["a", "a"], [1, 2]], "called 'a'"),
    ],
)
def test_a_workbook_without_a_table_is_refused(tmp_path, rows, said):
    with pytest.raises(UserError, match=said):
        read_table(write_workbook(tmp_path, rows))


def test_a_missing_package_for_workbooks_is_named(tmp_path, monkeypatch):
    path = write_workbook(tmp_path, [["a", "b"], [1, 2]])
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"Excel workbooks needs .* pip install stochgate\[excel\]"):
        read_table(path)
