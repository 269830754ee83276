"""Folds in rounds: how often each row is held out."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, ShuffleSplit, TimeSeriesSplit

from problems import two_classes
from stochgate import GatedClassifier, Training
from stochgate.choice.comparison import start_comparison
from stochgate.choice.defaults import DEFAULTS
from stochgate.choice.folds import count_first, make_folds
from stochgate.problem.rows import IDLE, JUDGES, LEARNS

FEW, ROUNDS = DEFAULTS.few_rows, DEFAULTS.n_rounds


def one_kind(n_samples):
    return np.zeros(n_samples, dtype=np.int64)


@pytest.mark.parametrize("cv", [2, 5, np.int64(4)], ids=str)
@pytest.mark.parametrize("n_samples", [20, FEW - 1])
def test_few_rows_are_held_out_once_in_each_of_three_rounds(n_samples, cv):
    folds = make_folds(cv, one_kind(n_samples), seed=0)
    assert len(folds) == ROUNDS * cv == 3 * cv
    for held_out in (folds == JUDGES).reshape(ROUNDS, cv, n_samples):
        assert (held_out.sum(axis=0) == 1).all()
    assert ((folds == LEARNS) | (folds == JUDGES)).all()


def test_rounds_differ_and_follow_the_seed():
    folds = make_folds(5, one_kind(60), seed=0)
    rounds = folds.reshape(3, 5, 60)
    assert all(not np.array_equal(rounds[a], rounds[b]) for a, b in ((0, 1), (0, 2), (1, 2)))
    assert np.array_equal(folds, make_folds(5, one_kind(60), seed=0))
    assert not np.array_equal(folds, make_folds(5, one_kind(60), seed=9))


def test_every_round_is_stratified():
    strata = np.repeat([0, 1], [40, 10])
    folds = make_folds(5, strata, seed=0)
    assert len(folds) == 15
    assert [np.bincount(strata[fold == JUDGES]).tolist() for fold in folds] == [[8, 2]] * 15


def test_enough_rows_are_held_out_once():
    assert len(make_folds(5, one_kind(FEW), seed=0)) == 5
    assert len(make_folds(5, one_kind(FEW - 1), seed=0)) == 15


@pytest.mark.parametrize(("n_groups", "n_rounds"), [(20, 3), (FEW, 1)])
def test_few_groups_are_held_out_in_rounds(n_groups, n_rounds):
    groups = np.arange(3 * n_groups) // 3
    folds = make_folds(5, one_kind(len(groups)), seed=0, groups=groups)
    assert len(folds) == 5 * n_rounds
    for held_out in folds == JUDGES:
        assert not set(groups[held_out]) & set(groups[~held_out])
    assert ((folds == JUDGES).sum(axis=0) == n_rounds).all()


@pytest.mark.parametrize(
    "cv", [KFold(4), TimeSeriesSplit(4), ShuffleSplit(4, random_state=0), list(KFold(4).split(range(60)))]
)
def test_splits_that_are_given_are_taken_as_they_are(cv):
    folds = make_folds(cv, one_kind(60), seed=0)
    splits = list(cv) if isinstance(cv, list) else list(cv.split(np.zeros(60)))
    assert len(folds) == len(splits) == 4
    for fold, (train, test) in zip(folds, splits, strict=True):
        assert np.array_equal(np.flatnonzero(fold == LEARNS), np.sort(train))
        assert np.array_equal(np.flatnonzero(fold == JUDGES), np.sort(test))
        assert (fold == IDLE).sum() == 60 - len(train) - len(test)


@pytest.mark.parametrize("cv", [20, 50])
def test_rows_left_out_one_by_one_need_no_second_round(cv):
    folds = make_folds(cv, one_kind(20), seed=0)
    assert len(folds) == 20
    assert ((folds == JUDGES).sum(axis=1) == 1).all()


# ---- the first round


@pytest.mark.parametrize("cv", [2, 5])
def test_the_first_round_is_counted(cv):
    assert count_first(make_folds(cv, one_kind(60), seed=0)) == cv
    assert count_first(make_folds(cv, one_kind(FEW), seed=0)) == cv


def test_folds_that_hold_out_no_row_twice_are_one_round():
    assert count_first(make_folds(TimeSeriesSplit(4), one_kind(60), seed=0)) == 4
    groups = np.arange(60) // 3
    assert count_first(make_folds(GroupKFold(4), one_kind(60), seed=0, groups=groups)) == 4


def test_a_repeated_splitter_has_a_first_round():
    cv = RepeatedKFold(n_splits=4, n_repeats=3, random_state=0)
    folds = make_folds(cv, one_kind(60), seed=0)
    assert len(folds) == 12
    assert count_first(folds) == 4


def test_the_first_round_holds_out_every_row_once():
    for n_folds, splitter in (
        (5, KFold(5)),
        (4, RepeatedKFold(n_splits=4, n_repeats=3)),
        (5, TimeSeriesSplit(5)),
    ):
        assert count_first(make_folds(splitter, np.zeros(60), seed=0)) == n_folds


@pytest.mark.parametrize(
    ("n_samples", "grouped", "n_folds"), [(60, False, 9), (60, True, 9), (210, False, 3), (630, True, 3)]
)
def test_an_automatic_choice_is_judged_on_all_rounds(n_samples, grouped, n_folds):
    X, y = two_classes(n_samples)
    groups = np.arange(n_samples) // 3 if grouped else None
    model = GatedClassifier(network="linear", training=Training(n_steps=5), random_state=0)
    problem, groups = model._make_problem(X, y, None, groups)
    comparison = start_comparison(problem, 3, groups)
    assert len(comparison.folds) == len(comparison.empty) == n_folds
    assert np.array_equal(comparison.first, comparison.folds[:3])


def test_as_many_random_splits_count_as_hold_out_all_rows_once():
    for seed in range(5):
        splits = ShuffleSplit(20, test_size=0.05, random_state=seed)
        assert (
            11 <= count_first(make_folds(splits, np.zeros(300), seed=0)) <= 14
        )  # 64 % of the rows are drawn
    assert (
        count_first(make_folds(ShuffleSplit(3, test_size=0.8, random_state=0), np.zeros(50), seed=0)) == 2
    )


def test_no_number_of_folds_means_five():
    assert np.array_equal(make_folds(None, np.zeros(60), seed=0), make_folds(5, np.zeros(60), seed=0))
