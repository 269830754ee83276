"""The summary of a model on columns that error control has found: what the selector did counts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stochgate.choice.tables import make_table
from stochgate.explain.summary_table import COLUMNS, Summary
from stochgate.problem.feature_index import FeatureIndex

MOST_FOUND = 10  # columns named in a sentence


def with_error_control(summary: Summary, selector: Any, hints: Sequence[str] = ()) -> Summary:
    """Return the summary of a model on the columns that a selector found, as one of the selection.

    The model keeps all of these columns, so that its verdict, its frequencies and its number of kept
    columns say nothing: in their place are the q-values of the selector and the share of its halves.

    Parameters
    ----------
    summary : Summary
    selector : StabilitySelector
        With an fdr, and fitted to a DataFrame.
    hints : sequence of str
        In place of those of a model without columns, where none is found.
    """
    if selector.fdr is None or not hasattr(selector, "feature_names_in_"):
        raise ValueError(
            "selector has no fdr or no column names: give one with fdr, fitted to a DataFrame."
        )
    names = selector.feature_names_in_
    kept = FeatureIndex(len(names), names).mask(
        "always_keep", selector.estimator.get_params()["always_keep"]
    )
    found = selector.support_ & ~kept
    place = {name: j for j, name in enumerate(names)}
    table = summary.features
    rows = []
    for row in table if isinstance(table, list) else table.to_dict("records"):
        at = place[(row["members"] or [row["feature"]])[0]]
        if found[at]:
            own = {"frequency": selector.selection_frequency_[at], "q_value": selector.q_values_[at]}
            row = {**row, **own, "frequency_low": np.nan, "frequency_high": np.nan}
        rows.append({"q_value": np.nan, **row})
    return replace(
        summary,
        features=make_table(rows, [*COLUMNS, "q_value"]),
        n_features_in=len(names),
        n_kept=0,
        n_halves=2 * selector.n_pairs,
        verdict=None,
        p=None,
        alpha=None,
        headline=_say_found(names[found], selector.q_values_[found], selector.fdr, bool(kept.any())),
        hints=summary.hints if found.any() else (*hints, *(summary.hints if kept.any() else ())),
    )


def _say_found(names: np.ndarray, q_values: np.ndarray, fdr: float, beside: bool) -> str:
    """Return which columns were found at a rate, the surest first."""
    if len(names) == 0:
        kept = " beside the kept ones" if beside else ""
        return f"No column was found{kept} at a false discovery rate of {fdr:g}."
    order = np.argsort(q_values, kind="stable")[:MOST_FOUND]
    named = ", ".join(f"'{names[j]}' (q {q_values[j]:.2g})" for j in order)
    more = f" and {len(names) - MOST_FOUND} more" if len(names) > MOST_FOUND else ""
    return f"Found at a false discovery rate of {fdr:g}: {named}{more}."
