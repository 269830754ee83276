"""Stacks that cores train side by side."""

from dataclasses import fields

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
