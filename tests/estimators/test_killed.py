"""A fit that is killed at any moment is resumed, and ends with the same bits."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import fit_to_kill
from stochgate.engine.checkpoint import state

SCRIPT = Path(fit_to_kill.__file__)
SOURCE = Path(sys.modules["stochgate"].__file__).parents[1]


@pytest.fixture(autouse=True)
def every_snapshot(monkeypatch):
    """Keep the state at every snapshot, as the script does."""
    monkeypatch.setattr(state, "SECONDS", 0.0)


def begin(folder):
    """Start a fit in a process of its own; return it once all is imported."""
    command = [sys.executable, str(SCRIPT), str(folder)]
    here = {**os.environ, "PYTHONPATH": str(SOURCE)}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=here)
    assert process.stdout.readline() == "begin\n"
    return process


def fit_in_a_process(folder):
    """Return the hash that a fit prints."""
    process = begin(folder)
    printed, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return printed.strip()


def kill_after(seconds, folder):
    """Kill a fit after some seconds, earlier where it had ended by then; return what it left behind."""
    process = begin(folder)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=120)
    if process.returncode == 0:  # the machine was less busy than before
        return kill_after(seconds / 2, folder.with_name(f"{folder.name} again"))
    assert process.returncode == -signal.SIGKILL
    return folder


def check_kills(n, tmp_path, resume):
    """Kill fits at n moments and resume them; return how many results and states each had left."""
    expected = fit_to_kill.fit(None)
    start = time.monotonic()
    assert fit_to_kill.fit(tmp_path / "whole") == expected  # a checkpoint changes nothing
    duration = time.monotonic() - start
    # one moment in each n-th of the fit, but not in its very last one
    moments = (np.arange(n) + np.random.default_rng(0).uniform(size=n)) / n * 0.9 * duration
    left = []
    for number, moment in enumerate(moments):
        folder = kill_after(moment, tmp_path / f"killed {number}")
        names = [path.name for path in folder.iterdir()]
        left.append((len([n for n in names if "plan" in n and "." not in n]), "state" in " ".join(names)))
        assert resume(folder) == expected
    n_states = sum(has_state for _, has_state in left)
    print(
        f"\n{n} kills within {duration:.1f} s, all resumed to the same bits: plans done at the kill",
        end=" ",
    )
    print([n_done for n_done, _ in left], f"; in the middle of a training that had a state: {n_states}")
    return left


def test_a_killed_fit_is_resumed_to_the_same_bits(tmp_path):
    left = check_kills(3, tmp_path, fit_to_kill.fit)
    assert sum(n_done > 0 or has_state for n_done, has_state in left) >= 2


@pytest.mark.slow  # 20 fits, each begun twice
def test_fits_killed_at_20_moments_are_resumed_to_the_same_bits(tmp_path):
    left = check_kills(20, tmp_path, fit_in_a_process)
    assert sum(n_done > 0 or has_state for n_done, has_state in left) >= 15
    assert sum(has_state for _, has_state in left) >= 5
    assert len({n_done for n_done, _ in left}) >= 5  # all along the fit
