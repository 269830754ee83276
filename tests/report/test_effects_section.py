"""The section on effects."""

import numpy as np
import pytest
from scipy.special import expit

from stochgate import GatedClassifier, Training, load, save
from stochgate.report.collect import collect
from stochgate.report.page import render
from stochgate.report.sections.effects import show_ratio

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
y = np.where(RNG.random(200) < expit(1.5 * X[:, 1]), "ill", "well")


def fit(**given):
    training = Training(n_steps=60, n_snapshots=5)
    return GatedClassifier(network="linear", cv=2, training=training, random_state=0, **given).fit(X, y)


def test_the_report_has_odds_ratios_and_says_which_rows_they_are_of(tmp_path):
    model = fit(n_features_to_select=1)
    data = collect(model, X, y)
    found = model.effects()
    (row,) = data["effects"]["rows"]
    assert (row["column"], row["output"], row["against"]) == ("1", "well", "one unit less")
    assert [row["value"], row["low"], row["high"]] == found[["odds_ratio", "ratio_low", "ratio_high"]].iloc[
        0
    ].tolist()
    page = render(data)
    assert "These rows also chose the columns" in page
    assert f"{show_ratio(row['low'])} to {show_ratio(row['high'])}" in page
    model.summary()
    save(model, tmp_path / "m.safetensors")
    loaded = collect(load(tmp_path / "m.safetensors"), X[:, [1]], y)
    np.testing.assert_allclose(loaded["effects"]["rows"][0]["low"], row["low"], rtol=1e-6)


def test_without_features_or_where_rows_cannot_tell_there_is_no_such_section():
    with pytest.warns(UserWarning, match="No feature was selected"):
        model = fit(lam=100, threshold=0.999)
    assert collect(model, X, y)["effects"] is None
    assert 'href="#effects"' not in render(collect(model, X, y))
    apart = GatedClassifier(
        network="linear", n_features_to_select=1, cv=2, training=Training(n_steps=60), random_state=0
    ).fit(X, X[:, 1] > 0)
    assert collect(apart, X, X[:, 1] > 0)["effects"] is None


@pytest.mark.parametrize(
    ("ratio", "shown"),
    [(2.2904, "2.29"), (0.97, "0.97"), (1.00048, "1.00048"), (0.9989, "0.9989"), (1, "1"), (6e4, "6e+04")],
)
def test_a_ratio_near_one_shows_on_which_side_it_is(ratio, shown):
    assert show_ratio(ratio) == shown
