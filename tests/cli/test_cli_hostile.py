"""100 hostile inputs, and more drawn at random: each ends in a result or in one sentence."""

import csv
import gzip
import io
import os
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_tables import make_frame
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.usefixtures("short_fits")
SETTINGS = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
N_ROWS = 30
CELLS = st.sampled_from(
    [
        ["0.5", "-1", "2e3", "7"],
        ["1", "", "NA", "2.5"],
        ["1,5", "2,25"],
        ["a", "b", "", "ä"],
        ["yes", "no"],
        ["True", "False", ""],
        ["<b>", "[red]", "two\nlines"],
        ["1", "2", "?"],
        ["1e308", "-1e308", "0"],
        ["1e-320", "0"],
        ["5"],
        [""],
        ["1", "x"],
        ["inf", "1"],
        ["2020-01-02", "2021-03-04"],
    ]
)
NAMES = st.one_of(
    st.sampled_from(
        [
            "<script>alert(1)</script>",
            "[red]x[/red]",
            "[/]",
            "a,b",
            "two\nlines",
            'q"q',
            "=cmd()",
            "größe",
            "",
        ]
    ),
    st.text(max_size=8),
    st.text(alphabet="[]/\\{}<>&;'\"\n\t\r\x1b\u202e\U0001f600", max_size=6),
)


def survives(run, content, name="t.csv", target="y", *others):
    """Check that a file of some bytes ends in a result or in one sentence."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        done = run("select", path, "--target", target, "--out", Path(folder) / "out", *others)
        if done.code == 0:
            assert (Path(folder) / "out" / "report.html").exists()
            assert "Traceback" not in done.err
        else:
            done.refuses(done.code)
            assert done.code in (1, 2)
        return done


def as_csv(header, rows, sep=","):
    made = io.StringIO()
    csv.writer(made, delimiter=sep).writerows([header, *rows])
    return made.getvalue().encode("utf-8", errors="surrogatepass")


@SETTINGS
@given(content=st.binary(max_size=300))
def test_random_bytes(run, content):
    assert survives(run, content).code != 0


@SETTINGS
@given(text=st.text(alphabet="ab1,;\t\n\"' .-|é", max_size=300))
def test_random_text(run, text):
    assert survives(run, b"x,y\n" + text.encode()).code in (0, 1, 2)


@SETTINGS
@given(
    columns=st.lists(CELLS, min_size=1, max_size=4),
    y=CELLS,
    sep=st.sampled_from(",;\t|"),
    seed=st.integers(0, 99),
)
def test_random_tables(run, columns, y, sep, seed):
    rng = np.random.default_rng(seed)
    drawn = [rng.choice(np.array(cells), N_ROWS) for cells in (*columns, y)]
    header = [*(f"c{j}" for j in range(len(columns))), "y"]
    survives(run, as_csv(header, np.array(drawn).T.tolist(), sep))


@SETTINGS
@given(names=st.lists(NAMES, min_size=2, max_size=4), at=st.integers(0, 3))
def test_weird_names(run, names, at):
    X = np.random.default_rng(0).normal(size=(N_ROWS, len(names))).round(2)
    target = names[at % len(names)]
    content = as_csv(names, X.tolist())
    survives(run, content, "t.csv", target)


@SETTINGS
@given(
    start=st.sampled_from(
        [b"PAR1", b"ARROW1", b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\xff\xfe", b"FEA1", b"PK\x03\x04xl/"]
    ),
    rest=st.binary(max_size=200),
    ending=st.sampled_from([".csv", ".xlsx", ".parquet", ".arrow", ".feather", ".gz", ""]),
)
def test_files_that_pretend(run, start, rest, ending):
    assert survives(run, start + rest, f"t{ending}").code != 0


@SETTINGS
@given(
    n_bytes=st.integers(0, 5000), position=st.integers(0, 5000), kind=st.sampled_from(["parquet", "csv.gz"])
)
def test_damaged_files(run, n_bytes, position, kind):
    frame, made = make_frame(N_ROWS)[["x0", "x1", "amount"]], io.BytesIO()
    if kind == "parquet":
        frame.to_parquet(made)
    else:
        made.write(gzip.compress(frame.to_csv(index=False).encode(), mtime=0))
    content = bytearray(made.getvalue()[: max(1, n_bytes)])
    content[position % len(content)] ^= 0xFF
    survives(run, bytes(content), f"t.{kind}", "amount")


def odd_frames():
    """Return hand-made tables by name."""
    good, n = make_frame(N_ROWS)[["x0", "x1", "amount"]], N_ROWS
    odd = {
        "all missing": [None] * n,
        "one value": [1.0] * n,
        "numbers as text": [f"{i}.5" for i in range(n)],
        "numbers with units": [f"{i} mg" for i in range(n)],
        "mixed": ["1.5"] * 20 + ["high"] * 10,
        "dates": list(pd.date_range("2020-01-01", periods=n)),
        "dates as text": ["2020-01-02"] * n,
        "infinite": [np.inf] + [1.0] * (n - 1),
        "huge": [1e308, -1e308] * (n // 2),
        "tiny": [1e-320] * (n - 1) + [0.0],
        "huge whole numbers": [2**62 + i for i in range(n)],
        "larger than any integer": [10**30 + i for i in range(n)],
        "long texts": ["x" * 10_000] * n,
        "truth values": [True, False] * (n // 2),
        "truth and missing": [True, None] * (n // 2),
        "an id": [f"sample {i}" for i in range(n)],
        "a copy of the target": good["amount"].tolist(),
        "emoji": ["\U0001f600", "\u202e", "e\u0301"] * (n // 3),
        "nothing but spaces": [" ", "  "] * (n // 2),
        "html": ["<b>a</b>", "<script>alert(1)</script>"] * (n // 2),
        "markup": ["[bold]a", "[/red]"] * (n // 2),
        "formulas": ["=1+1", "@SUM(A1)"] * (n // 2),
        "lines": ["a\nb", "c\r\nd"] * (n // 2),
    }
    return {name: good.assign(odd=pd.Series(values)) for name, values in odd.items()}


@pytest.mark.parametrize("kind", list(odd_frames()))
@pytest.mark.parametrize("target", ["amount", "odd"])
def test_odd_columns(run, kind, target):
    content = odd_frames()[kind].to_csv(index=False).encode()
    done = survives(run, content, "t.csv", target)
    if kind in ("truth values", "html", "markup", "lines", "formulas"):
        done.succeeds()


@pytest.mark.parametrize("kind", ["lists", "bytes", "dicts", "categories", "decimals", "times", "nullable"])
def test_odd_types(run, kind):
    from decimal import Decimal

    frame, made = make_frame(N_ROWS)[["x0", "x1", "amount"]], io.BytesIO()
    odd = {
        "lists": [[1, 2]] * N_ROWS,
        "bytes": [b"\xff\x00"] * N_ROWS,
        "dicts": [{"a": 1}] * N_ROWS,
        "categories": pd.Categorical([1, 2, 3] * (N_ROWS // 3)),
        "decimals": [Decimal(i) for i in range(N_ROWS)],
        "times": pd.to_timedelta(np.arange(N_ROWS), unit="h"),
        "nullable": pd.array([1, None] * (N_ROWS // 2), dtype="Int64"),
    }
    frame.assign(odd=odd[kind]).to_parquet(made)
    for target in ("amount", "odd"):
        survives(run, made.getvalue(), "t.parquet", target)


def test_a_missing_file_named_with_markup(run, folder):
    run("select", "[red]no[/red].csv", "--target", "y").refuses(1, "[red]no[/red].csv")
    run("select", os.fsdecode(b"\xff.csv"), "--target", "y").refuses(1)
