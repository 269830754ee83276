"""Which networks a problem is given to."""

import numpy as np
import pytest
from scipy import sparse

from stochgate import GatedClassifier
from stochgate.networks import NETWORKS, ModuleNetwork
from stochgate.problem.from_estimator import fit_for, make_networks


def racing(X):
    return list(fit_for(make_networks(GatedClassifier()), X))


@pytest.mark.parametrize(
    ("X", "names"),
    [
        (np.zeros((2, 5)), ["linear", "mlp", "encoded"]),
        (np.zeros((2, 5000)), ["linear", "mlp", "encoded"]),
        (sparse.csr_array((2, 5)), ["linear", "mlp"]),
    ],
)
def test_networks_say_whether_they_race(X, names):
    assert racing(X) == names


def test_a_new_network_enters_no_race(monkeypatch):
    monkeypatch.setitem(NETWORKS, "new", lambda: ModuleNetwork(None))
    assert racing(np.zeros((2, 5))) == ["linear", "mlp", "encoded"]


def test_a_network_that_was_asked_for_is_not_left_out():
    networks = make_networks(GatedClassifier(network="encoded"))
    assert list(fit_for(networks, sparse.csr_array((2, 5)))) == ["encoded"]
