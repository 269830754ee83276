"""Stacks that cores train side by side."""

from dataclasses import fields, replace

import pytest
import torch

from plans import make
from stochgate.engine import Training, chunks, execute
from stochgate.engine.backend import process_settings
from stochgate.networks import MLP, ModuleNetwork
from stochgate.objectives import Regression


@pytest.fixture
def two_cores(monkeypatch):
    """Let two threads train, however little there is to do."""
    monkeypatch.setattr(process_settings, "_PER_THREAD", 1.0)
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(1)


def threads_used(network, monkeypatch):
    """Return how many stacks are trained side by side."""
    seen, run = [], chunks.side_by_side
    monkeypatch.setattr(chunks, "side_by_side", lambda tasks, n: seen.append(n) or run(tasks, n))
    execute(*make(Regression(), "regression", Training(n_steps=3), network=network))
    return seen


def test_stacks_side_by_side_equal_one(two_cores):
    parts = make(Regression(), "regression", Training(n_steps=20, n_snapshots=4), network=MLP(hidden=(4,)))
    cut = execute(*parts)
    torch.set_num_threads(1)
    whole = execute(*parts)
    for field in fields(whole):
        if field.name != "models":
            values = getattr(cut, field.name), getattr(whole, field.name)
            torch.testing.assert_close(*values, equal_nan=True, rtol=0, atol=1e-12)


def test_teams_come_back_in_their_order(two_cores):
    training = Training(n_steps=30, n_snapshots=6)
    plan, design, target = make(Regression(), "regression", training, network=MLP(hidden=(4,)))
    ten = plan.take(torch.tensor([0, 1, 2, 1, 0, 2, 2, 1, 0, 0]))
    ten = replace(ten, seed=torch.arange(10), test_weights=ten.weights.flip(1), n_members=2)
    numbers = []
    cut = execute(
        ten, design, target, callbacks=(lambda snapshot: numbers.append(snapshot.models.tolist()),)
    )
    assert sorted(set(map(tuple, numbers))) == [(0, 1, 4, 5, 8, 9), (2, 3, 6, 7)]
    torch.set_num_threads(1)
    whole = execute(ten, design, target)
    same = {"rtol": 0, "atol": 1e-12}
    torch.testing.assert_close(cut.held_out_loss, whole.held_out_loss, **same)
    torch.testing.assert_close(cut.gate_path, whole.gate_path, **same)
    torch.testing.assert_close(cut.models.predict(design), whole.models.predict(design), **same)


def test_a_network_that_threads_must_not_share_is_trained_in_one_stack(two_cores, monkeypatch):
    assert threads_used(MLP(hidden=(4,)), monkeypatch) == [2]
    assert threads_used(ModuleNetwork(torch.nn.Linear), monkeypatch) == []


def test_what_a_callback_raises_reaches_the_user(two_cores):
    class EnoughError(Exception):
        pass

    def stop(snapshot):
        if snapshot.models[0] > 0:  # in the second stack
            raise EnoughError

    with pytest.raises(EnoughError):
        execute(*make(Regression(), "regression", Training(n_steps=50)), callbacks=(stop,))
