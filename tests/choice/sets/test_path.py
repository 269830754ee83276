"""The path of penalties."""

import numpy as np
from sklearn.model_selection import StratifiedKFold

from choices import FAST
from problems import two_classes
from stochgate import GatedClassifier
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.sets.path import make_lams


def test_path_has_a_row_for_every_network_and_penalty():
    X, y = two_classes()
    model = GatedClassifier(**FAST).fit(X, y)
    assert set(model.path_["network"]) == {"linear", "mlp", "encoded"}
    path = model.path_[model.path_["stage"] == "path"]
    for _, rows in path.groupby("network"):
        assert set(make_lams(len(X)) * X.shape[1]) <= set(rows["lam"])
        assert rows["lam"].is_monotonic_decreasing
        assert rows["n_features"].iloc[0] <= rows["n_features"].iloc[-1]
    assert model.lam_ in set(model.path_["lam"])
    assert {"held_out_loss", "held_out_sd", "train_loss", "n_by_fold"} <= set(path.columns)
    assert model.n_steps_ == model.history_["step"][-1]


def test_larger_penalties_are_tried_while_most_gates_stay_open(monkeypatch):
    X, y = two_classes()
    smallest = np.array([1e-9, 1e-10])
    monkeypatch.setattr("stochgate.choice.auto.make_lams", lambda n_samples: smallest)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)  # a number would give few rows several rounds
    path = (
        GatedClassifier(network="linear", **{**FAST, "cv": folds}).fit(X, y).path_.query("stage == 'path'")
    )
    larger = smallest[0] * DEFAULTS.larger ** np.arange(DEFAULTS.n_larger, 0, -1)
    np.testing.assert_allclose(path["lam"], X.shape[1] * np.concatenate([larger, smallest]))
