"""Plans of every kind for the tests of checkpoints, and how to compare results bit by bit."""

from dataclasses import fields, replace

import torch
from sklearn.base import clone

from plans import in_pieces, make
from stochgate.engine import CLOSED, OPEN, Training
from stochgate.engine.backend import cpu_packing
from stochgate.networks import MLP, ModuleNetwork
from stochgate.objectives import Classification, Cox, Regression


def plain(**training):
    """Return a plan of three models with free gates, and what it needs."""
    settings = Training(**{"n_steps": 24, "n_snapshots": 6, "schedule": "ramp", **training})
    return make(Classification(), "binary", settings, dtype=torch.float32, n_samples=60)


def make_module(n_columns, n_outputs):
    """Return a module of two layers."""
    hidden = torch.nn.Linear(n_columns, 4)
    return torch.nn.Sequential(hidden, torch.nn.GELU(), torch.nn.Linear(4, n_outputs))


def module():
    settings = Training(n_steps=12, n_snapshots=4)
    return make(Regression(), "regression", settings, network=ModuleNetwork(make_module))


def in_turns():
    plan, design, target = plain()
    return replace(plan, turns=tuple(torch.arange(60).tensor_split(7))), design, target


def stopping(**training):
    plan, design, target = make(
        Regression(),
        "regression",
        Training(n_steps=200, n_snapshots=40, lr=0.05, **training),
        network=MLP(hidden=(4, 3)),
    )
    patient = clone(plan.training).set_params(patience=3)
    return replace(plan, training=patient, test_weights=plan.weights.flip(1)), design, target


def refits():
    """Return three refits on one, three and two of five columns, which stop at different times."""
    plan, design, target = stopping()
    fixed = torch.full_like(plan.fixed, CLOSED)
    fixed[0, 2], fixed[1, 1:4], fixed[2, [0, 4]] = OPEN, OPEN, OPEN
    return replace(plan, fixed=fixed), design, target


def accelerated():
    plan, design, target = make(
        Classification(), "binary", Training(n_steps=60, n_snapshots=6), network=MLP(hidden=())
    )
    return replace(plan, fixed=torch.full_like(plan.fixed, OPEN), accelerated=True), design, target


def survival():
    return make(Cox(ties="efron"), "entry and strata", Training(n_steps=12, n_snapshots=4))


def judged_team():
    plan, design, target = plain()
    plan = plan.take(torch.tensor([0, 0, 2, 2]))
    plan = replace(plan, seed=torch.arange(4), test_weights=plan.weights.flip(1), n_members=2)
    return replace(plan, blocks=torch.arange(60) % 3, shrinks=(0.5, 1.0)), design, target


def team():
    plan, design, target = judged_team()
    return replace(plan, test_weights=None, blocks=None), design, target


def narrowed():
    plan, design, target = plain()
    plan = replace(plan, network=MLP(hidden=(4,), linear=(0, 3)))
    plan.fixed[:, 1] = CLOSED
    return plan, design.narrow((plan.fixed != CLOSED).any(0)), target


def cut():
    plan, design, target = plain()
    return in_pieces(plan), design, target


PLANS = {
    "adam": plain,
    "sgd": lambda: plain(optimizer="sgd"),
    "sgd without momentum": lambda: plain(optimizer="sgd", momentum=0.0),
    "two draws": lambda: plain(n_draws=2),
    "mini-batches": lambda: plain(batch_size=16),
    "turns": in_turns,
    "accelerated": accelerated,
    "early stopping": stopping,
    "early stopping of mini-batches": lambda: stopping(batch_size=10),
    "packed refits": refits,
    "a torch module": module,
    "survival": survival,
    "a team": team,
    "a judged team": judged_team,
    "narrowed": narrowed,
    "in pieces": cut,
}


def let_pack(monkeypatch):
    """Let the smallest refits be packed, and each set of another size have a product of its own."""
    monkeypatch.setattr(cpu_packing, "_MOST_SHARE", 100.0)
    monkeypatch.setattr("stochgate.engine.backend.cpu_runs._OPENING", 0.0)


def assert_same_bits(one, other):
    """Compare all that two trainings of one plan left behind, the order in memory included."""
    for field in fields(one):
        if field.name != "models":
            assert_same(getattr(one, field.name), getattr(other, field.name))
    for name in ("fixed", "gate_parameter", "total", "base"):
        assert_same(getattr(one.models, name), getattr(other.models, name))
    for name in ("parameters", "learned"):
        assert getattr(one.models, name).keys() == getattr(other.models, name).keys()
        for key, value in getattr(one.models, name).items():
            assert_same(value, getattr(other.models, name)[key])
    assert_same(one.models.scaling.scale, other.models.scaling.scale)
    assert_same(one.models.scaling.shift, other.models.scaling.shift)
    mine, theirs = one.models.plan, other.models.plan
    for field in fields(mine):
        a, b = getattr(mine, field.name), getattr(theirs, field.name)
        if isinstance(a, torch.Tensor):
            assert torch.equal(a, b)
        elif field.name != "turns":
            assert str(a) == str(b)


def assert_same(a, b):
    if a is None or b is None:
        assert a is b
        return
    assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())
    assert a.detach().numpy().tobytes() == b.detach().numpy().tobytes()  # NaN and -0 as well
