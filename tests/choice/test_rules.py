"""The rules that choose among candidates."""

from dataclasses import replace

import numpy as np

from choices import EMPTY, FEW, GOOD, MANY, make_candidates
from stochgate.choice.rules import RULES, Standard
from stochgate.choice.sets.cells import vote

CLOSE = np.array([0.004, -0.004, 0.004, 0.004, 0.002])  # behind by 1.3 standard errors
STANDARD = Standard(empty=EMPTY, reference=None, n_first=5)


def test_ties_go_to_fewer_features_then_to_the_simpler_network():
    assert RULES["auto"](make_candidates([GOOD, GOOD + 0.001], [MANY, FEW]), STANDARD).cell == 1
    both = make_candidates([GOOD], [FEW], network=1) + make_candidates([GOOD], [FEW], network=0)
    assert RULES["auto"](both, STANDARD).network == 0


def test_a_clearly_better_model_wins_with_more_features():
    candidates = make_candidates([GOOD, GOOD + 0.2], [MANY, FEW])
    assert [RULES[rule](candidates, STANDARD).cell for rule in ("auto", "best", "one-se")] == [0, 0, 0]


def test_rules_differ_in_what_they_give_away_for_fewer_features():
    candidates = make_candidates([GOOD, GOOD + CLOSE], [MANY, FEW])
    assert [RULES[rule](candidates, STANDARD).cell for rule in ("auto", "best", "one-se")] == [1, 0, 1]
    worse = make_candidates([GOOD, GOOD + 0.0045], [MANY, FEW])  # within one standard error
    assert [RULES[rule](worse, STANDARD).cell for rule in ("best", "one-se")] == [0, 1]


def test_a_tie_gives_away_what_folds_cannot_tell_and_little_of_the_gain():
    few, gain = np.arange(40) < 2, (EMPTY - GOOD).mean()
    unsure = np.array([0.05, -0.03, 0.04, -0.01, 0.02])
    unsure -= unsure.mean()
    for behind, cell in (
        (unsure + 0.012 * gain, 1),
        (unsure + 0.013 * gain, 0),
        (np.full(5, 0.002 * gain), 1),  # the same in every fold, but next to nothing
        (np.full(5, 0.003 * gain), 0),
    ):
        candidates = make_candidates([GOOD, GOOD + behind], [np.ones(40), few])
        assert RULES["auto"](candidates, STANDARD).cell == cell


def test_a_weak_signal_is_not_given_away():
    """A standard error is most of what is gained: the tie ends at 1.25 % of the gain."""
    spread = np.array([0.05, -0.05, 0.04, -0.04, 0.0])
    for share, cell in ((0.015, 0), (0.005, 1)):
        behind = spread + share * 0.02
        candidates = make_candidates(
            [EMPTY - 0.02, EMPTY - 0.02 + behind], [np.ones(40), np.arange(40) < 2]
        )
        assert RULES["auto"](candidates, STANDARD).cell == cell


def test_as_good_as_all_columns_is_what_is_asked_for():
    """Both sets tie with each other, but only the larger one ties with the model on all columns."""
    small = GOOD + CLOSE
    candidates = make_candidates([GOOD, small], [MANY, FEW])
    reference = small - 0.0125
    assert RULES["auto"](candidates, STANDARD).cell == 1
    assert RULES["auto"](candidates, replace(STANDARD, reference=reference + 1)).cell == 1
    assert RULES["auto"](candidates, replace(STANDARD, reference=reference)).cell == 0


def test_where_nothing_is_as_good_as_all_columns_the_best_set_is_returned():
    candidates = make_candidates([GOOD, GOOD + 0.001], [MANY, FEW])
    assert RULES["auto"](candidates, replace(STANDARD, reference=GOOD - 0.08)).cell == 0


def test_only_what_was_judged_counts_as_a_selection():
    opened = np.zeros((1, 5, 200), dtype=bool)
    opened[0, np.arange(5), np.arange(5)] = True  # each fold another feature
    opened[0, :, 9] = True
    (candidate,) = make_candidates([GOOD], [np.arange(200) < 2])

    def of(**changes):
        return replace(candidate, cells=replace(candidate.cells, **changes))

    assert candidate.is_selection
    assert of(opened=opened, settled=opened, support=vote(opened)).is_selection  # half of each is shared
    opened[0, np.arange(5), 20 + np.arange(5)] = True
    assert not of(opened=opened, settled=opened, support=vote(opened)).is_selection
    assert of(stage="growing", opened=opened, settled=opened).is_selection  # made anew from all rows
    assert not of(opened=np.ones_like(opened)).is_selection  # nothing had closed yet
    most = replace(candidate, n_features=81)
    assert not most.is_selection
    assert not replace(candidate, losses=GOOD * np.inf).is_selection
