"""Refits on their own columns alone are the refits on all columns."""

from dataclasses import fields, replace

import pytest
import torch
from sklearn.base import clone

from plans import OBJECTIVES, make
from stochgate.engine import CLOSED, FREE, OPEN, Design, Training, loop, train
from stochgate.engine.backend import cpu_packing
from stochgate.networks import MLP


@pytest.fixture(autouse=True)
def packing_pays(monkeypatch):
    """Let the smallest plans be packed, and each set of another size have a product of its own."""
    monkeypatch.setattr(cpu_packing, "_MOST_SHARE", 100.0)
    monkeypatch.setattr("stochgate.engine.backend.cpu_runs._OPENING", 0.0)


def make_refits(objective, kind, training=None, network=None):
    """Return a plan of three refits on one, three and two of five columns, and what it needs."""
    training = training or Training(n_steps=12, n_snapshots=4)
    plan, design, target = make(objective, kind, training, network=network or MLP(hidden=(4, 3)))
    fixed = torch.full_like(plan.fixed, CLOSED)
    fixed[0, 2], fixed[1, 1:4], fixed[2, [0, 4]] = OPEN, OPEN, OPEN
    return replace(plan, fixed=fixed, test_weights=plan.weights.flip(1)), design, target


def assert_like_unpacked(plan, design, target, monkeypatch):
    """Train with and without packing, and compare all that training leaves behind."""
    made, pack = [], cpu_packing.pack

    def spy(*parts):
        packed = pack(*parts)
        made.append(packed[2])
        return packed

    monkeypatch.setattr(loop, "pack", spy)
    packed = train(plan, design, target)
    assert made[0] is not None
    monkeypatch.setattr(loop, "pack", lambda models, design, layers: (models, design, None))
    whole = train(plan, design, target)
    same = {"equal_nan": True, "rtol": 0, "atol": 1e-10}
    for field in fields(whole):
        if field.name != "models":
            torch.testing.assert_close(getattr(packed, field.name), getattr(whole, field.name), **same)
    less = {
        "rtol": 0,
        "atol": 1e-8,
    }  # a Cox model's biases drift, which its loss does not see
    for name, value in whole.models.parameters.items():
        torch.testing.assert_close(packed.models.parameters[name], value, **less)
    torch.testing.assert_close(packed.models.predict(design), whole.models.predict(design), **less)
    return packed


@pytest.mark.parametrize(("objective", "kind"), OBJECTIVES, ids=str)
def test_packed_refits_equal_whole_ones(objective, kind, monkeypatch):
    assert_like_unpacked(*make_refits(objective, kind), monkeypatch)


def test_rows_may_take_turns(monkeypatch):
    plan, design, target = make_refits(*OBJECTIVES[0])
    turns = torch.arange(24).tensor_split(3)
    assert_like_unpacked(replace(plan, turns=turns), design, target, monkeypatch)


def test_some_rows_may_judge(monkeypatch):
    plan, design, target = make_refits(*OBJECTIVES[0])
    assert_like_unpacked(replace(plan, judged=torch.arange(3, 20)), design, target, monkeypatch)


def test_models_stop_at_their_time(monkeypatch):
    plan, design, target = make_refits(
        *OBJECTIVES[2], training=Training(n_steps=120, n_snapshots=40, lr=0.1)
    )
    stopping = clone(plan.training).set_params(patience=2)
    plan = replace(plan, training=stopping, turns=torch.arange(24).tensor_split(2))
    packed = assert_like_unpacked(plan, design, target, monkeypatch)
    assert len(set(packed.step.tolist())) > 1  # some went on without others


def test_the_widest_may_stop_first(monkeypatch):
    training = Training(n_steps=120, n_snapshots=40, lr=0.1)
    plan, design, target = make_refits(*OBJECTIVES[2], training=training)
    plan = plan.take(torch.tensor([1, 0, 2]))  # three columns, one, two
    plan = replace(plan, training=clone(plan.training).set_params(patience=2))
    packed = assert_like_unpacked(plan, design, target, monkeypatch)
    assert packed.step[0] < packed.step.max()


def test_columns_of_one_gate_stay_together(monkeypatch):
    plan, design, target = make_refits(*OBJECTIVES[2])
    grouped = Design(design.columns, torch.tensor([0, 0, 1, 2, 1]), 3)
    fixed = torch.tensor([[OPEN, CLOSED, CLOSED], [CLOSED, OPEN, OPEN], [CLOSED] * 3], dtype=torch.int8)
    plan = replace(plan, fixed=fixed, costs=torch.ones(3, dtype=torch.float64))
    assert_like_unpacked(plan, grouped, target, monkeypatch)


@pytest.mark.parametrize("case", ["linear", "free gates", "mini-batches", "all open", "no memory"])
def test_nothing_is_packed_where_it_does_not_pay(case, monkeypatch):
    network = MLP(hidden=()) if case == "linear" else None
    plan, design, target = make_refits(*OBJECTIVES[2], network=network)
    if case == "free gates":
        plan = replace(plan, fixed=torch.full_like(plan.fixed, FREE))
    if case == "mini-batches":
        plan = replace(plan, training=clone(plan.training).set_params(batch_size=8))
    if case == "no memory":
        plan = replace(plan, training=clone(plan.training).set_params(max_memory=800))
    if case == "all open":
        monkeypatch.setattr(cpu_packing, "_MOST_SHARE", 0.75)
        plan = replace(plan, fixed=torch.full_like(plan.fixed, OPEN))
    models = loop.start(plan, design, target)
    layers = models.plan.network.layers(models.parameters)
    assert cpu_packing.pack(models, design, layers)[2] is None
