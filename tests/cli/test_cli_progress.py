"""The progress bar goes forward, shows stage and open gates, and survives `clone`."""

import io

import numpy as np
import pytest
import torch
from rich.console import Console
from sklearn.base import clone

from stochgate import GatedRegressor, Snapshot, Training
from stochgate.cli.progress import Watch


def watch_on_terminal():
    screen = io.StringIO()
    return Watch(Console(file=screen, force_terminal=True, width=150)), screen


def snapshot(step, stage="path", n_open=3):
    gates = (torch.arange(10) < n_open).double()[None]
    return Snapshot(step, 600, torch.tensor([0]), gates[:, 0], gates[:, 0], gates, stage)


def test_stage_and_open_gates_are_shown():
    watch, screen = watch_on_terminal()
    with watch:
        watch.phase("Choosing columns")
        watch(snapshot(300))
        watch.bars.refresh()
    assert "Choosing columns" in screen.getvalue()
    assert "path, 3 gates open" in screen.getvalue()
    assert watch.bars.tasks[0].percentage == 100


def test_a_phase_of_several_fits_goes_on_with_each_of_them():
    watch, _ = watch_on_terminal()
    watch.phase("Judging", n_fits=2)
    seen = []
    for stage, step in [("path", 300), ("path", 600), ("final", 600), ("path", 300), ("final", 600)]:
        watch(snapshot(step, stage))
        seen.append(watch.bars.tasks[0].percentage)
    assert seen == sorted(seen)
    assert seen[2] < 50 < seen[3]
    assert seen[-1] < 100


def test_a_phase_that_nothing_is_known_of_only_moves():
    watch, _ = watch_on_terminal()
    watch.phase("Explaining", n_fits=0)
    watch(snapshot(300))
    assert watch.bars.tasks[0].total is None
    watch.phase("Judging")
    assert watch.bars.tasks[0].percentage == 100


def test_snapshots_of_other_stacks_are_not_shown():
    watch, _ = watch_on_terminal()
    watch.phase("Choosing")
    other = snapshot(600)
    watch(Snapshot(other.step, 600, torch.tensor([5]), other.gates, other.gates, other.gates, "path"))
    assert watch.bars.tasks[0].percentage == 0


@pytest.mark.parametrize(("terminal", "quiet"), [(False, False), (True, True)])
def test_nothing_is_shown_where_nobody_watches(terminal, quiet):
    screen = io.StringIO()
    with Watch(Console(file=screen, force_terminal=terminal, quiet=quiet), quiet=quiet) as watch:
        watch.phase("Choosing")
        watch(snapshot(300))
    assert screen.getvalue() == ""


def test_an_estimator_calls_it_and_its_clone_calls_the_same_one():
    watch, _ = watch_on_terminal()
    watch.phase("Choosing")
    model = clone(GatedRegressor(lam=1.0, callbacks=[watch], training=Training(n_steps=20)))
    assert model.callbacks[0] is watch
    X = np.random.default_rng(0).normal(size=(30, 4))
    model.fit(X, X[:, 0] + X[:, 1])
    assert watch.bars.tasks[0].percentage > 0
    assert watch.stage == "training"
