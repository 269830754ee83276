"""Bounds on the number of false selections."""

import numpy as np
import pytest
from scipy.optimize import linprog

from stochgate.stability.bounds import (
    meinshausen_buehlmann_bound,
    shah_samworth_bound,
    smallest_threshold,
)
from stochgate.stability.halves import complementary_pairs
from stochgate.stability.shadows import select_by_fdr, shadow_fdr
from stochgate.stability.tail_bounds import r_concave_tail, unimodal_constant

SIZES = [(10, 100, 50), (50, 1000, 50), (5, 200, 25), (30, 100, 50), (20, 500, 10), (490, 1000, 50)]

# p min{D(theta^2, 2 tau - 1, B, -1/2), D(theta, tau, 2 B, -1/4)} at tau = 0.6, 0.8, 0.9 and 1 by the
# authors' own program, http://www.statslab.cam.ac.uk/~rds37/papers/r_concave_tail.R (a line search to 1e-4)
AUTHORS = {
    (10, 100, 50): (1.141338056, 0.1924056745, 0.07553063045, 0.005490608107),
    (50, 1000, 50): (2.605329076, 0.4351339265, 0.1704956871, 0.01238007102),
    (5, 200, 25): (0.1559591897, 0.02548936478, 0.01035275193, 0.001374424828),
    (30, 100, 50): (16.24974741, 2.682875197, 1.071150657, 0.07867018826),
    (20, 500, 10): (1.701291331, 0.2490746029, 0.1101717248, 0.02907669159),
    (490, 1000, 50): (1000, 116.2979616, 49.15838601, 3.745839185),
}


def test_meinshausen_buehlmann_by_hand():
    assert meinshausen_buehlmann_bound(20, 400, 0.9) == pytest.approx(400 / (0.8 * 400))
    assert meinshausen_buehlmann_bound(20, 400, 0.5) == np.inf


def test_unimodal_bound_by_hand():
    # B = 50, theta = 0.1: 1 / (2 (0.4 - 0.01)) at 0.7, and 4 (0.1 + 0.01) / 1.02 at 0.9
    assert shah_samworth_bound(10, 100, 0.7, 50, "unimodal") == pytest.approx(1 / 0.78)
    assert shah_samworth_bound(10, 100, 0.9, 50, "unimodal") == pytest.approx(0.44 / 1.02)
    # where the theorem is silent the wider bound holds
    assert shah_samworth_bound(70, 100, 0.9, 50, "unimodal") == pytest.approx(49 / 0.8)


@pytest.mark.parametrize("size", SIZES)
def test_r_concave_bound_equals_the_authors(size):
    bounds = [shah_samworth_bound(*size[:2], tau, size[2]) for tau in (0.6, 0.8, 0.9, 1.0)]
    assert bounds == pytest.approx(AUTHORS[size], rel=2e-4)
    assert (np.array(bounds) >= np.array(AUTHORS[size]) * (1 - 1e-8)).all()


@pytest.mark.parametrize("size", SIZES)
def test_stronger_assumptions_and_thresholds_give_lower_bounds(size):
    q, p, n_pairs = size
    taus = np.arange(n_pairs + 1, 2 * n_pairs + 1) / (2 * n_pairs)
    widest = np.array([meinshausen_buehlmann_bound(q, p, tau) for tau in taus])
    unimodal, concave = (
        np.array([shah_samworth_bound(q, p, tau, n_pairs, kind) for tau in taus])
        for kind in ("unimodal", "r-concave")
    )
    assert (concave <= unimodal).all()
    assert (unimodal <= widest).all()
    for bounds in (widest, unimodal, concave):
        assert (np.diff(bounds) <= 0).all()


@pytest.mark.parametrize("kind", ["unimodal", "r-concave"])
def test_bounds_grow_with_the_number_selected(kind):
    bounds = [shah_samworth_bound(q, 200, 0.8, 25, kind) for q in range(30)]
    assert bounds[0] == 0
    assert (np.diff(bounds) > 0).all()


def largest_unimodal_tail(mean, count, n_steps):
    """Return the largest tail of a unimodal pmf by linear programming over all modes."""
    x = np.arange(n_steps + 1)
    steps = np.diff(np.eye(n_steps + 1), axis=0)  # f(x + 1) - f(x)
    best = 0.0
    for mode in x:
        rises = np.where(np.arange(n_steps) < mode, -1, 1)[:, None] * steps
        solved = linprog(
            -(x >= count).astype(float),
            A_ub=np.vstack([rises, x / n_steps]),
            b_ub=np.append(np.zeros(n_steps), mean),
            A_eq=np.ones((1, n_steps + 1)),
            b_eq=[1],
        )
        best = max(best, -solved.fun if solved.success else 0.0)  # a mode may be too high for the mean
    return best


@pytest.mark.parametrize(("theta", "count"), [(0.1, 14), (0.3, 15), (0.2, 18), (0.4, 20)])
def test_unimodal_constant_is_the_largest_tail(theta, count):
    n_pairs = 10
    largest = largest_unimodal_tail(theta**2, count - n_pairs, n_pairs)
    assert largest <= unimodal_constant(theta, count, n_pairs) * theta**2 * (1 + 1e-9)
    assert largest == pytest.approx(unimodal_constant(theta, count, n_pairs) * theta**2, rel=0.02)


@pytest.mark.parametrize("r", [-0.5, -0.25])
def test_no_r_concave_distribution_has_a_larger_tail(r):
    rng = np.random.default_rng(0)
    n_steps, x = 12, np.arange(13)
    for _ in range(500):
        slopes = np.sort(rng.normal(1, 1, size=n_steps)) * rng.exponential(size=n_steps).cumsum()
        convex = np.append(0, np.sort(slopes).cumsum())
        f = (convex - convex.min() + rng.exponential()) ** (1 / r)
        f[rng.integers(1, n_steps + 2) :] = 0  # 0 is r-concave, too: f^r is infinite
        f /= f.sum()
        mean = float(f @ x / n_steps)
        for count in (4, 8, 12):
            assert f[count:].sum() <= r_concave_tail(mean, count, n_steps, r) + 1e-9


def test_noise_stays_below_the_bounds():
    """Marginal screening of pure noise: every feature is selected with the probability q/p."""
    rng = np.random.default_rng(0)
    n_samples, p, q, n_pairs, n_runs = 60, 60, 12, 25, 60
    n_false = {0.6: [], 0.7: []}
    for run in range(n_runs):
        X, y = rng.normal(size=(n_samples, p)), rng.normal(size=n_samples)
        halves = complementary_pairs(n_samples, n_pairs, seed=run)
        score = np.abs((halves * y) @ X)  # (2 n_pairs, p)
        selected = score >= np.sort(score, axis=1)[:, [-q]]
        for tau, counts in n_false.items():
            counts.append((selected.mean(axis=0) >= tau).sum())
    for tau, counts in n_false.items():
        assert np.mean(counts) > 0
        assert np.mean(counts) <= shah_samworth_bound(q, p, tau, n_pairs)


def test_smallest_threshold_is_the_first_that_keeps_the_promise():
    found = smallest_threshold(10, 200, 25, max_false=0.5)
    assert shah_samworth_bound(10, 200, found, 25) <= 0.5 < shah_samworth_bound(10, 200, found - 0.02, 25)
    assert found <= smallest_threshold(10, 200, 25, max_false=0.5, kind="unimodal")
    assert smallest_threshold(100, 200, 25, max_false=0.01) == np.inf


def test_between_two_frequencies_the_next_one_counts():
    assert shah_samworth_bound(10, 200, 0.605, 10) == shah_samworth_bound(10, 200, 0.65, 10)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shah_samworth_bound(5, 10, 0.8, 50, "convex"), "Unknown kind 'convex'"),
        (lambda: shah_samworth_bound(11, 10, 0.8, 50), "q is from 0 to n_features"),
        (lambda: smallest_threshold(5, 10, 0, 1.0), "at least 1 pair"),
        (lambda: select_by_fdr([1.0], [0.0], fdr=1.5), "between 0 and 1"),
        (lambda: shadow_fdr([1.0, np.nan], [0.0]), "scores contains NaN at 1"),
        (lambda: shadow_fdr([1.0], []), "shadow_scores is empty"),
        (lambda: complementary_pairs(1, 5, 0), "at least 2 rows"),
        (lambda: complementary_pairs(5, 5, 0, strata=[0, 1]), "one label per row"),
        (lambda: complementary_pairs(4, 5, 0, groups=[1, 1, 1, 1]), "one group only"),
    ],
)
def test_what_can_not_be_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
