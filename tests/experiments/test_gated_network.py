"""A stack at given settings, also where its models diverge."""

import numpy as np
import pytest

from experiments.baselines import GatedNetwork


def draw(seed=0):
    X = np.random.default_rng(seed).normal(size=(60, 4))
    return X, (X[:, 0] > 0).astype(int)


def test_a_model_that_diverged_selects_nothing_and_is_not_chosen():
    X, y = draw()
    model = GatedNetwork(lams=(0.1, np.nan), hidden=(3,), n_epochs=20, device="cpu", random_state=0)
    assert len(model.path(X, y)) == 1
    assert not model.stack_.supports[1].any()
    assert model.fit(X, y, validation=(X, y)).support_.any()


@pytest.mark.parametrize("wrong", [{"penalty": "Sum"}, {"gate_step": "scale"}])
def test_an_unknown_setting_is_refused(wrong):
    name = next(iter(wrong))
    with pytest.raises(ValueError, match=f"Unknown {name} .*; use one of"):
        GatedNetwork(n_epochs=2, device="cpu", **wrong).fit(*draw())
