"""A result that was kept equals the one that was trained."""

import pytest

from interrupted import PLANS, assert_same_bits, let_pack, narrowed, plain
from stochgate.engine import execute
from stochgate.engine.checkpoint import CheckpointError
from stochgate.engine.checkpoint.runner import CheckpointRunner


@pytest.fixture(autouse=True)
def packing_pays(monkeypatch):
    let_pack(monkeypatch)


def forbid(*parts):
    raise AssertionError("it is trained again")


@pytest.mark.parametrize("name", PLANS)
def test_a_replayed_result_equals_the_trained_one(name, tmp_path, monkeypatch):
    plain = execute(*PLANS[name]())
    first = CheckpointRunner(tmp_path).run(*PLANS[name]())
    assert_same_bits(first, plain)
    monkeypatch.setattr("stochgate.engine.runner.execute", forbid)
    plan, design, target = PLANS[name]()
    again = CheckpointRunner(tmp_path).run(plan, design, target)
    assert_same_bits(again, first)
    outputs = [trained.models.predict(design) for trained in (again, plain)]
    assert outputs[0].numpy().tobytes() == outputs[1].numpy().tobytes()


def test_results_are_known_by_their_order(tmp_path):
    runner = CheckpointRunner(tmp_path)
    results = [runner.run(*plain()), runner.run(*narrowed())]
    again = CheckpointRunner(tmp_path)
    for result, make in zip(results, (plain, narrowed), strict=True):
        assert_same_bits(again.run(*make()), result)
    with pytest.raises(CheckpointError, match="does not go together with this fit"):
        CheckpointRunner(tmp_path).run(*narrowed())


@pytest.mark.parametrize("damage", ["cut short", "one bit", "empty", "other"])
def test_a_damaged_result_is_trained_again(tmp_path, damage):
    first = CheckpointRunner(tmp_path).run(*plain())
    path = tmp_path / "plan-0001"
    content = bytearray(path.read_bytes())
    if damage == "cut short":
        content = content[: len(content) // 2]
    elif damage == "one bit":
        content[len(content) // 2] ^= 1
    else:
        content = bytearray() if damage == "empty" else bytearray(b"something else")
    path.write_bytes(content)
    assert_same_bits(CheckpointRunner(tmp_path).run(*plain()), first)
    assert path.read_bytes() != content


def test_a_fit_that_is_over_keeps_no_more(tmp_path):
    runner = CheckpointRunner(tmp_path)
    runner.is_over = True
    runner.run(*plain())
    assert list(tmp_path.iterdir()) == []


def test_callbacks_do_not_see_what_is_replayed(tmp_path):
    CheckpointRunner(tmp_path).run(*plain())
    CheckpointRunner(tmp_path).run(*plain(), callbacks=(forbid,))
