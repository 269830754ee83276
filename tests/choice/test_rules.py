"""The rules that choose among candidates."""

from dataclasses import replace

import numpy as np

from choices import EMPTY, FEW, GOOD, MANY, make_candidates
from stochgate.choice.rules import RULES, Standard
from stochgate.choice.sets.cells import vote

STANDARD = Standard(empty=EMPTY, reference=None, n_first=5)


def test_ties_go_to_fewer_features_then_to_the_simpler_network():
    assert RULES["auto"](make_candidates([GOOD, GOOD + 0.001], [MANY, FEW]), STANDARD).cell == 1
    both = make_candidates([GOOD], [FEW], network=1) + make_candidates([GOOD], [FEW], network=0)
    assert RULES["auto"](both, STANDARD).network == 0


def test_a_clearly_better_model_wins_with_more_features():
    candidates = make_candidates([GOOD, GOOD + 0.2], [MANY, FEW])
    assert [RULES[rule](candidates, STANDARD).cell for rule in ("auto", "best", "one-se")] == [0, 0, 0]


def test_rules_differ_in_what_they_give_away_for_fewer_features():
    candidates = make_candidates([GOOD, GOOD + np.array([0.004, -0.004, 0.004, 0.004, 0.004])], [MANY, FEW])
    assert [RULES[rule](candidates, STANDARD).cell for rule in ("auto", "best", "one-se")] == [1, 0, 1]
    worse = make_candidates([GOOD, GOOD + 0.0045], [MANY, FEW])  # within one standard error
    assert [RULES[rule](worse, STANDARD).cell for rule in ("best", "one-se")] == [0, 1]


def test_each_time_the_features_halve_a_tie_may_give_away_a_share_of_the_gain():
    behind = np.array([0.05, -0.03, 0.04, -0.01, 0.02])  # 0.014 on average, 0.9 standard errors
    few = np.arange(40) < 2
    for n_many, cell in ((40, 1), (5, 0)):  # 1 % of the gain is 0.005: 40 halve 4.3 times, 5 once
        candidates = make_candidates([GOOD, GOOD + behind], [np.arange(40) < n_many, few])
        assert RULES["auto"](candidates, STANDARD).cell == cell
    sure = make_candidates([GOOD, GOOD + 0.03], [np.ones(40), few])  # the same in every fold
    assert RULES["auto"](sure, STANDARD).cell == 0


def test_a_weak_signal_is_not_given_away():
    """A standard error is most of what is gained: the tie ends at 3 % of the gain."""
    spread = np.array([0.05, -0.05, 0.04, -0.04, 0.0])
    for share, cell in ((0.035, 0), (0.025, 1)):
        behind = spread + share * 0.02
        candidates = make_candidates(
            [EMPTY - 0.02, EMPTY - 0.02 + behind], [np.ones(40), np.arange(40) < 2]
        )
        assert RULES["auto"](candidates, STANDARD).cell == cell


def test_as_good_as_all_columns_is_what_is_asked_for():
    """Both sets tie with each other, but only the larger one ties with the model on all columns."""
    small = GOOD + np.array([0.004, -0.004, 0.004, 0.004, 0.004])
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
