"""Data sets: synthetic problems whose relevant features are known."""

from stochgate.datasets.synthetic import (
    Problem,
    make_cox,
    make_friedman,
    make_linear,
    make_madelon,
    make_noise,
    make_ring,
    make_se1,
    make_se2,
    make_two_moons,
    make_xor,
)

__all__ = [
    "Problem",
    "make_cox",
    "make_friedman",
    "make_linear",
    "make_madelon",
    "make_noise",
    "make_ring",
    "make_se1",
    "make_se2",
    "make_two_moons",
    "make_xor",
]
