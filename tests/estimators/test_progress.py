"""The progress bar of a fit: in a terminal, in a notebook, and where nobody watches."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from problems import linear_response, short_training
from stochgate import GatedRegressor


class Cell:
    """The outputs of a notebook cell, by number of updates."""

    def __init__(self):
        self.outputs, self.texts = 0, []

    def display(self, data, *, raw, display_id):
        assert raw
        assert display_id
        self.outputs += 1
        return self

    def update(self, data, *, raw):
        assert raw
        self.texts.append(data["text/plain"])


@pytest.fixture
def cell(monkeypatch):
    ipython, display, cell = ModuleType("IPython"), ModuleType("IPython.display"), Cell()
    ipython.get_ipython = lambda: SimpleNamespace(config={"IPKernelApp": {}})
    display.display = cell.display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return cell


def fit(verbose):
    training = short_training(n_steps=60, n_snapshots=5)
    return GatedRegressor(lam=0.1, training=training, verbose=verbose).fit(*linear_response())


def test_a_notebook_has_one_output_that_is_updated(cell, capsys):
    fit(verbose=1)
    assert cell.outputs == 1
    assert len(cell.texts) >= 5
    assert cell.texts[0].startswith("stochgate:   0%|")
    assert cell.texts[-1].startswith("stochgate, training: 100%|██████████|")
    assert "loss=" in cell.texts[-1]
    assert capsys.readouterr().err == ""


def test_without_verbose_a_notebook_has_none(cell):
    fit(verbose=0)
    assert cell.outputs == 0


def test_nothing_is_shown_in_a_log_file(capsys):
    fit(verbose=1)
    assert capsys.readouterr().err == ""


def test_a_terminal_has_one_line(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    fit(verbose=1)
    shown = capsys.readouterr().err
    assert "stochgate, training: 100%|" in shown
    assert shown.count("\n") == 1
