"""Files of a checkpoint are there as a whole or not at all."""

import errno
import os

import pytest
import torch

from interrupted import plain
from stochgate.engine.checkpoint import CheckpointWriteError, store
from stochgate.engine.checkpoint.runner import CheckpointRunner


def test_what_is_written_is_read(tmp_path):
    weights = torch.randn(3, 4, 5).transpose(1, 2)
    content = {"a": [weights, {"b": None}], "step": 3, "mark": "x", "some": torch.arange(10)[2:4]}
    store.write(tmp_path / "file", content)
    found = store.read(tmp_path / "file")
    assert torch.equal(found["a"][0], weights)
    assert found["a"][0].stride() == weights.stride()
    assert (found["a"][1], found["step"], found["mark"]) == ({"b": None}, 3, "x")
    assert found["some"].untyped_storage().nbytes() == 16  # not the memory it was a part of


def test_no_part_of_a_file_is_loaded(tmp_path):
    store.write(tmp_path / "file", {"a": torch.arange(20)})
    content = (tmp_path / "file").read_bytes()
    for length in range(0, len(content), 7):
        (tmp_path / "part").write_bytes(content[:length])
        assert store.read(tmp_path / "part") is None
    for place in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[place] ^= 1
        (tmp_path / "part").write_bytes(damaged)
        assert store.read(tmp_path / "part") is None


def test_a_file_that_is_not_there_is_none(tmp_path):
    assert store.read(tmp_path / "file") is None


@pytest.fixture
def small_files():
    """Let files grow to 10 kB only, as on a disk that is full."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_the_last_file(tmp_path, small_files):
    store.write(tmp_path / "file", {"a": torch.zeros(10)})
    with pytest.raises(CheckpointWriteError, match="make room on that disk and repeat the call") as e:
        store.write(tmp_path / "file", {"a": torch.zeros(100_000)})
    assert e.value.errno == errno.EFBIG
    assert len(store.read(tmp_path / "file")["a"]) == 10
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_that_is_gone_is_told(tmp_path):
    runner = CheckpointRunner(tmp_path / "gone")
    with pytest.raises(
        CheckpointWriteError, match=r"\(No such file or directory\): give a folder that can"
    ):
        runner.run(*plain())
