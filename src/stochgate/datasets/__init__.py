"""Data sets: synthetic problems whose relevant features are known, and real ones."""

from stochgate.datasets.files import find_file
from stochgate.datasets.madelon import make_madelon, make_madelon_sklearn
from stochgate.datasets.real import RealProblem, load_gaussian_survival, load_metabric, load_newsgroups
from stochgate.datasets.registry import FILES, DataFile
from stochgate.datasets.synthetic import (
    Problem,
    make_cox,
    make_cox_nonlinear,
    make_friedman,
    make_linear,
    make_noise,
    make_ring,
    make_se1,
    make_se2,
    make_se3,
    make_two_moons,
    make_xor,
)
from stochgate.datasets.tables import REAL, RealSet, RealTable, load_real

__all__ = [
    "FILES",
    "REAL",
    "DataFile",
    "Problem",
    "RealProblem",
    "RealSet",
    "RealTable",
    "find_file",
    "load_gaussian_survival",
    "load_metabric",
    "load_newsgroups",
    "load_real",
    "make_cox",
    "make_cox_nonlinear",
    "make_friedman",
    "make_linear",
    "make_madelon",
    "make_madelon_sklearn",
    "make_noise",
    "make_ring",
    "make_se1",
    "make_se2",
    "make_se3",
    "make_two_moons",
    "make_xor",
]
