"""Markdown tables of the real league's saved results, and the numbers behind them."""

from typing import Any

import numpy as np
import pandas as pd

from experiments.study import compare, summarise, text_grid, to_markdown
from experiments.study.tables import MISSING
from stochgate.metrics import selection_stability

OURS = "ours"
# test rows over training rows of a split, before those of large tables are cut
TEST_RATIO = 0.3 / 0.7


def real_tables(
    table: pd.DataFrame,
    methods: list[str],
    *,
    kinds: dict[str, str],
    selecting: list[str],
    all_columns: list[str],
) -> str:
    """Return all tables.

    Parameters
    ----------
    table : DataFrame
    methods : list of str
        The order of the columns; those without results are left out.
    kinds : dict
        The kind of each set, in the order of the rows.
    selecting, all_columns : list of str
        The peers that select, and those that do not.
    """
    sets = [name for name in kinds if name in set(table["task"])]
    methods = [method for method in methods if method in set(table["method"])]
    few = [method for method in methods if method not in all_columns]
    counts, stability = feature_counts(table[table["method"].isin(few)]), stabilities(table)

    def means(value: str, digits: int) -> pd.DataFrame:
        return text_grid(summarise(table, value), sets, methods, lambda row: _mean(row, digits))

    every_kind = dict.fromkeys(kinds.values())
    of_kind = {kind: best_of_kind(table, kinds, kind, selecting) for kind in every_kind}
    parts = {
        "Score: accuracy, R2 (not below 0), Harrell's C; mean over splits": means("score", 3),
        "Balanced accuracy": means("balanced_accuracy", 3),
        "Features: median over splits (smallest to largest)": text_grid(counts, sets, few, _count),
        "Stability of the sets over splits (Nogueira)": text_grid(
            stability, sets, few, lambda row: _mean(row, 2)
        ),
        "Over the sets": over_sets(counts, stability, few),
        "Seconds": means("seconds", 1),
        "Splits": text_grid(summarise(table, "score"), sets, methods, lambda row: f"{row['n']:g}"),
        "Mean score per kind, over the sets that all of these methods have": kind_means(
            table, kinds, methods
        ),
        "Ours against each method, over the sets that both have": pairs(table, kinds, methods),
        "Ours minus the selecting method that is best for the kind": differences(table, kinds, of_kind),
        "Ours minus the selecting method that is best on the set": differences(
            table, kinds, dict.fromkeys(every_kind, selecting)
        ),
        "Ours minus the method on all columns that is best on the set": differences(
            table, kinds, dict.fromkeys(every_kind, all_columns)
        ),
    }
    texts = [f"### {title}\n\n{to_markdown(part)}" for title, part in parts.items() if len(part)]
    return "\n\n".join(texts)


def feature_counts(table: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers of selected features: median, min, max, and spread: max over min, 0 taken as 1."""
    groups = table.dropna(subset=["n_selected"]).groupby(["task", "method"], sort=False)["n_selected"]
    counts = groups.agg(["median", "min", "max"]).reset_index()
    return counts.assign(spread=counts["max"].clip(lower=1) / counts["min"].clip(lower=1))


def stabilities(table: pd.DataFrame) -> pd.DataFrame:
    """Return the stability ("mean") of each set's and method's selections, with their number ("n")."""
    rows = []
    found = table[table["selected"].map(lambda selected: isinstance(selected, list))]
    for (task, method), group in found.groupby(["task", "method"], sort=False):
        columns = np.arange(int(group["n_features"].iloc[0]))
        supports = [np.isin(columns, selected) for selected in group["selected"]]
        value = selection_stability(supports) if len(supports) > 1 else np.nan
        rows.append({"task": task, "method": method, "mean": value, "n": len(supports)})
    return pd.DataFrame(rows, columns=["task", "method", "mean", "n"]).dropna()


def over_sets(counts: pd.DataFrame, stability: pd.DataFrame, methods: list[str]) -> pd.DataFrame:
    """Return, for each method, what the median set is like, and the mean stability."""
    rows = {}
    for method in methods:
        there, stable = (part[part["method"] == method] for part in (counts, stability))
        rows[method] = {
            "sets": len(there),
            "features (median)": f"{there['median'].median():g}",
            "largest over smallest (median)": f"{there['spread'].median():.1f}",
            "stability (mean; sets)": f"{stable['mean'].mean():.2f} ({len(stable)})",
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


def kind_means(table: pd.DataFrame, kinds: dict[str, str], methods: list[str]) -> pd.DataFrame:
    """Return each method's mean score per kind of problem, over the sets that all have.

    A method with no result of a kind at all (it cannot do it) does not take part there.
    """
    means = _scores(table)
    rows = {}
    for kind in dict.fromkeys(kinds.values()):
        there = means[[kinds[task] == kind for task in means.index]].dropna(axis="columns", how="all")
        shared = there.dropna()
        if len(shared):
            texts = shared.mean().map("{:.3f}".format)
            rows[f"{kind} ({len(shared)} of {len(there)} sets)"] = texts.reindex(methods).fillna(MISSING)
    return pd.DataFrame(rows).T.rename_axis("kind")


def pairs(table: pd.DataFrame, kinds: dict[str, str], methods: list[str]) -> pd.DataFrame:
    """Return the means of ours and of each other method over the sets that both have."""
    means, counts = (
        _scores(table),
        feature_counts(table).pivot(index="task", columns="method", values="median"),
    )
    rows = {}
    for kind in dict.fromkeys(kinds.values()):
        for peer in [m for m in methods if m != OURS and OURS in methods]:
            both = [t for t in means.index if kinds[t] == kind and means.loc[t, [OURS, peer]].notna().all()]
            if both:
                ours, other = means.loc[both, OURS].mean(), means.loc[both, peer].mean()
                number = counts.loc[both].median()
                rows[f"{kind}: {peer}"] = {
                    "sets": len(both),
                    "ours": f"{ours:.3f}",
                    "other": f"{other:.3f}",
                    "difference": f"{ours - other:+.3f}",
                    "features, ours (median)": f"{number[OURS]:g}",
                    "features, other": f"{number[peer]:g}",
                }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("kind and method")


def best_of_kind(table: pd.DataFrame, kinds: dict[str, str], kind: str, peers: list[str]) -> list[str]:
    """Return the peer with the highest mean score of those that have results on most sets of a kind."""
    means = _scores(table)
    there = means.loc[[kinds[task] == kind for task in means.index], [p for p in peers if p in means]]
    there = there.loc[:, there.count() == there.count().max()].dropna()
    return [there.mean().idxmax()] if there.size else []


def differences(table: pd.DataFrame, kinds: dict[str, str], peers: dict[str, list[str]]) -> pd.DataFrame:
    """Return, for each set, ours minus the best of some peers with Nadeau and Bengio's interval.

    Parameters
    ----------
    table : DataFrame
    kinds : dict
        The kind of each set, in the order of the rows.
    peers : dict
        The peers for each kind.
    """
    parts = []
    for kind, names in peers.items():
        there = table[table["task"].map(kinds) == kind]
        present = [name for name in names if name in set(there["method"])]
        if present:
            parts.append(compare(there, "score", OURS, present, TEST_RATIO))
    if not parts:
        return pd.DataFrame()
    found = pd.concat(parts).set_index("task")
    found = found.loc[[task for task in kinds if task in found.index]]
    intervals = [
        f"{row.low:+.3f} to {row.high:+.3f}" if row.n > 1 else MISSING for row in found.itertuples()
    ]
    return pd.DataFrame(
        {
            "best": found["peer"],
            "difference": found["mean"].map("{:+.3f}".format),
            "95 % interval": intervals,
            "splits": found["n"],
        }
    ).rename_axis("set")


def _scores(table: pd.DataFrame) -> pd.DataFrame:
    """Return mean scores, a row per set and a column per method."""
    return summarise(table, "score").pivot(index="task", columns="method", values="mean")


def _mean(row: Any, digits: int) -> str:
    return f"{row['mean']:.{digits}f}"


def _count(row: Any) -> str:
    return f"{row['median']:g} ({row['min']:g} to {row['max']:g})"
