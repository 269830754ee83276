"""Error control of stability selection: the bounds, the halves and the shadows."""

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
from stochgate.stability.why_empty import shadows_keep_up, tells_nothing_new, too_rare

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


# ---- halves


def test_halves_are_disjoint_equal_and_reproducible():
    halves = complementary_pairs(101, n_pairs=20, seed=3)
    assert halves.shape == (40, 101)
    assert not (halves[::2] & halves[1::2]).any()
    assert (halves.sum(axis=1) == 50).all()
    assert np.array_equal(halves, complementary_pairs(101, n_pairs=20, seed=3))
    assert not np.array_equal(halves, complementary_pairs(101, n_pairs=20, seed=4))


def test_each_row_is_in_half_of_the_halves():
    share = complementary_pairs(21, n_pairs=2000, seed=0, strata=np.arange(21) < 5)[::2].mean(axis=0)
    assert share == pytest.approx(10 / 21, abs=0.05)


def test_strata_are_shared_out_evenly():
    strata = np.repeat(["a", "b", "c"], [7, 20, 34])
    halves = complementary_pairs(61, n_pairs=50, seed=0, strata=strata)
    for label in np.unique(strata):
        counts = halves[:, strata == label].sum(axis=1)
        assert (abs(counts[::2] - counts[1::2]) <= 1).all()
    assert (halves.sum(axis=1) == 30).all()


def test_groups_stay_whole_and_halves_even():
    rng = np.random.default_rng(0)
    groups = rng.integers(40, size=200)
    strata = (groups % 4 == 0).astype(int)  # whole patients have an event
    halves = complementary_pairs(200, n_pairs=30, seed=0, strata=strata, groups=groups)
    first, second = halves[::2], halves[1::2]
    assert (first ^ second).all()
    for group in np.unique(groups):
        inside = first[:, groups == group]
        assert (inside.all(axis=1) | ~inside.any(axis=1)).all()
    assert (abs(first.sum(axis=1) - 100) <= 12).all()
    assert (abs(first[:, strata == 1].sum(axis=1) - strata.sum() / 2) <= 12).all()
    assert len(np.unique(first, axis=0)) == 30


# ---- shadows


def test_q_values_by_hand():
    # t = 5: 4/5 (1 + 0)/1; t = 4: (4/5) (1 + 0)/2; t = 2: (4/5) (1 + 1)/3; t = 1: (4/5) (1 + 2)/4
    q_values = shadow_fdr([4, 1, 5, 2], [3, 1, 0, 0])
    assert q_values == pytest.approx([0.4, 0.6, 0.8 / 2, 1.6 / 3])
    assert select_by_fdr([4, 1, 5, 2], [3, 1, 0, 0], fdr=0.4).tolist() == [True, False, True, False]


def test_several_sets_of_shadows_lower_the_smallest_q_value():
    scores = np.r_[np.full(5, 10.0), np.zeros(95)]
    one, ten = (shadow_fdr(scores, np.zeros((m, 100))).min() for m in (1, 10))
    assert one == pytest.approx(100 / 101 / 5)
    assert ten == pytest.approx(100 / 1001 / 5)


def test_q_values_fall_as_scores_rise_and_ties_share_them():
    rng = np.random.default_rng(0)
    scores, shadows = rng.integers(8, size=50), rng.integers(6, size=100)
    q_values = shadow_fdr(scores, shadows)
    order = np.argsort(scores)
    assert (np.diff(q_values[order]) <= 0).all()
    for score in np.unique(scores):
        assert len(np.unique(q_values[scores == score])) == 1
    assert ((q_values > 0) & (q_values <= 1)).all()


@pytest.mark.parametrize("n_sets", [1, 5])
def test_the_false_discovery_rate_is_kept(n_sets):
    rng = np.random.default_rng(n_sets)
    shares, found = [], []
    for _ in range(600):
        scores = rng.normal(size=80) + np.where(np.arange(80) < 15, 3.0, 0.0)
        selected = select_by_fdr(scores, rng.normal(size=(n_sets, 80)), fdr=0.2)
        shares.append(selected[15:].sum() / max(1, selected.sum()))
        found.append(selected[:15].mean())
    assert np.mean(shares) <= 0.2 + 2 * np.std(shares) / np.sqrt(len(shares))
    assert np.mean(found) > 0.6


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


# ---- why nothing is selected


def test_the_most_frequent_feature_is_named_with_what_it_takes():
    frequency = np.array([0.1, 0.34, 0.0])
    assert "by 17 of 50 halves, and it takes 26" in too_rare(frequency, 26, 50).text
    assert "a half selects 0.44 of 3 columns" in too_rare(frequency, np.inf, 50).text


@pytest.mark.parametrize(
    ("used", "says"),
    [
        ([1, 1, 1, 0], "3 features are selected by at least 26 of 50 halves, but are redundant"),
        ([1, 1, 0, 1], "but 2 of them are redundant"),
        ([1, 0, 0, 0], "but 1 of them is redundant"),
        ([0, 0, 0, 1], "do not tell what they add from chance, at 4 columns (p of 0.3)"),
    ],
)
def test_redundant_is_what_would_pass_without_the_others(used, says):
    candidates = np.array([True, True, True, False])
    reason = tells_nothing_new(candidates, np.array(used, dtype=bool), 26, 50, "p of 0.3")
    assert says in reason.text
    if reason.redundant is not None:
        np.testing.assert_array_equal(reason.redundant, candidates & np.array(used, dtype=bool))
    assert (reason.redundant is None) == ("redundant" not in reason.text)


def test_of_many_redundant_features_a_few_are_named():
    everything = np.ones(4, dtype=bool)
    reason = tells_nothing_new(everything, everything, 26, 50, "p of 0.3")
    names = reason.with_names(lambda per_gate: np.repeat(per_gate, 2), list("abcdefgh")).text
    assert names.endswith("(redundant: a, b, c, d, e and 3 more)")
    rare = too_rare(np.array([0.1]), 26, 50)
    assert rare.with_names(lambda per_gate: per_gate, ["a"]) is rare


@pytest.mark.parametrize(("n_sets", "n_candidates"), [(1, 3), (2, 4), (9, 1)])
def test_the_advised_number_of_shadows_suffices(n_sets, n_candidates):
    """Without any shadow as high as the candidates, q-values come within reach."""
    text = shadows_keep_up(n_candidates, 20, n_sets, 0.1, 0.5, 50).text
    advised = int(text.split("n_shadows=")[1])
    scores = np.arange(20) < n_candidates
    assert shadow_fdr(scores, np.zeros(20 * n_sets)).min() > 0.1
    assert shadow_fdr(scores, np.zeros(20 * advised)).min() <= 0.1
    needed = int(text.split("takes ")[1].split()[0])
    assert shadow_fdr(np.arange(20) < needed, np.zeros(20 * n_sets)).min() <= 0.1
    assert shadow_fdr(np.arange(20) < needed - 1, np.zeros(20 * n_sets)).min() > 0.1
