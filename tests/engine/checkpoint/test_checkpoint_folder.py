"""The folder of a checkpoint: whose it is, and who may use it."""

import json

import numpy as np
import pytest
import torch

from stochgate.engine.checkpoint import CheckpointError, folder, open_checkpoint


def begin(path, seed=0, **fit):
    """Begin a checkpoint, or go on with it, and return a random number."""
    with open_checkpoint(path) as checkpoint:
        generator = checkpoint.random_state(seed)
        checkpoint.belong_to({"the parameter lam": "1", "X": "a" * 64, **fit})
        return generator.randint(2**30)


def test_without_a_folder_there_is_no_checkpoint():
    with open_checkpoint(None) as checkpoint:
        assert checkpoint is None


def test_the_same_fit_may_go_on(tmp_path):
    assert begin(tmp_path / "new" / "folder") == begin(tmp_path / "new" / "folder")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"the parameter lam": "2"}, "the parameter lam was 1 and is 2"),
        ({"X": "b" * 64}, "X has changed"),
        ({"the parameter new": "3"}, "the parameter new was not there and is 3"),
        ({"seed": 1}, "random_state has changed"),
    ],
)
def test_another_fit_is_refused(tmp_path, changes, words):
    begin(tmp_path)
    with pytest.raises(CheckpointError, match=f"of another fit: {words}. Give another folder, or delete"):
        begin(tmp_path, **changes)


def test_another_number_of_threads_is_refused(tmp_path):
    begin(tmp_path)
    torch.set_num_threads(2)
    try:
        with pytest.raises(CheckpointError, match="the number of torch's threads was 1 and is 2"):
            begin(tmp_path)
    finally:
        torch.set_num_threads(1)


def test_another_version_is_refused(tmp_path, monkeypatch):
    begin(tmp_path)
    monkeypatch.setattr(folder, "version", lambda name: "99.0")
    with pytest.raises(CheckpointError, match=r"the version of stochgate was .* and is 99.0"):
        begin(tmp_path)


def test_another_format_is_refused(tmp_path, monkeypatch):
    begin(tmp_path)
    monkeypatch.setattr(folder, "FORMAT", 2)
    with pytest.raises(CheckpointError, match="has format 1, but this stochgate has 2"):
        begin(tmp_path)


def test_without_a_seed_a_fit_goes_on_with_the_generator_it_began_with(tmp_path):
    first = begin(tmp_path, None)
    np.random.uniform(size=5)  # noqa: NPY002 (the global generator is the one meant)
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    assert begin(tmp_path, None) == first
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_a_generator_is_compared_by_its_state(tmp_path):
    generator = np.random.RandomState(0)
    begin(tmp_path, generator)
    with pytest.raises(CheckpointError, match="random_state has changed"):
        begin(tmp_path, generator)  # which has drawn a number
    begin(tmp_path, np.random.RandomState(0))


def test_a_folder_with_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(CheckpointError, match=r"holds other files \(thesis.tex\)"):
        begin(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lock", "thesis.tex"]


def test_a_head_that_is_damaged_is_refused(tmp_path):
    begin(tmp_path)
    head = json.loads((tmp_path / "head.json").read_text())
    head["fit"]["the parameter lam"] = "2"
    for content in (json.dumps(head), "{", "[]", ""):
        (tmp_path / "head.json").write_text(content)
        with pytest.raises(CheckpointError, match="is damaged"):
            begin(tmp_path, **{"the parameter lam": "2"})


def test_what_a_killed_process_was_writing_is_removed(tmp_path):
    begin(tmp_path)
    (tmp_path / ".0123.part").write_text("half")
    begin(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["head.json", "lock"]


def test_a_process_killed_before_the_head_was_there_left_an_empty_folder(tmp_path):
    (tmp_path / ".0123.part").write_text("half")
    begin(tmp_path)


def test_two_fits_cannot_use_one_folder_at_once(tmp_path):
    pytest.importorskip("fcntl")
    with (
        open_checkpoint(tmp_path),
        pytest.raises(CheckpointError, match="in use by another fit"),
        open_checkpoint(tmp_path),
    ):
        pass
    begin(tmp_path)
