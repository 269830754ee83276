"""What the paper promises of the method, on its own problems."""

import numpy as np
import pytest

from stochgate import GatedClassifier
from stochgate.datasets import make_xor


def fit_xor(seed, gate="gaussian"):
    problem = make_xor(1500, n_noise=10, random_state=seed)
    train, test = slice(0, 450), slice(450, None)  # 70 % are for testing
    model = GatedClassifier(lam=0.2, gate=gate, random_state=seed)
    model.fit(problem.X[train], problem.y[train])
    return np.array_equal(model.get_support(), problem.relevant), model.score(
        problem.X[test], problem.y[test]
    )


@pytest.mark.parametrize("seed", range(10))
def test_xor_is_solved_with_exactly_its_two_features(seed):
    assert fit_xor(seed) == (True, 1.0)


@pytest.mark.parametrize("gate", ["hard-concrete", "deterministic"])
def test_other_gates_take_the_same_path(gate):
    found, accuracy = fit_xor(0, gate)
    assert found
    assert accuracy == 1.0
