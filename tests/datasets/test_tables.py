"""Real tables are read as they are stored, and a missing or wrong file is named."""

import os
import sys
from dataclasses import replace

import numpy as np
import pytest

from real_files import N_COLUMNS, N_ROWS, write_files
from stochgate import datasets
from stochgate.datasets import FILES, REAL, find_file, load_real

needs_data = pytest.mark.skipif(
    not os.environ.get("STOCHGATE_DATA"), reason="STOCHGATE_DATA names no folder of data"
)
FROM_PACKAGES = ("scikit-learn", "scikit-survival", "lifelines")
FROM_FILES = [name for name, entry in REAL.items() if entry.source not in FROM_PACKAGES]
PACKAGES = {"scikit-survival": "sksurv", "lifelines": "lifelines"}


@pytest.fixture
def small_files(monkeypatch, tmp_path):
    """Put small files in the place of the real ones, and their checksums into the registry."""
    for name, sha256 in write_files(tmp_path).items():
        monkeypatch.setitem(FILES, name, replace(FILES[name], sha256=sha256))
    monkeypatch.setenv("STOCHGATE_DATA", str(tmp_path))
    return tmp_path


def test_every_file_has_a_small_version(small_files):
    assert {file.name for file in small_files.iterdir()} == {entry.file for entry in FILES.values()}
    assert len({entry.sha256 for entry in FILES.values()}) > 10
    assert all(find_file(name).exists() for name in FILES)


@pytest.mark.parametrize("name", FROM_FILES)
def test_a_table_is_read_from_its_file(name, small_files):
    table = load_real(name)
    n_rows, n_columns = table.X.shape
    assert table.kind == REAL[name].kind
    assert table.y.shape == (n_rows,)
    assert table.feature_names.shape == (n_columns,)
    assert table.groups is None or table.groups.shape == (n_rows,)
    assert table.X.dtype == (np.float64 if isinstance(table.X, np.ndarray) else np.float32)
    if name not in ("mnist38", "pbmc", "mice_protein"):
        assert table.X.shape == (N_ROWS, N_COLUMNS)


def test_a_sparse_table_stays_sparse(small_files):
    X = load_real("basehock").X
    assert X.format == "csr"
    assert X[7, 1] == 7


def test_threes_and_eights_are_of_the_training_images(small_files):
    table = load_real("mnist38")
    assert table.X.shape == (8, 784)
    assert np.array_equal(table.X[:, 0], table.y)
    assert set(table.y) == {3, 8}


def test_naive_and_regulatory_cells_keep_their_counts(small_files):
    table = load_real("pbmc")
    assert set(table.y) == {"CD4+/CD25 T Reg", "CD4+/CD45RA+/CD25- Naive T"}
    assert table.X.sum(axis=1).tolist() == [0, 1, 3, 4, 6, 7, 9, 10]


def test_mice_are_groups_and_their_class_is_in_no_column(small_files):
    table = load_real("mice_protein")
    assert table.feature_names.tolist() == ["BDNF_N", "NR1_N"]
    assert np.isnan(table.X).sum() == 1
    assert table.groups.tolist() == np.repeat(["m0", "m1", "m2", "m3"], 3).tolist()
    assert table.y.tolist() == np.repeat(["c0", "c1", "c0", "c1"], 3).tolist()


def test_loaders_with_more_than_a_table_read_small_files_too(small_files):
    assert datasets.load_metabric().feature_kinds.tolist().count("oncotype") == 1
    assert datasets.load_gaussian_survival("viz").X.shape == (N_ROWS, N_COLUMNS)
    assert set(datasets.load_newsgroups()[1]) == {0, 1}


def test_a_file_that_differs_is_refused(small_files):
    (small_files / "yale.npz").write_bytes(b"something else")
    with pytest.raises(ValueError, match=r"yale\.npz has the sha256 .*, not .*: replace it by the file"):
        load_real("yale")


def test_the_cache_is_looked_in_after_the_folder(small_files, monkeypatch, tmp_path):
    cache = tmp_path / "cache" / "stochgate"
    cache.mkdir(parents=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert find_file("yale").parent == small_files
    (small_files / "yale.npz").rename(cache / "yale.npz")
    assert find_file("yale").parent == cache
    (cache / "yale.npz").unlink()
    with pytest.raises(FileNotFoundError, match=rf"{small_files} or {cache}.*made from jundongl"):
        find_file("yale")


@pytest.mark.parametrize("name", [name for name, entry in REAL.items() if entry.source in FROM_PACKAGES])
def test_a_table_of_a_package_has_its_shape(name):
    if REAL[name].source in PACKAGES:
        pytest.importorskip(PACKAGES[REAL[name].source])
    table = load_real(name)
    assert table.X.shape == (REAL[name].n_rows, REAL[name].n_columns)
    assert (table.y.dtype.names == ("event", "time")) == (table.kind == "survival")


def test_the_cause_of_death_is_no_column_of_flchain():
    pytest.importorskip("sksurv")
    assert not any("chapter" in name for name in load_real("flchain").feature_names)


@pytest.mark.parametrize(("name", "package"), [("rossi", "lifelines"), ("gbsg2", "scikit-survival")])
def test_a_missing_package_is_named(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, f"{PACKAGES[package]}.datasets", None)
    with pytest.raises(ImportError, match=f"needs the package {package}"):
        load_real(name)


@needs_data
@pytest.mark.parametrize("name", FROM_FILES)
def test_a_real_table_has_the_shape_that_is_registered(name):
    table = load_real(name)
    assert table.X.shape == (REAL[name].n_rows, REAL[name].n_columns)


def test_an_unknown_table_is_refused():
    with pytest.raises(ValueError, match="Unknown real table 'iris'; use one of"):
        load_real("iris")
