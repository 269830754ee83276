"""Why error control selects nothing, in words."""

import numpy as np
import pytest

from stochgate.stability.shadows import shadow_fdr
from stochgate.stability.why_empty import shadows_keep_up, tells_nothing_new, too_rare


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
