"""How each real table is read: from a data file, from scikit-learn, scikit-survival or lifelines."""

import csv
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn import datasets as bundled

from stochgate.datasets.files import find_file, read_arrays
from stochgate.optional import require
from stochgate.survival import survival_target


class Columns(NamedTuple):
    """A table that was read.

    Attributes
    ----------
    X : ndarray of float64 or csr_array of float32, shape (n_samples, n_features)
    y : ndarray, shape (n_samples,)
    feature_names : ndarray of str, shape (n_features,)
    groups : ndarray, shape (n_samples,), or None
        Rows with the same value belong together.
    """

    X: Any
    y: np.ndarray
    feature_names: np.ndarray
    groups: np.ndarray | None = None


def read_dense(file: str) -> Columns:
    """Read a file with the arrays X, y and, where it has them, feature_names."""
    data = read_arrays(file)
    names = data.get("feature_names", _numbered(data["X"].shape[1]))
    return Columns(data["X"].astype(np.float64), data["y"], names)


def read_sparse(file: str) -> Columns:
    """Read a file with the arrays of a CSR matrix, and y."""
    data = read_arrays(file)
    X = csr_array(
        (data["data"].astype(np.float32), data["indices"], data["indptr"]), shape=tuple(data["shape"])
    )
    return Columns(X, data["y"], _numbered(X.shape[1]))


def read_mnist_3_8() -> Columns:
    """Read the threes and eights among MNIST's training images."""
    data = read_arrays("mnist")
    rows = np.isin(data["y_train"], (3, 8))
    X = data["X_train"][rows].astype(np.float64)
    return Columns(X, data["y_train"][rows], _numbered(X.shape[1]))


def read_pbmc() -> Columns:
    """Read the naive and the regulatory T cells among the sorted blood cells."""
    data, cells = read_arrays("pbmc_facs"), read_sparse("pbmc_facs")
    kinds = data["class_names"][cells.y]
    rows = np.flatnonzero(np.isin(kinds, ("CD4+/CD45RA+/CD25- Naive T", "CD4+/CD25 T Reg")))
    return Columns(cells.X[rows], kinds[rows], data["gene_symbol"])


def read_mice() -> Columns:
    """Read the proteins of mice; the rows of one mouse are a group.

    The columns Genotype, Treatment and Behavior, which make up the class, are left out.
    """
    with find_file("mice_protein").open(newline="") as file:
        header, *rows = csv.reader(file)
    proteins = [j for j, name in enumerate(header) if name.endswith("_N")]
    X = np.array([[float(row[j]) if row[j] else np.nan for j in proteins] for row in rows])
    mice = np.array([row[header.index("MouseID")].rsplit("_", 1)[0] for row in rows])
    y = np.array([row[header.index("class")] for row in rows])
    return Columns(X, y, np.array(header)[proteins], mice)


def read_metabric() -> Columns:
    """Read METABRIC; time is in months, the event is death of any cause."""
    data = read_arrays("metabric")
    y = survival_target(data["event"], data["time"])
    return Columns(data["X"].astype(np.float64), y, data["feature_names"])


def read_bundled(name: str) -> Columns:
    """Read a table that comes with scikit-learn."""
    data = getattr(bundled, f"load_{name}")()
    return Columns(data.data.astype(np.float64), data.target, np.array(data.feature_names))


def read_scikit_survival(name: str, leave_out: tuple[str, ...] = ()) -> Columns:
    """Read a table that comes with scikit-survival.

    Parameters
    ----------
    name : str
        The ending of its function `load_...`.
    leave_out : tuple of str
        Columns not to use.
    """
    package = require("sksurv.datasets", package="scikit-survival", needed_by=f"The data set {name}")
    frame, y = getattr(package, f"load_{name}")()
    event, time = y.dtype.names
    return _with_dummies(frame.drop(columns=list(leave_out)), survival_target(y[event], y[time]))


def read_rossi() -> Columns:
    """Read Rossi's convicts, who may be arrested again, from lifelines."""
    package = require(
        "lifelines.datasets", package="lifelines", needed_by="The data set rossi", extra="dev"
    )
    frame = package.load_rossi()
    y = survival_target(frame["arrest"], frame["week"])
    return _with_dummies(frame.drop(columns=["arrest", "week"]), y)


def _with_dummies(frame: Any, y: np.ndarray) -> Columns:
    """Return a DataFrame's columns; of a categorical one, a column for each value but the first."""
    pandas = require("pandas", package="pandas", needed_by="A data set with categories")
    numbers = pandas.get_dummies(frame, drop_first=True, dtype=float)
    return Columns(numbers.to_numpy(dtype=np.float64), y, numbers.columns.to_numpy(dtype=str))


def _numbered(n_features: int) -> np.ndarray:
    return np.array([f"x{j}" for j in range(n_features)])
