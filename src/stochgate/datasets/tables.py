"""Real tables under one function: which there are, and what each is for."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from stochgate.datasets.readers import (
    Columns,
    read_bundled,
    read_dense,
    read_metabric,
    read_mice,
    read_mnist_3_8,
    read_pbmc,
    read_rossi,
    read_scikit_survival,
    read_sparse,
)


@dataclass(frozen=True)
class RealTable:
    """A table that was measured, in the scale of its source.

    Attributes
    ----------
    kind : {"classification", "regression", "survival"}
    X : ndarray of float64, or csr_array of float32 where it is stored sparse, (n_samples, n_features)
        Missing values are NaN; a categorical column is a column of 0 and 1 for each value but the first.
    y : ndarray, shape (n_samples,)
        Labels, numbers, or a structured array with the fields "event" and "time".
    feature_names : ndarray of str, shape (n_features,)
    groups : ndarray, shape (n_samples,), or None
        Rows with the same value belong together: a split must not part them.
    """

    kind: str
    X: Any
    y: np.ndarray
    feature_names: np.ndarray
    groups: np.ndarray | None = None


@dataclass(frozen=True)
class RealSet:
    """What is known of a real table before it is read.

    Attributes
    ----------
    kind : {"classification", "regression", "survival"}
    n_rows, n_columns : int
    read : callable
        Returns its `Columns`.
    role : {"tuning", "final"}
        Tuning sets may be looked at while methods are changed; final sets are for judging the result.
    source : str
        A data file of `FILES`, or the package that brings the table.
    """

    kind: str
    n_rows: int
    n_columns: int
    read: Callable[[], Columns]
    role: str
    source: str


def load_real(name: str) -> RealTable:
    """Load a real table by its name in `REAL`.

    Examples
    --------
    >>> from stochgate.datasets import load_real
    >>> table = load_real("wine")
    >>> table.kind, table.X.shape
    ('classification', (178, 13))
    """
    if name not in REAL:
        raise ValueError(f"Unknown real table {name!r}; use one of {list(REAL)}.")
    return RealTable(REAL[name].kind, *REAL[name].read())


def _dense(kind: str, shape: tuple[int, int], file: str, role: str) -> RealSet:
    return RealSet(kind, *shape, partial(read_dense, file), role, file)


def _sparse(shape: tuple[int, int], file: str, role: str) -> RealSet:
    return RealSet("classification", *shape, partial(read_sparse, file), role, file)


def _bundled(kind: str, shape: tuple[int, int], name: str, role: str) -> RealSet:
    return RealSet(kind, *shape, partial(read_bundled, name), role, "scikit-learn")


def _survival(shape: tuple[int, int], name: str, role: str, *leave_out: str) -> RealSet:
    read = partial(read_scikit_survival, name, leave_out)
    return RealSet("survival", *shape, read, role, "scikit-survival")


_LABELS, _NUMBERS = "classification", "regression"
_TUNING = {
    "allaml": _dense(_LABELS, (72, 7129), "allaml", "tuning"),
    "tox171": _dense(_LABELS, (171, 5748), "tox171", "tuning"),
    "yale": _dense(_LABELS, (165, 1024), "yale", "tuning"),
    "isolet": _dense(_LABELS, (1560, 617), "isolet", "tuning"),
    "basehock": _sparse((1993, 4862), "basehock", "tuning"),
    "pcmac": _sparse((1943, 3289), "pcmac", "tuning"),
    "mnist38": RealSet(_LABELS, 11982, 784, read_mnist_3_8, "tuning", "mnist"),
    "pbmc": RealSet(_LABELS, 412, 16791, read_pbmc, "tuning", "pbmc_facs"),
    "madelon": _dense(_LABELS, (2600, 500), "madelon", "tuning"),
    "wine": _bundled(_LABELS, (178, 13), "wine", "tuning"),
    "diabetes": _bundled(_NUMBERS, (442, 10), "diabetes", "tuning"),
    "rcp_cpu_act": _dense(_NUMBERS, (8192, 21), "rcp_cpu_act", "tuning"),
    "whas500": _survival((500, 14), "whas500", "tuning"),
    "veterans": _survival((137, 8), "veterans_lung_cancer", "tuning"),
}
_FINAL = {
    "prostate_ge": _dense(_LABELS, (102, 5966), "prostate_ge", "final"),
    "lymphoma": _dense(_LABELS, (96, 4026), "lymphoma", "final"),
    "warppie10p": _dense(_LABELS, (210, 2420), "warppie10p", "final"),
    "coil20": _dense(_LABELS, (1440, 1024), "coil20", "final"),
    "relathe": _sparse((1427, 4322), "relathe", "final"),
    "rcv1_small": _sparse((1747, 47236), "rcv1_small", "final"),
    "gisette_like": _sparse((7000, 5000), "gisette_like", "final"),
    "breast_cancer": _bundled(_LABELS, (569, 30), "breast_cancer", "final"),
    "digits": _bundled(_LABELS, (1797, 64), "digits", "final"),
    "mice_protein": RealSet(_LABELS, 1080, 77, read_mice, "final", "mice_protein"),
    "elevators": _dense(_NUMBERS, (16599, 18), "rel_elevators", "final"),
    "ailerons": _dense(_NUMBERS, (13750, 40), "rai_ailerons", "final"),
    "gbsg2": _survival((686, 9), "gbsg2", "final"),
    # the chapter is the cause of death: only the dead have one
    "flchain": _survival((7874, 23), "flchain", "final", "chapter"),
    "rossi": RealSet("survival", 432, 7, read_rossi, "final", "lifelines"),
    "breast_cancer_genes": _survival((198, 82), "breast_cancer", "final"),
    "metabric": RealSet("survival", 1904, 499, read_metabric, "final", "metabric"),
}

REAL: dict[str, RealSet] = {**_TUNING, **_FINAL}
