"""Kaplan-Meier curves and the log-rank test are those of lifelines."""

import numpy as np
import pytest
from lifelines import KaplanMeierFitter
from lifelines.statistics import multivariate_logrank_test

from stochgate.metrics import kaplan_meier, log_rank_p_value, survival_curves_by_risk
from survival_problems import tied_problem


@pytest.mark.parametrize("n_groups", [2, 3])
def test_curves_and_p_value_equal_lifelines(n_groups):
    event, time, risk = tied_problem()
    groups = survival_curves_by_risk(event, time, risk, n_groups)
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
    low, high = survival_curves_by_risk(np.ones(5), np.arange(1.0, 6), [2, 2, 2, 2, 1]).curves
    assert low.time.tolist() == [0, 5]
    assert high.time.tolist() == [0, 1, 2, 3, 4]


def test_risks_that_make_no_groups_are_refused():
    with pytest.raises(ValueError, match=r"1 value\(s\), which does not make 2 groups"):
        survival_curves_by_risk([1, 1], [1, 2], [0.5, 0.5])


def test_a_risk_that_is_missing_is_an_error():
    with pytest.raises(ValueError, match="risk contains NaN in row 1; give"):
        survival_curves_by_risk([1, 1, 0], [1, 2, 3], [0.5, np.nan, 1])


def test_events_read_the_same_in_every_form():
    event, time, risk = tied_problem()
    group, words = risk > 0, np.where(event, "yes", "no")
    expected = multivariate_logrank_test(time, group, event).p_value
    for form in (event, event.astype(int), event.tolist(), words):
        assert log_rank_p_value(form, time, group) == pytest.approx(expected, rel=1e-6)
        assert np.array_equal(kaplan_meier(form, time).survival, kaplan_meier(event, time).survival)
        assert survival_curves_by_risk(form, time, group).p_value == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("event", [[1, 2, 1], [1, 0.5, 0]])
def test_what_is_no_event_is_an_error(event):
    for find in (
        lambda: kaplan_meier(event, [1, 2, 3]),
        lambda: log_rank_p_value(event, [1, 2, 3], [0, 1, 1]),
        lambda: survival_curves_by_risk(event, [1, 2, 3], [0, 1, 2]),
    ):
        with pytest.raises(ValueError, match="not 0 or 1"):
            find()


def test_groups_without_events_can_not_be_compared():
    with pytest.raises(ValueError, match="No row has an event"):
        log_rank_p_value([0, 0], [1, 2], ["a", "b"])
