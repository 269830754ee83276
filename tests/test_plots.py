"""The numbers behind the pictures are lifelines', and drawing shows them."""

import sys

import numpy as np
import pytest
from lifelines import KaplanMeierFitter
from lifelines.statistics import multivariate_logrank_test

from stochgate import datasets, plots

PATH = [
    {
        "network": "mlp",
        "stage": "path",
        "lam": 2.0,
        "n_features": 1,
        "held_out_loss": 3.0,
        "held_out_sd": 0.1,
    },
    {
        "network": "mlp",
        "stage": "path",
        "lam": 1.0,
        "n_features": 4,
        "held_out_loss": 2.0,
        "held_out_sd": 0.2,
    },
    {
        "network": "mlp",
        "stage": "refit",
        "lam": 1.0,
        "n_features": 4,
        "held_out_loss": 1.0,
        "held_out_sd": 0.2,
    },
    {
        "network": "linear",
        "stage": "path",
        "lam": 1.0,
        "n_features": 2,
        "held_out_loss": 2.5,
        "held_out_sd": 0.3,
    },
]


def tied_problem():
    """Return events, times of which many are equal, and a risk that tells something."""
    problem = datasets.make_cox(200, 5, 2, censored=0.4, random_state=0)
    return problem.y["event"], np.ceil(5 * problem.y["time"]), problem.X[:, problem.relevant].sum(axis=1)


@pytest.fixture
def ax():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    yield axes
    pyplot.close(figure)


@pytest.mark.parametrize("n_groups", [2, 3])
def test_curves_and_p_value_equal_lifelines(n_groups):
    event, time, risk = tied_problem()
    groups = plots.survival_curves_by_risk(event, time, risk, n_groups)
    sizes = [curve.n_at_risk[0] for curve in groups.curves]
    assert max(sizes) - min(sizes) <= 1
    group = np.repeat(np.arange(n_groups), sizes)[np.argsort(np.argsort(risk))]
    for g, curve in enumerate(groups.curves):
        km = KaplanMeierFitter().fit(time[group == g], event[group == g])
        np.testing.assert_allclose(curve.survival, km.survival_function_.to_numpy()[:, 0], atol=1e-12)
        np.testing.assert_allclose(curve.time, km.survival_function_.index)
        np.testing.assert_allclose(curve.n_at_risk[1:], km.event_table["at_risk"].to_numpy()[1:])
        inside = (curve.survival < 1) & (curve.survival > 0)
        interval = km.confidence_interval_.to_numpy()[inside]
        np.testing.assert_allclose(np.column_stack([curve.low, curve.high])[inside], interval, atol=1e-8)
    expected = multivariate_logrank_test(time, group, event).p_value
    assert groups.p_value == pytest.approx(expected, rel=1e-6)


def test_groups_rise_in_risk_and_risks_that_are_equal_stay_together():
    low, high = plots.survival_curves_by_risk(np.ones(5), np.arange(1.0, 6), [2, 2, 2, 2, 1]).curves
    assert low.time.tolist() == [0, 5]
    assert high.time.tolist() == [0, 1, 2, 3, 4]


def test_risks_that_make_no_groups_are_refused():
    with pytest.raises(ValueError, match=r"1 value\(s\), which does not make 2 groups"):
        plots.survival_curves_by_risk([1, 1], [1, 2], [0.5, 0.5])


def test_the_path_is_sorted_and_leaves_out_refits():
    losses = plots.losses_along_path(PATH)
    assert losses["mlp"]["lam"].tolist() == [1.0, 2.0]
    assert losses["mlp"]["held_out_loss"].tolist() == [2.0, 3.0]
    assert losses["linear"]["n_features"].tolist() == [2]
    pandas = pytest.importorskip("pandas")
    of_frame = plots.losses_along_path(pandas.DataFrame(PATH))
    assert of_frame["mlp"]["lam"].tolist() == [1.0, 2.0]


def test_pictures_show_the_numbers(ax):
    groups = plots.survival_curves_by_risk(*tied_problem())
    plots.draw_survival_curves(groups, ax)
    for line, curve in zip(ax.get_lines(), groups.curves, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), curve.survival)
    assert f"{groups.p_value:.2g}" in ax.get_title()
    ax.clear()
    plots.draw_path(plots.losses_along_path(PATH), ax)
    assert [line.get_label() for line in ax.get_lines()] == ["mlp", "linear"]


def test_drawing_without_matplotlib_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"matplotlib: pip install stochgate\[plots\]"):
        plots.draw_path({})
