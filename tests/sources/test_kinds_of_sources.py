"""Every kind of source reads the same rows, and says in one sentence what it cannot read."""

import itertools
from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from stochgate import GatedClassifier, GatedRegressor, Stream, Training
from stochgate.sources.opening import is_stream, open_source
from tables_on_disk import N_FEATURES, Again, numbers, read_all

pa = pytest.importorskip("pyarrow")
csv = pytest.importorskip("pyarrow.csv")
ds = pytest.importorskip("pyarrow.dataset")
feather = pytest.importorskip("pyarrow.feather")
parquet = pytest.importorskip("pyarrow.parquet")

X, Y = numbers()
NAMES = [f"x{j}" for j in range(N_FEATURES)]
TABLE = pa.table({**{name: X[:, j] for j, name in enumerate(NAMES)}, "y": Y})
CUTS = [0, 100, 450, 451, 451, 1200]  # one block is empty
BLOCKS = [(X[i:j], Y[i:j]) for i, j in itertools.pairwise(CUTS)]
SOURCES = {}
MODEL = GatedRegressor(lam=0.5, network="linear", training=Training(n_steps=50), random_state=0)


def source(make):
    SOURCES[make.__name__] = make
    return make


@source
def parquet_file(folder):
    parquet.write_table(TABLE, folder / "t.parquet", row_group_size=200)
    return folder / "t.parquet", "y"


@source
def parquet_file_in_capitals(folder):
    parquet.write_table(TABLE, folder / "T.PARQUET", row_group_size=5000)
    return str(folder / "T.PARQUET"), "y"


@source
def parquet_folder(folder):
    for i in range(3):
        parquet.write_table(TABLE.slice(400 * i, 400), folder / f"part-{i}.parquet", row_group_size=150)
    (folder / "_SUCCESS").touch()
    (folder / ".part-0.parquet.crc").write_bytes(b"crc")
    (folder / "_metadata").write_bytes(b"no table")
    (folder / ".hidden.parquet").write_bytes(b"no table")
    (folder / "_temporary").mkdir()
    (folder / "_temporary" / "half.parquet").write_bytes(b"PAR1")
    (folder / "README.txt").write_text("how this was made")
    return folder, "y"


@source
def parquet_columns_in_another_order(folder):
    parquet.write_table(TABLE.slice(0, 500), folder / "a.parquet")
    turned = TABLE.slice(500).select(["y", *NAMES[::-1]])
    parquet.write_table(turned, folder / "b.parquet")
    return folder, "y"


@source
def pyarrow_dataset(folder):
    parquet.write_table(TABLE, folder / "t.parquet", row_group_size=200)
    return ds.dataset(str(folder)), "y"


@source
def dataset_in_memory(folder):
    return ds.dataset(TABLE), "y"


@source
def csv_folder(folder):
    csv.write_csv(TABLE.slice(0, 700), folder / "a.csv")
    csv.write_csv(TABLE.slice(700), folder / "b.csv")
    return folder, "y"


@source
def feather_file(folder):
    feather.write_feather(TABLE, str(folder / "t.feather"), chunksize=300)
    return folder / "t.feather", "y"


@source
def npy_by_rows(folder):
    np.save(folder / "x.npy", X)
    return folder / "x.npy", Y


@source
def npy_by_columns(folder):
    np.save(folder / "x.npy", np.asfortranarray(X))
    np.save(folder / "y.npy", Y)
    return folder / "x.npy", folder / "y.npy"


@source
def memory_map(folder):
    np.save(folder / "x.npy", X)
    return Stream(np.load(folder / "x.npy", mmap_mode="r")), Y.tolist()


@source
def zarr_path(folder):
    zarr = pytest.importorskip("zarr")
    made = zarr.create_array(folder / "x.zarr", shape=X.shape, dtype=X.dtype, chunks=(90, 2))
    made[:] = X
    return folder / "x.zarr", Y


@source
def zarr_folder_of_another_name(folder):
    zarr = pytest.importorskip("zarr")
    zarr.create_array(folder / "x", shape=X.shape, dtype=X.dtype, chunks=X.shape)[:] = X
    return folder / "x", Y


@source
def zarr_array(folder):
    return pytest.importorskip("zarr").array(X, chunks=(500, N_FEATURES)), Y


@source
def hdf5(folder):
    file = pytest.importorskip("h5py").File(folder / "t.h5", "w")
    y = file.create_dataset("y", data=Y)
    return file.create_dataset("x", data=X, chunks=(7, 2)), y


@source
def list_of_arrays(folder):
    return BLOCKS, None


@source
def list_of_lists(folder):
    return [list(block) for block in BLOCKS], None


@source
def pandas_blocks_in_another_order(folder):
    frames = [(pd.DataFrame(part, columns=NAMES), pd.Series(y)) for part, y in BLOCKS]
    return [(block[NAMES[::-1]] if i == 2 else block, y) for i, (block, y) in enumerate(frames)], None


@source
def pyarrow_blocks(folder):
    made = [(pa.table({n: part[:, j] for j, n in enumerate(NAMES)}), y) for part, y in BLOCKS]
    made[1] = (made[1][0].to_batches()[0], made[1][1])
    return made, None


@source
def polars_blocks(folder):
    polars = pytest.importorskip("polars")
    return [(polars.DataFrame(part, schema=NAMES), polars.Series(y)) for part, y in BLOCKS], None


@source
def blocks_from_their_beginning(folder):
    return Again(BLOCKS), None


@source
def tensors(folder):
    import torch

    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(torch.from_numpy(X), torch.from_numpy(Y)), batch_size=333
    )
    return loader, None


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_every_source_reads_the_same_rows(make, tmp_path):
    data, y = make(tmp_path)
    assert is_stream(data, y)
    source = open_source(data, y)
    read, rows, target = read_all(source)
    np.testing.assert_array_equal(read.astype(np.float32), X)
    np.testing.assert_array_equal(rows, np.arange(len(X)))
    np.testing.assert_allclose(target, Y, rtol=1e-15)
    some, _, _ = read_all(source, [3, 1])
    np.testing.assert_array_equal(some.astype(np.float32), X[:, [3, 1]])
    last = source.n_parts - 1  # parts are read in any order
    blocks = list(open_source(data, y).read(last))
    assert blocks[-1].rows[-1] == len(X) - 1
    assert len(source.describe()) > 10


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_every_source_gives_the_same_model(make, tmp_path):
    data, y = make(tmp_path)
    model = clone(MODEL).fit(data, y)
    expected = in_memory()
    np.testing.assert_array_equal(model.get_support(), expected.get_support())
    np.testing.assert_allclose(model.predict(data), expected.predict(X), rtol=1e-4, atol=1e-5)


@cache
def in_memory():
    return clone(MODEL).fit(X, Y)


def test_partitions_are_columns(tmp_path):
    table = TABLE.append_column("site", pa.array(["b", "a"] * 600)).append_column(
        "year", pa.array(np.arange(1200) % 3 + 2020)
    )
    ds.write_dataset(
        table, tmp_path, format="parquet", partitioning=["site", "year"], partitioning_flavor="hive"
    )
    source = open_source(tmp_path, "y")
    assert set(source.names) == {*NAMES, "site", "year"}
    model = GatedRegressor(lam=0.5, network="linear", random_state=0).fit(tmp_path, "y")
    assert model.n_features_in_ == N_FEATURES + 2
    assert model.predict(tmp_path).shape == (1200,)


def test_files_may_differ_in_the_type_of_a_column(tmp_path):
    parquet.write_table(pa.table({"a": [1, 2], "t": pa.nulls(2), "y": [1, 0]}), tmp_path / "a.parquet")
    parquet.write_table(pa.table({"y": [1, 0], "t": ["u", "v"], "a": [0.5, None]}), tmp_path / "b.parquet")
    source = open_source(tmp_path, "y")
    blocks = [block.X.to_pydict() for part in range(2) for block in source.read(part)]
    assert blocks == [{"a": [1.0, 2.0], "t": [None, None]}, {"a": [0.5, None], "t": ["u", "v"]}]


def test_the_first_rows_of_a_csv_do_not_fix_the_types_of_features(tmp_path):
    lines = ["a,t,y", *["1,,0"] * 200_000, "0.5,late,1"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    source = open_source(tmp_path / "t.csv", "y")
    *_, last = source.read(0)
    assert last.X.slice(len(last.rows) - 1).to_pylist() == [{"a": 0.5, "t": "late"}]
    assert last.y.dtype == np.int64


def test_names_may_have_dots_and_spaces(tmp_path):
    table = pa.table({"a.b": X[:, 0], "dose (mg)": X[:, 1], ".c": X[:, 3], "the y": Y})
    parquet.write_table(table, tmp_path / "t.parquet")
    model = GatedRegressor(lam=0.1, network="linear", random_state=0).fit(tmp_path, "the y")
    assert model.feature_names_in_.tolist() == ["a.b", "dose (mg)", ".c"]
    assert model.score(tmp_path, "the y") > 0.9


def test_large_chunks_come_in_small_blocks_and_small_chunks_together():
    zarr = pytest.importorskip("zarr")
    large = open_source(zarr.zeros((50_000, 2), chunks=(50_000, 2), dtype="f4"), np.zeros(50_000))
    assert large.n_parts == 1
    assert max(len(block.rows) for block in large.read(0)) <= 16_384
    small = open_source(zarr.zeros((5000, 2), chunks=(10, 2), dtype="f4"), np.zeros(5000))
    assert small.n_parts == 1


@pytest.mark.parametrize("exclude", [["x1"], [1]])
def test_excluded_columns_are_no_features(exclude, tmp_path):
    parquet.write_table(TABLE, tmp_path / "t.parquet")
    frames = [(pd.DataFrame(X, columns=NAMES), Y)]
    data = tmp_path if exclude == ["x1"] else frames
    source = open_source(Stream(data, exclude=exclude), "y" if data is tmp_path else None)
    assert source.names == ["x0", "x2", "x3", "x4"]
    np.testing.assert_array_equal(read_all(source)[0], X[:, [0, 2, 3, 4]])


def test_columns_of_arrays_are_excluded_by_position():
    np.testing.assert_array_equal(read_all(open_source(Stream(X, exclude=[0, 4]), Y))[0], X[:, 1:4])


def test_a_table_in_memory_is_no_stream():
    for table in (X, X.tolist(), pd.DataFrame(X), TABLE, [[1, 2], [3, 4]], [(1, 2), (3, 4)]):
        assert not is_stream(table, Y)
        assert not is_stream(table)


PARTS = pa.table({"a": [1.0, 2.0], "y": [0, 1]})


def _file(folder, **columns):
    made = {"a": [1.0, 2.0, 3.0, 4.0], "y": [0, 1, 0, 1], **columns}
    parquet.write_table(pa.table(made), folder / "t.parquet")
    return folder / "t.parquet"


def _mixed_formats(folder):
    csv.write_csv(PARTS, folder / "a.csv")
    parquet.write_table(PARTS, folder / "b.parquet")
    return folder


def _types_that_do_not_fit(folder):
    parquet.write_table(PARTS, folder / "a.parquet")
    parquet.write_table(pa.table({"a": ["u"], "y": [0]}), folder / "b.parquet")
    return folder


def _twice(folder):
    parquet.write_table(pa.table([[1.0], [1.0], [1.0]], names=["a", "a", "y"]), folder / "t.parquet")
    return folder / "t.parquet"


def _group_of_zarr(folder):
    pytest.importorskip("zarr").open_group(folder / "g.zarr", mode="w").create_array("x", data=X)
    return folder / "g.zarr"


def _write(path, text="x"):
    path.write_text(text)
    return path


def _npy(folder, values):
    np.save(folder / "x.npy", values)
    return folder / "x.npy"


DATES = pa.array([0, 1, 2, 3], pa.timestamp("us"))
REFUSED = {
    "no file": (lambda f: f / "nothing.parquet", "y", "no file or folder"),
    "a bucket": (lambda f: "s3://bucket/table", "y", "as a pyarrow dataset"),
    "empty folder": (lambda f: f, "y", "holds no table"),
    "another ending": (lambda f: _write(f / "t.xlsx"), "y", "has the ending '.xlsx'"),
    "a file of HDF5": (lambda f: _write(f / "t.h5"), "y", "open it with h5py"),
    "a group of zarr": (_group_of_zarr, "y", "open it with zarr"),
    "several formats": (_mixed_formats, "y", "several formats"),
    "types that do not fit": (_types_that_do_not_fit, "y", "differ in the type of a column"),
    "unknown y": (_file, "z", "no column 'z'; its columns are a, y"),
    "y as an array": (_file, np.zeros(4), "give y as the name of its column"),
    "no y": (_file, None, "y is missing"),
    "timestamps": (lambda f: _file(f, when=DATES), "y", "column 'when' holds dates"),
    "lists": (lambda f: _file(f, e=[[1.0], [2.0], [3.0], [4.0]]), "y", "column 'e' holds list"),
    "null y": (lambda f: _file(f, y=[0, 1, None, 1]), "y", "y is nan in row 2"),
    "null label": (lambda f: _file(f, y=["u", "v", "u", None]), "y", "y is None in row 3"),
    "infinite y": (lambda f: _file(f, y=[0.0, np.inf, 0, 1]), "y", "y is inf in row 1"),
    "one row": (lambda f: _npy(f, np.ones((1, 2))), [0], "has 1 rows of weight"),
    "an array of one dimension": (lambda f: _npy(f, np.ones(4)), [0] * 4, "expected rows and columns"),
    "objects": (lambda f: _npy(f, np.array([["a"]], dtype=object)), [0], "objects|allow_pickle"),
    "y too short": (lambda f: _npy(f, X), Y[:-1], "y has 1199 rows, but X has 1200"),
    "name of a column of an array": (lambda f: _npy(f, X), "y", "'y' is no column of an array"),
    "a generator": (
        lambda f: (block for block in BLOCKS),
        None,
        "iterator, which can be gone through once",
    ),
    "no block": (lambda f: Stream([]), None, "no block of rows"),
    "blocks and y": (lambda f: BLOCKS, Y, "Blocks hold their own y"),
    "a number": (lambda f: Stream(3), None, "X is a int"),
    "blocks without y": (lambda f: [(X, None)], None, "y is missing"),
    "rows of y": (lambda f: [(X, Y[1:])], None, "In block 0 y has 1199 rows, but X has 1200"),
    "rows of weights": (lambda f: [(X, Y, Y[1:])], None, "In block 0 sample_weight has 1199 rows"),
    "weights in one block": (lambda f: [(X, Y, Y**2), (X, Y)], None, "Only one of block 1 and the first"),
    "fewer columns": (
        lambda f: [(X, Y), (X[:, 1:], Y)],
        None,
        "Block 1 has 4 columns, but the first one has 5",
    ),
    "lacking names": (lambda f: [(pd.DataFrame(X), Y), (pd.DataFrame(X[:, 1:]), Y)], None, "no column 4"),
    "names in one block": (lambda f: [(pd.DataFrame(X), Y), (X, Y)], None, "but the first one has 5 with"),
    "text in arrays": (lambda f: [(np.array([["u", "v"]]), Y[:1])], None, "other things than numbers"),
    "not pairs": (lambda f: [(X, Y), X], None, "Block 1 is a ndarray; give tuples"),
    "infinity": (lambda f: [(np.where(X > 3, np.inf, X), Y)], None, "infinity"),
    "unknown exclude": (lambda f: Stream(_file(f), exclude=["b"]), "y", "no column 'b'"),
    "exclude of an array": (lambda f: Stream(X, exclude=[7]), Y, "names the column 7"),
    "no table": (lambda f: _write(f / "t.parquet"), "y", "cannot be read as a table"),
    "two columns of one name": (_twice, "y", "duplicate"),
    "weights of text": (lambda f: [(X, Y, np.full(len(X), "w"))], None, "weights must be numbers"),
    "nothing but y": (lambda f: Stream(_file(f), exclude=["a"]), "y", "0 feature"),
    "negative weights": (lambda f: [(X, Y, Y)], None, r"sample weight of row \d+ is -"),
}


@pytest.mark.parametrize(("make", "y", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read_is_said_in_one_sentence(make, y, sentence, tmp_path):
    with pytest.raises((ValueError, FileNotFoundError), match=sentence) as refused:
        GatedRegressor(lam=0.5, network="linear").fit(make(tmp_path), y)
    assert "\n" not in str(refused.value).strip()


def test_sparse_blocks_are_refused():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(ValueError, match="Block 0 is sparse"):
        GatedRegressor(lam=0.5).fit([(sparse.csr_array(X), Y)])


def test_a_y_of_numbers_is_no_y_of_classes(tmp_path):
    with pytest.raises(ValueError, match="continuous"):
        GatedClassifier(lam=0.5).fit([(X, Y)])
    with pytest.raises(ValueError, match="more than 1000 different classes"):
        GatedClassifier(lam=0.5).fit([(X, np.arange(len(X)))])


@pytest.mark.parametrize("options", [{"exclude": "x1"}, {"sample_rows": 1}])
def test_wrong_options_of_a_stream_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        Stream(X, **options)


def test_a_file_that_was_cut_short_is_refused(tmp_path):
    path = _npy(tmp_path, X)
    source = open_source(path, Y)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match="cut short"):
        read_all(source)
