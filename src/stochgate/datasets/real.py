"""Real data sets with more than a table: the kinds of their columns, or the truth behind them."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from stochgate.datasets.files import read_arrays
from stochgate.survival import survival_target


@dataclass(frozen=True)
class RealProblem:
    """A data set that was measured, or drawn by others.

    Attributes
    ----------
    X : ndarray, shape (n_samples, n_features)
    y : ndarray; for survival a structured array with the fields "event" and "time"
    feature_names : ndarray of str, shape (n_features,)
    feature_kinds : ndarray of str, shape (n_features,)
        What sort of column each is.
    relevant : ndarray of bool, shape (n_features,), or None where it is not known
    log_hazard : ndarray, shape (n_samples,), or None where it is not known
    """

    X: np.ndarray
    y: np.ndarray
    feature_names: np.ndarray
    feature_kinds: np.ndarray
    relevant: np.ndarray | None = None
    log_hazard: np.ndarray | None = None


def load_metabric() -> RealProblem:
    """METABRIC: 1,904 breast cancer patients, death of any cause, times in months.

    494 genes, of which 8 are in the Oncotype DX panel, and 5 clinical columns (the paper's). The paper had
    1,969 patients and 24,368 probes; this file has the genes that were published with the clinical data.
    The kinds of columns are "oncotype", "clinical" and "gene".
    """
    data = read_arrays("metabric")
    kinds = np.where(data["feature_group"] == "clinical", "clinical", "gene")
    kinds = np.where(data["is_oncotype"], "oncotype", kinds)
    y = survival_target(data["event"], data["time"])
    return RealProblem(data["X"].astype(np.float64), y, data["feature_names"], kinds)


def load_gaussian_survival(part: str = "train") -> RealProblem:
    """DeepSurv's simulation, which the authors' Cox example uses: a Gaussian risk in 2 of 10 columns.

    Parameters
    ----------
    part : {"train", "valid", "test", "viz"}, default="train"
        4,000, 1,000, 1,000 and 10,000 rows.
    """
    parts = ("train", "valid", "test", "viz")
    if part not in parts:
        raise ValueError(f"Unknown part {part!r}; use one of {list(parts)}.")
    data = read_arrays("gaussian_survival")
    X = data[f"{part}_x"].astype(np.float64)
    relevant = np.arange(X.shape[1]) < 2
    return RealProblem(
        X,
        survival_target(data[f"{part}_e"], data[f"{part}_t"]),
        np.array([f"x{j + 1}" for j in range(X.shape[1])]),
        np.where(relevant, "signal", "noise"),
        relevant,
        data[f"{part}_hr"].astype(np.float64),
    )


def load_newsgroups() -> tuple[csr_array, np.ndarray]:
    """20 Newsgroups: how often each of 55,911 words stands in each of 18,774 messages.

    Returns
    -------
    X : csr_array of float32, shape (n_samples, n_features)
    y : ndarray of int, shape (n_samples,)
        1 for the groups on computers and science ("comp." and "sci."), else 0.
    """
    data = read_arrays("newsgroups20")
    counts = data["data"].astype(np.float32), data["indices"], data["indptr"]
    technical = np.array([name.startswith(("comp.", "sci.")) for name in data["class_names"].tolist()])
    return csr_array(counts, shape=tuple(data["shape"])), technical[data["y"]].astype(int)
