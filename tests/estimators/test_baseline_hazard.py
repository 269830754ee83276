"""The baseline hazard and survival curves against R, lifelines, scikit-survival and their definition."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from lifelines import CoxPHFitter
from sksurv.linear_model import CoxPHSurvivalAnalysis

from stochgate import survival_target
from stochgate.estimators.baseline_hazard import BaselineHazard, to_survival
from stochgate.objectives import Cox
from survival_problems import KINDS, make_target, read

STRATA = json.loads((Path(__file__).parents[1] / "oracles" / "cox_strata.json").read_text())

either_ties = pytest.mark.parametrize("ties", ["breslow", "efron"])


def make_baseline(ties, y, eta, weights=None):
    """Return the baseline of known log hazards."""
    target = Cox(ties).encode(y)
    weights = torch.from_numpy(np.ones(len(eta)) if weights is None else np.array(weights))
    output = torch.from_numpy(eta)[None, :, None]
    log_jumps = Cox(ties).log_jumps(output, target.rows, weights[None])[0].numpy()
    return BaselineHazard.make(target.rows["block"].numpy(), log_jumps, **target.facts)


@pytest.mark.parametrize("case", STRATA["cases"], ids=lambda c: " ".join(map(str, list(c.values())[:4])))
def test_curves_equal_r(case):
    y = survival_target(
        STRATA["event"],
        STRATA["time"],
        STRATA["entry"] if case["truncated"] else None,
        STRATA["stratum"] if case["stratified"] else None,
    )
    eta = np.column_stack([STRATA["x1"], STRATA["x2"]]) @ STRATA["beta"]
    baseline = make_baseline(case["ties"], y, eta, STRATA["weight"] if case["weighted"] else None)
    for curve in case["curves"]:
        stratum = curve["stratum"] if case["stratified"] else None
        hazard = baseline.cumulative_hazard(curve["time"], stratum)
        np.testing.assert_allclose(hazard, curve["hazard"], rtol=1e-10)
        new = eta[np.array(STRATA["new"], dtype=int)]
        strata = [stratum] * len(new) if case["stratified"] else None
        found = to_survival(baseline.predict(new, curve["time"], strata))
        np.testing.assert_allclose(found, curve["survival"], rtol=1e-10)


@either_ties
@pytest.mark.parametrize("kind", KINDS)
def test_baseline_equals_its_definition(kind, ties):
    y = make_target(kind, seed=1)
    rng = np.random.default_rng(0)
    eta, weights = rng.normal(size=len(y)), rng.choice([0.5, 1, 2], size=len(y))
    event, time, entry, stratum = (part.numpy() for part in read(y))
    baseline = make_baseline(ties, y, eta, weights)
    for code, label in enumerate(baseline.log_cumulative_hazard):
        total, expected = 0.0, []
        for t in np.unique(time[stratum == code]):
            risk = (stratum == code) & (entry < t) & (t <= time)
            tied = event & (stratum == code) & (time == t)
            for r in range(tied.sum()):
                share = r / tied.sum() if ties == "efron" else 0
                hazard = weights * np.exp(eta)
                total += weights[tied].mean() / (hazard[risk].sum() - share * hazard[tied].sum())
            expected.append(total)
        curve = baseline.log_cumulative_hazard[label]
        assert np.array_equal(curve.x, np.unique(time[stratum == code]))
        np.testing.assert_allclose(np.exp(curve.y), expected, rtol=1e-10)


def linear_problem():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 2))
    time = np.ceil(5 * rng.exponential(np.exp(-0.5 * x[:, 0])))
    return x, rng.random(90) < 0.7, time, rng.integers(2, size=90)


@either_ties
def test_survival_equals_scikit_survival(ties):
    x, event, time, _ = linear_problem()
    y = survival_target(event, time)
    model = CoxPHSurvivalAnalysis(ties=ties).fit(x, y)
    ours = make_baseline("breslow", y, x @ model.coef_)  # its curves are Breslow's for both
    times = model.unique_times_
    expected = np.array([curve(times) for curve in model.predict_survival_function(x[:5])])
    found = to_survival(ours.predict(model.predict(x[:5]), times, None))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_stratified_survival_equals_lifelines():
    x, event, time, strata = linear_problem()  # without entry times: its baseline takes no note of them
    data = pd.DataFrame(x, columns=["a", "b"]).assign(time=time, event=event, s=strata)
    fitter = CoxPHFitter().fit(data, "time", "event", strata=["s"])
    eta = x @ fitter.params_.to_numpy()
    ours = make_baseline("breslow", survival_target(event, time, strata=strata), eta)
    times = [1.0, 2.0, 4.0, 7.0]
    expected = fitter.predict_survival_function(data.iloc[:6], times=times)[range(6)].to_numpy().T
    found = to_survival(ours.predict(eta[:6], times, strata[:6]))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@either_ties
def test_huge_log_hazards_make_no_nan(ties):
    y = make_target("entry and strata", seed=1)
    eta = 1e4 * np.random.default_rng(0).choice([-1.0, 0, 1], size=len(y))
    baseline = make_baseline(ties, y, eta)
    found = to_survival(baseline.predict(eta, [0.5, 2, 4], y["stratum"]))
    assert ((found >= 0) & (found <= 1)).all()
    assert (np.diff(found) <= 0).all()


def test_functions_equal_the_values_at_their_times():
    y = make_target("strata", seed=1)
    eta = np.random.default_rng(0).normal(size=len(y))
    baseline, times = make_baseline("breslow", y, eta), np.array([-1, 0, 0.5, 2, 4, 99])
    hazard, hazards = (baseline.predict(eta, at, y["stratum"]) for at in (times, None))
    for values, curves, before in [(hazard, hazards, 0), (to_survival(hazard), to_survival(hazards), 1)]:
        np.testing.assert_array_equal([curve(times) for curve in curves], values)
        assert all(np.array_equal(curve(curve.x), curve.y) for curve in curves)
        assert (values[:, 0] == before).all()
        assert curves[0](2.0) == values[0, 3]


def test_unknown_strata_are_an_error():
    y = make_target("strata", seed=1)
    baseline = make_baseline("breslow", y, np.zeros(len(y)))
    for strata, message in [
        (None, r"strata \['a', 'b', 'c'\]: give strata"),
        (["a", "d"], "stratum 'd' was not in the fit"),
        (["a"], "1 labels for 2 rows"),
    ]:
        with pytest.raises(ValueError, match=message):
            baseline.predict(np.zeros(2), [1.0], strata)
    baseline = make_baseline("breslow", y[["event", "time"]], np.zeros(len(y)))
    with pytest.raises(ValueError, match="fitted without strata"):
        baseline.predict(np.zeros(2), [1.0], ["a", "b"])
    with pytest.raises(ValueError, match="give a list of numbers"):
        baseline.predict(np.zeros(2), [1.0, np.nan], None)
