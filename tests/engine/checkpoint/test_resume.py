"""A training that goes on from its state ends with the same bits as one that was not interrupted."""

import time
from collections import Counter

import pytest
import torch

from interrupted import PLANS, assert_same_bits, in_turns, let_pack, plain, refits
from stochgate.engine import Training, execute, loop, train
from stochgate.engine.backend import process_settings
from stochgate.engine.checkpoint import CheckpointError, state
from stochgate.engine.checkpoint.runner import CheckpointRunner
from stochgate.engine.checkpoint.state import StateFile
from stochgate.engine.loop import draw_noise


@pytest.fixture(autouse=True)
def every_snapshot(monkeypatch):
    """Keep the state at every snapshot, and pack what can be packed."""
    monkeypatch.setattr(state, "SECONDS", 0.0)
    let_pack(monkeypatch)


class Killed(Exception):
    pass


class KilledAfter(StateFile):
    """The state file of a process that ends when it has kept some states."""

    def __init__(self, path, n_kept):
        super().__init__(path, "mark")
        self.n_kept = n_kept

    def keep(self, state):
        super().keep(state)
        self.n_kept -= 1
        if self.n_kept == 0:
            raise Killed


@pytest.mark.parametrize("name", PLANS)
def test_a_resumed_training_has_the_same_bits(name, tmp_path):
    whole = train(*PLANS[name]())
    n_resumed = 0
    for n_kept in (1, 2, 3, 9, 20):
        path = tmp_path / str(n_kept)
        try:
            train(*PLANS[name](), saved=KilledAfter(path, n_kept))
        except Killed:
            assert_same_bits(train(*PLANS[name](), saved=StateFile(path, "mark")), whole)
            n_resumed += 1
    assert n_resumed >= 3


def test_a_training_is_resumed_again_and_again(tmp_path, monkeypatch):
    made, pack = [], loop.pack
    monkeypatch.setattr(loop, "pack", lambda *parts: made.append(pack(*parts)) or made[-1])
    whole = train(*refits())
    assert made[0][2] is not None  # each model has columns of its own, and they stop one by one
    assert len(set(whole.held_out_loss.isnan().sum(0).tolist())) == 3
    for _ in range(100):
        try:
            resumed = train(*refits(), saved=KilledAfter(tmp_path / "state", 1))
            break
        except Killed:
            pass
    assert_same_bits(resumed, whole)


def test_what_was_trained_is_not_trained_again(tmp_path):
    plan, design, target = plain()
    with pytest.raises(Killed):
        train(plan, design, target, saved=KilledAfter(tmp_path / "state", 3))
    steps = []
    saved = StateFile(tmp_path / "state", "mark")
    train(plan, design, target, (lambda snapshot: steps.append(snapshot.step),), saved=saved)
    assert steps == [16, 20, 24]


def test_stacks_side_by_side_are_resumed(tmp_path, monkeypatch):
    monkeypatch.setattr(process_settings, "_PER_THREAD", 1.0)
    torch.set_num_threads(2)
    try:
        plan, design, target = plain()
        whole = execute(plan, design, target)
        seen = Counter()

        def kill(snapshot):
            time.sleep(0.02)  # so that neither stack is done before the other has begun
            seen[tuple(snapshot.models.tolist())] += 1
            if len(seen) == 2 and min(seen.values()) >= 3:
                raise Killed

        with pytest.raises(Killed):
            CheckpointRunner(tmp_path).run(plan, design, target, (kill,))
        names = sorted(path.name for path in tmp_path.iterdir())
        assert names == ["plan-0001.state-0", "plan-0001.state-1"]
        assert_same_bits(CheckpointRunner(tmp_path).run(plan, design, target), whole)
        assert [path.name for path in tmp_path.iterdir()] == ["plan-0001"]
    finally:
        torch.set_num_threads(1)


def test_the_state_of_another_plan_is_refused(tmp_path):
    plan, design, target = plain()

    def kill(snapshot):
        if snapshot.step == 12:
            raise Killed

    with pytest.raises(Killed):
        CheckpointRunner(tmp_path).run(plan, design, target, (kill,))
    with pytest.raises(CheckpointError, match="does not go together with this fit"):
        CheckpointRunner(tmp_path).run(*in_turns())


def test_a_state_is_kept_when_time_has_passed(tmp_path, monkeypatch):
    monkeypatch.setattr(state, "SECONDS", 1000.0)
    kept = StateFile(tmp_path / "state", "mark")
    kept.keep(dict)
    assert not kept.path.exists()
    kept.kept_at -= 1001
    kept.keep(dict)
    assert kept.load() == {}


def test_noise_does_not_depend_on_where_a_training_goes_on():
    plan, design, _ = plain(n_draws=2)
    from_start, later = draw_noise(plan, design.n_gates, 0), draw_noise(plan, design.n_gates, 70)
    for _ in range(70):
        next(from_start)
    for _ in range(100):
        assert torch.equal(next(from_start), next(later))


def test_a_long_float32_training_has_the_same_bits(tmp_path):
    """Sizes at which matrices are multiplied in blocks, and closed columns are left out."""
    from plans import make
    from stochgate.networks import MLP
    from stochgate.objectives import Classification

    def parts():
        training = Training(n_steps=60, n_snapshots=6)
        network = MLP(hidden=(64, 32))
        return make(Classification(), "binary", training, None, network, torch.float32, 3000)

    whole = train(*parts())
    with pytest.raises(Killed):
        train(*parts(), saved=KilledAfter(tmp_path / "state", 3))
    assert_same_bits(train(*parts(), saved=StateFile(tmp_path / "state", "mark")), whole)
