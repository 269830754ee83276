"""Which sets of features are judged, and who makes them."""

import numpy as np
import pytest

from choices import FAST
from stochgate import GatedRegressor
from stochgate.choice.sets import candidates
from stochgate.choice.sets.cells import Cells


def test_joint_sets_are_found_where_the_folds_open_different_equals():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(220, 4))
    X = np.repeat(factors, 40, axis=1) + 0.7 * rng.normal(size=(220, 160))
    y = factors @ [1.0, -1.0, 0.8, 0.6] + 0.5 * rng.normal(size=220)
    model = GatedRegressor(network="linear", **FAST).fit(X, y)
    assert {"growing", "team", "all"} <= set(model.path_["stage"])
    assert 4 <= model.get_support().sum() <= 64  # 40 % of 160
    losses = model.summary().losses
    assert losses["selected"] < 1.5 * losses["all"] < 0.5 * losses["none"]
    assert "all columns" in str(model.summary())


def make_path(*losses):
    """Return paths of one cell each, with these losses on the folds."""
    n = len(losses[0])
    none, gates = np.zeros(1), np.zeros((1, n, 3), dtype=bool)
    return [
        Cells(
            stage="path",
            lams=none,
            losses=v[None],
            train=v[None],
            by_block=v[None, :, None],
            step=none,
            shrink=none,
            opened=gates,
            settled=gates,
            support=gates[0],
            probability=none,
        )
        for v in map(np.array, losses)
    ]


@pytest.mark.parametrize(
    ("losses", "grower"),
    [
        ([[0.5, 0.52, 0.48], [0.49, 0.50, 0.50], [0.3, 0.3, 0.3]], 0),  # as good as the second
        ([[0.6, 0.62, 0.58], [0.49, 0.50, 0.50], [0.3, 0.3, 0.3]], 1),
        ([[1.0, 1.0, 1.0], [0.99, 1.0, 1.0], [0.3, 0.3, 0.3]], 2),  # no other may win
        ([[np.inf, 1.0, 1.0], [0.5, 0.5, 0.5], [0.6, 0.6, 0.6]], 1),
        ([[1e300, 1.0, 1.0], [1e300, 1.0, 1.0], [1e300, 1.0, 1.0]], 0),
    ],
)
def test_the_simplest_of_the_best_networks_makes_the_joint_sets(losses, grower):
    assert candidates._grower(make_path(*losses), np.ones(3), [0, 1], 3) == grower
