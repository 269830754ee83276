"""One Ray cluster for all tests of it; `--dist loadgroup` keeps them in one process."""

import pytest

from experiments.speed.lost_node import three_nodes


@pytest.fixture(scope="session")
def nodes():
    """Return Ray, connected to a cluster of three nodes with one CPU each, the cluster and a node."""
    pytest.importorskip("ray")
    with three_nodes() as found:
        yield found


@pytest.fixture
def ray(nodes):
    """Return Ray, connected."""
    return nodes[0]
