"""Gates over training: what was selected is coloured and named."""

import numpy as np

from stochgate.plots import GatesDisplay, gates

STEP = np.array([10, 20, 30])


def make_display(n_features, selected, lam=1.0):
    rng = np.random.default_rng(0)
    values = np.sort(rng.random((3, n_features)), axis=0)
    mask = np.isin(np.arange(n_features), selected)
    lam = np.broadcast_to(lam, 3)
    return GatesDisplay(
        step=STEP, lam=lam, gates=values, names=list("abcdefghij"[:n_features]), selected=mask
    )


def test_the_gates_of_the_model_are_drawn(given):
    display = GatesDisplay.from_estimator(given)
    history, selected = given.gate_history_, np.flatnonzero(given.support_)
    drawn = {tuple(line.get_ydata()) for line in display.lines_}
    assert drawn == {tuple(history["gates"][:, j]) for j in selected}
    assert len(display.others_.get_segments()) == (~given.support_).sum()
    assert sorted(text.get_text() for text in display.names_) == [str(j) for j in selected]
    assert display.ax_.get_xlabel() == "training step"


def test_unfriendly_names_are_written_as_they_are(chosen):
    display = GatesDisplay.from_estimator(chosen[0])
    assert {text.get_text() for text in display.names_} == {r"\$x_", r"a\$b\$c"}
    display.figure_.canvas.draw()


def test_a_growing_penalty_is_the_axis():
    display = make_display(4, [0], lam=np.array([0.1, 1.0, 10.0])).plot()
    assert display.ax_.get_xscale() == "log"
    assert display.lines_[0].get_xdata().tolist() == [0.1, 1.0, 10.0]
    for lam in (1.0, np.array([0.5, 1.0, 1.0])):  # constant in the end
        assert make_display(4, [0], lam).plot().lines_[0].get_xdata().tolist() == STEP.tolist()


def test_a_single_snapshot_is_drawn():
    display = make_display(4, [0])
    display.step, display.lam, display.gates = STEP[:1], display.lam[:1], display.gates[:1]
    assert display.plot().ax_.get_xlim()[0] < STEP[0] < display.ax_.get_xlim()[1]


def test_only_so_many_are_named_those_open_longest_first():
    display = make_display(10, range(6)).plot(most_names=2)
    order = np.argsort(-display.gates[:, :6].mean(axis=0))
    assert [text.get_text() for text in display.names_] == [display.names[j] for j in order[:2]]
    assert len(display.lines_) == 2
    assert len(display.unnamed_.get_segments()) == 4
    assert "6 of 10 features selected, 2 of them named" in display.ax_.get_title(loc="left")
    assert len(display.plot().names_) == 6


def test_of_very_many_features_some_are_drawn(monkeypatch):
    monkeypatch.setattr(gates, "MOST_THIN", 4)
    assert len(make_display(10, [0]).plot().others_.get_segments()) == 4
    display = make_display(10, range(10)).plot(most_names=1)
    assert len(display.unnamed_.get_segments()) == 4
    assert len(display.others_.get_segments()) == 0


def test_names_stay_within_the_axes():
    display = make_display(10, range(10))
    display.gates[-1] = 1.0
    heights = [text.xyann[1] for text in display.plot().names_]
    assert len(set(heights)) == 10
    assert min(heights) >= 0
    assert max(heights) <= 1 + 1e-9
