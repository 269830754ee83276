"""Sets of every size from a few models under a growing penalty, and how they are judged."""

from dataclasses import fields, replace

import numpy as np
import pytest

from choices import problem_and_folds
from problems import linear_response, normal_columns
from stochgate import GatedRegressor, NoFeatureSelectedWarning, Training
from stochgate.choice.bank import Bank
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.sets import candidates, growing, ranking
from stochgate.choice.sets.cells import JOINT, Cells
from stochgate.choice.sets.growing import grow_sets
from stochgate.choice.sets.ranking import grid_of_sizes, judge_sizes, most_gates
from stochgate.engine import FREE
from stochgate.metrics import selection_stability

SHORT = Training(n_steps=60, n_snapshots=5, dtype="float64")
LONGER = Training(n_steps=150, n_snapshots=5, dtype="float64")
STRONG = [3, 17, 30]


def with_all_rows(folds):
    """Return the folds, and after them one that learns from all rows."""
    return np.vstack([folds, np.ones_like(folds[:1])])


def grow(X, y, training=SHORT, **parameters):
    """Return the problem, its folds of the first round, and how these and all rows rank the gates."""
    problem, folds = problem_and_folds(X, y, training=training, **parameters)
    folds = folds[:5]
    return problem, folds, grow_sets(problem, Bank(problem.design), with_all_rows(folds))[0]


def grow_every_size(X, y, training=SHORT, **parameters):
    """Return the sets of every size, and the sizes."""
    _, _, made = grow(X, y, training, **parameters)
    sizes = grid_of_sizes(made.n_free, len(X))
    return made.sets(sizes), sizes


def few_strong_features():
    X = normal_columns(100, 40)
    noise = np.random.default_rng(1).normal(size=100)
    return X, 2 * X[:, 3] - 2 * X[:, 17] + 2 * X[:, 30] + 0.5 * noise


def many_weak_features():
    X = normal_columns(150, 60)
    noise = np.random.default_rng(1).normal(size=150)
    return X, 0.15 * X.sum(axis=1) + noise


# ---- sizes


@pytest.mark.parametrize("n_gates", [1, 2, 5, 40, 100, 101, 500, 5000])
def test_sizes_grow_from_1_to_the_most(n_gates):
    sizes = grid_of_sizes(n_gates, 10_000)
    assert sizes[0] == 1
    assert sizes[-1] == most_gates(n_gates) <= n_gates
    steps = np.diff(sizes)
    assert (steps > 0).all()
    assert (np.array(sizes[1:]) <= np.maximum(2, np.ceil(1.5 * np.array(sizes[:-1])))).all()


def test_few_gates_may_all_be_open_and_of_many_a_share():
    assert [most_gates(n) for n in (3, 100, 200, 750)] == [3, 100, 80, 300]
    assert most_gates(1_000_000) == DEFAULTS.most_gates


@pytest.mark.parametrize(("n_samples", "most"), [(30, 50), (60, 60), (500, 80)])
def test_of_many_gates_no_set_is_larger_than_there_are_rows_or_50(n_samples, most):
    assert grid_of_sizes(200, n_samples)[-1] == most
    assert grid_of_sizes(90, n_samples)[-1] == 90  # of few gates all may be open


# ---- sets


def test_every_fold_has_a_set_of_every_size():
    _, folds, made = grow(*linear_response(60, 9), LONGER)
    sizes = range(1, 10)
    sets = made.sets(sizes)
    assert sets.shape == (9, len(folds) + 1, 9)
    assert (sets.sum(axis=2) == np.array(sizes)[:, None]).all()
    assert (sets[1:] >= sets[:-1]).all()  # each holds the smaller ones
    assert made.lams.shape == (9,)
    assert (made.lams > 0).all()
    assert (np.diff(made.lams) <= 0).all()  # small sets are reached last, under the largest penalties
    assert made.lams[0] > made.lams[-1]


def test_kept_gates_are_in_every_set_and_are_not_counted():
    sets, sizes = grow_every_size(*linear_response(60, 9), always_keep=[4, 7])
    assert sets[:, :, [4, 7]].all()
    free = np.delete(sets, [4, 7], axis=2)
    assert (free.sum(axis=2) == np.array(sizes)[:, None]).all()
    assert sizes == grid_of_sizes(7, 60)


def test_constant_columns_are_in_no_set():
    X, y = linear_response(60, 9)
    X[:, 2] = 5
    sets, sizes = grow_every_size(X, y)
    assert not sets[:, :, 2].any()
    assert sizes[-1] == 8


def test_a_column_constant_in_one_fold_is_in_no_set_of_that_fold():
    X, y = linear_response(60, 9)
    folds = problem_and_folds(X, y)[1]
    X[:, 2] = np.where(folds[1] == 1, 0, X[:, 2])
    sets, sizes = grow_every_size(X, y)
    assert not sets[:, 1, 2].any()
    assert sets[-1, -1, 2]
    assert sizes[-1] == 8  # none for which a fold has too few


def test_strong_features_make_up_the_set_of_their_number():
    sets, _ = grow_every_size(*few_strong_features(), LONGER)
    assert (np.flatnonzero(sets[2].all(axis=0)) == STRONG).all()
    assert (sets[2].sum(axis=1) == 3).all()
    assert sets[2:, :, STRONG].all()


def test_the_strongest_features_come_first_where_none_closes():
    X = normal_columns(300, 20)
    y = X[:, [2, 7, 11, 16]] @ [0.4, 0.6, 1, 3] + 0.1 * normal_columns(300, 1, seed=5)[:, 0]
    sets, _ = grow_every_size(X, y, Training())
    assert [np.flatnonzero(s.all(axis=0)).tolist() for s in sets[:4]] == [
        [16],
        [11, 16],
        [7, 11, 16],
        [2, 7, 11, 16],
    ]


def test_the_penalty_of_a_size_is_the_one_its_last_gate_closes_at(monkeypatch):
    X, y = linear_response(60, 9)
    problem, folds = problem_and_folds(X, y, training=SHORT)
    closing = np.array([[1.0, 0.5, 0.25, *np.zeros(6)]]).repeat(len(folds), axis=0)
    fixed = np.full_like(closing, FREE)
    monkeypatch.setattr(
        growing, "_closing_times", lambda *_: (closing, np.zeros_like(closing), fixed, None)
    )
    made, _ = grow_sets(problem, Bank(problem.design), folds)
    assert made.order[0, :3].tolist() == [0, 1, 2]
    share = (
        9
        * DEFAULTS.growing_from
        * (DEFAULTS.growing_to / DEFAULTS.growing_from) ** np.array([1, 0.5, 0.25])
    )
    np.testing.assert_allclose(made.lams[:3], share)


def test_sets_of_correlated_columns_are_steadier_in_the_mean_of_seeds():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(100, 6))
    X = hidden.repeat(10, axis=1) + 0.7 * rng.normal(size=(100, 60))  # ten like columns of each
    y = hidden @ [1, 1, 1, 0, 0, 0] + 0.5 * rng.normal(size=100)

    problem, folds = problem_and_folds(X, y, training=LONGER)
    bank = Bank(problem.design)

    def stability(n_seeds):
        every = np.ones_like(folds[:1])
        draws = (grow_sets(replace(problem, seed=1000 * i), bank, every, n_seeds)[0] for i in range(4))
        return selection_stability([made.sets([14])[0, 0] for made in draws])

    assert stability(DEFAULTS.n_growing) > stability(1) + 0.1


def test_a_group_counts_once():
    X, y = linear_response(60, 12)
    groups = np.arange(12) % 6  # columns j and j + 6 share a gate
    problem, folds, made = grow(X, y, feature_groups=groups)
    assert made.order.shape[1] == made.n_free == 6
    assert judge_sizes(problem, made, folds).support.shape[1] == 6
    assert made.sets([2])[0][:, [0, 1]].all()


def test_the_seed_changes_the_ranking():
    X, y = normal_columns(60, 20), normal_columns(60, 1, seed=5)[:, 0]
    problem, folds, made = grow(X, y)
    bank = Bank(problem.design)
    again, _ = grow_sets(problem, bank, with_all_rows(folds))
    assert np.array_equal(made.order, again.order)
    other, _ = grow_sets(replace(problem, seed=problem.seed + 1000), bank, with_all_rows(folds))
    assert not np.array_equal(made.order, other.order)


# ---- judging


@pytest.mark.parametrize("stage", JOINT)
def test_a_set_is_judged_by_its_refits_and_supported_by_all_rows(stage):
    problem, folds, made = grow(*linear_response(60, 9))
    cells = replace(made, stage=stage).judge(problem, folds, [2, 5])
    sets = made.sets([2, 5])
    assert cells.stage == stage
    assert np.array_equal(cells.opened, sets[:, :-1])
    assert np.array_equal(cells.settled, sets[:, :-1])
    assert np.array_equal(cells.support, sets[:, -1])
    assert np.array_equal(cells.lams, made.lams[[1, 4]])
    assert cells.losses.shape == (2, len(folds))


def test_the_set_from_all_rows_need_not_be_the_folds_vote():
    X, y = normal_columns(60, 20), normal_columns(60, 1, seed=5)[:, 0]
    problem, folds, made = grow(X, y)
    made.order[-1] = np.roll(made.order[-1], 7)
    cells = made.judge(problem, folds, [3])
    assert np.array_equal(np.flatnonzero(cells.support[0]), np.sort(made.order[-1, :3]))
    assert np.array_equal(cells.opened[0], made.sets([3])[0, :-1])


def judged(cells):
    return cells.support.sum(axis=1).tolist()


def test_larger_sizes_are_not_tried_where_they_are_clearly_worse():
    problem, folds, made = grow(*few_strong_features())
    assert judged(judge_sizes(problem, made, folds)) == [1, 2, 3, 4, 6, 9]


def test_larger_sizes_are_tried_where_they_gain(monkeypatch):
    monkeypatch.setattr(ranking, "DEFAULTS", replace(DEFAULTS, pauses=(12, 40)))
    problem, folds, made = grow(*many_weak_features())
    cells = judge_sizes(problem, made, folds)
    grid = grid_of_sizes(60, 150)
    assert judged(cells)[: len(grid)] == grid
    assert cells.losses.mean(axis=1).argmin() >= len(grid) - 1


def test_sizes_between_the_best_and_the_next_smaller_are_judged_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 30))
    y = X[:, :11].sum(axis=1) + 0.3 * rng.normal(size=300)
    problem, folds, made = grow(X, y, LONGER)
    cells = judge_sizes(problem, made, folds)
    assert judged(cells)[-4:] == [10, 11, 12, 13]
    assert judged(cells)[cells.losses.mean(axis=1).argmin()] == 11


def test_a_pause_changes_no_size_that_is_judged(monkeypatch):
    problem, folds, made = grow(*many_weak_features())
    paused = judge_sizes(problem, made, folds)
    monkeypatch.setattr(ranking, "DEFAULTS", replace(DEFAULTS, pauses=()))
    at_once = judge_sizes(problem, made, folds)
    assert np.array_equal(paused.support, at_once.support)
    # a stack of other models rounds otherwise, and Adam makes small steps of a bias without gradient
    same = (paused.step == at_once.step) & (paused.shrink == at_once.shrink)
    assert same.sum() >= len(same) - 1  # of two steps that are equally good either may be taken
    np.testing.assert_allclose(paused.losses[same], at_once.losses[same], rtol=0.01)
    np.testing.assert_allclose(paused.losses.mean(axis=1), at_once.losses.mean(axis=1), rtol=0.01)


def test_the_ranking_of_another_network_can_be_judged():
    X, y = linear_response(60, 9)
    _, folds, made = grow(X, y)
    problem, _ = problem_and_folds(X, y, network="mlp", hidden=(4,), training=SHORT)
    assert np.array_equal(made.judge(problem, folds, [4]).support, made.sets([4])[:, -1])


def test_a_column_that_is_constant_in_some_fold_leaves_nothing_to_grow():
    X = np.zeros((60, 1))
    X[3] = 1
    y = np.random.default_rng(0).normal(size=60)
    model = GatedRegressor(network="linear", training=Training(n_steps=20), random_state=0)
    with pytest.warns(NoFeatureSelectedWarning):
        model.fit(X, y)


# ---- how many seeds


@pytest.mark.parametrize(
    ("folds", "agrees"),
    [
        ([[1, 1, 0, 0, 0, 0]] * 3, True),
        ([[1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 0]], False),
        ([[1, 1, 1, 1, 1, 0]] * 3, False),  # most are open
        ([[0, 0, 0, 0, 0, 0]] * 3, False),
        ([[0, 0, 0, 0, 0, 1]] * 3, False),  # only what is kept
    ],
)
def test_folds_agree_on_a_few_free_gates(folds, agrees):
    opened = np.array([np.ones((3, 6)), folds], dtype=bool)  # the second penalty is the best
    losses = np.array([[1.0, 1.0, 1.0], [0.5, 0.5, 0.5]])
    others = {field.name: np.zeros(2) for field in fields(Cells)}
    cells = Cells(**{**others, "stage": "path", "losses": losses, "settled": opened})
    assert candidates._best_agrees(cells, free=np.arange(6) < 5) is agrees


def test_more_seeds_are_trained_where_the_folds_disagree(monkeypatch):
    numbers = []

    def count(problem, bank, folds, n_seeds, pairs):
        numbers.append(n_seeds)
        return grow_sets(problem, bank, folds, n_seeds, pairs)

    monkeypatch.setattr(candidates, "grow_sets", count)
    for agrees, n_samples, network in (
        (True, 240, "linear"),
        (False, 240, "linear"),
        (False, 60, "linear"),  # of few rows elimination is steadier, which a linear network is judged with
        (False, 60, "mlp"),
    ):
        monkeypatch.setattr(candidates, "_best_agrees", lambda *_, agrees=agrees: agrees)
        model = GatedRegressor(network=network, training=SHORT, random_state=0)
        model.fit(*linear_response(n_samples, 9))
    assert numbers == [1, DEFAULTS.n_growing, 1, DEFAULTS.n_growing]
